"""Thresholds that keep a promise: the search, its bounds, and what a broken bound does."""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from shafer.deferral.search import (
    SelectiveThreshold,
    Starts,
    budget_threshold,
    error_threshold,
    fallback_search,
    fallback_starts,
    loss_threshold,
    miss_threshold,
)
from shafer.metrics.bounds import (
    mean_p_value,
    rate_interval,
    rate_p_value,
    rows_without_error,
    upper_mean,
    upper_rate,
)

# Thresholds that keep a promise: over many calibration sets, and what a broken bound does.


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


# The fixed sequence with several starts, against a slow version.


def _slowly(p: np.ndarray, tested: np.ndarray, starts: Starts) -> int:
    """One rank after the other; a start inside a tie is at the end of it."""
    begins: dict[int, float] = {}
    for rank, level in zip(starts.ranks.tolist(), starts.levels.tolist(), strict=True):
        place = next((k for k in range(rank, len(p)) if tested[k]), None)
        if place is not None:  # otherwise there are fewer rows
            begins[place] = begins.get(place, 0.0) + level
    best, level = 0, 0.0
    for rank in range(len(p)):
        if not tested[rank]:
            continue
        level += begins.get(rank, 0.0)
        if level and p[rank] <= level:
            best = rank
        else:
            level = 0.0
    return best


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_it_is_the_slow_search(n: int, seed: int, n_starts: int) -> None:
    random = np.random.default_rng(seed)
    p = random.random(n + 1) ** 3
    tested = random.random(n + 1) < 0.7
    tested[0], tested[-1] = False, True
    ranks = np.sort(random.choice(np.arange(1, n + 1), size=min(n, n_starts), replace=False))
    shares = random.dirichlet(np.ones(len(ranks)))
    starts = Starts(ranks, 0.5 * shares)
    assert fallback_search(p, tested, starts) == _slowly(p, tested, starts)


@pytest.mark.parametrize("n", [1, 20, 44, 45, 100, 170, 200, 1000, 12345])
@pytest.mark.parametrize("delta", [0.01, 0.1, 0.4])
def test_the_starts_share_the_level(n: int, delta: float) -> None:
    starts = fallback_starts(n, 45, 50, delta)
    assert starts.levels.sum() == pytest.approx(delta, rel=1e-12)
    assert (starts.levels > 0).all()
    assert (np.diff(starts.ranks) > 0).all()
    assert starts.ranks[0] >= 45
    assert len(starts.ranks) == 1 or starts.ranks[-1] <= n


def test_errors_at_the_top_do_not_end_the_search() -> None:
    tested = np.ones(101, dtype=bool)
    p = np.full(101, 0.001)
    p[:40] = 0.5
    one = Starts(np.array([10]), np.array([0.1]))
    several = Starts(np.array([10, 50]), np.array([0.08, 0.02]))
    assert fallback_search(p, tested, one) == 0
    assert fallback_search(p, tested, several) == 100


# Exact tail bounds, against mpmath and against simulated losses.


def _exact_cdf(k: int, n: int, rate: float) -> float:
    r = mpmath.mpf(rate)
    terms = (mpmath.binomial(n, i) * r**i * (1 - r) ** (n - i) for i in range(k + 1))
    return float(mpmath.fsum(terms))


@given(st.integers(1, 80), st.floats(0.001, 0.999), st.data())
def test_the_p_value_is_the_binomial_tail(n: int, rate: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    assert_allclose(rate_p_value(k, n, rate), _exact_cdf(k, n, rate), rtol=1e-9, atol=1e-300)


@given(st.integers(1, 200), st.floats(0.5, 0.999), st.data())
def test_the_upper_rate_is_where_the_test_turns(
    n: int, confidence: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, n))
    bound = float(upper_rate(k, n, confidence))
    if k == n:
        assert bound == 1.0
    else:
        assert_allclose(_exact_cdf(k, n, bound), 1 - confidence, rtol=1e-6)
        assert bound > k / n


