"""The text of one instance, with the weights of its words for a class over another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shafer._text import listed, shortened
from shafer._typing import FloatArray, Label
from shafer._validation import one_position, to_numpy
from shafer.evidence.component_layout import TokenLayout
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.own_base_rate import base_rate_position
from shafer.evidence.texts.marked_text import MarkedText
from shafer.evidence.texts.segments import segments_of
from shafer.evidence.with_weights import with_weights
from shafer.evidence.word_spans import WordSpans

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
    plain = with_weights(one)
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
