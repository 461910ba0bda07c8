"""Error bars from the posterior of the coefficients, at the public face."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpret.glassbox import ExplainableBoostingClassifier
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import shafer
from shafer.evidence.errors import class_contrasts
from shafer.explain import error_bars as laplace_bars
from shafer.explain.laplace import LaplaceFit

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
MODEL = LogisticRegression().fit(X, Y)


def _drawn_weights(model: Any, rows: Any, n_draws: int, prior: str, seed: int = 0) -> Any:
    """Weights of coefficients drawn from the posterior, (draws, n, G, K)."""
    head = shafer.LinearHead(model.coef_, model.intercept_)
    posterior = LaplaceFit(head, 1 / model.C).take_in(X).coefficient_posterior(list("abcd"))
    n_classes = len(model.classes_)
    size = (n_classes - 1) * 5
    root = np.linalg.cholesky(posterior.covariance.reshape(size, size))
    rng = np.random.default_rng(seed)
    steps = (rng.normal(size=(n_draws, size)) @ root.T).reshape(n_draws, n_classes - 1, 5)
    moved = np.einsum("ka,raj->rkj", class_contrasts(n_classes), steps)
    means = X.mean(axis=0)
    pool = shafer.least_commitment(model.coef_, model.intercept_)
    coef = pool.beta.T + moved[..., :4]  # (R, K, J)
    start = pool.offset * 4 + moved[..., 4]
    base = start + coef @ means - moved[..., :4] @ posterior.centre
    weights = np.einsum("ij,rkj->rijk", rows - means, coef)
    base = np.broadcast_to(base[:, None, None, :], (n_draws, len(rows), 1, n_classes))
    if prior == "own":
        return np.concatenate([weights, base], axis=2)
    return weights + base / 4


@pytest.mark.parametrize("prior", ["shared", "own"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_against_weights_of_drawn_coefficients(n_classes: int, prior: str) -> None:
    model = LogisticRegression(C=0.5).fit(X, np.minimum(Y, n_classes - 1))
    rows = X[[0, 60, 149]]
    ev = shafer.Explainer(model, X, errors="laplace", prior=prior)(rows)
    draws = _drawn_weights(model, rows, 40_000, prior)
    np.testing.assert_allclose(ev.weights_std, draws.std(axis=0), rtol=0.02, atol=1e-12)
    joined = ev.grouped({"sepal": [0, 1]})
    sums = draws[:, :, :2].sum(axis=2)
    np.testing.assert_allclose(joined.weights_std[:, 0], sums.std(axis=0), rtol=0.02)
    whole = ev.grouped("one").contrast_std(1, 0)[:, 0]
    total = draws.sum(axis=2)
    np.testing.assert_allclose(whole, (total[..., 1] - total[..., 0]).std(axis=0), rtol=0.02)


def test_contrast_intervals_against_1e5_draws() -> None:
    """The interval holds 90 % of the contrasts of drawn coefficients; independence would not."""
    rows, n_draws = X[[70]], 100_000
    ev = shafer.Explainer(MODEL, X, errors="laplace", prior="own")(rows)
    draws = np.concatenate(
        [_drawn_weights(MODEL, rows, n_draws // 20, "own", s) for s in range(20)]
    )
    contrasts = draws[..., 2] - draws[..., 0]
    lower, upper = ev.contrast_interval(2, 0, level=0.9)
    held = ((contrasts > lower) & (contrasts < upper)).mean(axis=0)
    np.testing.assert_allclose(held, 0.9, atol=4 * np.sqrt(0.09 / n_draws))
    apart = np.hypot(ev.weights_std[..., 2], ev.weights_std[..., 0])
    assert np.abs(apart / contrasts.std(axis=0) - 1).max() > 0.1


def test_the_total_is_the_variance_that_moderation_uses() -> None:
    for labels in (Y, Y == 1):
        model = LogisticRegression(C=2.0).fit(X, labels)
        ev = shafer.Explainer(model, X, errors="laplace")(X)
        head = shafer.LinearHead(model.coef_, model.intercept_)
        variance = LaplaceFit(head, 0.5).take_in(X).posterior().logit_variance(X)
        K = len(model.classes_)
        found = 2 * K / (K - 1) * (ev.grouped("one").weights_std[:, 0] ** 2).mean(axis=1)
        np.testing.assert_allclose(found, variance, rtol=1e-9)


def test_groups_of_the_explainer_are_groups_of_the_evidence() -> None:
    groups = {"sepal": [0, 1], "petal": [2, 3]}
    apart = shafer.Explainer(MODEL, X, errors="laplace")(X).grouped(groups)
    joined = shafer.Explainer(MODEL, X, groups, errors="laplace")(X)
    np.testing.assert_allclose(joined.weights_std, apart.weights_std, rtol=1e-9)


def test_one_hot_groups_behind_a_pipeline() -> None:
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["colour"] = np.array(["red", "green", "blue"])[np.arange(150) % 3]
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["a", "b"]))
    model = make_pipeline(encode, LogisticRegression()).fit(frame, Y)
    ev = shafer.Explainer(model, frame, "source", errors="laplace", prior="own")(frame)
    assert set(ev.component_names) == {"colour", "a", "b", "base rate"}
    fine = shafer.Explainer(model, frame, None, errors="laplace", prior="own")(frame)
    joined = fine.grouped({"colour": [0, 1, 2]})  # the encoder puts them first
    order = [ev.component_names.index(name) for name in ("colour", "a", "b", "base rate")]
    np.testing.assert_allclose(ev.weights_std[:, order], joined.weights_std, rtol=1e-8)
    encoded = sparse.csr_array(encode.transform(frame))
    thin = shafer.Explainer(model[-1], encoded, errors="laplace", prior="own")(encoded)
    np.testing.assert_allclose(thin.weights_std, fine.weights_std, rtol=1e-8, atol=1e-12)


def test_tempering_and_moderation_scale_the_errors() -> None:
    plain = shafer.Explainer(MODEL, X, errors="laplace")(X)
    tempered = shafer.Explainer(MODEL, X, errors="laplace", temper=0.25)(X)
    np.testing.assert_allclose(tempered.weights_std, plain.weights_std / 4)
    moderated = shafer.Explainer(MODEL, X, errors="laplace", moderate="laplace")(X)
    factor = moderated.logits[:, 0] / plain.logits[:, 0]
    np.testing.assert_allclose(
        moderated.weights_std, plain.weights_std * factor[:, None, None], rtol=1e-7
    )
    discounted = shafer.Explainer(MODEL, X, errors="laplace", moderate="laplace+discount")(X)
    np.testing.assert_allclose(discounted.evidence.weights_std, moderated.weights_std)


@pytest.mark.parametrize("missing", ["vacuous", "conditional"])
def test_missing_inputs_have_errors(missing: str) -> None:
    rows = X[:6].copy()
    rows[[0, 2], [1, 3]] = np.nan
    explainer = shafer.Explainer(MODEL, X, missing=missing, errors="laplace", prior="own")
    ev, complete = explainer(rows), shafer.Explainer(MODEL, X, errors="laplace", prior="own")(X[:6])
    whole = [1, 3, 4, 5]
    np.testing.assert_allclose(ev.weights_std[whole], complete.weights_std[whole])
    assert np.isfinite(ev.weights_std).all()
    if missing == "vacuous":  # no evidence, and no doubt about it
        np.testing.assert_allclose(ev.weights_std[[0, 2], [1, 3]], 0.0, atol=1e-12)
        np.testing.assert_allclose(ev.weights_std[0, [0, 2, 3]], complete.weights_std[0, [0, 2, 3]])
    else:
        factor = ev.weights[0, 0] / complete.weights[0, 0]  # of the open variance
        np.testing.assert_allclose(
            ev.weights_std[0, 0], complete.weights_std[0, 0] * factor, rtol=1e-7
        )


def test_batches_and_sample_weights() -> None:
    whole = shafer.Explainer(MODEL, X, errors="laplace")(X)
    batches = shafer.Explainer(MODEL, iter([X[:40], X[40:]]), errors="laplace")(X)
    np.testing.assert_allclose(batches.weights_std, whole.weights_std, rtol=1e-8)
    weight = np.tile([2.0, 0.0, 1.0], 50)
    repeated = np.repeat(X, weight.astype(int), axis=0)
    weighted = shafer.Explainer(MODEL, X, sample_weight=weight, errors="laplace")(X)
    expected = shafer.Explainer(MODEL, repeated, errors="laplace")(X)
    np.testing.assert_allclose(weighted.weights_std, expected.weights_std, rtol=1e-8)


def test_liblinear_penalises_the_intercept() -> None:
    labels = Y == 2
    scaled = LogisticRegression(solver="liblinear", intercept_scaling=0.5, C=0.3).fit(X, labels)
    ev = shafer.Explainer(scaled, X, errors="laplace", prior="own")(X[:3])
    p = scaled.predict_proba(X)[:, 1]
    extended = np.column_stack([X, np.ones(150)])
    tau = 1 / 0.3
    H = extended.T @ ((p * (1 - p))[:, None] * extended) + np.diag([tau] * 4 + [tau / 0.25])
    std = np.sqrt(np.diag(np.linalg.inv(H)))
    np.testing.assert_allclose(ev.contrast_std(True, False)[:, -1], std[-1], rtol=1e-9)
    np.testing.assert_allclose(ev.contrast_std(True, False)[:, 0], std[0] * np.abs(X[:3, 0]))


def test_models_that_hold_a_logistic_regression() -> None:
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}).fit(X, Y)
    inside = shafer.Explainer(search.best_estimator_, X, errors="laplace")(X)
    np.testing.assert_allclose(
        shafer.Explainer(search, X, errors="laplace")(X).weights_std, inside.weights_std
    )
    clf = shafer.EvidentialClassifier(LogisticRegression(), errors="laplace", temper=0.5).fit(X, Y)
    plain = shafer.Explainer(MODEL, X, errors="laplace")(X)
    np.testing.assert_allclose(clf.evidence(X).weights_std, plain.weights_std / 2, rtol=1e-6)
    again = shafer.Explainer(clf, X, errors="laplace")(X)
    np.testing.assert_allclose(again.weights_std, clf.evidence(X).weights_std, rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        crossed = LogisticRegressionCV(Cs=[0.5, 2.0], cv=3, tol=1e-10, max_iter=5000).fit(X, Y)
        strength = float(np.ravel(crossed.C_)[0])
        chosen = LogisticRegression(C=strength, tol=1e-10, max_iter=5000).fit(X, Y)
    found = shafer.Explainer(crossed, X, errors="laplace")(X)
    expected = shafer.Explainer(chosen, X, errors="laplace")(X)
    np.testing.assert_allclose(found.weights_std, expected.weights_std, rtol=1e-4)


def test_the_last_layer_of_a_network() -> None:
    network = MLPClassifier((5,), alpha=0.5, max_iter=2000, random_state=0).fit(X, Y)
    ev = shafer.Explainer(network, X, errors="laplace", prior="shared")(X)
    assert ev.weights_std.shape == (150, 5, 3)
    hidden = np.maximum(0, X @ network.coefs_[0] + network.intercepts_[0])
    head = LogisticRegression(C=2.0).fit(hidden, Y)
    head.coef_, head.intercept_ = network.coefs_[1].T, network.intercepts_[1]
    alone = shafer.Explainer(head, hidden, errors="laplace", prior="shared")(hidden)
    np.testing.assert_allclose(ev.weights_std, alone.weights_std, rtol=1e-8)


UNSUPPORTED = {
    "l1": lambda: LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=5000),
    "elastic net": lambda: LogisticRegression(l1_ratio=0.5, solver="saga", max_iter=5000),
    "discriminant": LinearDiscriminantAnalysis,
    "stochastic": lambda: SGDClassifier(loss="log_loss"),
    "bayes": GaussianNB,
    "calibrated": lambda: CalibratedClassifierCV(LinearSVC(), ensemble=False),
}


@pytest.mark.parametrize("kind", sorted(UNSUPPORTED))
def test_other_models_are_sent_to_the_bootstrap(kind: str) -> None:
    model = UNSUPPORTED[kind]().fit(X, Y == 1)
    with pytest.raises(
        shafer.UnsupportedModelError, match=r"errors='laplace' needs.*errors='bootstrap'"
    ) as caught:
        shafer.Explainer(model, X, errors="laplace")
    assert type(model).__name__ in str(caught.value)


def test_arrays_and_trees_are_sent_to_the_bootstrap() -> None:
    boosted = ExplainableBoostingClassifier(outer_bags=2, max_rounds=5, n_jobs=1).fit(X, Y == 1)
    for model in (boosted, shafer.LinearHead(MODEL.coef_, MODEL.intercept_)):
        with pytest.raises(shafer.UnsupportedModelError, match="errors='bootstrap'"):
            shafer.Explainer(model, X, errors="laplace")


def test_the_sandwich_is_how_penalised_estimates_vary_over_samples() -> None:
    """Classes are drawn again from the fitted model, and each time the model is trained again."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    rows = np.column_stack([rows, rows[:, 1], rows[:, 1]])  # the last three share one effect
    settings = {"C": 0.3, "tol": 1e-8}
    y = rng.random(200) < 1 / (1 + np.exp(-rows @ [1.0, 0.5, 0, 0]))
    model = LogisticRegression(**settings).fit(rows, y)
    chance = model.predict_proba(rows)[:, 1]
    drawn = [LogisticRegression(**settings).fit(rows, rng.random(200) < chance) for _ in range(150)]
    spread = np.std([refit.coef_[0] for refit in drawn], axis=0)
    at_one = rows.mean(axis=0) + np.eye(4)  # the weight of feature j in row j is its coefficient
    std = {
        kind: np.diag(
            shafer.Explainer(model, rows, errors=kind, prior="own")(at_one).contrast_std(
                True, False
            )
        )
        for kind in ("sandwich", "laplace")
    }
    np.testing.assert_allclose(std["sandwich"], spread, rtol=0.2)
    assert (std["laplace"][1:] > 5 * spread[1:]).all()  # 1/τ in directions without data


