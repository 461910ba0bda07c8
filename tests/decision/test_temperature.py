"""Tempering: the best factor where there are enough data, near 1 where there are few."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.decision import tempering_factor
from shafer.decision.temperature import PRIOR_STRENGTH


def _objective(log_factor: float, logits: np.ndarray, truth: np.ndarray) -> float:
    factor = np.exp(log_factor)
    losses = logsumexp(factor * logits, axis=1) - factor * logits[np.arange(len(truth)), truth]
    return float(losses.sum() + PRIOR_STRENGTH * (factor - 1 - log_factor))


@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 60),
    n_classes=st.integers(2, 5),
    size=st.sampled_from([1e-3, 0.3, 3.0, 30.0]),
)
def test_is_the_minimum_of_the_penalised_loss(
    seed: int, n: int, n_classes: int, size: float
) -> None:
    rng = np.random.default_rng(seed)
    logits = size * rng.normal(size=(n, n_classes))
    truth = rng.integers(n_classes, size=n)
    best = minimize_scalar(
        _objective, bounds=(-12, 5), args=(logits, truth), method="bounded", options={"xatol": 1e-9}
    )
    factor = tempering_factor(logits, truth, classes=range(n_classes))
    assert _objective(np.log(factor), logits, truth) <= best.fun + 1e-7 * abs(best.fun)


def test_finds_the_factor_that_made_the_data() -> None:
    rng = np.random.default_rng(0)
    logits = 4.0 * rng.normal(size=(20_000, 3))
    p = np.exp(0.4 * logits)
    p /= p.sum(axis=1, keepdims=True)
    truth = (rng.random((20_000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    assert tempering_factor(logits, truth) == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e4, 1e8])
def test_separated_rows_do_not_send_it_to_infinity(size: float) -> None:
    factor = tempering_factor(size * np.eye(3), np.arange(3))
    assert 1.0 - 1e-9 <= factor < 1.5


@pytest.mark.parametrize("size", [1e-5, 4e-3, 1e-2])
@pytest.mark.parametrize("n_classes", [2, 10, 100])
def test_timid_logits_that_are_always_right_grow(size: float, n_classes: int) -> None:
    truth = np.arange(1000) % n_classes
    logits = size * np.eye(n_classes)[truth]
    factor = tempering_factor(logits, truth)
    assert factor > 1.0
    step = 1e-4
    around = [_objective(np.log(factor) + d, logits, truth) for d in (-step, 0.0, step)]
    assert around[1] == min(around)


def test_nothing_known_changes_nothing() -> None:
    assert tempering_factor(np.zeros((5, 3)), ["b"] * 5, classes=["a", "b", "c"]) == pytest.approx(
        1.0
    )


def test_survives_certainty_in_the_wrong_class() -> None:
    factor = tempering_factor(np.array([[1e6, -1e6]]), [1], classes=[0, 1])
    assert 0.0 < factor < 1e-4


def test_weights_may_be_a_list_or_one_number() -> None:
    rng = np.random.default_rng(2)
    logits, truth = rng.normal(size=(6, 3)), [0, 1, 2, 0, 1, 2]
    weight = [1.0, 2.0, 0.0, 1.0, 3.0, 1.0]
    expected = tempering_factor(logits, np.array(truth), np.array(weight))
    assert tempering_factor(logits.tolist(), truth, weight) == expected
    assert tempering_factor(logits, truth, 1e300 * np.array(weight)) == pytest.approx(expected)
    assert tempering_factor(logits, truth, 3.0) == tempering_factor(logits, truth)


@pytest.mark.parametrize(
    ("logits", "y", "weight", "message"),
    [
        (np.zeros((2, 3)), [0, 3], None, "Unknown class label\\(s\\) \\[3\\]"),
        (np.zeros((2, 3)), [0, -1], None, "Unknown class label\\(s\\) \\[-1\\]"),
        (np.zeros((2, 3)), [0], None, "each of 2 rows"),
        (np.zeros((2, 3)), ["a", "b"], None, "Unknown class label\\(s\\) \\['a', 'b'\\]"),
        (np.zeros((0, 3)), [], None, "at least one held-out row"),
        (np.zeros(3), [0], None, "logits must have 2 dimension"),
        (np.array([[np.nan, 0.0, 0.0]]), [0], None, "logits must be finite"),
        (np.zeros((2, 3)), [0, 1], [1.0], "each of the 2 rows; got 1"),
        (np.zeros((2, 3)), [0, 1], [0.0, 0.0], "not all zero"),
        (np.zeros((2, 3)), [0, 1], [-1.0, 2.0], "nonnegative"),
    ],
)
def test_says_what_is_wrong(logits: np.ndarray, y: list, weight: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tempering_factor(logits, y, weight, classes=range(3))


def test_labels_are_read_by_label() -> None:
    logits = 3 * np.random.default_rng(3).normal(size=(30, 3))
    y = np.arange(30) % 3
    names = np.array(["c", "a", "b"])
    assert tempering_factor(logits, names[y], classes=names) == tempering_factor(logits, y)
    one_to_three = tempering_factor(logits, y + 1, classes=[1, 2, 3])
    assert one_to_three == tempering_factor(logits, y)


def test_weights_count_as_repeated_rows_do() -> None:
    rng = np.random.default_rng(1)
    logits, truth = 3 * rng.normal(size=(30, 4)), rng.integers(4, size=30)
    times = np.array([0, 1, 2] * 10)  # they add up to the number of rows
    repeated = tempering_factor(np.repeat(logits, times, axis=0), np.repeat(truth, times))
    weighted = tempering_factor(logits, truth, times.astype(float))
    assert weighted == pytest.approx(repeated, rel=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("held_out", [False, True], ids=["cv", "calibration rows"])
def test_does_no_harm_where_classes_are_separable(load, held_out: bool) -> None:
    X, y = load(return_X_y=True)
    before, after = [], []
    for seed in range(8):
        train, test, y_train, y_test = train_test_split(
            X, y, test_size=0.4, stratify=y, random_state=seed
        )
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        if held_out:
            train, rows, y_train, y_rows = train_test_split(
                train, y_train, test_size=1 / 3, stratify=y_train, random_state=seed
            )
            explainer = shafer.Explainer(model.fit(train, y_train), train).temper(rows, y_rows)
        else:
            clf = shafer.EvidentialClassifier(model, temper="cv").fit(train, y_train)
            explainer, model = clf.explainer_, clf.estimator_
        before.append(log_loss(y_test, model.predict_proba(test)))
        after.append(log_loss(y_test, explainer(test).probability))
    assert np.mean(after) < np.mean(before)
