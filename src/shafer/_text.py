"""Short texts for messages and labels: lists that end in "and N more", and cut-off names."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable

_LONGEST_LINE = 600


def listed(
    items: Iterable[object], most: int = 8, *, written: Callable[[object], str] = repr
) -> str:
    """Write the first items as Python would, and count the rest.

    ``written`` turns an item into text; ``str`` leaves the quotes out.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(10), most=3)
    '0, 1, 2 and 7 more'
    >>> listed(["a", "b"], written=str)
    'a, b'
    """
    values = list(items)
    shown = ", ".join(written(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def shortened(text: str, most: int = 60) -> str:
    """Cut a text to at most ``most`` characters; an ellipsis marks the cut.

    Examples
    --------
    >>> shortened("a long name", most=6)
    'a lon…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def percent(share: float) -> str:
    """Write a share in percent.

    Examples
    --------
    >>> percent(0.9), percent(1 / 3)
    ('90 %', '33.33 %')
    """
    return f"{100.0 * share:.4g} %"


def printable(text: str) -> str:
    r"""Escape control characters, which a file may hold and a terminal would obey.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text
    )


def label_value(text: str) -> str:
    """Return a text as the value of a label in Prometheus' text format."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def one_line(error: object) -> str:
    """Write an error's message on one line of bounded length, without control characters."""
    text = printable(" ".join(str(error).split())) or type(error).__name__
    return shortened(text, _LONGEST_LINE)


def cells(text: str) -> int:
    """Return how many terminal cells a text takes: an emoji or an ideograph takes two.

    Examples
    --------
    >>> cells("age"), cells("年")
    (3, 2)
    """
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    joined = sum(unicodedata.category(c) in ("Mn", "Me", "Cf") for c in text)
    return len(text) + wide - joined


def harmless(text: str) -> str:
    """Return the text with control characters replaced: they could move the cursor."""
    return "".join(c if c.isprintable() else "�" for c in text)
