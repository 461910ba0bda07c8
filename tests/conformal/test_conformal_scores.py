"""The scores against ``belief/`` by brute force, and where the beliefs themselves saturate."""

from __future__ import annotations

from typing import Any

import array_api_strict
import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import shafer
from oracle import pooled_by_dempster
from shafer._checks import to_numpy
from shafer.conformal.scores import SCORES, conformal_scores
from shafer.decision.class_rules import interval_dominance

WEIGHTS = st.one_of(st.sampled_from([0.0, 1e-6, -1e-6, 2.0, -3.0]), st.floats(-4, 4))


@st.composite
def weights(draw: Any) -> NDArray[Any]:
    n_components, n_classes = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    size = n_components * n_classes
    flat = draw(st.lists(WEIGHTS, min_size=size, max_size=size))
    return np.array(flat).reshape(n_components, n_classes)


@given(weights())
def test_scores_agree_with_brute_force(w: NDArray[Any]) -> None:
    pooled = shafer.Evidence.from_weights(w[None]).pooled
    oracle = pooled_by_dempster(w)
    every = list(oracle.frame)
    alone = [oracle.belief_of([k]) for k in every]
    others = [oracle.belief_of([label for label in every if label != k]) for k in every]
    best = [max(alone[:k] + alone[k + 1 :]) for k in every]
    odds = np.exp(conformal_scores(pooled)[0])
    assert_allclose(odds, np.array(others) / oracle.contour, rtol=1e-9, atol=1e-14)
    ratio = np.exp(conformal_scores(pooled, "dominance")[0])
    assert_allclose(ratio, np.array(best) / oracle.contour, rtol=1e-9, atol=1e-14)


@given(weights())
def test_scores_order_as_one_minus_plausibility_and_as_interval_dominance(w: NDArray[Any]) -> None:
    ev = shafer.Evidence.from_weights(w[None])
    score, one_minus = conformal_scores(ev.pooled)[0], 1 - ev.plausibility[0]
    # Where the plainer score tells two classes apart, this one does, in the same order.
    apart = one_minus[:, None] < one_minus[None] - 1e-9
    assert np.all(score[:, None][apart.nonzero()[0], 0] < score[apart.nonzero()[1]])
    kept = conformal_scores(ev.pooled, "dominance") <= 1e-12
    assert np.all(kept >= interval_dominance(ev.belief, ev.plausibility))


def test_two_classes_have_one_score() -> None:
    w = np.random.default_rng(0).normal(size=(50, 4, 1))
    pooled = shafer.Evidence.from_weights(np.concatenate([w, -w], axis=2)).pooled
    assert_allclose(conformal_scores(pooled), conformal_scores(pooled, "dominance"), atol=1e-12)


def exact_odds(w: NDArray[Any]) -> list[mpmath.mpf]:
    """ln((1 − pl)/pl) of pooled weights, by the closed form in 20 000 digits."""
    with mpmath.workdps(20_000):
        plus = [mpmath.mpf(float(np.clip(column, 0, None).sum())) for column in w.T]
        minus = [mpmath.mpf(float(np.clip(-column, 0, None).sum())) for column in w.T]
        u = [mpmath.exp(-value) for value in minus]
        s = [a * (mpmath.exp(b) - 1) for a, b in zip(u, plus, strict=True)]
        product = mpmath.fprod(1 - a for a in u)
        total = mpmath.fsum(s) + 1 - product
        pl = [a * mpmath.exp(b) / total for a, b in zip(u, plus, strict=True)]
        return [float(mpmath.log((1 - value) / value)) for value in pl]


@pytest.mark.parametrize(
    "w",
    [
        [[700.0, -300.0, -400.0], [-90.0, 45.0, 45.0]],
        [[5000.0, -2000.0, -3000.0], [10.0, -10.0, 0.0]],
        [[0.0, -8000.0, -9000.0]],
        [[-40.0, -41.0, -42.0], [-40.0, -40.0, -40.0]],
        [[1e-9, -1e-9, 0.0], [2e-9, 0.0, -2e-9]],
    ],
)
def test_neither_end_saturates(w: list[list[float]]) -> None:
    pooled = shafer.Evidence.from_weights([w]).pooled
    assert_allclose(conformal_scores(pooled)[0], exact_odds(np.array(w)), rtol=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_extreme_weights_give_numbers(score: str) -> None:
    rng = np.random.default_rng(1)
    for scale in (0.0, 1e-12, 1.0, 1e4):
        for n_classes in (2, 3, 1000):
            w = scale * rng.normal(size=(20, 3, n_classes))
            scores = conformal_scores(shafer.Evidence.from_weights(w).pooled, score)
            assert scores.shape == (20, n_classes)
            assert not np.isnan(scores).any()
            assert np.all(scores < np.inf)
            if scale:  # continuous weights: no two rows tie
                assert len(np.unique(scores[:, 0])) == 20


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("w", [[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
def test_no_evidence_against_is_minus_infinity(score: str, w: list[float]) -> None:
    scores = conformal_scores(shafer.Evidence.from_weights([[w]]).pooled, score)[0]
    assert scores[0] == -np.inf
    assert_array_equal(scores[1:] == -np.inf, w[0] == 0)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("asarray", [torch.asarray, array_api_strict.asarray])
def test_other_libraries(score: str, asarray: Any) -> None:
    w = np.random.default_rng(2).normal(size=(5, 3, 4))
    expected = conformal_scores(shafer.Evidence.from_weights(w).pooled, score)
    found = conformal_scores(shafer.Evidence.from_weights(asarray(w)).pooled, score)
    assert type(found) is type(asarray(w))
    assert_allclose(to_numpy(found), expected, rtol=1e-12)


def test_unknown_score() -> None:
    pooled = shafer.Evidence.from_weights([[[1.0, -1.0]]]).pooled
    with pytest.raises(ValueError, match=r"score must be one of 'plausibility', .*got 'lac'"):
        conformal_scores(pooled, "lac")


def test_scores_of_components_are_those_of_each_component() -> None:
    ev = shafer.Evidence.from_weights(np.random.default_rng(0).normal(size=(4, 3, 5)))
    for score in ("plausibility", "dominance"):
        together = conformal_scores(ev.components.pooled, score)
        assert together.shape == (4, 3, 5)
        for g in range(3):
            alone = ev.without([h for h in range(3) if h != g])
            assert_allclose(together[:, g], conformal_scores(alone.pooled, score))