def test_the_sandwich_by_its_formula() -> None:
    model = LogisticRegression(C=2.0, tol=1e-10, max_iter=2000).fit(X, Y == 1)
    p = model.predict_proba(X)[:, 1]
    rows = np.column_stack([X, np.ones(150)])
    curvature = rows.T @ (rows * (p * (1 - p))[:, None])
    inverse = np.linalg.inv(curvature + np.diag([0.5] * 4 + [0.0]))
    leverage = p * (1 - p) * np.einsum("ij,jk,ik->i", rows, inverse, rows)
    middle = rows.T @ (rows * (p * (1 - p) / (1 - leverage))[:, None])
    expected = np.sqrt(np.diag(inverse @ middle @ inverse))[:4]
    explainer = shafer.Explainer(model, X, errors="sandwich", prior="own")
    found = explainer(X.mean(axis=0) + np.eye(4)).contrast_std(True, False)
    np.testing.assert_allclose(np.diag(found), expected, rtol=1e-6)


def test_the_sandwich_counts_weighted_rows_as_repeated_ones() -> None:
    weight = np.tile([1, 2, 0], 50)
    repeated = X.repeat(weight, axis=0)
    weighted = shafer.Explainer(MODEL, X, sample_weight=weight, errors="sandwich")(X)
    expected = shafer.Explainer(MODEL, repeated, errors="sandwich")(X)
    np.testing.assert_allclose(weighted.weights_std, expected.weights_std, rtol=1e-6)
    with pytest.raises(ValueError, match="errors='sandwich' reads the background twice"):
        shafer.Explainer(MODEL, iter([X[:40], X[40:]]), errors="sandwich")


