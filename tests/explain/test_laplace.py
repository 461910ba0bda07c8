"""The posterior of coefficients and logits, and moderated evidence."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.evidence.errors import class_contrasts
from shafer.explain import laplace
from shafer.explain.calibration import Familiarity, moderating_factor, relative_variance
from shafer.explain.laplace import ClassWeighting, LaplaceFit
from shafer.models.heads import LinearHead

# The variance of the logits: against the curvature written out over all K·(J+1) coefficients.


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


# The covariance of the coefficients, against differences of the log loss in high precision.


def _rows_and_labels(n: int, n_features: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) @ (np.eye(n_features) + 0.4)
    logits = X @ rng.normal(size=(n_features, n_classes))
    return X, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def _hessian(function: Any, at: Any) -> Any:
    """Return second derivatives by central differences with 60 digits."""
    with mp.workdps(60):
        h, size = mp.mpf(10) ** -15, len(at)
        point = [mp.mpf(float(x)) for x in at]

        def moved(i: int, j: int, a: int, b: int) -> Any:
            there = list(point)
            there[i] += a * h
            there[j] += b * h
            return function(there)

        result = np.zeros((size, size))
        for i in range(size):
            for j in range(i, size):
                four = (moved(i, j, a, b) * a * b for a in (1, -1) for b in (1, -1))
                result[i, j] = result[j, i] = float(mp.fsum(four) / (4 * h * h))
        return result


def _loss(X: Any, y: Any, tau: float, n_classes: int, one_logit: bool) -> Any:
    """Return the penalised log loss of all coefficients, the intercepts last of each class."""
    rows = [[*(mp.mpf(float(x)) for x in row), mp.mpf(1)] for row in X]

    def loss(theta: Any) -> Any:
        size = len(rows[0])
        coef = [theta[k * size : (k + 1) * size] for k in range(len(theta) // size)]
        total = tau / 2 * mp.fsum(c**2 for part in coef for c in part[:-1])
        for row, label in zip(rows, y, strict=True):
            z = [mp.fdot(part, row) for part in coef]
            z = [mp.mpf(0), *z] if one_logit else z
            total += mp.log(mp.fsum(mp.exp(v) for v in z)) - z[label]
        return total

    return loss


@pytest.mark.parametrize(("n_classes", "tau"), [(2, 1.0), (2, 0.05), (3, 1.0), (3, 0.1)])
def test_against_differences_of_the_log_loss(n_classes: int, tau: float) -> None:
    X, y = _rows_and_labels(25, 2, n_classes)
    model = LogisticRegression(C=1 / tau, tol=1e-12, max_iter=10000).fit(X, y)
    theta = np.column_stack([model.coef_, model.intercept_]).ravel()
    H = _hessian(_loss(X, y, tau, n_classes, n_classes == 2), theta)
    # An intercept that is the same for all classes changes nothing: the pseudo-inverse leaves it.
    inverse = np.linalg.inv(H) if n_classes == 2 else np.linalg.pinv(H, rcond=1e-12)
    fit = LaplaceFit(LinearHead(model.coef_, model.intercept_), tau).take_in(X)
    found = fit.coefficient_posterior(["a", "b"]).at_means(np.zeros(2))
    C = class_contrasts(n_classes)
    by_class = np.einsum("ka,ajbl,mb->kjml", C, found, C)
    if n_classes == 2:  # one log-odds: the logits are ± half of it
        half = np.einsum("k,jl,m->kjml", [-0.5, 0.5], inverse, [-0.5, 0.5])
        np.testing.assert_allclose(by_class, half, rtol=1e-7)
        return
    centred = np.eye(3) - 1 / 3
    whole = inverse.reshape(3, 3, 3, 3)
    expected = np.einsum("kp,pjql,mq->kjml", centred, whole, centred)
    np.testing.assert_allclose(by_class, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_covariances_are_symmetric_and_sum_to_zero(n_classes: int) -> None:
    X, y = _rows_and_labels(200, 3, n_classes)
    model = LogisticRegression().fit(X, y)
    fit = LaplaceFit(LinearHead(model.coef_, model.intercept_), 1.0).take_in(X)
    covariance = fit.coefficient_posterior(list("abc")).at_means(X.mean(axis=0))
    np.testing.assert_allclose(covariance, covariance.transpose(2, 3, 0, 1), rtol=1e-10)
    flat = covariance.reshape(4 * (n_classes - 1), -1)
    assert np.linalg.eigvalsh(flat).min() > 0
    C = class_contrasts(n_classes)
    by_class = np.einsum("ka,ajbl,mb->kjml", C, covariance, C)
    np.testing.assert_allclose(by_class.sum(axis=0), 0.0, atol=1e-12)


def test_a_constant_added_to_all_classes_changes_nothing() -> None:
    X, y = _rows_and_labels(100, 3, 3)
    model = LogisticRegression().fit(X, y)
    first = LaplaceFit(LinearHead(model.coef_, model.intercept_), 1.0).take_in(X)
    shift = np.array([[3.0, -7.0, 100.0]])
    moved = LinearHead(model.coef_ + shift, model.intercept_ - 20.0)
    second = LaplaceFit(moved, 1.0).take_in(X)
    names = list("abc")
    np.testing.assert_allclose(
        second.coefficient_posterior(names).covariance,
        first.coefficient_posterior(names).covariance,
        rtol=1e-8,
        atol=1e-14,
    )


def test_the_base_rate_moves_with_the_means() -> None:
    """b at other means is another combination of the same coefficients."""
    X, y = _rows_and_labels(100, 3, 3)
    model = LogisticRegression().fit(X, y)
    fit = LaplaceFit(LinearHead(model.coef_, model.intercept_), 1.0).take_in(X)
    posterior = fit.coefficient_posterior(list("abc"))
    for means in (X.mean(axis=0), np.array([10.0, -3.0, 0.5])):
        step = np.eye(4)
        step[-1, :-1] = means - posterior.centre
        expected = np.einsum("pj,ajbl,ql->apbq", step, posterior.covariance, step)
        np.testing.assert_allclose(posterior.at_means(means), expected, rtol=1e-9, atol=1e-12)


def test_an_intercept_with_a_penalty_is_known_better() -> None:
    X, _ = _rows_and_labels(60, 2, 2)
    head = LinearHead(np.ones((1, 2)), np.zeros(1))
    free = LaplaceFit(head, 1.0).take_in(X).coefficient_posterior(["a", "b"])
    held = LaplaceFit(head, 1.0, intercept_precision=50.0).take_in(X)
    fixed = LaplaceFit(head, 1.0, free_intercept=False).take_in(X)
    at = [
        part.at_means(np.zeros(2))[0, 2, 0, 2]
        for part in (
            free,
            held.coefficient_posterior(["a", "b"]),
            fixed.coefficient_posterior(["a", "b"]),
        )
    ]
    assert at[0] > at[1] > at[2] == 0.0
    p = 1 / (1 + np.exp(-X.sum(axis=1)))
    extended = np.column_stack([X, np.ones(60)])
    H = extended.T @ ((p * (1 - p))[:, None] * extended) + np.diag([1.0, 1.0, 50.0])
    assert at[1] == pytest.approx(np.linalg.inv(H)[2, 2] / 2, rel=1e-6)  # ln-odds / √2


def test_a_flat_loss_names_the_features() -> None:
    X, _ = _rows_and_labels(80, 3, 3)
    X = np.column_stack([X, X[:, 0], np.ones(80)])
    head = LinearHead(np.zeros((3, 5)), np.zeros(3))
    names = ["a", "b", "c", "again", "constant"]
    for columns in ([0, 1, 2, 3], [0, 1, 2, 4]):
        part = LinearHead(head.coef[:, columns], head.intercept)
        flat = LaplaceFit(part, 0.0).take_in(X[:, columns])
        with pytest.raises(ValueError, match="without a penalty, the log loss is flat") as caught:
            flat.coefficient_posterior([names[j] for j in columns])
        involved = "'a', 'again'" if 3 in columns else "'constant'"
        assert f"in the coefficients of {involved}:" in str(caught.value)
        fine = LaplaceFit(part, 1e-3).take_in(X[:, columns])
        covariance = fine.coefficient_posterior([names[j] for j in columns]).covariance
        assert np.isfinite(covariance).all()
        assert covariance.max() < 1.1e3
    weak = LaplaceFit(head, 1e-18).take_in(X)
    with pytest.raises(ValueError, match="with so weak a penalty, the log loss is flat"):
        weak.coefficient_posterior(names)


def test_perfect_separation_stays_finite_through_the_penalty() -> None:
    X = np.linspace(-1, 1, 40)[:, None]
    y = X[:, 0] > 0
    model = LogisticRegression(C=1.0).fit(X, y)
    ev = shafer.Explainer(model, X, errors="laplace")(X)
    assert np.isfinite(ev.weights_std).all()
    steep = LinearHead(np.array([[1e4]]), np.zeros(1))
    fit = LaplaceFit(steep, 1.0).take_in(X[X[:, 0] ** 2 > 0.01])
    with pytest.raises(ValueError, match="separate the classes perfectly"):
        fit.coefficient_posterior(["x"])  # the free intercept has no curvature at all


@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_features_of_any_size(size: float) -> None:
    X, y = _rows_and_labels(80, 3, 3)
    model = LogisticRegression().fit(X, y)
    scale = np.array([1.0, size, 1.0])
    names = list("abc")
    near = LaplaceFit(LinearHead(model.coef_, model.intercept_), 0.0).take_in(X)
    far = LaplaceFit(LinearHead(model.coef_ / scale, model.intercept_), 0.0).take_in(X * scale)
    unit = np.append(scale, 1.0)
    back = far.coefficient_posterior(names).covariance * unit[:, None, None] * unit
    np.testing.assert_allclose(back, near.coefficient_posterior(names).covariance, rtol=1e-6)


def test_class_weights_need_the_gradient_too() -> None:
    """Weights for a rare class, against refits on fresh samples; the curvature is too small."""
    rng = np.random.default_rng(0)
    weights = {False: 0.52, True: 15.0}
    fitted, weighted, plain = [], [], []
    for _ in range(200):
        X = rng.normal(size=(1500, 2))
        y = rng.random(1500) < 1 / (1 + np.exp(3.5 - X @ [1.0, -0.5]))
        model = LogisticRegression(C=1e4, class_weight=weights).fit(X, y)
        fitted.append(model.coef_[0])
        weighted.append(_variances(model, X, weights))
        plain.append(_variances(model, X, None))
    spread = np.var(fitted, axis=0, ddof=1)
    # The variance of 200 numbers is known to 10 %.
    np.testing.assert_allclose(np.mean(weighted, axis=0), spread, rtol=0.2)
    assert (np.mean(plain, axis=0) < 0.25 * spread).all()


def _variances(model: Any, X: Any, class_weight: Any) -> Any:
    """Return the variances of the coefficients of a log-odds."""
    head = LinearHead(model.coef_, model.intercept_, model.classes_)
    weighting = ClassWeighting.read(class_weight, model.classes_)
    fit = LaplaceFit(head, 1e-4, class_weighting=weighting).take_in(X)
    return 2 * np.einsum("ajaj->j", fit.coefficient_posterior(["a", "b"]).covariance)[:2]


# Class weights in the loss: expected weights and gradients, against sums over the classes.


def test_expectations_against_their_definitions() -> None:
    rng = np.random.default_rng(0)
    c = np.array([0.5, 2.0, 7.0])
    p = rng.dirichlet(np.ones(3), size=4)  # the classes as they come
    fitted = p * c / (p @ c)[:, None]
    contrasts = rng.normal(size=(3, 2))
    weighting = ClassWeighting.read({"a": 0.5, "b": 2.0, "c": 7.0}, ["a", "b", "c"])
    counted, spread = weighting.expected(fitted, contrasts)
    np.testing.assert_allclose(counted, p @ c)
    for i in range(4):
        outer = sum(
            p[i, k] * c[k] ** 2 * np.outer(np.eye(3)[k] - fitted[i], np.eye(3)[k] - fitted[i])
            for k in range(3)
        )
        np.testing.assert_allclose(spread[i], contrasts.T @ outer @ contrasts)


def test_equal_weights_change_nothing() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(3), size=4)
    counted, spread = ClassWeighting(np.ones(3)).expected(p, np.eye(3))
    np.testing.assert_allclose(counted, 1.0)
    expected = np.einsum("ik,kl->ikl", p, np.eye(3)) - p[:, :, None] * p[:, None, :]
    np.testing.assert_allclose(spread, expected, atol=1e-15)


def test_reading() -> None:
    assert ClassWeighting.read(None, [0, 1]) is None
    assert ClassWeighting.read({1: 3}, np.array([0, 1])).weights.tolist() == [1.0, 3.0]
    with pytest.raises(shafer.UnsupportedModelError, match="class_weight='balanced' leaves them"):
        ClassWeighting.read("balanced", [0, 1])
    with pytest.raises(shafer.UnsupportedModelError, match="class 1 has the weight 0"):
        ClassWeighting.read({1: 0.0}, np.array([0, 1]))


def test_certain_probabilities_stay_finite() -> None:
    fitted = np.array([[1.0, 0.0], [0.0, 1.0]])
    counted, spread = ClassWeighting(np.array([1e-6, 1e6])).expected(fitted, np.eye(2))
    np.testing.assert_allclose(counted, [1e-6, 1e6])
    np.testing.assert_allclose(spread, 0.0, atol=1e-12)


# Moderation and discount: the formulas, the invariants, and what they are for.


X, Y = load_wine(return_X_y=True)


def _logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


@given(
    p=st.lists(st.floats(0.001, 1.0), min_size=2, max_size=6),
    variance=st.floats(0.0, 100.0),
)
def test_relative_variance_is_the_formula(p: list[float], variance: float) -> None:
    q = np.array(p) / np.sum(p)
    square = np.sum(q**2)
    expected = variance / 2 * np.sum(q**2 * (1 - 2 * q + square)) / (1 - square)
    got = relative_variance(np.array([variance]), q[None])
    assert got == pytest.approx(expected, rel=1e-6, abs=1e-12)
    if len(q) == 2:
        assert got == pytest.approx(variance * q[0] * q[1], rel=1e-6, abs=1e-12)


def test_relative_variance_of_certainty_is_zero() -> None:
    p = np.array([[1.0, 0.0, 0.0], [1.0, 1e-300, 0.0], [1.0 - 1e-12, 1e-12, 0.0]])
    v = relative_variance(np.array([5.0, 5.0, 5.0]), p)
    assert (v[:2] < 1e-290).all()
    assert v[2] == pytest.approx(5e-12, rel=1e-3)


def test_the_factor_is_mackays() -> None:
    assert moderating_factor(np.array([0.0, 8 / np.pi])) == pytest.approx([1.0, 0.5**0.5])


@pytest.mark.parametrize("groups", [None, "one", "source"])
def test_moderated_evidence_is_the_plain_one_times_a_factor(groups) -> None:
    model = _logistic().fit(X, Y)
    plain = shafer.Explainer(model, X, groups)(X)
    moderated = shafer.Explainer(model, X, groups, moderate="laplace")(X)
    ratio = moderated.logits / plain.logits
    assert ratio == pytest.approx(np.broadcast_to(ratio[:, :1], ratio.shape), rel=1e-8)
    assert (ratio > 0).all()
    assert (ratio < 1).all()
    assert (moderated.decide("plausibility") == plain.decide("plausibility")).all()
    assert moderated.weights == pytest.approx(
        ratio[:, :1, None] * plain.weights, rel=1e-7, abs=1e-12
    )


def test_discounted_evidence_is_the_issue_s_formula() -> None:
    model = _logistic().fit(X, Y)
    bet = shafer.Explainer(model, X, "one", moderate="laplace")(X)
    ev = shafer.Explainer(model, X, "one", moderate="laplace+discount")(X)
    r = ev.reliability
    assert isinstance(ev, shafer.DiscountedEvidence)
    assert ev.betting_probability == pytest.approx(bet.probability)
    assert ev.belief == pytest.approx(r[:, None] * bet.belief)
    assert ev.plausibility == pytest.approx(1 - r[:, None] + r[:, None] * bet.plausibility)
    assert ev.ignorance == pytest.approx(1 - r + r * bet.ignorance)
    assert ev.epistemic_ignorance == pytest.approx(1 - r)
    assert ((r > 0) & (r <= 1)).all()


def test_ignorance_grows_away_from_the_data_and_with_less_of_it() -> None:
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    train, test = order[:120], order[120:]

    def ignorance(rows, new):
        clf = shafer.EvidentialClassifier(_logistic(), groups="one", moderate="laplace+discount")
        return clf.fit(X[rows], Y[rows]).evidence(new).ignorance

    noise = X.mean(axis=0) + 3 * X.std(axis=0) * rng.normal(size=X[test].shape)
    score = np.concatenate([ignorance(train, X[test]), ignorance(train, noise)])
    assert roc_auc_score(np.repeat([0, 1], len(test)), score) > 0.95
    assert ignorance(train[:15], X[test]).mean() > ignorance(train, X[test]).mean() + 0.1


def test_moderation_fits_a_factor_unless_it_is_given_one() -> None:
    fitted = shafer.EvidentialClassifier(_logistic(), moderate="laplace").fit(X, Y)
    assert fitted.explainer_.factor != 1.0
    given_one = shafer.EvidentialClassifier(_logistic(), moderate="laplace", temper=1.0).fit(X, Y)
    assert given_one.explainer_.factor == 1.0
    assert fitted.predict_proba(X) == pytest.approx(fitted.evidence(X).probability)
    assert (fitted.predict(X) == given_one.predict(X)).all()


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=0.1, max_iter=5000),
        LogisticRegression(C=np.inf, max_iter=5000),
        LogisticRegressionCV(
            Cs=3,
            max_iter=5000,
            l1_ratios=(0.0,),
            scoring="neg_log_loss",
            use_legacy_attributes=False,
        ),
        MLPClassifier((8,), max_iter=50, random_state=0, solver="lbfgs"),
        MLPClassifier((), max_iter=50, random_state=0, solver="lbfgs"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_it_moderates(model) -> None:
    Z = StandardScaler().fit_transform(X)
    plain = shafer.Explainer(model.fit(Z, Y), Z)(Z)
    explainer = shafer.Explainer(model, Z, moderate="laplace+discount")
    ev, far = explainer(Z), explainer(10.0 * Z)
    shrunk = explainer.observe(Z).bet.logits / plain.logits
    assert (shrunk > 0.0).all()
    assert (shrunk < 1.0).all()
    assert_allclose(shrunk, shrunk[:, :1] * np.ones((1, 3)), rtol=1e-7)  # one factor for a row
    assert (ev.decide("plausibility") == plain.decide("plausibility")).all()
    assert ((ev.reliability > 0.0) & (ev.reliability <= 1.0)).all()
    assert_allclose(ev.belief, ev.reliability[:, None] * explainer.observe(Z).bet.belief, rtol=1e-9)
    assert np.median(far.reliability) < 0.1 * np.median(ev.reliability)


def test_the_chosen_penalty_of_cross_validation_is_the_prior() -> None:
    Z = StandardScaler().fit_transform(X)
    options = {"l1_ratios": (0.0,), "scoring": "neg_log_loss", "use_legacy_attributes": False}
    chosen = LogisticRegressionCV(Cs=[0.02], tol=1e-10, max_iter=5000, **options).fit(Z, Y)
    plain = LogisticRegression(C=0.02, tol=1e-10, max_iter=5000).fit(Z, Y)
    ours, theirs = (shafer.Explainer(m, Z, moderate="laplace")(Z).logits for m in (chosen, plain))
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)


def test_torch_modules_take_a_precision() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    rows = torch.as_tensor(StandardScaler().fit_transform(X), dtype=torch.float32)
    net = torch.nn.Sequential(torch.nn.Linear(13, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    loose, tight = (
        shafer.Explainer(net, rows, moderate="laplace+discount", precision=tau)(rows)
        for tau in (0.1, 10.0)
    )
    assert loose.epistemic_ignorance.mean() > tight.epistemic_ignorance.mean()
    with pytest.raises(ValueError, match="precision must be a finite number ≥ 0; got -1"):
        shafer.Explainer(net, rows, moderate="laplace", precision=-1)


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        GradientBoostingClassifier(n_estimators=3),
        LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=5000),
    ],
)
def test_models_it_refuses(model) -> None:
    Z = StandardScaler().fit_transform(X)
    with pytest.raises(
        shafer.UnsupportedModelError,
        match=r"penalised log loss.*explainer\.temper\(X_held, y_held\)",
    ):
        shafer.Explainer(model.fit(Z, Y), Z, moderate="laplace")


def test_wrong_words_are_refused() -> None:
    model = _logistic().fit(X, Y)
    with pytest.raises(ValueError, match="moderate must be .* got 'bayes'"):
        shafer.Explainer(model, X, moderate="bayes")
    for temper in ("yes", -1.0, float("nan"), True):
        with pytest.raises(ValueError, match="temper must be 'cv', None or a positive number"):
            shafer.EvidentialClassifier(_logistic(), temper=temper).fit(X, Y)
    with pytest.raises(ValueError, match="needs at least 3 background rows"):
        shafer.Explainer(model, X[:2], moderate="laplace+discount")


def test_familiarity_of_repeated_rows() -> None:
    near = Familiarity.fit(np.ones((10, 2)))
    assert near(np.ones((1, 2))) == pytest.approx(1.0)
    assert near(np.full((1, 2), 5.0)) == pytest.approx(0.0)


def test_background_in_batches_gives_the_same() -> None:
    model = _logistic().fit(X, Y)
    whole = shafer.Explainer(model, X, moderate="laplace+discount")(X)
    parts = shafer.Explainer(model, iter([X[:50], X[50:]]), moderate="laplace+discount")(X)
    assert parts.belief == pytest.approx(whole.belief, rel=1e-9)


def test_a_class_of_one_row_cannot_be_cross_validated() -> None:
    iris, species = load_iris(return_X_y=True)
    rows = np.r_[0:20, 50:70, 100]
    with pytest.raises(ValueError, match="at least 2 rows of every class"):
        shafer.EvidentialClassifier(temper="cv").fit(iris[rows], species[rows])


def test_bets_look_for_no_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """One class, probabilities and utility sets are the same with the discount and without."""
    X, y = load_iris(return_X_y=True)
    inner = LogisticRegression(max_iter=1000)
    clf = shafer.EvidentialClassifier(inner, "one", moderate="laplace+discount").fit(X, y)
    ev = clf.evidence(X + 0.5)
    monkeypatch.setattr(Familiarity, "__call__", lambda *_: pytest.fail("not asked for"))
    for rule in shafer.decision.PRECISE_RULES:
        np.testing.assert_array_equal(clf.predict(X + 0.5, rule), ev.decide(rule).argmax(axis=1))
    np.testing.assert_array_equal(clf.predict_proba(X + 0.5), ev.betting_probability)
    np.testing.assert_array_equal(clf.predict_set(X + 0.5, "utility_set"), ev.decide("utility_set"))


def test_rows_without_weight_make_nothing_familiar() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    X[60:] += 50.0
    weight = np.repeat([1.0, 0.0], [60, 20])
    model = LogisticRegression().fit(X[:60], y[:60])
    without = shafer.Explainer(model, X[:60], moderate="laplace+discount")
    ignored = shafer.Explainer(model, X, moderate="laplace+discount", sample_weight=weight)
    np.testing.assert_allclose(ignored(X).reliability, without(X).reliability, rtol=1e-9)
    np.testing.assert_allclose(ignored.typicality(X), without.typicality(X), rtol=1e-9)


@pytest.mark.parametrize("n_columns", [4, 20])  # a tree and brute force
def test_rounding_makes_no_row_strange(n_columns: int) -> None:
    rows = np.repeat(np.random.default_rng(0).normal(5.0, 10.0, size=(300, n_columns)), 8, axis=0)
    near = Familiarity.fit(rows)
    assert near(rows).min() > 0.9
    assert near(rows.astype(np.float32).astype(np.float64)).min() > 0.7
    assert near(rows + 0.1).max() < 1e-6


def test_held_out_rows_say_how_far_is_far() -> None:
    model = _logistic().fit(X[::2], Y[::2])
    explainer = shafer.Explainer(model, X[::2], moderate="laplace+discount")
    rows = model[0].transform(X[1::2])
    at_first = explainer.calibration.moderation.familiarity
    explainer.temper(X[1::2][:10], Y[1::2][:10])  # too few to take quantiles from
    assert explainer.calibration.moderation.familiarity(rows) == pytest.approx(at_first(rows))
    distance = at_first.distance(rows)
    q50, q90 = np.quantile(distance, [0.5, 0.9])
    before = at_first(rows)
    explainer.temper(X[1::2], Y[1::2])
    near = explainer.calibration.moderation.familiarity
    assert near(rows) == pytest.approx(np.exp(-np.maximum(0, (distance - q90) / (q90 - q50))))
    assert (near(rows) != before).any()
    assert (at_first(rows) == before).all()  # the earlier object is unchanged
