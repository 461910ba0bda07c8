"""The texts of instances, with the weights of their words for the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import one_position
from shafer._text import listed, shortened
from shafer._typing import FloatArray, Label
from shafer.evidence.base_rate import base_rate_position
from shafer.evidence.contrast import pair_of_row
from shafer.evidence.evidence import Evidence
from shafer.evidence.layout import TokenLayout
from shafer.evidence.mass_evidence import MassEvidence

if TYPE_CHECKING:
    from shafer.report.study import Study
from shafer.texts.marked import MarkedText, Segments, segments_of
from shafer.texts.spans import WordSpans
from shafer.texts.terminal import terminal_text

_NAMED = 3  # words that are not in the text


def mark_text(
    evidence: MassEvidence,
    row: int,
    text: str | Sequence[str] | None,
    class_: Label,
    over: Label | None,
    column: str | None = None,
) -> MarkedText:
    """Return a text with the weights of its words for a class over another, or by itself.

    Parameters
    ----------
    evidence : Evidence or DiscountedEvidence
    row : int
        Position of the instance.
    text : str, or sequence of strings, optional
        The text, or the tokens of a model of tokens. By default the text that the evidence was
        computed from.
    class_ : class label
    over : class label, optional
        None for weights of evidence for the class by itself.
    column : str, optional
        The column of texts, if the model takes several.
    """
    one = evidence[row]
    plain = one.weighed
    labels = plain.classes.tolist()
    pair = [one_position(class_, plain.classes, "class_")]
    pair += [] if over is None else [one_position(over, plain.classes, "over")]
    spans = row_spans(plain, text, column)
    weights, shares = centred_weights(plain, pair)
    sign = np.array([1.0, -1.0])[: len(pair)]
    contrast, base = weights @ sign, shares @ sign
    absent = spans.absent
    held = np.isin(np.arange(plain.n_components), spans.of_text)
    own = base_rate_position(plain)
    elsewhere = [g for g in np.flatnonzero(~held).tolist() if g != own]
    strongest = absent[np.argsort(-np.abs(contrast[absent]), kind="stable")[:_NAMED]]
    bets = to_numpy(one.betting_probability)[0]
    return MarkedText(
        segments_of(spans, contrast),
        labels[pair[0]],
        None if over is None else labels[pair[1]],
        float(base.sum()),
        float(contrast[absent].sum()),
        len(absent),
        float(contrast[elsewhere].sum()) if elsewhere else None,
        tuple((word, float(contrast[g])) for g, word in spans.unlocated),
        tuple((plain.component_names[g], float(contrast[g])) for g in strongest.tolist()),
        float(bets[pair[0]]),
        None if over is None else float(bets[pair[1]]),
        tokens=not (text is None or isinstance(text, str)),
    )


def centred_weights(one: Evidence, classes: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return the weights of one row without the base rate, and the shares of it, two (G, C)."""
    source = one.unchanged_source().of_classes(list(classes))
    weights = np.asarray(to_numpy(source.dense()), dtype=np.float64)[0]
    shares = np.asarray(to_numpy(source.base_shares()), dtype=np.float64)
    shares = np.broadcast_to(shares.reshape(-1, len(classes)), weights.shape)
    return weights - shares, shares


def row_spans(
    one: Evidence, text: str | Sequence[str] | None, column: str | None = None
) -> WordSpans:
    """Find the components of one row in a text, or let tokens be the components."""
    if not (text is None or isinstance(text, str)):
        return _tokens(one, list(text))
    found = None if one.inputs is None else one.inputs.word_spans(0, text, column)
    if found is None:
        raise ValueError(
            "The components of this evidence are not known to be words of a text; they are "
            f"{listed([shortened(name) for name in one.component_names], 3)}. Use the evidence of "
            "an Explainer whose model has a CountVectorizer, TfidfVectorizer or HashingVectorizer "
            "before a linear model. A pickled or saved copy does not know where words are; "
            "make it again. For a model of tokens, pass the list of tokens."
        )
    return found


def _tokens(one: Evidence, tokens: Sequence[Any]) -> WordSpans:
    """Let the first components be the tokens, in their order."""
    wrong = [token for token in tokens if not isinstance(token, str)]
    if wrong:
        raise ValueError(f"Tokens must be strings; got {shortened(repr(wrong[0]))} among them.")
    own = base_rate_position(one)
    places = [g for g in range(one.n_components) if g != own]
    padded = isinstance(one.layout, TokenLayout)
    if len(tokens) > len(places) or (len(tokens) < len(places) and not padded):
        raise ValueError(
            f"The evidence has {len(places)} components, and text has {len(tokens)} tokens. Pass "
            "one token for each component."
        )
    end = np.cumsum([len(token) + 1 for token in tokens], dtype=np.intp) - 1
    start = end - np.array([len(token) for token in tokens], dtype=np.intp)
    some = end > start
    none = np.zeros(0, dtype=np.intp)
    component = np.array(places[: len(tokens)], dtype=np.intp)
    empty = tuple((int(g), "(empty token)") for g in component[~some])
    return WordSpans(
        " ".join(tokens),
        start[some],
        end[some],
        component[some],
        np.ones(int(some.sum())),
        none,
        none,
        np.zeros(0, dtype=bool),
        empty,
        np.array(places, dtype=np.intp),
    )


# The texts of a row, with the weights of their words for all classes; and one for the terminal.


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
