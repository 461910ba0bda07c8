"""The bins of a column that nothing bins, but that has few values in the background."""

from __future__ import annotations

from numbers import Real
from typing import Any

from shafer._validation import is_missing
from shafer.models.inputs.column_bins import MISSING, ColumnBin, number_texts, value_text
from shafer.models.scorecards.probe_rows import column_values

MOST_VALUES = 20


def observed_bins(X: Any, position: int) -> list[ColumnBin] | None:
    """Return one bin for each value of a column; None if there are too many to be all.

    At most 20 different values are accepted, and at most half as many as rows: indicators, counts,
    categories, or weights of evidence that were computed before.
    """
    values = column_values(X, position)
    gaps = [value for value in values if is_missing(value)]
    try:
        present = sorted({value for value in values if not is_missing(value)})
    except TypeError:  # of several types
        return None
    if len(present) > min(MOST_VALUES, len(values) // 2):
        return None
    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in present)
    labels = number_texts(present) if numbers else [value_text(value) for value in present]
    bins = [ColumnBin(label, value) for label, value in zip(labels, present, strict=True)]
    return [*bins, ColumnBin(MISSING, gaps[0])] if gaps else bins
