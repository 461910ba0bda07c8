"""Naive Bayes in the precision it was trained in, and with parameters that are not finite."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import shafer

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("precision", ["float16", "float32", "float64"])
def test_gaussian_naive_bayes_in_its_own_precision(precision: str) -> None:
    rows = X.astype(precision)
    model = GaussianNB().fit(rows, Y)
    ev = shafer.Explainer(model, rows)(rows)
    assert ev.probability.dtype == np.float64
    # The model itself rounds its softmax to its precision.
    tolerance = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-12}[precision]
    assert_allclose(ev.probability, model.predict_proba(rows), atol=tolerance)
    joint = model.predict_joint_log_proba(rows).astype(np.float64)
    own = np.exp(joint - joint.max(axis=1, keepdims=True))
    assert_allclose(ev.probability, own / own.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("encode", ["ordinal", "onehot-dense"])
def test_behind_bins(encode: str, precision: str) -> None:
    # One-hot columns that are constant in a class have variances near 0, and log-densities near
    # 10^9, of which double precision keeps seven digits behind the point. Weights of evidence that
    # are computed exactly and then rounded to double precision change the probabilities by 10^-8.
    rows = X.astype(precision)
    bins = KBinsDiscretizer(5, encode=encode, quantile_method="averaged_inverted_cdf")
    model = make_pipeline(bins, GaussianNB()).fit(rows, Y)
    joint = model[-1].predict_joint_log_proba(bins.transform(rows)).astype(np.float64)
    own = np.exp(joint - joint.max(axis=1, keepdims=True))
    ev = shafer.Explainer(model, rows)(rows)
    tolerance = 1e-12 if encode == "ordinal" else 1e-6
    assert_allclose(ev.probability, own / own.sum(axis=1, keepdims=True), atol=tolerance)


def test_log_likelihoods_that_overflow() -> None:
    wine, y = load_wine(return_X_y=True)
    half = wine.astype(np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianNB().fit(half, y)
        with pytest.raises(ValueError, match="Train it on float64|has infinite param|has NaN par"):
            shafer.Explainer(model, half)


def _without_words() -> Any:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, (60, 4)).astype(float)
    y = rng.integers(0, 2, 60)
    return counts * (y[:, None] > 0), y


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (MultinomialNB(alpha=0, force_alpha=True), "has NaN parameters"),
        (BernoulliNB(alpha=0, force_alpha=True), "has infinite parameters"),
        (LinearDiscriminantAnalysis(priors=[0, 1]), "has infinite parameters"),
    ],
)
def test_parameters_that_are_not_finite(model: Any, reason: str) -> None:
    counts, y = _without_words()
    rows = counts if isinstance(model, MultinomialNB | BernoulliNB) else X[:100]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, y if len(rows) == len(y) else Y[:100])
    with pytest.raises(shafer.UnsupportedModelError, match=f"{reason}.*smoothing"):
        shafer.Explainer(model, rows)
