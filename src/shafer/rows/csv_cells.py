"""Cells of CSV files that a spreadsheet would run as a formula: an apostrophe goes before them.

A file does not tell whether an apostrophe was put there, or was always there. Where a model reads
the cells, the column's schema knows how many the texts of training had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

# A formula needs a sign and something after it. Numbers are none. Leading apostrophes are counted,
# so that a cell which had one is read back with it.
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SIGNS = "=+\\-@\t\r\n＝＋－＠"
_FORMULA = re.compile(rf"'*(?!{_NUMBER}\Z)[{_SIGNS}].", re.DOTALL)


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet might run a cell."""
    return _FORMULA.match(text) is not None


def apostrophes(text: Any) -> int | None:
    """Return how many apostrophes stand before a formula; None if the text is not one."""
    if not isinstance(text, str) or not is_formula(text):
        return None
    return len(text) - len(text.lstrip("'"))


def escaped(frame: Any) -> Any:
    """Return a pandas frame with an apostrophe before texts that start a formula."""
    return _changed(frame, lambda text: f"'{text}" if is_formula(text) else text)


def original(frame: Any, columns: Iterable[str]) -> Any:
    """Return a pandas frame in which columns of texts are as they were before :func:`escaped`."""
    some = [name for name in columns if frame[name].astype(object).astype(str).str[0].eq("'").any()]
    if not some:
        return frame
    return _changed(
        frame, lambda text: text[1:] if text[:1] == "'" and is_formula(text) else text, some
    )


def _changed(frame: Any, change: Any, columns: Iterable[str] | None = None) -> Any:
    chosen = list(frame.columns) if columns is None else list(columns)
    made = {}
    for name in chosen:
        column = frame[name]
        if getattr(column.dtype, "kind", "O") in "biufcmM":
            continue
        values = column.to_numpy(dtype=object)
        texts = [change(value) if isinstance(value, str) else value for value in values]
        if any(new is not old for new, old in zip(texts, values, strict=True)):
            held = np.empty(len(texts), dtype=object)
            held[:] = texts
            made[name] = type(column)(held, index=column.index, name=name)
    return frame.assign(**made) if made else frame


def check_names(names: Iterable[str], where: Any) -> None:
    """Refuse names of columns that start a formula: the header of a CSV file has no other form."""
    for name in names:
        if is_formula(str(name)):
            raise ValueError(
                f"The column name {name!r} starts a formula in a spreadsheet, so it is not written "
                f"to {where}. Rename the column, write a .parquet file, or add --raw-csv."
            )
