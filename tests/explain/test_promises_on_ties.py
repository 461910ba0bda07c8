"""Promises where many rows tie: categorical inputs, and scores that are computed again elsewhere.

The last digits of a score depend on the model's own arithmetic, which may depend on the batch.
Whatever they are, a promise holds, and a row has one answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

import shafer
from shafer._kernels import dispatch
from shafer.decision import cross_conformal, split_conformal
from shafer.deferral.search import error_threshold, loss_threshold, miss_threshold

pytest.importorskip("numba")

# With the first four, answers changed between kernels before thresholds had a tolerance.
SEEDS = [333, 264, 69, 312, 1]

SETS: dict[str, dict[str, Any]] = {
    "plain": {},
    "dominance": {"score": "dominance"},
    "class-conditional": {"class_conditional": True},
    "never empty": {"allow_empty": False},
    "by group": {"groups": True},
    "by class in each group": {"groups": True, "class_conditional": True},
}
DEFERRALS: dict[str, dict[str, Any]] = {
    "error": {"error": 0.3},
    "error by group": {"error": 0.3, "groups": True},
    "recall": {"recall": 0.7, "class_": 0},
    "mean loss": {"mean_loss": 0.35},
    "mean loss in small units": {"mean_loss": 0.35e-6},
    "mean loss in large units": {"mean_loss": 0.35e6},
}


@dataclass(frozen=True, eq=False)
class World:
    """Yes/no questions: a handful of different rows, each of them many times."""

    background: np.ndarray
    model: LogisticRegression
    held: np.ndarray
    y_held: np.ndarray
    new: np.ndarray


@cache
def world(seed: int) -> World:
    rng = np.random.default_rng(seed)
    n_inputs, n_classes = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    coef = rng.normal(size=(n_inputs, n_classes))

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        X = (rng.random((n, n_inputs)) < 0.5).astype(float)
        return X, np.array([rng.choice(n_classes, p=p) for p in softmax(X @ coef, axis=1)])

    (X, y), (held, y_held), (new, _) = draw(300), draw(400), draw(300)
    return World(X, LogisticRegression().fit(X, y), held, y_held, new)


def groups_of(X: np.ndarray) -> np.ndarray:
    return np.where(X[:, 0] > 0, "a", "b")


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Choose plain or compiled kernels, which a large call of any model loads for all others."""
    return lambda compiled: monkeypatch.setattr(dispatch, "_pays", lambda *_: (compiled, compiled))


def one_answer(
    ask: Callable[[np.ndarray], np.ndarray], X: np.ndarray, choose: Callable[[bool], None]
) -> np.ndarray:
    """Ask about rows in a batch, in chunks and one by one, with both kernels: one answer."""
    choose(False)
    answer = ask(X)
    for compiled in (False, True):
        choose(compiled)
        assert_array_equal(ask(X), answer)
        assert_array_equal(np.concatenate([ask(X[:1]), ask(X[1:8]), ask(X[8:])]), answer)
        some = range(0, len(X), 75)
        assert_array_equal(np.concatenate([ask(X[[i]]) for i in some]), answer[some])
    return answer


@pytest.mark.filterwarnings("ignore:Too few calibration rows")  # those keep all classes
@pytest.mark.parametrize("moderate", [None, "laplace", "laplace+discount"])
@pytest.mark.parametrize("promise", SETS)
def test_sets(promise: str, moderate: str | None, choose: Callable[[bool], None]) -> None:
    """All calibration rows that the quantile counts are kept, by every path."""
    for seed in SEEDS:
        made = world(seed)
        options = dict(SETS[promise])
        by_group = options.pop("groups", False)
        explainer = shafer.Explainer(made.model, made.background, moderate=moderate)
        groups = groups_of(made.held) if by_group else None
        choose(seed % 2 == 0)
        explainer.conformalize(made.held, made.y_held, by=groups, **options)

        def ask(X: np.ndarray, explainer: Any = explainer, by_group: bool = by_group) -> np.ndarray:
            return explainer.predict_set(X, by=groups_of(X) if by_group else None)

        one_answer(ask, made.new, choose)
        sets = one_answer(ask, made.held, choose)
        kept = sets[np.arange(len(sets)), made.y_held]
        strata = np.zeros(len(kept)) if groups is None else (groups == "a").astype(float)
        strata += 10.0 * made.y_held * options.get("class_conditional", False)
        for stratum in np.unique(strata):
            own = kept[strata == stratum]
            assert own.sum() >= min(math.ceil(0.9 * (len(own) + 1) - 1e-9), len(own))


