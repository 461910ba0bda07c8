"""Reasons for deferral agree with what was done to the rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.deferral.reasons import ReasonScale

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(2000, 10))
COEF = np.array([1.0, -1.0, 0.8, -0.8, 0.6, -0.6, 0.4, -0.4, 0.3, -0.3])
Y = RANDOM.random(2000) < 1 / (1 + np.exp(-X @ COEF))
TRAIN, CAL, NEW = slice(0, 500), slice(500, 1300), slice(1300, None)


@pytest.fixture(scope="module")
def explainer() -> shafer.Explainer:
    model = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    made = shafer.Explainer(model, X[TRAIN], missing="vacuous", moderate="laplace")
    return made.control_error(X[CAL], Y[CAL], 0.1)


def _shares(explainer: shafer.Explainer, rows: np.ndarray) -> dict[str, float]:
    found = explainer.predict_or_defer(rows)
    return {name: n / found.deferred.sum() for name, n in found.reason_counts.items()}


def test_ordinary_rows_are_mostly_close_calls(explainer: shafer.Explainer) -> None:
    shares = _shares(explainer, X[NEW])
    assert max(shares, key=lambda name: shares[name]) == "close call"
    assert shares["close call"] > 0.5


def test_rows_without_inputs(explainer: shafer.Explainer) -> None:
    gaps = np.where(RANDOM.random(X[NEW].shape) < 0.7, np.nan, X[NEW])
    assert _shares(explainer, gaps)["nothing known"] > 0.7


def test_rows_from_elsewhere(explainer: shafer.Explainer) -> None:
    """Features that always come in pairs of opposite signs, where training has none."""
    odd = X[NEW].copy()
    odd[:, 1] = odd[:, 0] = 6.0 * np.sign(odd[:, 0])
    odd[:, 3] = odd[:, 2] = 6.0 * np.sign(odd[:, 2])
    shares = _shares(explainer, odd)
    assert shares["unlike the training data"] + shares.get("components disagree", 0) > 0.95
    assert shares["unlike the training data"] > 0.5


def test_components_that_disagree(explainer: shafer.Explainer) -> None:
    """Strong evidence on both sides, no value beyond those of training."""
    torn = 1.2 + 0.4 * X[NEW]
    shares = _shares(explainer, torn)
    ordinary = _shares(explainer, X[NEW])
    assert shares["components disagree"] > 0.5
    assert ordinary["components disagree"] < 0.15


def test_a_scale_of_ties_finds_nothing_extreme() -> None:
    scale = ReasonScale.of({"ignorance": np.zeros(40)})
    assert scale.reasons({"ignorance": np.zeros(3)}, 3).tolist() == ["close call"] * 3
    assert scale.reasons({"ignorance": np.ones(1)}, 1).tolist() == ["nothing known"]
    assert ReasonScale({}).reasons({}, 2).tolist() == ["close call"] * 2


def test_an_explainer_without_its_background_has_fewer_reasons() -> None:
    model = LogisticRegression().fit(X[TRAIN], Y[TRAIN])
    explainer = shafer.Explainer(model, iter([X[TRAIN]])).control_error(X[CAL], Y[CAL], 0.1)
    odd = X[NEW] * 5
    assert "unlike the training data" not in _shares(explainer, odd)
    one = shafer.Explainer(model, X[TRAIN], "one").control_error(X[CAL], Y[CAL], 0.1)
    shares = _shares(one, X[NEW])
    assert not {"components disagree", "fragile"} & set(shares)