def test_without_a_penalty_the_sandwich_is_nearly_the_posterior() -> None:
    model = LogisticRegression(C=np.inf, max_iter=2000).fit(X[:, :2], Y == 1)
    laplace, sandwich = (
        shafer.Explainer(model, X[:, :2], errors=kind)(X[:, :2]).weights_std
        for kind in ("laplace", "sandwich")
    )
    np.testing.assert_allclose(sandwich, laplace, rtol=0.05)
    assert (sandwich > laplace).all()


def test_the_sandwich_asks_for_what_the_posterior_does() -> None:
    with pytest.raises(shafer.UnsupportedModelError, match="errors='sandwich' needs a linear head"):
        shafer.Explainer(GaussianNB().fit(X, Y), X, errors="sandwich")
    balanced = LogisticRegression(class_weight="balanced").fit(X, Y)
    with pytest.raises(shafer.UnsupportedModelError, match="errors='sandwich' needs the weights"):
        shafer.Explainer(balanced, X, errors="sandwich")
    alike = np.column_stack([X, X[:, 0]])
    free = LogisticRegression(C=np.inf, max_iter=500).fit(alike, Y == 1)
    with pytest.raises(ValueError, match="errors='sandwich' needs coefficients that the backgr"):
        shafer.Explainer(free, alike, errors="sandwich")
    weighted = LogisticRegression(class_weight={1: 4.0}).fit(X, Y)
    shares = [
        shafer.Explainer(weighted, X, errors=kind)(X).weights_std
        for kind in ("laplace", "sandwich")
    ]
    assert (shares[1] < 1.05 * shares[0]).all()


