"""The user's names for a terminal: without control characters, short, and aligned."""

from __future__ import annotations

import unicodedata

from shafer._text import shortened

_LONGEST = 32


def cells(text: str) -> int:
    """Return how many terminal cells a text takes: an emoji or an ideograph takes two."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    joined = sum(unicodedata.combining(c) > 0 for c in text)
    return len(text) + wide - joined


def harmless(text: str) -> str:
    """Return the text with control characters replaced: they could move the cursor."""
    return "".join(c if c.isprintable() else "�" for c in text)


def label(text: str, longest: int = _LONGEST) -> str:
    """Return a name without control characters, at most ``longest`` characters long."""
    return shortened(harmless(text) if text.strip() else "(blank)", longest)


def padded(text: str, width: int) -> str:
    """Return the text, filled with blanks to ``width`` cells."""
    return text + " " * max(0, width - cells(text))
