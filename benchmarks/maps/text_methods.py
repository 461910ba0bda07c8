"""A score for each distinct word of a text, for the predicted class, by several methods."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

import shafer
from shafer.plots import TextDisplay

Scores: TypeAlias = dict[str, float]
Method: TypeAlias = Callable[[str, int], Scores]


def word_spans(model: Any, text: str) -> list[tuple[int, int, str]]:
    """Return the words of a text as the model's vectorizer finds them."""
    pattern = re.compile(model[0].token_pattern)
    return [(*m.span(), m.group().lower()) for m in pattern.finditer(text)]


def methods(model: Any, background: list[str], seed: int = 0) -> dict[str, Method]:
    """Return functions from a text and the position of a class to scores of its words."""
    explainer = shafer.Explainer(model, background, prior="own")
    classes = explainer.classes.tolist()
    rng = np.random.default_rng(seed)

    def contrast(text: str, k: int) -> Scores:
        display = TextDisplay.from_evidence(explainer([text]), class_=classes[k])
        return _by_word(model, text, display.spans, display.weights)

    def weight(text: str, k: int) -> Scores:
        ev = explainer([text])
        display = TextDisplay.from_evidence(ev, class_=classes[k], units="weight")
        return _by_word(model, text, display.spans, display.weights)

    def left_out(text: str, k: int) -> Scores:
        words = sorted({word for _, _, word in word_spans(model, text)})
        changed = [without(model, text, {word}) for word in words]
        p = model.predict_proba([text, *changed])[:, k]
        return dict(zip(words, (p[0] - p[1:]).tolist(), strict=True))

    def at_random(text: str, _: int) -> Scores:
        return {word: rng.random() for word in sorted({w for _, _, w in word_spans(model, text)})}

    return {
        "shafer, over the runner-up": contrast,
        "shafer, weight of the class": weight,
        "SHAP linear": _shap_linear(model, background),
        "SHAP partition": _shap_partition(model),
        "leave one word out": left_out,
        "random": at_random,
    }


def without(model: Any, text: str, removed: set[str]) -> str:
    """Return a text without some words."""
    pieces, at = [], 0
    for start, end, word in word_spans(model, text):
        if word in removed:
            pieces.append(text[at:start])
            at = end
    return "".join([*pieces, text[at:]])


def _by_word(model: Any, text: str, spans: Any, weights: Any) -> Scores:
    scores = dict.fromkeys((word for _, _, word in word_spans(model, text)), 0.0)
    for (start, end), weight in zip(spans.tolist(), weights.tolist(), strict=True):
        scores[text[start:end].lower()] += weight
    return scores


def _shap_linear(model: Any, background: list[str]) -> Method:
    import shap

    vectorizer = model[0]
    coef, intercept = _head(model[-1])
    encoded = vectorizer.transform(background)
    explainer = shap.LinearExplainer((coef, intercept), encoded)

    def scores(text: str, k: int) -> Scores:
        row = vectorizer.transform([text])
        values = np.asarray(explainer.shap_values(row))
        one = values[0, :, k] if values.ndim == 3 else values[0] * (1 if k == 1 else -1)
        words = {word for _, _, word in word_spans(model, text)}
        column = {word: vectorizer.transform([word]).indices for word in words}
        return {word: float(one[column[word]].sum()) for word in sorted(words)}

    return scores


def _head(classifier: Any) -> tuple[Any, Any]:
    """Return coefficients and intercept of the scores: one row for two classes, else K."""
    if hasattr(classifier, "feature_log_prob_"):
        coef, intercept = classifier.feature_log_prob_, classifier.class_log_prior_
        if len(coef) == 2:
            return coef[1] - coef[0], intercept[1] - intercept[0]
        return coef, intercept
    if hasattr(classifier, "calibrated_classifiers_"):
        classifier = classifier.calibrated_classifiers_[0].estimator
    two = len(classifier.classes_) == 2
    return (classifier.coef_[0], classifier.intercept_[0]) if two else (
        classifier.coef_, classifier.intercept_)  # fmt: skip


def _shap_partition(model: Any) -> Method:
    import shap

    masker = shap.maskers.Text(r"\W+")
    explainer = shap.Explainer(lambda texts: model.predict_proba(list(texts)), masker)

    def scores(text: str, k: int) -> Scores:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = explainer([text], silent=True)
        words = dict.fromkeys((word for _, _, word in word_spans(model, text)), 0.0)
        for token, value in zip(found.data[0], found.values[0][:, k], strict=True):
            for _, _, word in word_spans(model, token):
                words[word] = words.get(word, 0.0) + float(value)
        return words

    return scores
