"""JSON for a script element, and numbers with few digits."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from shafer._typing import FloatArray


def as_json(value: Any) -> str:
    """Return JSON that is safe inside a script element: no markup, no line separators."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    # A broken file may have half of a surrogate pair, which UTF-8 cannot encode.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def few_digits(value: Any, digits: int = 6) -> float:
    """Return a number rounded to some significant digits, which makes its JSON short."""
    return float(f"{float(value):.{digits}g}")


def all_few_digits(values: FloatArray, digits: int = 6) -> list[float]:
    """Return the numbers of an array as a list, each with few digits."""
    return [few_digits(value, digits) for value in np.ravel(values)]