@pytest.mark.filterwarnings("ignore:(Too few calibration rows|No threshold keeps)")
@pytest.mark.parametrize("moderate", [None, "laplace"])
@pytest.mark.parametrize("promise", DEFERRALS)
def test_deferral(promise: str, moderate: str | None, choose: Callable[[bool], None]) -> None:
    """What is decided is what was counted at calibration, by every path."""
    decided = 0
    for seed in SEEDS:
        made = world(seed)
        options = dict(DEFERRALS[promise])
        by_group = options.pop("groups", False)
        if "mean_loss" in options:
            n_classes = len(made.model.classes_)
            unit = options["mean_loss"] / 0.35
            options["loss"] = unit * (np.ones((n_classes, n_classes)) - np.eye(n_classes))
        explainer = shafer.Explainer(made.model, made.background, moderate=moderate)
        groups = groups_of(made.held) if by_group else None
        choose(seed % 2 == 0)
        explainer.control_error(made.held, made.y_held, by=groups, **options)

        def ask(X: np.ndarray, explainer: Any = explainer, by_group: bool = by_group) -> np.ndarray:
            found = explainer.predict_or_defer(X, by=groups_of(X) if by_group else None)
            return np.array([found.labels, found.deferred], dtype=int).T

        one_answer(ask, made.new, choose)
        labels, deferred = one_answer(ask, made.held, choose).T
        own = made.y_held == 0 if promise == "recall" else np.ones(len(deferred), dtype=bool)
        parts = [own] if groups is None else [groups == "a", groups == "b"]
        for part, found in zip(parts, explainer.deferral.found, strict=True):
            there = part & (deferred == 0)
            assert there.sum() == found.n_decided
            errors = (labels != made.y_held)[there].sum()
            if found.n_decided:
                of = part.sum() if promise == "recall" else found.n_decided
                assert errors / of == pytest.approx(found.risk)
            decided += int(there.sum())
    assert decided > 0


@pytest.mark.filterwarnings("ignore:Class.es. with too few calibration rows")
@pytest.mark.parametrize("class_conditional", [False, True])
def test_cross_conformal_sets(class_conditional: bool, choose: Callable[[bool], None]) -> None:
    for seed in SEEDS[:4]:
        made = world(seed)
        clf = shafer.EvidentialClassifier(LogisticRegression()).fit(made.held, made.y_held)
        choose(seed % 2 == 0)
        clf.conformalize(made.held, made.y_held, cv=4, class_conditional=class_conditional)
        one_answer(clf.predict_set, made.new, choose)


# Scores as arrays: whatever their last digits are, the answers are those of exact scores.


def noisy(scores: np.ndarray, seed: int) -> np.ndarray:
    """Move scores by some units in the last place, as another kernel would."""
    noise = np.random.default_rng(seed).integers(-20, 21, scores.shape)
    moved = scores + noise * np.finfo(scores.dtype).eps * (1 + np.abs(scores))
    return np.asarray(moved, dtype=scores.dtype)


def tied_scores(
    dtype: Any, *, size: float = 1.0, n_values: int = 7
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    values = (size * rng.normal(size=n_values)).astype(dtype)
    return rng.choice(values, size=(300, 3)), rng.integers(0, 3, 300)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("options", [{}, {"class_conditional": True}, {"allow_empty": False}])
def test_rounding_moves_no_class_out_of_a_set(options: Any, size: float, dtype: Any) -> None:
    scores, y = tied_scores(dtype, size=size)
    exact = split_conformal(scores, y, **options).sets(scores)
    folds = np.arange(300) % 3
    exact_cross = cross_conformal(scores, folds, y, **options).sets([scores] * 3)
    for seed in range(10):
        calibrated = split_conformal(noisy(scores, seed), y, **options)
        assert_array_equal(calibrated.sets(noisy(scores, seed + 100)), exact)
        cross = cross_conformal(noisy(scores, seed), folds, y, **options)
        again = [noisy(scores, seed + 200 + fold) for fold in range(3)]
        assert_array_equal(cross.sets(again), exact_cross)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_rounding_moves_no_row_across_a_threshold(unit: float) -> None:
    odds = np.random.default_rng(0).normal(size=9)
    rng = np.random.default_rng(1)
    odds = rng.choice(odds, size=1000)
    scores, wrong = unit * odds, rng.random(1000) < 1 / (1 + np.exp(2 * odds + 2))

    def found(scores: np.ndarray) -> list[tuple[float, float]]:
        by_loss = loss_threshold(scores, wrong.astype(float), 0.1, 0.9, unit)
        parts = [by_loss]
        if unit == 1.0:
            parts.append(error_threshold(scores, wrong, 0.1, 0.9))
            parts.append(miss_threshold(scores, wrong, 0.03, 0.9))
        return [(part.n_decided, part.risk) for part in parts]

    exact = found(scores)
    assert all(0 < n < 1000 for n, _ in exact)
    for seed in range(10):
        noise = np.random.default_rng(seed).integers(-20, 21, 1000) * 2e-16 * unit
        assert found(scores + noise) == exact


def test_a_set_keeps_what_is_above_the_threshold_by_rounding_only() -> None:
    calibrated = split_conformal([[0.5, 0.0]] * 30, [0] * 30, classes=[0, 1], coverage=0.9)
    above = [[0.5 + 1e-12, 0.5 + 1e-6]]
    assert_array_equal(calibrated.sets(np.array(above)), [[True, False]])
