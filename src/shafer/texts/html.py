"""A marked text as HTML with its own styles, readable on light and on dark pages."""

from __future__ import annotations

from html import escape

from shafer.texts.marked import MARKED, PLAIN, STOP, MarkedText, Segments, stretches, visible
from shafer.texts.words import (
    absent_words,
    question,
    sides,
    signed,
    size,
    strongest_words,
    sum_words,
    total_words,
    unit,
    unlocated_words,
)

FOR, AGAINST = (0, 114, 178), (213, 94, 0)
"""Blue and orange of Okabe and Ito, as in all pictures: for the class, and for the other one."""
LEAST = 0.04
"""Words with a smaller part of the largest weight are not coloured."""

_LINE = "margin:.35em 0;line-height:1.5"
_SMALL = f"{_LINE};font-size:88%;opacity:.85"
_TEXT = (
    "margin:.6em 0;padding:.6em .8em;border:1px solid #8886;border-radius:.3em;line-height:2;"
    "white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;max-height:40em;overflow:auto"
)
_SILENT = "color:#8c8c8c"
# Notebooks would set dollar signs as mathematics.
_OPEN = '<div class="shafer-text tex2jax_ignore mathjax_ignore" style="max-width:60em">'


def text_html(marked: MarkedText, largest: float | None = None, most_words: int = 1000) -> str:
    """Return the text with its marks, its sum, a legend and the strongest words.

    Parameters
    ----------
    marked : MarkedText
    largest : float, optional
        The weight of the strongest colour; by default that of the strongest word.
    most_words : int
        In longer texts, stretches without strong words are left out, and their sum is stated.
    """
    scale = largest or marked.largest or 1.0
    parts = [
        _OPEN,
        f'<p style="{_LINE}"><b>{escape(question(marked))}</b> {escape(total_words(marked))}</p>',
        f'<p style="{_SMALL}">{_sum(marked)}</p>',
        f'<div dir="auto" style="{_TEXT}">{_body(marked, scale, most_words)}</div>',
        f'<p style="{_SMALL}">{_legend(marked, scale)}</p>' if marked.largest else "",
        f'<p style="{_SMALL}">{_strongest(marked)}</p>',
    ]
    notes = [note for note in (unlocated_words(marked), absent_words(marked)) if note]
    parts += [f'<p style="{_SMALL}">{_escaped(note)}</p>' for note in notes]
    return "".join([*parts, "</div>"])


def _escaped(text: str) -> str:
    return f"<bdi>{escape(text)}</bdi>"


def _strongest(marked: MarkedText) -> str:
    lines = zip(sides(marked), (1, -1), strict=True)
    return "<br>".join(
        f"{_escaped(side)}: {_escaped(strongest_words(marked, sign))}." for side, sign in lines
    )


def _sum(marked: MarkedText) -> str:
    terms = " + ".join(f"{escape(words)} <b>{signed(w)}</b>" for words, w in sum_words(marked))
    return f"{terms} = <b>{signed(marked.total)}</b>. {escape(unit(marked))}."


def _body(marked: MarkedText, scale: float, most_words: int) -> str:
    segments = marked.segments
    if not segments.text.strip():
        return f'<span style="{_SILENT}">(the text is empty)</span>'
    parts = []
    for stretch in stretches(segments, 2 * most_words):
        if stretch.shown:
            parts += [_segment(segments, s, scale) for s in range(stretch.first, stretch.last)]
        else:
            weight = float(segments.total(stretch.first, stretch.last))
            parts.append(_left_out(stretch.words, weight))
    return "".join(parts)


def _left_out(words: int, weight: float) -> str:
    return (
        f' <span style="{_SILENT};font-style:italic">[… {words:,} words left out: '
        f"{signed(weight)} in total …]</span> "
    )


def _segment(segments: Segments, s: int, scale: float) -> str:
    text, kind = escape(visible(segments.string(s))), int(segments.kinds[s])
    if kind == PLAIN:
        return text
    if kind != MARKED:
        why = "stop word: left out by the model" if kind == STOP else "not known to the model"
        return f'<span style="{_SILENT}" title="{why}">{text}</span>'
    weight = float(segments.marks[s])
    return f'<span title="{signed(weight)}"{mark_style(weight, scale)}>{text}</span>'


def mark_style(weight: float, scale: float) -> str:
    """Return the style of a word: colour and underline tell the side, their strength the size."""
    strength = min(abs(weight) / scale, 1.0)
    if strength < LEAST:
        return ""
    red, green, blue = FOR if weight > 0 else AGAINST
    line = "solid" if weight > 0 else "dashed"
    width = 1 + round(2 * strength)
    return (
        f' style="background:rgba({red},{green},{blue},{0.14 + 0.41 * strength:.2f});'
        f'border-bottom:{width}px {line} rgb({red},{green},{blue});border-radius:.15em"'
    )


def _legend(marked: MarkedText, scale: float) -> str:
    key = "<span{style}>&nbsp;{words}&nbsp;</span>"
    first, second = sides(marked)
    silent = (
        f'<span style="{_SILENT}">grey</span>: no weight, a stop word or not known to the model'
    )
    return (
        key.format(style=mark_style(scale, scale), words=_escaped(first))
        + " solid line &nbsp; "
        + key.format(style=mark_style(-scale, scale), words=_escaped(second))
        + f" dashed line &nbsp; full colour: ±{size(scale)} &nbsp; no colour: near 0 &nbsp; "
        + ("" if marked.tokens else silent)
    )
