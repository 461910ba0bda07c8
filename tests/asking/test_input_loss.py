"""Losing inputs, with their expectations in their place."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import shafer
from linear_worlds import conditional, linear_world, with_gaps


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("gaps", [[], [2]])
def test_each_loss_is_the_change_to_the_expectation(n_classes: int, gaps: list[int]) -> None:
    explainer, X, _ = linear_world(3, n_classes)
    for row in with_gaps(X[:10], gaps):
        known = [j for j in range(6) if j not in gaps]
        logits = expected_logits(explainer, row)
        chosen = logits.argmax()
        shifts = np.array([logits - expected_logits(explainer, with_gaps(row, [j])) for j in known])
        total = 0.0
        for gone in product([0, 1], repeat=len(known)):
            left = logits - np.array(gone) @ shifts
            share = 0.3 ** sum(gone) * 0.7 ** (len(known) - sum(gone))
            total += share * (left.argmax() != chosen)
        assert_allclose(explainer.ask.fragility(row[None, :], 0.3)[0], total, atol=1e-9)


def expected_logits(explainer: shafer.Explainer, row: np.ndarray) -> np.ndarray:
    filled = row.copy()
    if np.isnan(row).any():
        out, expected, _ = conditional(explainer, row)
        filled[out] = expected
    return np.asarray(explainer(filled[None, :]).logits[0])


def test_many_inputs_against_losing_them_at_random() -> None:
    """Filled one by one the loss is a sum; filled together it is almost the same."""
    explainer, X, rng = linear_world(5, 3, n_inputs=14)
    read = shafer.Explainer(explainer.model, X, missing="conditional")
    rows = X[:25]
    found = explainer.ask.fragility(rows, 0.2)
    decisions = explainer(rows).probability.argmax(axis=1)
    rates = []
    for row, decision in zip(rows, decisions, strict=True):
        gone = rng.random((400, 14)) < 0.2
        many = np.where(gone, np.nan, row)
        rates.append((np.asarray(read(many).probability).argmax(axis=1) != decision).mean())
    assert np.abs(found - rates).mean() < 0.05
    assert np.corrcoef(found, rates)[0, 1] > 0.9


def test_mean_fill_is_that_of_the_evidence() -> None:
    explainer, X, _ = linear_world(3, 3)
    assert_allclose(explainer.ask.fragility(X, 0.3, fill="mean"), explainer(X).fragility(0.3))
    X, y = load_iris(return_X_y=True)
    bayes = shafer.Explainer(GaussianNB().fit(X, y), X)
    assert_allclose(bayes.ask.fragility(X, fill="mean"), bayes(X).fragility())
    with pytest.raises(shafer.UnsupportedModelError, match=r"ev\.fragility"):
        bayes.ask.fragility(X)
    with pytest.raises(ValueError, match="fill must be 'conditional' or 'mean'; got 'median'"):
        bayes.ask.fragility(X, fill="median")
    with pytest.raises(ValueError, match="q must be"):
        explainer.ask.fragility(X, 2.0)
