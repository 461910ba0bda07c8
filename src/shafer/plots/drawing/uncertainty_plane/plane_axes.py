"""The axes of the plane of ignorance and disagreement: their ends, names and numbers."""

from __future__ import annotations

import numpy as np

from shafer._typing import FloatArray

_NOTHING, _SMALL = 1e-3, 0.25  # an axis whose values all lie between ends where they end
_ROUND = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_MEANINGS = {
    "ignorance": "lack of evidence",
    "disagreement": "components contradict each other",
    "conflict": "evidence contradicts itself",
}


def axis_end(values: FloatArray) -> float:
    """Return the end of an axis from 0: 1, or a round number beyond values that are all small."""
    largest = float(values.max(initial=0.0))
    if not _NOTHING < largest < _SMALL:
        return 1.0
    power = 10.0 ** np.floor(np.log10(largest))
    return next(float(step * power) for step in _ROUND if step * power >= largest)


def axis_name(name: str, end: float) -> str:
    """Return the name of an axis, its meaning, and its end if that is not 1."""
    full = f"{name}: {_MEANINGS[name]}"
    return full if end == 1.0 else f"{full} (axis ends at {end:g}, not 1)"


def power_of_ten(exponent: float, _: object) -> str:
    """Write a power of ten, plainly where that is short."""
    if exponent > 0.0:
        return ""  # no such ignorance
    return f"{10.0**exponent:g}" if exponent >= -3.0 else f"$10^{{{exponent:.0f}}}$"
