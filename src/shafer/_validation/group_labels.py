"""Labels of groups of rows: which groups there are, and the group of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def group_labels(groups: NDArray[Any]) -> list[Any]:
    """Return the distinct groups, sorted where they can be."""
    found = list(dict.fromkeys(groups.tolist()))
    try:
        return sorted(found)
    except TypeError:  # labels of several types
        return found


def group_positions(groups: NDArray[Any], known: tuple[Any, ...]) -> NDArray[np.intp]:
    """Return the position of each row's group among the known ones, −1 for an unknown one."""
    place = {label: k for k, label in enumerate(known)}
    return np.array([place.get(label, -1) for label in groups.tolist()], dtype=np.intp)
