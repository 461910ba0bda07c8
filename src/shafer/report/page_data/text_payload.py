"""The texts of the rows that the page shows: pieces of text with the weights of all classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer._text import shortened
from shafer._typing import FloatArray
from shafer.evidence.texts.segments import MARKED, PLAIN, Segments
from shafer.evidence.texts.stretches import stretches
from shafer.evidence.texts.visible_text import visible
from shafer.report.page_data.json_text import all_few_digits
from shafer.report.row_texts import RowText, has_texts, texts_of_row
from shafer.report.study import Study

_MOST_SEGMENTS = 600
_MOST_UNLOCATED = 30
_DIGITS = 5


def texts_payload(study: Study) -> dict[str, Any]:
    """Return whether the page shows marked texts."""
    return {"texts": has_texts(study)}


def text_entries(study: Study, rows: list[int]) -> dict[int, dict[str, Any]]:
    """Return the texts of each row; nothing if components are not words."""
    if not has_texts(study):
        return {row: {} for row in rows}
    return {row: {"texts": [_entry(text) for text in texts_of_row(study, row)]} for row in rows}


def _entry(text: RowText) -> dict[str, Any]:
    words = [shortened(visible(word)) for word in text.unlocated_words[:_MOST_UNLOCATED]]
    return {
        "column": text.column,
        "parts": _parts(text.segments),
        "baseRate": _weights(text.base_rate),
        "absent": _weights(text.absent),
        "others": _weights(text.others) if np.any(text.others) else None,
        "unlocated": _weights(text.unlocated) if words else None,
        "unlocatedWords": words,
    }


def _parts(segments: Segments) -> list[Any]:
    """Return plain strings, [word] for silent words, [word, weights], and [count, weights]."""
    parts: list[Any] = []
    for stretch in stretches(segments, _MOST_SEGMENTS):
        if not stretch.shown:
            total = segments.total(stretch.first, stretch.last)
            parts.append([stretch.words, _weights(total)])
            continue
        for s in range(stretch.first, stretch.last):
            string, kind = visible(segments.string(s)), int(segments.kinds[s])
            if kind == PLAIN:
                parts.append(string)
            else:
                parts.append([string, _weights(segments.marks[s])] if kind == MARKED else [string])
    return parts


def _weights(values: FloatArray) -> list[float]:
    return all_few_digits(values, _DIGITS)