def test_too_many_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace_bars, "LARGEST_CURVATURE", 9)
    with pytest.raises(
        shafer.UnsupportedModelError, match=r"at most 9 coefficients.*has 2 × 5 .*'bootstrap'"
    ):
        shafer.Explainer(MODEL, X, errors="laplace", prior="shared")
    assert shafer.Explainer(
        LogisticRegression().fit(X, Y == 1), X, errors="laplace", prior="shared"
    )(X).weights_std.shape == (150, 4, 2)


def test_class_weights() -> None:
    """Equal weights count as none; larger ones for a class count in curvature and gradient."""
    weighted = LogisticRegression(class_weight={1: 4.0}).fit(X, Y)
    ev = shafer.Explainer(weighted, X, errors="laplace")(X)
    equal = LogisticRegression(class_weight={0: 1.0}).fit(X, Y)
    same = shafer.Explainer(equal, X, errors="laplace")(X)
    plain = shafer.Explainer(MODEL, X, errors="laplace")(X)
    np.testing.assert_allclose(same.weights_std, plain.weights_std, rtol=1e-6)
    assert np.abs(ev.weights_std / plain.weights_std - 1).max() > 0.01
    balanced = LogisticRegression(class_weight="balanced").fit(X, Y)
    with pytest.raises(shafer.UnsupportedModelError, match="class_weight='balanced'"):
        shafer.Explainer(balanced, X, errors="laplace")


