"""The text of a row and its words as components: places, shares, and what has no component."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer._validation import frame_of
from shafer.evidence.word_spans import WordSpans
from shafer.models.inputs.texts.located_terms import LocatedTerms, locate_terms, term_columns
from shafer.models.inputs.texts.text_parts import TextPart


def column_of_texts(parts: Sequence[TextPart], column: Any) -> Any:
    """Return the column of texts that is meant; None if each row is a text."""
    known = list(dict.fromkeys(part.column for part in parts))
    if column is None and len(known) == 1:
        return known[0]
    if column is not None and column in known:
        return column
    if known == [None]:
        raise ValueError(f"Each row of this model is a text; leave out column={column!r}.")
    raise ValueError(
        f"The model takes texts from the columns {listed(known)}; got column={column!r}. Pass one "
        "of them."
    )


def texts_of(X: Any, column: Any) -> Any:
    """Return the texts of rows: X itself, or one of its columns."""
    frame = frame_of(X)
    if frame is None:
        return X if column is None else np.asarray(X, dtype=object)[:, column]
    return frame[column if isinstance(column, str) else frame.columns[column or 0]].to_native()


def text_in_row(X: Any, row: int, column: Any, vectorizer: Any) -> str:
    """Return the text of a row as a string."""
    texts = texts_of(X, column)
    given = texts.iloc[row] if hasattr(texts, "iloc") else texts[row]
    return given if isinstance(given, str) else str(vectorizer.decode(given))


def are_grouped(part: TextPart, members: Sequence[Sequence[int]] | None) -> bool:
    """Tell whether some word of a vectorizer is in a group with others."""
    if members is None:
        return False
    joined = [m for inside in members if len(inside) > 1 for m in inside]
    return bool(np.isin(part.components, joined).any())


def spans_of_components(
    parts: Sequence[TextPart], text: str, members: Sequence[Sequence[int]] | None
) -> WordSpans:
    """Find the components of a text, where ``members`` are the model's components of each.

    A component of several words cannot be placed: its weight is not known word by word.
    """
    if members is None:
        return spans_of_text(parts, text)
    if any(are_grouped(part, members) for part in parts):
        raise ValueError(
            "The components of this evidence are groups of words, whose weights are not known word "
            "by word. Make the evidence without groups."
        )
    largest = max((int(part.components.max(initial=-1)) for part in parts), default=-1)
    place = np.full(largest + 1, -1, dtype=np.intp)
    for g, inside in enumerate(members):
        place[[m for m in inside if m <= largest]] = g
    moved = [
        replace(part, components=np.where(part.components < 0, -1, place[part.components]))
        for part in parts
    ]
    return spans_of_text(moved, text)


def spans_of_text(parts: Sequence[TextPart], text: str) -> WordSpans:
    """Find the components of all vectorizers of one column in a text.

    Each occurrence of a component gets the same share of its weight, and the words of an n-gram
    get the same share of the occurrence.
    """
    pieces: list[tuple[NDArray[np.intp], ...]] = []
    shares: list[NDArray[np.float64]] = []
    units: list[LocatedTerms] = []
    unlocated: dict[int, str] = {}
    for part in parts:
        found = locate_terms(part.vectorizer, text)
        component = _components(part, found.terms)
        term, start, end, share = found.pieces()
        if found.first is None or np.any(end <= start):
            seen = zip(component.tolist(), found.terms, strict=True)
            unlocated |= {g: term for g, term in seen if g >= 0 and g not in unlocated}
            continue
        times = Counter(component[component >= 0].tolist())
        held = component[term] >= 0
        term, start, end, share = term[held], start[held], end[held], share[held]
        owner = component[term]
        pieces.append((start, end, owner))
        shares.append(share / np.array([times[g] for g in owner.tolist()], dtype=np.float64))
        units.append(found)
    start, end, owner = (np.concatenate([_none(), *(p[i] for p in pieces)]) for i in range(3))
    silent = _silent(units, start, end, len(text))
    every = np.concatenate([_none(), *(part.components for part in parts)])
    return WordSpans(
        text,
        start,
        end,
        owner,
        np.concatenate([np.zeros(0), *shares]),
        *silent,
        tuple(sorted(unlocated.items())),
        every[every >= 0],
    )


def _components(part: TextPart, terms: Sequence[str]) -> NDArray[np.intp]:
    column_of = term_columns(part.vectorizer, terms)
    columns = np.array([column_of(term) for term in terms], dtype=np.intp)
    return np.where(columns < 0, -1, part.components[columns]) if len(columns) else _none()


def _silent(
    units: Sequence[LocatedTerms],
    start: NDArray[np.intp],
    end: NDArray[np.intp],
    length: int,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """Return the words on which no piece lies, and whether they are stop words."""
    depth = np.zeros(length + 1, dtype=np.intp)
    np.add.at(depth, start, 1)
    np.add.at(depth, end, -1)
    covered = np.concatenate([[0], np.cumsum(np.cumsum(depth[:-1]) > 0)])
    found: dict[tuple[int, int], bool] = {}
    for one in units:
        unknown = zip(one.start.tolist(), one.end.tolist(), strict=True)
        stops = zip(one.silent_start.tolist(), one.silent_end.tolist(), strict=True)
        found |= dict.fromkeys(unknown, False)
        found |= {span: True for span in stops if span not in found}
    free = [(a, b, s) for (a, b), s in sorted(found.items()) if covered[a] == covered[b] and b > a]
    table = np.array(free, dtype=np.intp).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2].astype(bool)


def _none() -> NDArray[np.intp]:
    return np.zeros(0, dtype=np.intp)
