"""Characters that are not seen, or that change how others are read, written so that they are."""

from __future__ import annotations

import unicodedata

_TURNING = {
    *"\u061c\u200e\u200f",
    *map(chr, range(0x202A, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
}
"""Characters that turn the direction of the text, also of what comes after them."""


def visible(text: str, *, lines: bool = True) -> str:
    r"""Write control characters and changes of direction as their names.

    Parameters
    ----------
    text : str
    lines : bool
        Keep tabs and line breaks.

    Examples
    --------
    >>> print(visible("a\u202eb\x1bc"))
    a⟨U+202E⟩b⟨U+001B⟩c
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_letter(letter, lines) for letter in text)


def _letter(letter: str, lines: bool) -> str:
    if letter.isprintable() and letter not in _TURNING:
        return letter
    if letter in "\n\t":
        return letter if lines else " "
    if letter == "\r":
        return ""
    if letter.isspace():  # unusual spaces
        return " "
    if unicodedata.category(letter) == "Cf" and letter not in _TURNING:
        return letter  # joiners, which are part of scripts and of emoji
    return f"⟨U+{ord(letter):04X}⟩"
