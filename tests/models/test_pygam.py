"""pyGAM's ``LogisticGAM``: a stand-in with its structure, and the library itself where it is.

pyGAM 0.12 asks for SciPy below 1.17 and cannot be installed beside the SciPy of the test
environment, so the stand-in keeps to what pyGAM documents: ``terms``, ``coef_`` and
``partial_dependence``.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline
from scipy.special import expit
from sklearn.datasets import load_breast_cancer

import shafer
from shafer.models import pygam as reader
from shafer.models.read_model import AdditiveModel
from shafer.models.registry import own_probabilities


class _Term:
    def __init__(self, feature: int | None) -> None:
        self.isintercept = feature is None
        self.feature = feature

    def __repr__(self) -> str:
        return "intercept" if self.isintercept else f"s({self.feature})"


class _Terms(list[_Term]):
    def get_coef_indices(self, i: int) -> list[int]:
        return [2 * i, 2 * i + 1] if not self[i].isintercept else [2 * i]


class LogisticGAM:
    """Terms a x + b x², and an intercept."""

    __module__ = "pygam.pygam"

    def __init__(self, coef: Any) -> None:
        self.coef_ = coef
        self.terms = _Terms([_Term(0), _Term(1), _Term(None)])

    def partial_dependence(self, term: int, X: Any) -> Any:
        a, b = self.coef_[self.terms.get_coef_indices(term)]
        return a * X[:, term] + b * X[:, term] ** 2

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of class 1 alone, (n,), as pyGAM does."""
        return expit(sum(self.partial_dependence(t, X) for t in (0, 1)) + self.coef_[4])


def test_terms_are_components() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = LogisticGAM(np.array([1.0, 0.5, -2.0, 0.1, 0.3]))
    ev = shafer.Explainer(model, X, check=False, prior="shared")(X)
    log_odds = sum(model.partial_dependence(t, X) for t in (0, 1)) + 0.3
    assert_allclose(ev.probability[:, 1], expit(log_odds), rtol=1e-12)
    assert ev.component_names == ("s(0)", "s(1)")
    assert ev.classes.tolist() == [0, 1]
    own = own_probabilities(model, X)
    assert own is not None
    assert_allclose(ev.probability, own)


class SplineTerm(_Term):
    """A cubic spline between its knots, and a line outside, as pyGAM documents."""

    basis, n_splines, spline_order, edge_knots_, by = "ps", 6, 3, (-1.5, 2.0), None

    def __call__(self, x: Any, coef: Any) -> Any:
        low, high = self.edge_knots_
        step = (high - low) / (self.n_splines - self.spline_order)
        knots = low + step * np.arange(-3, self.n_splines + 1)
        spline = BSpline(knots, coef, 3)
        near = np.clip(x, low, high)
        return spline(near) + spline(near, 1) * (x - near)


class SplineGAM(LogisticGAM):
    """Two splines and an intercept."""

    __module__ = "pygam.pygam"

    def __init__(self, coef: Any) -> None:
        self.coef_ = coef
        self.terms = _Terms([SplineTerm(1), SplineTerm(0), _Term(None)])

    def partial_dependence(self, term: int, X: Any) -> Any:
        spline = self.terms[term]
        assert isinstance(spline, SplineTerm)
        return spline(X[:, spline.feature], self.coef_[6 * term : 6 * term + 6])


def test_splines_are_data() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) * 2
    X[:2] = [[-1.5, 2.0], [2.0, -1.5]]
    model = reader.adapt(SplineGAM(rng.normal(size=13)))
    assert isinstance(model, AdditiveModel)
    assert model.formula is not None
    formula = model.formula(X)
    true = model.head.function(X)
    assert_allclose(formula.terms.contributions(formula.numbers(X))[..., 0], true, atol=1e-12)


def test_other_terms_are_no_data() -> None:
    model = reader.adapt(LogisticGAM(np.ones(5)))
    assert isinstance(model, AdditiveModel)
    assert model.formula is not None
    with pytest.raises(shafer.UnsupportedModelError, match="not a spline or a line"):
        model.formula(np.zeros((2, 2)))


def test_trained_again() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = LogisticGAM(np.array([1.0, 0.5, -2.0, 0.1, 0.3]))
    explainer = shafer.Explainer(model, X)
    model.coef_ = model.coef_ + 1.0
    with pytest.raises(ValueError, match="trained again"):
        explainer(X)


def test_not_trained() -> None:
    with pytest.raises(shafer.UnsupportedModelError, match="not trained"):
        shafer.Explainer(LogisticGAM(None), np.zeros((2, 2)))


@pytest.mark.skipif(importlib.util.find_spec("pygam") is None, reason="needs SciPy below 1.17")
@pytest.mark.filterwarnings("ignore")
def test_the_library_itself() -> None:
    pygam = importlib.import_module("pygam")
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    model = pygam.LogisticGAM(pygam.s(0) + pygam.l(1) + pygam.te(2, 3)).fit(X, y)
    ev = shafer.Explainer(model, X)(X)
    assert_allclose(ev.probability[:, 1], model.predict_proba(X), atol=1e-10)
    assert ev.component_names == ("s(0)", "l(1)", "te(2, 3)")
    splines = pygam.LogisticGAM(pygam.s(0) + pygam.l(1) + pygam.s(3, n_splines=8)).fit(X, y)
    read = reader.adapt(splines)
    assert isinstance(read, AdditiveModel)
    assert read.formula is not None
    found = read.formula(X).terms.contributions(2.0 * X - 5.0)[..., 0]
    assert_allclose(found, read.head.function(2.0 * X - 5.0), atol=1e-9)