def test_an_interval_has_both_ends() -> None:
    low, high = rate_interval(np.array([0, 3, 10]), np.array([10, 10, 10]), 0.95)
    assert_allclose(low, [0.0, 0.06673951, 0.69150289], atol=1e-7)  # by R's binom.test
    assert_allclose(high, [0.30849711, 0.65245285, 1.0], atol=1e-7)
    assert upper_rate(0, 0, 0.9) == 1.0


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.3, 0.9])
def test_rows_without_error(rate: float, confidence: float) -> None:
    needed = rows_without_error(rate, confidence)
    assert rate_p_value(0, needed, rate) <= 1 - confidence + 1e-9
    if needed > 1:
        assert rate_p_value(0, needed - 1, rate) > 1 - confidence
    assert needed == max(1, math.ceil(round(math.log(1 - confidence) / math.log(1 - rate), 9)))


def test_a_mean_is_tested_at_its_level() -> None:
    """Over losses of several values, the p-value is below δ in at most a share δ of samples."""
    random = np.random.default_rng(0)
    for values, chances in [
        ([0.0, 0.2, 1.0], [0.7, 0.2, 0.1]),
        ([0.0, 1.0], [0.9, 0.1]),
        ([0.0, 0.05], [0.5, 0.5]),
    ]:
        mean = float(np.dot(values, chances))
        for n in (20, 200):
            total = random.choice(values, size=(20_000, n), p=chances).sum(axis=1)
            p = mean_p_value(total, n, mean)
            for delta in (0.05, 0.1, 0.3):
                assert (p <= delta).mean() <= delta + 0.006


def test_losses_of_zero_and_one_cost_little_power() -> None:
    exact, general = rate_p_value(3, 200, 0.05), mean_p_value(3.0, 200, 0.05)
    assert exact <= general <= math.e * exact


@given(st.integers(0, 60), st.floats(0.0, 1.0), st.floats(0.6, 0.99))
def test_the_upper_mean_is_where_the_test_turns(n: int, share: float, confidence: float) -> None:
    total = share * n
    bound = float(upper_mean(total, n, confidence))
    assert 0.0 <= bound <= 1.0
    assert bound >= min(share, 1.0) - 1e-12 or n == 0
    if n and bound < 1.0 - 1e-9:
        assert mean_p_value(total, n, bound + 1e-9) <= 1 - confidence + 1e-9
    if n == 0:
        assert bound == 1.0


# A budget: the share is given, the bound is found.


def test_the_bound_of_a_budget_holds_for_the_threshold_it_chose():
    """Error 0.4 (1 − s) at score s: above a threshold t the true rate is 0.2 (1 − t)."""
    random, held, handed_on = np.random.default_rng(0), [], []
    for _ in range(2000):
        scores = random.random(150)
        wrong = random.random(150) < 0.4 * (1.0 - scores)
        found = budget_threshold(scores, wrong, 0.2, 0.9)
        held.append(0.2 * (1.0 - found.threshold) <= found.upper_bound)
        handed_on.append(found.threshold)
        assert found.n_decided == 120
    assert np.mean(held) >= 0.9 - 2 * np.sqrt(0.09 / 2000)
    assert np.mean(held) <= 0.95  # not by being careless with width
    np.testing.assert_allclose(np.mean(handed_on), 30 / 151, atol=0.003)


def test_the_bound_of_a_budget_is_that_of_a_rate():
    scores = np.arange(500.0)
    found = budget_threshold(scores, np.isin(scores, [3, 100, 499]), 20 / 500, 0.9)
    assert (found.threshold, found.n_decided, found.n_calibration) == (19.0, 480, 500)
    assert found.risk == 2 / 480
    assert found.upper_bound == float(upper_rate(2, 480, 0.9))


def test_ties_with_the_threshold_of_a_budget_are_handed_on():
    scores = np.array([1.0, 1.0, 1.0, 2.0, 3.0])
    assert budget_threshold(scores, scores < 2, 0.2, 0.9).n_decided == 2
    assert budget_threshold(scores, scores < 2, 0.1, 0.9).n_decided == 5  # no whole row
    nothing = budget_threshold(np.ones(5), np.zeros(5, dtype=bool), 0.2, 0.9)
    assert nothing.decides_nothing
    assert nothing.upper_bound == 1.0
