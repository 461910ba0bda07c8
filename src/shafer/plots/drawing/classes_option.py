"""The option ``classes`` of Displays, and its old name ``labels``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from shafer._typing import Label


def classes_or_labels(
    classes: Label | Iterable[Label] | None, labels: Label | Iterable[Label] | None
) -> Label | Iterable[Label] | None:
    """Return the classes to draw; warn if they were given by the old name."""
    if labels is None:
        return classes
    if classes is not None:
        raise ValueError("Give classes or labels, not both: labels is the old name of classes.")
    warnings.warn(
        "labels= is now called classes=; the old name will be removed in a later release.",
        FutureWarning,
        stacklevel=3,
    )
    return labels
