"""The user's names in a terminal: harmless, of bounded length, and aligned."""

from __future__ import annotations

import unicodedata

_LONGEST = 32


def cells(text: str) -> int:
    """Count the terminal cells of a text: an emoji or an ideograph takes two."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    joined = sum(unicodedata.combining(c) > 0 for c in text)
    return len(text) + wide - joined


def harmless(text: str) -> str:
    """Replace control characters, which would move the cursor or change colours."""
    return "".join(c if c.isprintable() else "�" for c in text)


def label(text: str, longest: int = _LONGEST) -> str:
    """Make a name harmless and of bounded length."""
    clean = harmless(text) if text.strip() else "(blank)"
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def padded(text: str, width: int) -> str:
    """Fill a text with blanks to a number of cells."""
    return text + " " * max(0, width - cells(text))
