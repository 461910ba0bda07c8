"""The lines of a marked text, and how they are drawn: in letters of one width."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from shafer._text import cells
from shafer.evidence.texts.marked_text import MarkedText
from shafer.evidence.texts.segments import MARKED, PLAIN
from shafer.evidence.texts.text_html import LEAST
from shafer.evidence.texts.text_words import (
    question,
    sides,
    signed,
    size,
    sum_words,
    total_words,
    unit,
)
from shafer.evidence.texts.visible_text import visible
from shafer.plots.drawing.style import AGAINST, FOR, GREY, ink, literal

_FONT: dict[str, Any] = {"family": "monospace", "size": 9.0}
_BASELINE = 0.62  # of the height of a line


class Placed(NamedTuple):
    """A piece of a line: where it begins, its characters, kind and weight."""

    at: int
    text: str
    kind: int
    weight: float


def marked_lines(marked: MarkedText, width: int, most: int) -> list[list[Placed]]:
    """Break a marked text into at most so many lines, at white space where there is some."""
    segments = marked.segments
    lines: list[list[Placed]] = [[]]
    at = 0
    for s in range(len(segments)):
        kind, weight = int(segments.kinds[s]), float(segments.marks[s])
        for part in _parts(visible(segments.string(s)), kind, width):
            wide = cells(part)
            if part == "\n" or (at and at + wide > width):
                if len(lines) == most:
                    lines[-1].append(Placed(min(at, width - 1), "…", PLAIN, 0.0))
                    return lines
                lines.append([])
                at = 0
            if part.isspace() and (part == "\n" or not at):
                continue
            lines[-1].append(Placed(at, part, kind, weight))
            at += wide
    return lines


def _parts(text: str, kind: int, width: int) -> list[str]:
    """Cut plain text at white space, and words that are longer than a line."""
    if kind != PLAIN:
        return [text[i : i + width] for i in range(0, len(text), width)]
    parts: list[str] = []
    for letter in text.replace("\t", " "):
        if letter.isspace() or not parts or parts[-1].isspace() or len(parts[-1]) == width:
            parts.append(letter)
        else:
            parts[-1] += letter
    return parts


def draw_marked_text(ax: Axes, marked: MarkedText, lines: list[list[Placed]], width: int) -> None:
    """Draw the lines, with the side and size of each weight as a colour and a line below."""
    scale = marked.largest or 1.0
    ax.set_xlim(0, width)
    ax.set_ylim(len(lines) + 0.4, -0.2)
    ax.axis("off")
    for row, line in enumerate(lines):
        for piece in line:
            _draw_piece(ax, piece, row, scale)
    _write_around(ax, marked, width)


def _draw_piece(ax: Axes, piece: Placed, row: int, scale: float) -> None:
    strength = min(abs(piece.weight) / scale, 1.0)
    if piece.kind == MARKED and strength >= LEAST:
        side = FOR if piece.weight > 0 else AGAINST
        wide, below = cells(piece.text), row + _BASELINE + 0.22
        ax.add_patch(
            Rectangle(
                (piece.at, row),
                wide,
                _BASELINE + 0.22,
                color=side,
                alpha=0.08 + 0.47 * strength,
                lw=0,
            )
        )
        ax.plot(
            [piece.at, piece.at + wide],
            [below, below],
            color=side,
            linewidth=1.0 + 2.0 * strength,
            linestyle="solid" if piece.weight > 0 else (0, (2, 1)),
            solid_capstyle="butt",
        )
    shade = ink() if piece.kind in (PLAIN, MARKED) else GREY
    # Letter by letter: each takes one cell, whatever the font measures.
    at = piece.at
    for letter in _letters(piece.text):
        if not letter.isspace():
            ax.text(at, row + _BASELINE, literal(letter), color=shade, ha="left", **_FONT)
        at += cells(letter)


def _letters(text: str) -> list[str]:
    """Return letters together with the marks on them."""
    letters: list[str] = []
    for letter in text:
        if letters and not cells(letter):
            letters[-1] += letter
        else:
            letters.append(letter)
    return letters


def text_around(marked: MarkedText, width: int) -> tuple[list[str], list[str]]:
    """Return the lines above and below a text of this width: the sum, and how to read it."""
    terms = " + ".join(f"{words} {signed(w)}" for words, w in sum_words(marked))
    first, second = sides(marked)
    notes = [
        f"{terms} = {signed(marked.total)}",
        f"blue, solid line: {first}; orange, dashed line: {second}; grey: no weight",
        f"full colour ±{size(marked.largest)}. {unit(marked)}",
    ]
    if marked.unlocated:
        notes.append(f"{len(marked.unlocated)} words have no known place in the text")
    above = [question(marked), total_words(marked)]
    # Letters of the title are about as wide as a cell, those of the notes are narrower.
    return _broken(above, width), _broken(notes, int(1.2 * width))


def _broken(texts: list[str], width: int) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, max(width, 20))]


def _write_around(ax: Axes, marked: MarkedText, width: int) -> None:
    above, below = text_around(marked, width)
    ax.set_title(literal("\n".join(above)), loc="left", fontsize="medium")
    ax.annotate(
        literal("\n".join(below)),
        (0.0, 0.0),
        (0.0, -2.0),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize="small",
        color=ink(),
    )
