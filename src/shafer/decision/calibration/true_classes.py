"""The true classes of calibration rows, read by label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._validation import class_labels, label_positions, to_numpy


class TrueClasses(NamedTuple):
    """The class labels, (K,), and the position of each row's true class, (n,)."""

    labels: NDArray[Any]
    positions: NDArray[np.intp]


def read_true_classes(y: Any, classes: Any, shape: tuple[int, ...]) -> TrueClasses:
    """Read the labels ``y`` of n rows over K classes, for an array of ``shape`` (n, K).

    Without ``classes`` the labels must be exactly 0..K−1, each of them present. Otherwise a label
    could be taken for the position of another class.
    """
    n, n_classes = shape
    labels = class_labels(classes, n_classes)
    if classes is None:
        present = set(np.unique(to_numpy(y)).tolist())
        if n and present != set(range(n_classes)):
            raise ValueError(
                f"y has the labels [{listed(sorted(present))}]. Without classes= they must be the "
                f"numbers 0 to {n_classes - 1}, each of them present. Pass classes=, the labels in "
                "the order of the columns."
            )
    return TrueClasses(labels, label_positions(y, labels, n))
