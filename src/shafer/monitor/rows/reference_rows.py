"""``ReferenceRows``: what a monitor keeps of the rows that new rows are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer._typing import BoolArray, FloatArray
from shafer._validation import label_array, label_positions, to_numpy
from shafer.evidence.profiles.weight_profile import WeightProfile
from shafer.models import Explainer
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.observed_rows import observed_rows
from shafer.monitor.rows.component_axes import ComponentAxes
from shafer.monitor.rows.row_facts import (
    LabelFacts,
    RowFacts,
    label_facts,
    row_facts,
    watched,
    weights_of,
)
from shafer.monitor.sample_tests.value_clusters import rounding_tolerance

LEAST_ROWS = 50
_OTHERS = 1e-4  # a component may be rounded like much larger ones
_BLOCK = 2**24  # weights from which the axes are found


@final
@dataclass(frozen=True, eq=False)
class ReferenceRows:
    """Facts about the reference rows, and what they are measured with.

    One half of the rows, chosen at random, defines the axes of the components and the profile of
    typical weights. The typicality of the other half is that of fresh rows.

    Attributes
    ----------
    axes : ComponentAxes
    profile : WeightProfile
    held_out : boolean array of shape (n,)
        Rows that did not define the profile.
    facts : RowFacts
    labels : LabelFacts or None
        With known classes.
    tolerance : array of shape (G, R)
        How far equal scores may lie apart.
    """

    axes: ComponentAxes
    profile: WeightProfile
    held_out: BoolArray
    facts: RowFacts
    labels: LabelFacts | None
    tolerance: FloatArray

    @classmethod
    def fit(cls, explainer: Explainer, X: Any, y: Any, max_rows: int, seed: int) -> ReferenceRows:
        """Pass at most ``max_rows`` rows, chosen at random, through the model."""
        random = np.random.default_rng(seed)
        X, y = _sampled(explainer, X, y, max_rows, random)
        n = n_rows(X)
        held_out = np.zeros(n, dtype=bool)
        held_out[random.permutation(n)[: n // 2]] = True
        defining = observed_rows(explainer, take_rows(X, np.flatnonzero(~held_out).tolist()))
        kept = watched(explainer.component_names)
        size = max(64, _BLOCK // (len(kept) * len(explainer.classes)))
        axes = ComponentAxes.fit(weights_of(defining.even[:size], kept))
        profile = WeightProfile.fit(defining.plain)
        facts = row_facts(explainer, X, axes, profile)
        itemsize = to_numpy(defining.bet.logits).dtype.itemsize
        tolerance = _tolerance(facts.scores, axes, itemsize)
        labels = None if y is None else label_facts(explainer, X, y, facts)
        return cls(axes, profile, held_out, facts, labels, tolerance)

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def fresh_typicality(self) -> FloatArray:
        """Typicality of the rows that did not define the profile."""
        return self.facts.typicality[self.held_out]


def _tolerance(scores: FloatArray, axes: ComponentAxes, itemsize: int) -> FloatArray:
    """Return how far equal scores may lie apart, (G, R).

    A constant component has scores of 0, but its weights are rounded nevertheless.
    """
    own = rounding_tolerance(scores, itemsize)
    weights = rounding_tolerance(axes.centre.T, itemsize)[:, None]
    others = _OTHERS * max(float(own.max()), float(weights.max()))
    return np.asarray(np.maximum(np.maximum(own, weights), others))


def _sampled(
    explainer: Explainer, X: Any, y: Any, max_rows: int, random: np.random.Generator
) -> tuple[Any, Any]:
    n = n_rows(X)
    if n < LEAST_ROWS:
        raise ValueError(
            f"X_reference has {n} rows; a monitor needs at least {LEAST_ROWS} to know what is "
            "usual. Pass more rows."
        )
    if y is not None:
        truth = label_positions(y, explainer.classes, n)
        if len(np.unique(truth)) == 1:
            only = explainer.classes[truth[0]].item()
            raise ValueError(
                f"y holds the class {only!r} only, for all {n} reference rows. Pass the classes of "
                "a representative sample, or leave out y."
            )
    if n <= max_rows:
        return X, y
    rows = np.sort(random.choice(n, max_rows, replace=False)).tolist()
    return take_rows(X, rows), None if y is None else label_array(y, "y")[rows]
