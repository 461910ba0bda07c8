"""Exact tail bounds, against mpmath and against simulated losses."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from shafer.metrics.bounds import (
    mean_p_value,
    rate_interval,
    rate_p_value,
    rows_without_error,
    upper_mean,
    upper_rate,
)


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
