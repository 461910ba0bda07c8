"""The bins of a column of the data: sets of values that a model cannot tell apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from shafer._checks.labels import is_missing
from shafer._text import listed

MISSING = "missing"
OTHER = "any other"
_DIGITS = (4, 6, 9, 12, 17)
_MOST_CATEGORIES = 12  # in the label of a bin


@final
@dataclass(frozen=True)
class ColumnBin:
    """A bin of a column, or one of its categories.

    Attributes
    ----------
    label : str
        What a reader sees, such as ``"[12, 24)"``, ``"rent"`` or ``"missing"``.
    value : object
        One value of the column that is in this bin.
    """

    label: str
    value: Any


def interval_bins(cuts: Iterable[Any], avoid: Iterable[Any] = ()) -> list[ColumnBin]:
    """Return the bins between increasing cut points; a value that equals one is above it.

    The values of the bins are none of those to ``avoid``, which the model treats separately.
    """
    edges = [float(cut) for cut in cuts]
    texts = number_texts(edges)
    if not edges:
        return [ColumnBin("any number", _inside(-math.inf, math.inf, avoid))]
    labels = [f"< {texts[0]}"]
    labels += [f"[{low}, {high})" for low, high in pairwise(texts)]
    labels += [f"≥ {texts[-1]}"]
    lower, upper = [-math.inf, *edges], [*edges, math.inf]
    return [
        ColumnBin(label, _inside(low, high, avoid))
        for label, low, high in zip(labels, lower, upper, strict=True)
    ]


def threshold_bins(threshold: float) -> list[ColumnBin]:
    """Return the bins of a threshold; a value that equals it is below."""
    text = number_texts([threshold])[0]
    above = threshold + max(1.0, abs(threshold))
    return [ColumnBin(f"≤ {text}", threshold), ColumnBin(f"> {text}", above)]


def category_bins(bins: Iterable[Sequence[Any]]) -> list[ColumnBin]:
    """Return one bin for each group of categories."""
    return [ColumnBin(_named(group), group[0]) for group in bins if len(group)]


def unseen_value(known: Iterable[Any]) -> Any:
    """Return a value that is not among the known categories, of their type."""
    present = [value for value in known if not is_missing(value)]
    if present and not any(isinstance(value, str) for value in present):
        return max(present) + 1
    text = "other"
    while text in present:
        text += "_"
    return text


def number_texts(values: Sequence[Any]) -> list[str]:
    """Write numbers with as few digits as keep their value in single precision, from four on.

    Cut points are often computed in single precision. More of their digits would be noise.
    """
    numbers = np.asarray(values, dtype=np.float64)
    for digits in _DIGITS:
        texts = [f"{number:.{digits}g}" for number in numbers]
        with np.errstate(over="ignore"):
            same = np.array(texts, dtype=np.float32) == numbers.astype(np.float32)
        if same.all() and len(set(texts)) == len(texts):
            break
    return texts


def value_text(value: Any) -> str:
    """Write a category plainly; None and NaN are missing."""
    return MISSING if is_missing(value) else str(value)


def _named(group: Sequence[Any]) -> str:
    return listed((value_text(value) for value in group), _MOST_CATEGORIES, written=str)


def _inside(low: float, high: float, avoid: Iterable[Any]) -> float:
    """Return a number with low ≤ number < high that is not to be avoided."""
    taken = set(avoid)
    if math.isinf(low) and math.isinf(high):
        candidates = [0.0, *(1.0 / k for k in range(1, len(taken) + 2))]
    elif math.isinf(low) or math.isinf(high):
        edge, sign = (high, -1.0) if math.isinf(low) else (low, 1.0)
        step = max(1.0, abs(edge))
        candidates = [edge + sign * step / k for k in range(1, len(taken) + 2)]
    else:
        middles = [low + (high - low) / k for k in range(2, len(taken) + 3)]
        candidates = [value for value in middles if low <= value < high] + [low]
    return next(value for value in candidates if value not in taken)
