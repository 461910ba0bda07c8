"""Values with labels, such as a prior by class or a reliability by source."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from shafer._validation.data_frames import frame_of


def labelled(values: Any, known: Collection[Any]) -> Any:
    """Return a pandas Series or the columns of a data frame as a mapping from their labels.

    They are read by label, never by position. Numbers 0, 1, ... that are not among the ``known``
    labels are only positions: such values come back as they are, as anything else does.
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series):
        labels = values.index.tolist()
        if _are_positions(labels, known):
            return values
        if not values.index.is_unique:
            raise ValueError(f"The labels of a Series must differ; got {labels}. Name each once.")
        return dict(zip(labels, values.tolist(), strict=True))
    frame = frame_of(values)
    if frame is None or _are_positions([_number(name) for name in frame.columns], known):
        return values
    return {name: frame[name].to_numpy() for name in frame.columns}


def _are_positions(labels: list[Any], known: Collection[Any]) -> bool:
    numbers = list(range(len(labels)))
    return labels == numbers and not any(number in known for number in numbers)


def _number(name: str) -> int | str:
    return int(name) if name.isdecimal() else name
