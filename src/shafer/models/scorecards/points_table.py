"""The table of a scorecard as a data frame: one row for each bin of each component."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Label
from shafer.evidence.io.frame_table import native_frame
from shafer.evidence.scorecard_points import PointScale, scored_weights
from shafer.models.scorecards.finite_components import FiniteComponent


def points_table(
    components: Mapping[str, FiniteComponent],
    scale: PointScale,
    classes: NDArray[Any],
    class_: Label | None,
    backend: str | None,
) -> Any:
    """Return a data frame of weights and points; for three or more classes with their class."""
    names = list(components)
    owner = np.repeat(np.arange(len(names)), [len(one.bins) for one in components.values()])
    stacked = np.concatenate([one.weights for one in components.values()])
    weights = scored_weights(stacked, classes, class_).reshape(len(owner), -1)  # a column each
    points = scale.factor * weights + np.array(scale.shares(names))[owner, None]
    labels = classes.tolist() if weights.shape[1] == len(classes) else [class_]
    bins = [label for one in components.values() for label in one.bins]
    rows = [(names[g], label, one) for g, label in zip(owner, bins, strict=True) for one in labels]
    component, label, class_of_row = (list(column) for column in zip(*rows, strict=True))
    table: dict[str, Any] = {"component": component, "bin": label, "class": class_of_row}
    if len(classes) == 2:
        del table["class"]
    table |= {"weight": weights.ravel(), "points": points.ravel()}
    return native_frame(table, None, backend)
