"""Data that do not fit in memory: batches in, batches out."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

import shafer


@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=9000), HistGradientBoostingClassifier(max_iter=5)]
)
def test_batches_of_background(model: Any) -> None:
    X, y = load_wine(return_X_y=True)
    model = model.fit(X, y)
    whole = shafer.Explainer(model, X)
    cut = shafer.Explainer(model, iter(np.array_split(X, 7)))
    assert_allclose(cut(X).weights, whole(X).weights, atol=1e-10)
    parts = list(whole.stream(np.array_split(X, 5)))
    assert sum(map(len, parts)) == len(X)
    assert_allclose(np.vstack([part.belief for part in parts]), whole(X).belief)


def test_no_batches() -> None:
    with pytest.raises(ValueError, match="at least one batch"):
        shafer.Explainer((np.ones(2), 0.0), iter([]))


def test_weights_of_batches_are_refused_before_a_batch_is_read() -> None:
    batches = iter([np.zeros((3, 2))])
    for weight in (np.ones(3), 1.0):
        with pytest.raises(ValueError, match="sample_weight cannot be given with an iterator"):
            shafer.Explainer((np.ones(2), 0.0), batches, sample_weight=weight)
    assert len(list(batches)) == 1


def test_memory_stays_constant() -> None:
    explainer = shafer.Explainer((np.ones(50), 0.0), np.zeros((1, 50)))

    def batches(count: int) -> Iterator[Any]:
        for seed in range(count):
            yield np.random.default_rng(seed).normal(size=(2000, 50))

    def peak(count: int) -> int:
        tracemalloc.start()
        for ev in explainer.stream(batches(count)):
            assert ev.belief.shape == (2000, 2)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)
    assert peak(20) < 1.5 * peak(2)
