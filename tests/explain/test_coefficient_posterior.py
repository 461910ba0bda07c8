"""The covariance of the coefficients, against differences of the log loss in high precision."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence.errors import class_contrasts
from shafer.explain.laplace import ClassWeighting, LaplaceFit
from shafer.models.heads import LinearHead


def _rows(n: int, n_features: int, n_classes: int, seed: int = 0) -> tuple[Any, Any]:
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
    X, y = _rows(25, 2, n_classes)
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
    X, y = _rows(200, 3, n_classes)
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
    X, y = _rows(100, 3, 3)
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
    X, y = _rows(100, 3, 3)
    model = LogisticRegression().fit(X, y)
    fit = LaplaceFit(LinearHead(model.coef_, model.intercept_), 1.0).take_in(X)
    posterior = fit.coefficient_posterior(list("abc"))
    for means in (X.mean(axis=0), np.array([10.0, -3.0, 0.5])):
        step = np.eye(4)
        step[-1, :-1] = means - posterior.centre
        expected = np.einsum("pj,ajbl,ql->apbq", step, posterior.covariance, step)
        np.testing.assert_allclose(posterior.at_means(means), expected, rtol=1e-9, atol=1e-12)


def test_an_intercept_with_a_penalty_is_known_better() -> None:
    X, _ = _rows(60, 2, 2)
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
    X, _ = _rows(80, 3, 3)
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
    X, y = _rows(80, 3, 3)
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
