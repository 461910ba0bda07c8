"""Every explainer compares its probabilities with the model's own."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.explain import self_check
from shafer.explain.self_check import evenly
from shafer.models.sklearn import linear, naive_bayes
from shafer.models.torch import module as torch_module

X, Y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, Y)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 1000, 10**6])
def test_rows_are_chosen_evenly(n: int) -> None:
    chosen = evenly(n)
    assert chosen[0] == 0
    assert chosen[-1] == n - 1
    assert len(chosen) == min(n, 64)
    steps = np.diff(chosen)
    assert len(steps) == 0 or steps.max() - steps.min() <= 1


def _read_wrongly(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    right = linear._linear
    monkeypatch.setattr(linear, "_linear", lambda model, own: right(model, own * factor))


def test_wrong_probabilities_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    _read_wrongly(monkeypatch, 1.5)
    own = MODEL.predict_proba(X)
    with pytest.raises(shafer.UnsupportedModelError) as caught:
        shafer.Explainer(MODEL, X)
    message = str(caught.value)
    row = int(message.partition("Row ")[2].partition(" ")[0])
    label = int(message.partition("class ")[2].partition(":")[0])
    assert f"LogisticRegression gives {own[row, label]:.10g}" in message
    assert "early stopping" in message
    assert "check=False" in message
    assert shafer.Explainer(MODEL, X, check=False)(X).probability.shape == (150, 3)


@pytest.mark.parametrize("off", [1e-7, 1e-3])
def test_small_differences_are_found(monkeypatch: pytest.MonkeyPatch, off: float) -> None:
    _read_wrongly(monkeypatch, 1.0 + off)
    with pytest.raises(shafer.UnsupportedModelError, match="The difference is small"):
        shafer.Explainer(MODEL, X)


def test_the_order_of_classes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    own = self_check.own_probabilities
    monkeypatch.setattr(self_check, "own_probabilities", lambda *given: own(*given)[:, ::-1])
    with pytest.raises(shafer.UnsupportedModelError, match="order of the classes differs"):
        shafer.Explainer(MODEL, X)


def test_parameters_that_are_not_finite(monkeypatch: pytest.MonkeyPatch) -> None:
    own = self_check.own_probabilities
    monkeypatch.setattr(self_check, "own_probabilities", lambda *given: own(*given) * np.nan)
    with pytest.raises(shafer.UnsupportedModelError, match="not finite: check its parameters"):
        shafer.Explainer(MODEL, X)


def test_first_and_last_row_and_first_batch_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    right = naive_bayes._gaussian_contributions
    rows = np.random.default_rng(0).normal(size=(1000, 2))
    model = GaussianNB().fit(rows, rows[:, 0] > 0)

    def wrong_at(row: int) -> Any:
        def read(model: Any, given: Any) -> Any:
            found = right(model, given)
            found[(given == rows[row]).all(axis=1), 0, 0] += 1.0
            return found

        return read

    for row in (0, 999):
        monkeypatch.setattr(naive_bayes, "_gaussian_contributions", wrong_at(row))
        with pytest.raises(shafer.UnsupportedModelError, match=f"Row {row} of the background"):
            shafer.Explainer(model, rows)
    monkeypatch.setattr(naive_bayes, "_gaussian_contributions", wrong_at(0))
    with pytest.raises(shafer.UnsupportedModelError, match="Row 0 of the background"):
        shafer.Explainer(model, iter([rows[:10], rows[10:]]))


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_tolerance_fits_the_precision(dtype: Any) -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    shafer.Explainer(network.to(dtype), torch.tensor(X).to(dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_hides_no_wrong_weights(
    monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
    with torch.no_grad():
        network[2].weight *= 3.0  # larger weights, which widen the tolerance
    network, rows = network.to(dtype), torch.tensor(X).to(dtype)
    shafer.Explainer(network, rows)
    settled = torch_module._settled

    def wrong(*given: Any) -> Any:
        coef, intercept = settled(*given)
        return coef * 1.3, intercept

    monkeypatch.setattr(torch_module, "_settled", wrong)
    with pytest.raises(shafer.UnsupportedModelError, match="the evidence gives"):
        shafer.Explainer(network, rows)


def test_single_precision_of_scikit_learn() -> None:
    narrow = X.astype(np.float32)
    shafer.Explainer(LogisticRegression(C=1e4, max_iter=5000).fit(narrow, Y), narrow)


EC = shafer.EvidentialClassifier
CALIBRATED = {
    "number": EC(MODEL, temper=0.5),
    "cv": EC(MODEL, temper="cv"),
    "laplace": EC(MODEL, moderate="laplace"),
    "discount": EC(MODEL, moderate="laplace+discount"),
    "twice": EC(EC(MODEL, temper=0.5), temper=0.5),
    "moderated, tempered": EC(EC(MODEL, moderate="laplace", temper=0.9), temper=0.5),
    "pipeline": make_pipeline(StandardScaler(), EC(LogisticRegression(), temper=0.5)),
    "discount in a pipeline": make_pipeline(
        StandardScaler(), EC(LogisticRegression(), moderate="laplace+discount")
    ),
    "search": GridSearchCV(EC(MODEL), {"temper": [0.5]}),
    "search in a pipeline": make_pipeline(
        StandardScaler(), GridSearchCV(EC(LogisticRegression()), {"moderate": ["laplace"]})
    ),
    "conditional": EC(MODEL, temper=0.5, missing="conditional"),
}


@pytest.mark.parametrize("model", CALIBRATED.values(), ids=CALIBRATED)
@pytest.mark.parametrize("groups", [None, "one"])
def test_calibration_is_not_dropped(model: Any, groups: Any) -> None:
    own = model.fit(X, Y).predict_proba(X)
    assert np.abs(own - MODEL.predict_proba(X)).max() > 1e-3
    for outer in (model, FrozenEstimator(model)):
        explainer = shafer.Explainer(outer, X, groups)
        assert_allclose(explainer.observe(X).bet.probability, own, atol=1e-12)
        assert_allclose(explainer(X).betting_probability, own, atol=1e-12)


def test_the_discount_of_a_classifier_is_kept() -> None:
    clf = EC(LogisticRegression(), "one", moderate="laplace+discount", temper=0.8)
    model = make_pipeline(StandardScaler(), clf).fit(X, Y)
    own = model[-1].evidence(model[0].transform(X))
    ev = shafer.Explainer(model, X, "one")(X)
    assert_allclose(ev.reliability, own.reliability)
    assert_allclose(ev.belief, own.belief)
    assert (
        shafer.Explainer(model, X, "one").predict_set(X, "interval_dominance")
        == model[-1].predict_set(model[0].transform(X), "interval_dominance")
    ).all()
    with pytest.raises(ValueError, match="already moderated. Leave moderate=None"):
        shafer.Explainer(model, X, moderate="laplace")


def test_a_linear_model_is_checked_in_no_time() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(10_000, 30))
    model = LogisticRegression().fit(rows, rows[:, 0] > 0)

    def fastest(check: bool) -> float:
        times = []
        for _ in range(15):
            start = time.process_time()  # other processes do not count
            shafer.Explainer(model, rows, check=check)
            times.append(time.process_time() - start)
        return min(times)

    assert fastest(True) - fastest(False) < 0.01  # 2 ms on an idle machine
