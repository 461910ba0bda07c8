"""The user's names for a terminal: without control characters, short, and aligned."""

from __future__ import annotations

from shafer._text import cells, shortened

_LONGEST = 32


def harmless(text: str) -> str:
    """Return the text with control characters replaced: they could move the cursor."""
    return "".join(c if c.isprintable() else "�" for c in text)


def label(text: str, longest: int = _LONGEST) -> str:
    """Return a name without control characters, at most ``longest`` characters long."""
    return shortened(harmless(text) if text.strip() else "(blank)", longest)


def padded(text: str, width: int) -> str:
    """Return the text, filled with blanks to ``width`` cells."""
    return text + " " * max(0, width - cells(text))
