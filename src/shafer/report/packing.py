"""Columns of numbers and texts in few characters, for the page; ``records.js`` reads them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shafer._json import as_json

if TYPE_CHECKING:
    from shafer._values import Value

MOST_EXACT = 100_000
"""An array with more numbers is stored in single precision."""


def packed(values: NDArray[Any], kind: str) -> str:
    """Return an array as base64, little-endian; ``kind`` is a NumPy type such as ``"<f8"``."""
    return base64.b64encode(np.ascontiguousarray(values).astype(kind).tobytes()).decode()


def packed_floats(values: NDArray[Any]) -> dict[str, str]:
    """Return floats in double precision, or in single precision if there are many."""
    kind = "f8" if values.size <= MOST_EXACT else "f4"
    return {kind: packed(values, f"<{kind}")}


def packed_column(cells: Sequence[Value]) -> Any:
    """Return the cells of one column: as they are, as packed numbers, or as positions of texts.

    Numbers are exact. A missing cell is None, NaN, or the position −1.
    """
    plain = list(cells)
    known = [cell for cell in plain if cell is not None]
    if known and all(isinstance(cell, float) for cell in known):
        if all(cell.is_integer() for cell in known if isinstance(cell, float)):
            plain = [int(c) if isinstance(c, float) and abs(c) < 2**53 else c for c in plain]
        numbers = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
        short = {"f8": packed(numbers, "<f8")}
        return plain if len(as_json(plain)) <= len(short["f8"]) else short
    choices = list(dict.fromkeys(known))
    if 0 < len(choices) <= len(known) / 2 and all(isinstance(cell, str) for cell in known):
        place = {choice: at for at, choice in enumerate(choices)}
        return {"of": choices, "at": [-1 if cell is None else place[cell] for cell in plain]}
    return plain
