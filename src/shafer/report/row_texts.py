"""The texts of a row, with the weights of their words for all classes; and one for the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._typing import FloatArray, Label
from shafer.evidence.marked_row import centred_weights, mark_text
from shafer.evidence.own_base_rate import base_rate_position
from shafer.evidence.texts.segments import Segments, segments_of
from shafer.evidence.texts.text_terminal import terminal_text
from shafer.report.answer_and_rival import pair_of_row
from shafer.report.study import Study


@final
@dataclass(frozen=True, eq=False)
class RowText:
    """One text of a row.

    Attributes
    ----------
    column : str, optional
        None if the row is the text.
    segments : Segments
        The weights are (S, K), without the base rate.
    base_rate, absent, others, unlocated : arrays of shape (K,)
        Weights outside of the segments: the base rate, words that are not in the text, components
        that are not words of this text, words whose place was not found.
    unlocated_words : tuple of strings
    """

    column: str | None
    segments: Segments
    base_rate: FloatArray
    absent: FloatArray
    others: FloatArray
    unlocated: FloatArray
    unlocated_words: tuple[str, ...]


def has_texts(study: Study) -> bool:
    """Tell whether the components of a study are words of texts."""
    inputs = study.undiscounted.inputs
    return inputs is not None and bool(inputs.text_columns())


def texts_of_row(study: Study, row: int) -> list[RowText]:
    """Return the texts of a row; none if its components are not words."""
    if not has_texts(study):
        return []
    one = study.undiscounted[row]
    assert one.inputs is not None
    weights, shares = centred_weights(one, range(one.n_classes))
    own = base_rate_position(one)
    found = []
    for column in one.inputs.text_columns():
        spans = one.inputs.word_spans(0, None, column)
        assert spans is not None
        elsewhere = np.setdiff1d(np.arange(one.n_components), spans.of_text)
        unlocated = [g for g, _ in spans.unlocated]
        found.append(
            RowText(
                column,
                segments_of(spans, weights),
                shares.sum(axis=0),
                weights[spans.absent].sum(axis=0),
                weights[[g for g in elsewhere.tolist() if g != own]].sum(axis=0),
                weights[unlocated].sum(axis=0),
                tuple(word for _, word in spans.unlocated),
            )
        )
    return found


def terminal_texts(
    study: Study,
    row: int,
    width: int = 0,
    *,
    class_: Label | None = None,
    over: Label | None = None,
    color: bool = False,
) -> list[str]:
    """Return the texts of a row for the terminal, with the weights of their words.

    Parameters
    ----------
    study : Study
    row : int
        Position of the instance.
    width : int
        Columns of the terminal; 0 means 80.
    class_, over : class labels, optional
        By default the answer and the runner-up.
    color : bool
        Use the colours of a terminal.
    """
    if not has_texts(study):
        return []
    one = study.evidence[row]
    inputs = study.undiscounted.inputs
    assert inputs is not None
    pair = pair_of_row(study.undiscounted[row], class_, over)
    labels = one.classes.tolist()
    texts = []
    for column in inputs.text_columns():
        marked = mark_text(one, 0, None, labels[pair.class_], labels[pair.over], column)
        title = [] if column is None else [f"Column {column!r}"]
        texts.append("\n".join([*title, terminal_text(marked, width, color=color)]))
    return texts
