"""The variance of the logits: against the curvature written out over all K·(J+1) coefficients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.explain import laplace
from shafer.explain.laplace import LaplaceFit
from shafer.models.heads import LinearHead


def _rows(n: int, n_features: int, n_classes: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    logits = X @ rng.normal(size=(n_features, n_classes))
    return X, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def _whole(model, X, new, tau):
    """σ² by the definition: the whole posterior covariance of all coefficients of all classes."""
    n_classes, n_features = model.coef_.shape
    p = model.predict_proba(X)
    extended = np.column_stack([X, np.ones(len(X))])
    size = n_features + 1
    H = np.zeros((n_classes * size, n_classes * size))
    for row, q in zip(extended, p, strict=True):
        H += np.kron(np.diag(q) - np.outer(q, q), np.outer(row, row))
    prior = np.tile(np.append(np.full(n_features, tau), 0.0), n_classes)
    covariance = np.linalg.pinv(H + np.diag(prior), rcond=1e-12)  # intercepts: up to a constant
    centre = np.eye(n_classes) - 1 / n_classes
    result = []
    for row in np.column_stack([new, np.ones(len(new))]):
        to_logits = np.kron(centre, row)
        variances = np.diag(to_logits @ covariance @ to_logits.T)
        result.append(2 * n_classes / (n_classes - 1) * variances.mean())
    return np.array(result)


@pytest.mark.parametrize(("n_classes", "C"), [(3, 1.0), (4, 0.1), (5, 10.0)])
def test_against_the_whole_covariance(n_classes: int, C: float) -> None:
    X, y = _rows(80, 3, n_classes)
    model = LogisticRegression(C=C, tol=1e-10, max_iter=5000).fit(X, y)
    head = LinearHead(model.coef_, model.intercept_)
    posterior = LaplaceFit(head, 1 / C).take_in(X).posterior()
    assert posterior.logit_variance(X[:7]) == pytest.approx(
        _whole(model, X, X[:7], 1 / C), rel=1e-8
    )


def test_binary_is_the_variance_of_the_log_odds() -> None:
    X, y = _rows(60, 4, 2)
    model = LogisticRegression(C=0.5).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    extended = np.column_stack([X, np.ones(60)])
    H = extended.T @ ((p * (1 - p))[:, None] * extended) + np.diag([2.0] * 4 + [0.0])
    expected = np.einsum("ij,ij->i", extended @ np.linalg.inv(H), extended)
    posterior = LaplaceFit(LinearHead(model.coef_, model.intercept_), 2.0).take_in(X).posterior()
    assert posterior.logit_variance(X) == pytest.approx(expected, rel=1e-9)


def test_covers_the_spread_of_refitted_models() -> None:
    """Refit on fresh samples: the log-odds vary as the posterior says, to a third."""
    rng = np.random.default_rng(3)
    beta, new = np.array([1.0, -0.5, 0.2]), rng.normal(size=(20, 3))
    fitted = []
    for _ in range(150):
        X = rng.normal(size=(400, 3))
        y = rng.random(400) < 1 / (1 + np.exp(-X @ beta))
        model = LogisticRegression(C=1e4).fit(X, y)
        fitted.append(model.decision_function(new))
    head = LinearHead(model.coef_, model.intercept_)
    said = LaplaceFit(head, 1e-4).take_in(X).posterior().logit_variance(new)
    assert np.var(fitted, axis=0).mean() == pytest.approx(said.mean(), rel=0.33)


def test_no_intercept_means_no_doubt_about_it() -> None:
    X, y = _rows(50, 2, 3)
    model = LogisticRegression(fit_intercept=False).fit(X, y)
    head = LinearHead(model.coef_, model.intercept_)
    posterior = LaplaceFit(head, 1.0, free_intercept=False).take_in(X).posterior()
    assert posterior.logit_variance(np.zeros((1, 2))) == pytest.approx(0.0)
    assert posterior.logit_variance(X).min() > 0


def test_batches_weights_and_sparse_rows_agree() -> None:
    X, y = _rows(60, 3, 3)
    model = LogisticRegression().fit(X, y)
    head = LinearHead(model.coef_, model.intercept_)
    whole = LaplaceFit(head, 1.0).take_in(X).posterior().logit_variance(X)
    halves = LaplaceFit(head, 1.0).take_in(X[:20]).take_in(sparse.csr_array(X[20:])).posterior()
    assert halves.logit_variance(sparse.csr_array(X)) == pytest.approx(whole, rel=1e-10)
    twice = LaplaceFit(head, 1.0).take_in(X, np.full(60, 2.0)).posterior().logit_variance(X)
    again = LaplaceFit(head, 1.0).take_in(X).take_in(X).posterior().logit_variance(X)
    assert twice == pytest.approx(again, rel=1e-10)
    assert (twice < whole).all()


def test_each_contrast_by_itself_where_all_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _rows(300, 3, 4)
    model = LogisticRegression().fit(X, y)
    head = LinearHead(model.coef_, model.intercept_)
    jointly = LaplaceFit(head, 1.0).take_in(X).posterior().logit_variance(X)
    monkeypatch.setattr(laplace, "LARGEST_CURVATURE", 8)
    apart = LaplaceFit(head, 1.0).take_in(X).posterior().logit_variance(X)
    assert apart == pytest.approx(jointly, rel=0.5)
    monkeypatch.setattr(laplace, "LARGEST_CURVATURE", 3)
    with pytest.raises(shafer.UnsupportedModelError, match="at most 2 features.* the model has 3"):
        LaplaceFit(head, 1.0)


@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_columns_of_any_size_dead_or_repeated(size: float) -> None:
    X, y = _rows(60, 3, 3)
    X = np.column_stack([X[:, 0] * size, X[:, 1], X[:, 1], np.zeros(60)])
    model = LogisticRegression().fit(X * [1 / size, 1, 1, 1], y)
    head = LinearHead(model.coef_ / [size, 1, 1, 1], model.intercept_)
    for precision in (1.0, 0.0):
        variance = LaplaceFit(head, precision).take_in(X).posterior().logit_variance(X)
        assert np.isfinite(variance).all()
        assert (variance > 0).all()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("far", [1e4, 1e7])
def test_columns_far_from_zero(n_classes: int, far: float) -> None:
    """An intercept that is free takes up any shift of the columns."""
    X, y = _rows(60, 3, n_classes)
    model = LogisticRegression().fit(X, y)
    near = LaplaceFit(LinearHead(model.coef_, model.intercept_), 1.0).take_in(X).posterior()
    head = LinearHead(model.coef_, model.intercept_ - far * model.coef_.sum(axis=1))
    there = LaplaceFit(head, 1.0).take_in(X + far).posterior()
    expected = near.logit_variance(X)
    assert there.logit_variance(X + far) == pytest.approx(expected, rel=1e-7)
    assert there.logit_variance(sparse.csr_array(X + far)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("scale", [(1, 1e8, 1), (1, 1e10, 1e3), (1e3, 1e9, 1e6)])
def test_columns_of_very_different_sizes(scale: tuple[float, ...]) -> None:
    """Without a prior the units of the columns make no difference."""
    X, y = _rows(60, 3, 3)
    X = X @ (np.eye(3) + 0.9)  # correlated
    model = LogisticRegression().fit(X, y)
    plain = LaplaceFit(LinearHead(model.coef_, model.intercept_), 0.0).take_in(X).posterior()
    scaled = LaplaceFit(LinearHead(model.coef_ / scale, model.intercept_), 0.0).take_in(X * scale)
    variance = scaled.posterior().logit_variance(X * scale)
    assert variance == pytest.approx(plain.logit_variance(X), rel=1e-8)


def test_features_that_cannot_be_squared() -> None:
    head = LinearHead(np.array([1e-200, 0.0]), 0.0)
    X = 1e200 * np.array([[1.0, 2.0], [-1.0, 0.5], [0.3, 0.1]])
    with pytest.raises(ValueError, match="these are too large: up to 2e\\+200. Scale them"):
        LaplaceFit(head, 1.0).take_in(X)
