"""Thresholds that keep a promise: over many calibration sets, and what a broken bound does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer.deferral.search import (
    SelectiveThreshold,
    error_threshold,
    loss_threshold,
    miss_threshold,
)

SPLITS, ROWS = 300, 400
CONFIDENCE = 0.9
# With exactly 90 %, fewer than 86 % of 300 splits would keep the promise once in a hundred times.
FEWEST = 0.86


def _error_of(score: np.ndarray) -> np.ndarray:
    """The chance of an error at a score: an overconfident model."""
    return 0.8 / (1.0 + np.exp(1.3 * score))


GRID = np.linspace(0.0, 6.0, 20_001)
DENSITY = np.exp(-0.5 * (GRID / 2.0) ** 2)
ABOVE = np.cumsum(DENSITY[::-1])[::-1]
TRUE_ERROR = np.cumsum((DENSITY * _error_of(GRID))[::-1])[::-1] / ABOVE


def _true_error(threshold: float) -> float:
    """The error among rows with a greater score, by quadrature."""
    if threshold == np.inf:
        return 0.0
    return float(np.interp(max(threshold, 0.0), GRID, TRUE_ERROR))


def _splits(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    scores = np.interp(random.random((SPLITS, ROWS)), 1 - ABOVE / ABOVE[0], GRID)
    return scores, random.random((SPLITS, ROWS)) < _error_of(scores)


def _naive(scores: np.ndarray, wrong: np.ndarray, error: float, _: float) -> SelectiveThreshold:
    """Broken on purpose: the largest set whose error was small enough, without a bound."""
    order = np.argsort(-scores)
    rate = np.cumsum(wrong[order]) / np.arange(1, len(scores) + 1)
    rank = int(np.flatnonzero(rate <= error)[-1]) + 1
    limit = -np.inf if rank == len(scores) else float(scores[order][rank])
    return SelectiveThreshold(limit, len(scores), rank, float(rate[rank - 1]), 1.0)


def _share_kept(find: Callable[..., SelectiveThreshold], error: float) -> tuple[float, float]:
    found = [find(s, w, error, CONFIDENCE) for s, w in zip(*_splits(), strict=True)]
    kept = np.mean([_true_error(part.threshold) <= error for part in found])
    return float(kept), float(np.mean([part.n_decided / ROWS for part in found]))


@pytest.mark.parametrize("error", [0.05, 0.1])
def test_the_promise_is_kept_and_a_broken_bound_fails_the_same_test(error: float) -> None:
    kept, decided = _share_kept(error_threshold, error)
    assert kept >= FEWEST
    assert decided > 0.2  # not by deferring everything
    assert _share_kept(_naive, error)[0] < FEWEST


def test_ties_are_decided_together() -> None:
    """A model with few different scores: the promise is kept, and ties are not torn apart."""
    scores, wrong = _splits(1)
    scores = np.round(scores, 0)
    for row_scores, row_wrong in zip(scores[:50], wrong[:50], strict=True):
        found = error_threshold(row_scores, row_wrong, 0.1, CONFIDENCE)
        assert found.n_decided == (row_scores > found.threshold).sum()
        assert found.threshold in (*row_scores, np.inf, -np.inf)
    everything = error_threshold(np.zeros(100), np.zeros(100, dtype=bool), 0.1, 0.9)
    assert everything.threshold == -np.inf
    assert everything.n_decided == 100


@given(st.integers(0, 120), st.integers(0, 2**32 - 1), st.floats(0.01, 0.6), st.floats(0.5, 0.99))
def test_what_is_decided_passes_its_own_bound(
    n: int, seed: int, error: float, confidence: float
) -> None:
    random = np.random.default_rng(seed)
    scores = random.normal(size=n).round(1)
    wrong = random.random(n) < 0.3 / (1 + np.exp(scores))
    found = error_threshold(scores, wrong, error, confidence)
    above = scores > found.threshold
    assert found.n_calibration == n
    assert found.n_decided == above.sum()
    if found.decides_nothing:
        assert np.isnan(found.risk)
        assert found.upper_bound == 1.0
    else:
        assert found.risk == wrong[above].mean()
        assert found.risk <= found.upper_bound <= error + 1e-9
    general = loss_threshold(scores, wrong.astype(float), error, confidence)
    assert general.n_decided <= found.n_decided or general.upper_bound <= error + 1e-9


def test_too_few_rows_decide_nothing() -> None:
    for n in (0, 1, 44):
        found = error_threshold(np.arange(float(n)), np.zeros(n, dtype=bool), 0.05, 0.9)
        assert found.decides_nothing
    assert not error_threshold(np.arange(45.0), np.zeros(45, dtype=bool), 0.05, 0.9).decides_nothing


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_a_class_is_seldom_missed(rate: float) -> None:
    scores, wrong = _splits(2)
    missed = np.cumsum((DENSITY * _error_of(GRID))[::-1])[::-1] / ABOVE[0]
    kept = decided = 0.0
    for s, w in zip(scores, wrong, strict=True):
        found = miss_threshold(s, w, rate, CONFIDENCE)
        true = np.interp(max(found.threshold, 0.0), GRID, missed)
        kept += float(true <= rate) / SPLITS
        decided += found.n_decided / ROWS / SPLITS
        assert found.upper_bound <= rate
        assert found.risk == (w & (s > found.threshold)).mean()
    assert kept >= FEWEST
    assert decided > 0.3


def test_a_class_with_few_rows_decides_nothing() -> None:
    assert miss_threshold(np.arange(10.0), np.zeros(10, dtype=bool), 0.05, 0.9).decides_nothing
    every = miss_threshold(np.arange(60.0), np.zeros(60, dtype=bool), 0.05, 0.9)
    assert every.threshold == -np.inf


def test_a_mean_loss_is_kept() -> None:
    """Losses of three values: wrong answers cost 0.2 or 1."""
    scores, wrong = _splits(3)
    random = np.random.default_rng(4)
    losses = wrong * np.where(random.random(wrong.shape) < 0.5, 1.0, 0.2)
    found = [loss_threshold(s, c, 0.06, CONFIDENCE) for s, c in zip(scores, losses, strict=True)]
    kept = np.mean([0.6 * _true_error(part.threshold) <= 0.06 for part in found])
    assert kept >= FEWEST
    assert np.mean([part.n_decided / ROWS for part in found]) > 0.25