@pytest.mark.parametrize("given", ["Laplace", "", 3, True, ["laplace"], "bayes"])
def test_unknown_errors(given: Any) -> None:
    with pytest.raises(ValueError, match="errors must be None or one of 'laplace', 'bags'"):
        shafer.Explainer(MODEL, X, errors=given)


def test_bets_and_sets_do_not_pay_for_errors() -> None:
    explainer = shafer.Explainer(MODEL, X, errors="laplace", prior="shared")
    assert explainer.observe(X).bet.errors is None
    np.testing.assert_array_equal(
        explainer.predict_set(X, "interval_dominance"),
        shafer.Explainer(MODEL, X, prior="shared").predict_set(X, "interval_dominance"),
    )
    for ev in explainer.stream([X[:5]]):
        assert ev.weights_std.shape == (5, 4, 3)


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), strength=st.floats(-6, 6))
@settings(max_examples=40, deadline=None)
def test_hostile_columns(seed: int, n_classes: int, strength: float) -> None:
    """Dead, repeated, tiny and huge columns, far from zero, with any penalty."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 3))
    rows = np.column_stack([rows, rows[:, 0], np.full(30, 7.0), rng.normal(size=30) * 1e-9])
    rows = rows * 10.0 ** rng.integers(-3, 4, size=6) + rng.choice([0.0, 1e3], size=6)
    model = LogisticRegression(C=10.0**strength)
    model.coef_ = rng.normal(size=(1 if n_classes == 2 else n_classes, 6)) / (
        1 + np.abs(rows).max(0)
    )
    model.intercept_ = rng.normal(size=len(model.coef_))
    model.classes_ = np.arange(n_classes)
    model.n_features_in_ = 6
    new = rows * rng.choice([0.0, 1.0, 1e6], size=(30, 1))
    message = ""
    try:
        explainer = shafer.Explainer(model, rows, errors="laplace", prior="own", check=False)
    except ValueError as error:
        message = str(error)
    if message:  # repeated columns, told apart by the penalty alone
        assert "the log loss is flat in the coefficients of 'x0', 'x3'" in message
        assert strength > 3
        return
    ev = explainer(new)
    std = ev.weights_std
    assert np.isfinite(std).all()
    assert std.min() >= 0.0
    if n_classes == 2:
        np.testing.assert_allclose(std[..., 0], std[..., 1], rtol=1e-9)
    contrast = ev.contrast_std(0, 1)
    slack = 1e-6 * std.max()
    assert (contrast <= std[..., 0] + std[..., 1] + slack).all()  # the triangle of deviations
    assert (contrast >= np.abs(std[..., 0] - std[..., 1]) - slack).all()
    lower, upper = ev.contrast_interval(0, 1)
    assert (lower <= upper).all()
    one = ev.grouped("one").weights_std[:, 0]
    assert (one <= std.sum(axis=1) + slack).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_intervals_hold_true_weights(n_classes: int) -> None:
    """60 training sets from a known model; ``benchmarks/weight_errors.py`` draws 300."""
    place = np.arange(6)
    covariance = 0.5 ** np.abs(place[:, None] - place)
    truth = np.random.default_rng(8).normal(scale=0.6, size=(n_classes, 6))
    shares = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.multivariate_normal(np.zeros(6), covariance, size=600)
        logits = rows @ truth.T
        labels = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
        train, new = rows[:500], rows[500:]
        model = LogisticRegression(max_iter=500).fit(train, labels[:500])
        ev = shafer.Explainer(model, train, errors="laplace", check=False, prior="shared")(new)
        true = shafer.least_commitment(truth, np.zeros(n_classes), train.mean(axis=0))(new).weights
        lower, upper = ev.weight_interval(0.9)
        shares.append(((lower <= true) & (true <= upper)).mean())
    # The shares of the data sets are independent: 2.6 standard errors are 99 %.
    assert abs(np.mean(shares) - 0.9) < 2.6 * np.std(shares) / np.sqrt(60)
    assert 2.6 * np.std(shares) / np.sqrt(60) < 0.05
