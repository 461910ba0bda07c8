"""Cells of the user's table as plain values, and as texts short enough for a sentence."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context
from typing import Any, TypeAlias

import numpy as np

from shafer import _text

Value: TypeAlias = float | str | None
"""The value of a cell: a number, a category, or None where it is missing."""


def plain(value: Any) -> Value:
    """Return a cell as a number, a string, or None if it is missing."""
    if value is None:
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.integer | np.floating):
        number = float(value)
        if math.isinf(number):  # JSON has no infinity
            return "∞" if number > 0 else "−∞"
        return None if math.isnan(number) else number
    text = str(value)
    # The text "nan" is a text; another object that prints as nan is a missing value.
    return None if not isinstance(value, str) and text in ("nan", "NaT", "<NA>") else text


_LONGEST = 40


_FOUR_DIGITS = Context(prec=4, rounding=ROUND_HALF_UP)


def short_name(text: str) -> str:
    """Return a name short enough for a sentence."""
    return _text.shortened(text, _LONGEST) if text.strip() else "(blank)"


def shown_value(value: Any) -> str:
    """Return an input value as text: whole numbers as they are, others to four digits."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return short_name(value)
    number = float(value)
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    # Rounded and written as JavaScript does, so that the page shows the same.
    number = float(_FOUR_DIGITS.create_decimal(number))
    if 1e-6 <= abs(number) < 1e21:
        return str(np.format_float_positional(number, trim="-"))
    return repr(number).replace("e-0", "e-")
