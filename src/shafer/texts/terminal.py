"""A marked text for the terminal: weights beside the words, in colour where that is wanted."""

from __future__ import annotations

from collections.abc import Iterator

from shafer._text import cells
from shafer.texts.marked import MARKED, PLAIN, MarkedText, stretches, visible
from shafer.texts.words import (
    absent_words,
    question,
    sides,
    signed,
    strongest_words,
    sum_words,
    total_words,
    unit,
    unlocated_words,
)

_WITH_NUMBER = 0.1
"""Words with a smaller part of the largest weight are written without it."""
# Blue and orange of the 256 colours, which are readable on light and on dark.
_FOR, _AGAINST = "\x1b[1;4;38;5;32m", "\x1b[1;38;5;166m"
_GREY, _END = "\x1b[2m", "\x1b[0m"
_MOST_WORDS = 400
_USUAL_WIDTH = 80


def terminal_text(marked: MarkedText, width: int = 0, *, color: bool = False) -> str:
    """Return the text with the weights of its strong words in brackets.

    Parameters
    ----------
    marked : MarkedText
    width : int
        Columns of the terminal; 0 means 80.
    color : bool
        Also colour the words: bold blue and underlined for the class, bold orange for the other,
        faint without weight.
    """
    width = width or _USUAL_WIDTH
    terms = " + ".join(f"{words} {signed(w)}" for words, w in sum_words(marked))
    notes = [
        f"{question(marked)} {total_words(marked)}",
        f"{terms} = {signed(marked.total)}. {unit(marked)}.",
    ]
    first, second = sides(marked)
    after = [
        f"{first}: {strongest_words(marked, 1)}",
        f"{second}: {strongest_words(marked, -1)}",
        unlocated_words(marked),
        absent_words(marked),
    ]
    body = _wrapped(_tokens(marked, color), width - 4)
    return "\n".join(
        [
            *(line for note in notes for line in _lines(note, width)),
            "",
            *(f"  {line}".rstrip() for line in body),
            "",
            *(line for note in after if note for line in _lines(note, width)),
        ]
    )


def _lines(text: str, width: int) -> list[str]:
    words: list[tuple[str, str]] = []
    for k, word in enumerate(text.split()):
        words += [(" ", " ")] if k else []
        words.append((word, word))
    return _wrapped(iter(words), width)


def _tokens(marked: MarkedText, color: bool) -> Iterator[tuple[str, str]]:
    """Yield what is seen and what is written, which may have colours."""
    segments, largest = marked.segments, marked.largest
    if not segments.text.strip():
        yield "(the text is empty)", "(the text is empty)"
    for stretch in stretches(segments, _MOST_WORDS):
        if not stretch.shown:
            weight = float(segments.total(stretch.first, stretch.last))
            note = f" [… {stretch.words:,} words left out: {signed(weight)} …] "
            yield note, f"{_GREY}{note}{_END}" if color else note
            continue
        for s in range(stretch.first, stretch.last):
            seen, kind = visible(segments.string(s)), int(segments.kinds[s])
            if kind == PLAIN:
                yield seen, seen
                continue
            weight = float(segments.marks[s])
            strong = kind == MARKED and largest > 0.0 and abs(weight) >= _WITH_NUMBER * largest
            if strong and seen.strip():
                seen = f"{seen}[{signed(weight)}]"
            style = _style(kind, weight, strong) if color else ""
            yield seen, f"{style}{seen}{_END}" if style else seen


def _style(kind: int, weight: float, strong: bool) -> str:
    if kind != MARKED:
        return _GREY
    return (_FOR if weight > 0 else _AGAINST) if strong else ""


def _wrapped(tokens: Iterator[tuple[str, str]], width: int) -> list[str]:
    """Break tokens into lines at white space; longer ones are cut."""
    lines, line, used = [], "", 0
    for seen, written in tokens:
        for part, shown in _parts(seen, written):
            if part == "\n":
                lines.append(line)
                line, used = "", 0
                continue
            wide = cells(part)
            if used + wide > width and used:
                lines.append(line.rstrip(" "))
                line, used = "", 0
            if part.isspace() and not used:
                continue
            line, used = line + shown, used + wide
    return [*lines, line] if line else lines


def _parts(seen: str, written: str) -> Iterator[tuple[str, str]]:
    """Cut plain text at white space; a token with a style stays whole."""
    if seen != written:
        yield seen, written
        return
    piece = ""
    for letter in seen:
        if letter.isspace():
            if piece:
                yield piece, piece
            piece = ""
            yield ("\n", "\n") if letter == "\n" else (" ", " ")
        else:
            piece += letter
    if piece:
        yield piece, piece
