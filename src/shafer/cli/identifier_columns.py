"""``identifier_columns``: columns that look like the names or numbers of the rows themselves."""

from __future__ import annotations

from typing import Any

_FEWEST_ROWS = 30  # below, values of any column may all differ
_DIFFERENT = 0.99


def identifier_columns(frame: Any) -> list[str]:
    """Return the columns of whole numbers or texts with a different value in nearly each row.

    Parameters
    ----------
    frame : pandas frame
        As it was read.
    """
    if len(frame) < _FEWEST_ROWS:
        return []
    kinds = {name: getattr(dtype, "kind", "O") for name, dtype in frame.dtypes.items()}
    return [
        str(name)
        for name, kind in kinds.items()
        if kind not in "bf" and frame[name].nunique() >= _DIFFERENT * len(frame)
    ]
