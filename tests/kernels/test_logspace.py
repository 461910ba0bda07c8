"""The logarithms against mpmath, over every magnitude a double can hold."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from shafer._kernels import logspace

WEIGHTS = [5e-324, 1e-300, 1e-20, 1e-12, 1e-3, 0.5, 0.69, 0.7, 1.0, 5.0, 19.9, 20.1, 36.0, 700.0]


@pytest.fixture(autouse=True)
def digits() -> None:
    mpmath.mp.dps = 400


@pytest.mark.parametrize("x", WEIGHTS)
def test_log1mexp(x: float) -> None:
    expected = float(mpmath.log(-mpmath.expm1(-mpmath.mpf(x))))
    assert_allclose(logspace.log1mexp(np.array(x)), expected, rtol=1e-15)


@pytest.mark.parametrize("x", [*WEIGHTS, 3000.0])
def test_log_neg_log1mexp(x: float) -> None:
    mpmath.mp.dps = max(400, int(x))
    expected = float(mpmath.log(-mpmath.log(-mpmath.expm1(-mpmath.mpf(x)))))
    assert_allclose(logspace.log_neg_log1mexp(np.array(x)), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("y", [-3000.0, -700.0, -20.1, -19.9, -3.0, 0.0, 3.0, 6.6])
def test_log1mexpexp(y: float) -> None:
    mpmath.mp.dps = max(800, int(-y))
    expected = float(mpmath.log(-mpmath.expm1(-mpmath.exp(mpmath.mpf(y)))))
    assert_allclose(logspace.log1mexpexp(np.array(y)), expected, rtol=1e-14, atol=1e-300)


def test_the_ends() -> None:
    zero = np.array(0.0)
    assert logspace.log1mexp(zero) == -np.inf
    assert np.exp(-logspace.neg_log1mexp(zero)) == 0.0
    assert logspace.log1mexpexp(logspace.log_neg_log1mexp(zero)) == 0.0
    assert logspace.safe_log(zero) == -np.inf
    assert logspace.logsumexp(np.array([-np.inf, -np.inf])) == -np.inf


entries = st.lists(
    st.one_of(st.just(0.0), st.just(logspace.NEVER), st.floats(1e-12, 1e4)), min_size=2, max_size=6
)


@given(entries)
def test_leave_one_out_sum(values: list[float]) -> None:
    x = np.array(values)
    expected = [float(sum(np.delete(x, k))) for k in range(len(x))]
    assert_allclose(logspace.leave_one_out_sum(x), expected, rtol=1e-14)


@given(entries)
def test_leave_one_out_logsumexp(values: list[float]) -> None:
    x = np.array(values)
    expected = [float(logspace.logsumexp(np.delete(x, k))) for k in range(len(x))]
    assert_allclose(logspace.leave_one_out_logsumexp(x), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("function", [logspace.leave_one_out_sum, logspace.leave_one_out_logsumexp])
def test_equal_entries_have_equal_rests(function: Callable[[np.ndarray], np.ndarray]) -> None:
    x = np.random.default_rng(0).random((2000, 5)) + 0.1
    x[:, 3] = x[:, 1] = x.max(axis=1)
    rest = function(x)
    np.testing.assert_array_equal(rest[:, 1], rest[:, 3])
