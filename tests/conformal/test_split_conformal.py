"""Conformal sets: scores, exact ranks, promised coverage."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
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
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from oracle import pooled_by_dempster
from shafer._checks import to_numpy
from shafer.conformal import split as conformal
from shafer.conformal.scores import SCORES, conformal_scores
from shafer.conformal.split import ConformalSets, split_conformal
from shafer.decision.class_rules import interval_dominance

# Conformal sets: exact ranks, promised coverage on real data, and tests that notice if not.


BAND = (0.895, 0.915)
# 55 · 0.9 = 49.5: the right rank covers 50/55 = .909, each wrong one below 49/55 = .891 or 51/55.
N_CALIBRATION = 54
N_SPLITS = 1000
Quantile = Callable[[NDArray[Any], Fraction], float]


def _at(rank: Callable[[int, Fraction], int]) -> Quantile:
    return lambda scores, coverage: float(np.sort(scores)[rank(len(scores), coverage) - 1])


BROKEN: dict[str, Quantile] = {
    "n instead of n + 1": _at(lambda n, c: math.ceil(n * c)),
    "floor instead of ceiling": _at(lambda n, c: math.floor((n + 1) * c)),
    "one rank too high": _at(lambda n, c: math.ceil((n + 1) * c) + 1),
    "one rank too low": _at(lambda n, c: math.ceil((n + 1) * c) - 1),
    "an interpolated quantile": lambda scores, c: float(np.quantile(scores, float(c))),
    "the other tail": _at(lambda n, c: math.ceil((n + 1) * (1 - c))),
}


def heart() -> tuple[NDArray[Any], NDArray[Any]]:
    data = shafer.datasets.load_heart()
    return data.data, data.target


DATA: dict[str, Callable[[], Any]] = {
    "heart": heart,
    "breast cancer": lambda: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda: datasets.load_digits(return_X_y=True),
}


@cache
def held_out_scores(name: str, score: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Train on a third, and score the rest: the splits are of the rest."""
    X, y = DATA[name]()
    order = np.random.default_rng(0).permutation(len(y))
    train, rest = order[: len(y) // 3], order[len(y) // 3 :]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[train], y[train])
    return conformal_scores(shafer.Explainer(model, X[train])(X[rest]).pooled, score), y[rest]


@cache
def splits(name: str, *, per_class: bool) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Give random splits, with so many calibration rows in all or of each class."""
    _, y = held_out_scores(name, "plausibility")
    rng = np.random.default_rng(1)
    found = []
    for _ in range(N_SPLITS):
        order = rng.permutation(len(y))
        if per_class:  # bring the first rows of each class to the front
            rank = np.empty(len(y), dtype=int)
            for k in np.unique(y):
                rank[y[order] == k] = np.arange(np.sum(y == k))
            order = order[np.argsort(rank >= N_CALIBRATION, kind="stable")]
        cut = N_CALIBRATION * (len(np.unique(y)) if per_class else 1)
        found.append((order[:cut], order[cut:]))
    return found


def coverage_over_splits(name: str, score: str, *, per_class: bool = False) -> NDArray[Any]:
    """Mean coverage over the splits; of every class if per class."""
    scores, y = held_out_scores(name, score)
    classes = np.unique(y)
    found = []
    for calibration, test in splits(name, per_class=per_class):
        calibrated = split_conformal(
            scores[calibration],
            y[calibration],
            score=score,
            class_conditional=per_class,
            classes=classes,
        )
        truth = y[test]
        covered = calibrated.sets(scores[test])[np.arange(len(test)), truth]
        if per_class:
            found.append([covered[truth == k].mean() for k in classes])
        else:
            found.append([covered.mean()])
    return np.mean(found, axis=0)


def inside(coverage: NDArray[Any]) -> bool:
    return bool(np.all((coverage >= BAND[0]) & (coverage <= BAND[1])))


# The simulations are not traced for coverage: they repeat a few lines a thousand times.


@pytest.mark.no_cover
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("name", DATA)
def test_promised_coverage_over_a_thousand_splits(name: str, score: str) -> None:
    coverage = coverage_over_splits(name, score)
    assert inside(coverage), coverage


@pytest.mark.no_cover
@pytest.mark.parametrize("name", DATA)
def test_promised_coverage_of_every_class(name: str) -> None:
    coverage = coverage_over_splits(name, "plausibility", per_class=True)
    assert inside(coverage), coverage


@pytest.mark.no_cover
@pytest.mark.parametrize("broken", BROKEN)
def test_the_coverage_test_notices_a_broken_quantile(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conformal, "conformal_quantile", BROKEN[broken])
    for name in DATA:
        assert not inside(coverage_over_splits(name, "plausibility"))
    assert not inside(coverage_over_splits("heart", "plausibility", per_class=True))


@pytest.mark.no_cover
def test_the_class_conditional_test_notices_one_threshold_for_all() -> None:
    scores, y = held_out_scores("heart", "plausibility")
    found = []
    for calibration, test in splits("heart", per_class=True):
        kept = split_conformal(scores[calibration], y[calibration], classes=[0, 1]).sets(
            scores[test]
        )
        covered = kept[np.arange(len(test)), y[test]]
        found.append([covered[y[test] == k].mean() for k in (0, 1)])
    assert not inside(np.mean(found, axis=0))


@pytest.mark.parametrize(
    ("n", "coverage", "rank"),
    [(9, 0.9, 9), (10, 0.9, 10), (19, 0.95, 19), (99, 0.99, 99), (6, 0.7, 5), (54, 0.9, 50)],
)
def test_exact_rank(n: int, coverage: float, rank: int) -> None:
    own = np.arange(1.0, n + 1)
    scores = np.stack([own, own + 1000], axis=1)
    order = np.random.default_rng(n).permutation(n)
    assert (
        split_conformal(scores[order], np.zeros(n), coverage=coverage, classes=[0, 1]).threshold
        == rank
    )


def test_exact_rank_of_all_sizes() -> None:
    for n in range(9, 400):
        own = np.arange(1.0, n + 1)
        calibrated = split_conformal(np.stack([own, own], axis=1), np.zeros(n), classes=[0, 1])
        assert calibrated.threshold == -(-9 * (n + 1) // 10)


@pytest.mark.parametrize(("n", "coverage", "needed"), [(8, 0.9, 9), (1, 0.8, 4), (98, 0.99, 99)])
def test_too_few_rows_keep_every_class_and_say_so(n: int, coverage: float, needed: int) -> None:
    scores = np.random.default_rng(0).normal(size=(n, 3))
    with pytest.warns(UserWarning, match=f"^{n} calibration rows .* at least {needed} rows"):
        calibrated = split_conformal(scores, np.zeros(n), coverage=coverage, classes=range(3))
    assert calibrated.threshold == np.inf
    assert calibrated.sets(1e300 * scores).all()
    assert calibrated.plausibility_floor == 0.0


def test_no_rows_at_all() -> None:
    with pytest.warns(UserWarning, match="0 calibration rows"):
        assert split_conformal(np.empty((0, 2)), []).sets([[5.0, 9.0]]).all()


def test_a_class_with_too_few_rows_is_always_kept() -> None:
    rng = np.random.default_rng(0)
    y = np.array(["often"] * 40 + ["seldom"] * 8)
    scores = rng.normal(size=(48, 3))
    with pytest.warns(UserWarning, match=r"'never' \(0\), 'seldom' \(8\); .* 9 rows of each"):
        calibrated = split_conformal(
            scores, y, class_conditional=True, classes=["never", "often", "seldom"]
        )
    assert calibrated.class_conditional
    assert_array_equal(np.isinf(calibrated.threshold), [True, False, True])
    assert_array_equal(calibrated.sets(np.full((1, 3), 99.0)), [[True, False, True]])
    with pytest.raises(ValueError, match="read-only"):
        calibrated.threshold[1] = 0.0  # type: ignore[index]


def test_ties_are_kept() -> None:
    scores = np.zeros((20, 2))
    assert split_conformal(scores, np.zeros(20), classes=[0, 1]).sets(scores).all()


def test_infinite_scores() -> None:
    scores = np.full((20, 2), -np.inf)
    for score in SCORES:
        calibrated = split_conformal(scores, np.zeros(20), score=score, classes=[0, 1])
        assert calibrated.threshold == -np.inf
        assert_array_equal(calibrated.sets([[-np.inf, -1e300]]), [[True, False]])
    assert calibrated.discount_rate == -np.inf


def test_plausibility_floor_is_the_threshold_in_plausibilities() -> None:
    rng = np.random.default_rng(3)
    ev = shafer.Evidence.from_weights(rng.normal(size=(300, 4, 3)))
    y = rng.integers(3, size=300)
    scores = conformal_scores(ev.pooled)
    calibrated = split_conformal(scores, y, coverage=0.7)
    plain = np.sort(1 - ev.plausibility[np.arange(300), y])[math.ceil(301 * 0.7) - 1]
    assert calibrated.plausibility_floor == pytest.approx(1 - plain, abs=1e-12)
    assert calibrated.discount_rate is None
    clear = np.abs(1 - ev.plausibility - plain) > 1e-12
    assert_array_equal(calibrated.sets(scores)[clear], (1 - ev.plausibility <= plain)[clear])


@pytest.mark.parametrize("coverage", [0.3, 0.9])
def test_discount_rate_is_what_the_dominating_belief_loses(coverage: float) -> None:
    rng = np.random.default_rng(4)
    w = rng.normal(size=(400, 1, 3))
    ev = shafer.Evidence.from_weights(w - w.mean(axis=2, keepdims=True))
    y = np.array([rng.choice(3, p=row) for row in ev.probability])
    scores = conformal_scores(ev.pooled, "dominance")
    calibrated = split_conformal(scores, y, coverage=coverage, score="dominance")
    rate = calibrated.discount_rate
    assert isinstance(rate, float)
    others = np.array([np.delete(ev.belief, k, axis=1).max(axis=1) for k in range(3)]).T
    margin = ev.plausibility - (1 - rate) * others
    clear = np.abs(margin) > 1e-12
    assert_array_equal(calibrated.sets(scores)[clear], (margin >= 0)[clear])
    assert calibrated.plausibility_floor is None
    assert (rate < 0) == (coverage == 0.3)  # sharper than interval dominance


def test_threshold_zero_of_dominance_is_interval_dominance() -> None:
    ev = shafer.Evidence.from_weights(np.random.default_rng(5).normal(size=(200, 2, 4)))
    plain = ConformalSets("dominance", 0.9, 0.0, 100, 4)
    assert plain.discount_rate == 0.0
    found = plain.sets(conformal_scores(ev.pooled, "dominance"))
    assert_array_equal(found, interval_dominance(ev.belief, ev.plausibility))


def test_class_conditional_figures_are_arrays() -> None:
    rng = np.random.default_rng(6)
    scores, y = rng.normal(size=(90, 3)), np.repeat([0, 1, 2], 30)
    for score, figure in (("plausibility", "plausibility_floor"), ("dominance", "discount_rate")):
        calibrated = split_conformal(scores, y, score=score, class_conditional=True)
        assert getattr(calibrated, figure).shape == (3,)


def test_empty_sets_are_allowed_or_filled() -> None:
    scores, y = held_out_scores("breast cancer", "plausibility")
    empty = split_conformal(scores, y)
    filled = split_conformal(scores, y, allow_empty=False)
    before, after = empty.sets(scores), filled.sets(scores)
    none = ~before.any(axis=1)
    assert none.any()  # the model is right more often than 90 %
    assert_array_equal(after[~none], before[~none])
    assert_array_equal(after[none].sum(axis=1), 1)
    assert_array_equal(after[none].argmax(axis=1), scores[none].argmin(axis=1))


@pytest.mark.parametrize("class_conditional", [False, True])
@pytest.mark.parametrize("asarray", [torch.asarray, array_api_strict.asarray])
def test_other_libraries(asarray: Any, class_conditional: bool) -> None:
    scores = np.random.default_rng(7).normal(size=(60, 3))
    y = np.repeat([0, 1, 2], 20)
    ours = split_conformal(scores, y, class_conditional=class_conditional, allow_empty=False)
    theirs = split_conformal(
        asarray(scores), asarray(y), class_conditional=class_conditional, allow_empty=False
    )
    assert_array_equal(theirs.threshold, ours.threshold)
    found = theirs.sets(asarray(scores))
    assert type(found) is type(asarray(scores))
    assert_array_equal(to_numpy(found), ours.sets(scores))


def test_single_precision_keeps_the_row_at_the_threshold() -> None:
    scores = np.random.default_rng(8).normal(size=(39, 2)).astype(np.float32)
    kept = split_conformal(scores, np.zeros(39), classes=[0, 1]).sets(scores)
    assert kept[:, 0].sum() == 36


@given(st.integers(9, 60), st.integers(0, 1000), st.sampled_from([0.5, 0.8, 0.9, 1 / 3]))
def test_a_new_row_is_covered_as_often_as_ranks_say(n: int, seed: int, coverage: float) -> None:
    # Of n + 1 exchangeable rows each is once the new one: exactly ⌈(n+1)c⌉ of them are covered.
    scores = np.random.default_rng(seed).permutation(n + 1).astype(float)
    table = np.stack([scores, scores], axis=1)
    covered = 0
    for i in range(n + 1):
        rest = np.delete(table, i, axis=0)
        calibrated = split_conformal(rest, np.zeros(n), coverage=coverage, classes=[0, 1])
        covered += bool(calibrated.sets(table[i : i + 1])[0, 0])
    assert covered == math.ceil((n + 1) * Fraction(str(coverage)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"coverage": 1.0}, r"coverage must be a number between 0 and 1.*got 1\.0"),
        ({"coverage": 90}, r"got 90\."),
        ({"coverage": True}, "got True"),
        ({"coverage": "0.9"}, "got '0.9'"),
        ({"score": "aps"}, "score must be one of .* got 'aps'"),
        (
            {"y": [0, 1, 7] * 10},
            r"y holds the labels \[0, 1, 7\], and it is not known which of the 3 ",
        ),
        ({"y": [0, 1, 2]}, r"one label for each of 30 rows; got shape \(3,\)"),
        ({"scores": np.full((30, 3), np.nan)}, "scores must not hold NaN"),
        ({"scores": np.zeros(30)}, "scores must have 2 dimension"),
        ({"classes": ["a", "b"]}, "classes must hold 3 labels"),
    ],
)
def test_errors_say_what_was_wrong(change: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"scores": np.zeros((30, 3)), "y": [0, 1, 2] * 10}
    with pytest.raises(ValueError, match=message):
        split_conformal(**(good | change))


def test_sets_need_the_classes_of_the_calibration() -> None:
    calibrated = split_conformal(np.zeros((30, 3)), [0, 1, 2] * 10)
    with pytest.raises(ValueError, match="scores must have 3 columns, as at calibration; got 2"):
        calibrated.sets(np.zeros((4, 2)))


# The scores against ``belief/`` by brute force, and where the beliefs themselves saturate.


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
def test_other_libraries_of_conformal_scores(score: str, asarray: Any) -> None:
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
