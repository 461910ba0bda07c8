"""OWA weights of maximum entropy, and the utilities of sets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from shafer.decision import owa_weights, set_utility
from shafer.decision.set_utility import _mean_rank


def test_first_weights_of_ma_and_denoeux() -> None:
    first = [0.8, 0.681867, 0.596482, 0.530673]
    assert_allclose([owa_weights(b, 0.8)[0] for b in (2, 3, 4, 5)], first, atol=1e-6)
    assert_allclose(set_utility(5, 0.8), [1.0, *first], atol=1e-6)


@given(st.integers(2, 60), st.floats(0, 1))
def test_orness_and_sum(size: int, orness: float) -> None:
    weights = owa_weights(size, orness)
    assert weights.shape == (size,)
    assert (weights >= 0).all()
    assert_allclose(weights.sum(), 1.0)
    assert_allclose(weights @ np.arange(size)[::-1] / (size - 1), orness, atol=1e-12)


@pytest.mark.parametrize("orness", [0.3, 0.5, 0.7, 0.95])
def test_no_other_weights_have_more_entropy(orness: float) -> None:
    size = 4
    rank = np.arange(size)[::-1] / (size - 1)
    best = minimize(
        lambda w: float(np.sum(w * np.log(np.clip(w, 1e-300, None)))),
        np.full(size, 1 / size),
        bounds=[(0, 1)] * size,
        constraints=[
            {"type": "eq", "fun": lambda w: w.sum() - 1},
            {"type": "eq", "fun": lambda w: w @ rank - orness},
        ],
        options={"ftol": 1e-14},
    )
    assert_allclose(owa_weights(size, orness), best.x, atol=1e-5)


@given(st.integers(1, 40), st.floats(0.5, 1))
def test_a_sets_utility_is_its_first_weight(size: int, tolerance: float) -> None:
    utility = set_utility(size, tolerance)
    assert_allclose(utility[-1], owa_weights(size, tolerance)[0], rtol=1e-9)
    assert (np.diff(utility) <= 1e-12).all()


def test_discounted_utilities() -> None:
    assert_allclose(set_utility(3, "u65"), [1.0, 0.65, 1.6 / 3 - 0.6 / 9])
    assert_allclose(set_utility(3, "u80"), [1.0, 0.80, 2.2 / 3 - 1.2 / 9])


def test_the_ends() -> None:
    assert owa_weights(3, 1.0).tolist() == [1.0, 0.0, 0.0]
    assert owa_weights(3, 0.0).tolist() == [0.0, 0.0, 1.0]
    assert_allclose(owa_weights(4, 0.5), 0.25)
    assert owa_weights(1, 0.7).tolist() == [1.0]
    assert_allclose(set_utility(1000, 0.5), 1 / np.arange(1, 1001))
    assert set_utility(1000, 1.0).tolist() == [1.0] * 1000
    assert_allclose(set_utility(1000, 0.5 + 1e-13), 1 / np.arange(1, 1001), rtol=1e-9)


@pytest.mark.parametrize("size", [0, 2.0, True, None])
def test_bad_size(size: Any) -> None:
    with pytest.raises(ValueError, match="size must be a positive integer; got"):
        owa_weights(size, 0.8)


@pytest.mark.parametrize("orness", [-0.1, 1.1, np.nan, "u65", True])
def test_bad_orness(orness: Any) -> None:
    with pytest.raises(ValueError, match="orness must be a number from 0 to 1; got"):
        owa_weights(3, orness)


@pytest.mark.parametrize("tolerance", [0.4, 1.1, np.nan, "u90", None])
def test_bad_tolerance(tolerance: Any) -> None:
    with pytest.raises(ValueError, match="tolerance must be a number from 0.5 to 1, or 'u65'"):
        set_utility(3, tolerance)


@pytest.mark.parametrize("size", [2, 10, 1000])
def test_orness_close_to_the_mean(size: int) -> None:
    # Rates so small that the mean rank is a series in them; brute force sums the ranks.
    rate = np.array([1e-4, 9e-3]) / size
    ranks = np.arange(size)
    weights = np.exp(-rate[:, None] * ranks)
    exact = [math.fsum(row * ranks) / math.fsum(row) for row in weights]
    assert_allclose(_mean_rank(np.full(2, float(size)), rate), exact, rtol=1e-13)
