"""Row labels of evidence: the index of a pandas frame, or any sequence of labels."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def read_index(index: Any, n: int) -> Any:
    """Return n row labels that can be taken by position: a pandas index stays one."""
    if index is None:
        return None
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(index, pandas.Index):
        labels = list(index)
        index = np.empty(len(labels), dtype=object)
        index[:] = labels
        index.flags.writeable = False
    if len(index) != n:
        raise ValueError(
            f"index must have one label for each of the {n} rows of evidence; got {len(index)}."
        )
    return index
