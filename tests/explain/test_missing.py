"""Missing inputs and unseen categories: against Monte Carlo, and what must stay the same."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.compose import make_column_transformer
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

import shafer
from shafer.explain.missing import ConditionalGaussian, MissingInputs, patterns
from shafer.explain.unseen import UnseenCategories
from shafer.models.registry import adapt

# Missing inputs: against Monte Carlo, and what must stay the same.


NAN = np.nan


def missing_inputs(model: Any, X: Any, how: str, groups: Any = None, **options: Any) -> Any:
    """Return an explainer that reads missing inputs, and one that does not."""
    options = {"prior": "shared", **options}
    reads_gaps = shafer.Explainer(model, X, groups, missing=how, **options)
    return reads_gaps, shafer.Explainer(model, X, groups, **options)


@pytest.fixture
def iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X, LogisticRegression(max_iter=2000).fit(X, y)


@pytest.fixture
def binary() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X, LogisticRegression(max_iter=2000).fit(X, y == 1)


def _with_gaps(X: Any, rate: float = 0.4, seed: int = 0) -> Any:
    gaps = np.random.default_rng(seed).random(X.shape) < rate
    return np.where(gaps, NAN, X)


@pytest.mark.parametrize(
    "groups", [None, {"a": ["age", "inc"], "b": ["city"], "c": ["site"]}], ids=["single", "groups"]
)
def test_what_gives_no_evidence_has_weight_zero(groups: Any) -> None:
    """Missing inputs and constant columns, to the last digit: 1e-16 would be named as a reason."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(50, 10, 300), "inc": rng.normal(size=300)})
    X["city"], X["site"] = rng.choice(list("ABC"), 300), 0.1
    y = X["age"] / 10 + X["inc"] + (X["city"] == "B") * 2 + rng.normal(size=300) > 6
    encoder = make_column_transformer(
        (StandardScaler(), ["age", "inc"]), (OneHotEncoder(), ["city"]), remainder="passthrough"
    )
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000)).fit(X, y)
    explainer = shafer.Explainer(model, X, groups, missing="vacuous", prior="own")
    rows = X[:60].copy()
    rows.loc[:29, "city"] = None
    rows.loc[10:39, "inc"] = NAN
    rows.loc[20:29, "age"] = NAN
    ev = explainer(rows)
    for name, found in zip(ev.component_names, np.moveaxis(ev.weights, 1, 0), strict=True):
        if "site" in name or name == "c":
            assert_array_equal(found, 0.0)
        if "city" in name or name == "b":
            assert_array_equal(found[:30], 0.0)
        if "inc" in name:
            assert_array_equal(found[10:40], 0.0)
        if name == "a":
            assert_array_equal(found[20:30], 0.0)
            assert (found[10:20] != 0.0).all()
    named = ev.reasons(class_=True, over=False, top=9, keep="positive")
    assert not named.loc[named["row"] < 30, "component"].str.contains("city|^b$").any()
    assert not named["component"].str.contains("site|^c$").any()


@pytest.mark.parametrize("how", ["vacuous", "conditional"])
@pytest.mark.parametrize(
    "groups", [None, {"sepal": [0, 1], "petal": [2, 3]}, {"b": [0, 2, 3], "a": [1]}]
)
def test_complete_rows_have_the_plain_evidence(iris: Any, how: str, groups: Any) -> None:
    X, model = iris
    read, explainer = missing_inputs(model, X, how, groups)
    assert_array_equal(read(X).weights, explainer(X).weights)
    mixed = X.copy()
    mixed[3, 2] = NAN
    ev = read(mixed)
    others = np.arange(len(X)) != 3
    assert_array_equal(ev.weights[others], explainer(X).weights[others])
    assert ev.component_names == explainer.component_names
    assert_array_equal(ev.classes, explainer.classes)
    assert not np.allclose(ev.weights[3], explainer(X).weights[3])


def test_a_vacuous_input_keeps_its_share_of_the_log_prior(iris: Any) -> None:
    X, model = iris
    gappy = _with_gaps(X)
    read, explainer = missing_inputs(model, X, "vacuous")
    ev, plain = read(gappy), explainer(X)
    gaps = np.isnan(gappy)
    log_prior = np.log(model.predict_proba(X).mean(axis=0))
    log_prior -= log_prior.mean()
    expected = np.where(gaps[:, :, None], log_prior / 4, plain.weights)
    assert_allclose(ev.weights, expected, atol=1e-12)
    assert_allclose(ev.weights.sum(axis=2), 0, atol=1e-12)
    nothing = read(np.full((1, 4), NAN))
    assert_allclose(nothing.probability[0], model.predict_proba(X).mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("how", ["vacuous", "conditional"])
@pytest.mark.parametrize("groups", [{"all": [0, 1, 2, 3]}, {"b": [0, 2, 3], "a": [1]}])
def test_groups_leave_probabilities_as_they_are(iris: Any, how: str, groups: Any) -> None:
    X, model = iris
    gappy = _with_gaps(X)
    fine, _ = missing_inputs(model, X, how)
    coarse, _ = missing_inputs(model, X, how, groups)
    assert_allclose(coarse(gappy).logits, fine(gappy).logits, atol=1e-12)
    assert coarse(gappy).component_names == tuple(groups)


def _shrunk_gaussian(X: Any) -> tuple[Any, Any]:
    """Mean and covariance, from scikit-learn's estimate on standardised features."""
    mean, spread = X.mean(axis=0), X.std(axis=0)
    correlation, _ = ledoit_wolf((X - mean) / spread)
    return mean, correlation * np.outer(spread, spread)


@pytest.mark.parametrize("kind", ["iris", "binary"])
def test_conditional_weights_are_expectations(kind: str, request: Any) -> None:
    X, model = request.getfixturevalue(kind)
    read, explainer = missing_inputs(model, X, "conditional")
    mean, covariance = _shrunk_gaussian(X)
    beta = explainer.pool.beta
    n_classes = beta.shape[1]
    for row, out in [(0, [2]), (60, [0, 3]), (120, [0, 1, 2]), (77, [0, 1, 2, 3])]:
        there = [j for j in range(4) if j not in out]
        gain = covariance[np.ix_(out, there)] @ np.linalg.pinv(covariance[np.ix_(there, there)])
        left = covariance[np.ix_(out, out)] - gain @ covariance[np.ix_(there, out)]
        # Draw what is missing, and let the plain explainer weigh it.
        draws = np.random.default_rng(row).multivariate_normal(
            mean[out] + gain @ (X[row, there] - mean[there]), left, size=40_000
        )
        complete = np.repeat(X[row : row + 1], len(draws), axis=0)
        complete[:, out] = draws
        logits = explainer(complete).logits
        variance = 2 * n_classes / (n_classes - 1) * logits.var(axis=0).mean()
        if n_classes == 2:
            assert_allclose(variance, (logits[:, 1] - logits[:, 0]).var(), rtol=1e-9)
        factor = 1 / np.sqrt(1 + np.pi * variance / 8)
        gappy = X[row : row + 1].copy()
        gappy[:, out] = NAN
        ev = read(gappy)
        expected = factor * explainer(complete).weights.mean(axis=0)
        assert_allclose(ev.weights[0], expected, atol=0.02 * max(1, np.abs(expected).max()))
        if n_classes == 2:  # κ is made for this: the expected probability
            assert_allclose(ev.probability[0], softmax(logits, axis=1).mean(axis=0), atol=0.02)


def test_both_ways_of_conditioning_agree() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7)) @ rng.normal(size=(7, 7)) * [1, 1e6, 1e-6, 1, 1, 10, 1]
    gaussian = ConditionalGaussian.fit(X, np.full(60, 1 / 60))
    covariance = gaussian.correlation * np.outer(gaussian.spread, gaussian.spread)
    assert_allclose(covariance, _shrunk_gaussian(X)[1], rtol=1e-9)
    coef = rng.normal(size=(7, 3)) / gaussian.spread[:, None]
    gappy = _with_gaps(X, 0.5)
    filled, variances = gaussian.completed(gappy, coef)
    for i, row in enumerate(gappy):
        out, there = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
        gain = gaussian.correlation[np.ix_(out, there)] @ np.linalg.inv(
            gaussian.correlation[np.ix_(there, there)]
        )
        x = ((row - gaussian.mean) / gaussian.spread)[there]
        assert_allclose(
            filled[i, out], gaussian.mean[out] + gaussian.spread[out] * (gain @ x), rtol=1e-8
        )
        left = (
            gaussian.correlation[np.ix_(out, out)] - gain @ gaussian.correlation[np.ix_(there, out)]
        )
        slope = coef[out] * gaussian.spread[out, None]
        assert_allclose(variances[i], np.diag(slope.T @ left @ slope), rtol=1e-7, atol=1e-10)
        assert_array_equal(filled[i, there], row[there])


@pytest.mark.parametrize("n_inputs", [3, 64, 65, 200])
def test_patterns_cover_each_incomplete_row_once(n_inputs: int) -> None:
    rng = np.random.default_rng(1)
    gaps = (rng.random((5, n_inputs)) < 0.4)[rng.integers(0, 5, 50)]
    gaps[7] = False
    seen = []
    for rows, missing in patterns(gaps):
        assert (gaps[rows] == missing).all()
        seen.extend(rows)
    assert sorted(seen) == np.flatnonzero(gaps.any(axis=1)).tolist()
    assert len(list(patterns(gaps))) <= 5
    every = [row for rows, _ in patterns(gaps, complete=True) for row in rows]
    assert sorted(every) == list(range(50))
    assert not list(patterns(np.zeros((4, 2), dtype=bool)))


def test_constants_copies_and_few_rows() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(3000, 2))
    X = np.column_stack([x, x[:, 0], np.full(3000, 7.3)])  # a copy, and a constant
    model = LogisticRegression().fit(X, x[:, 0] + x[:, 1] > 0)
    read, explainer = missing_inputs(model, X, "conditional")
    copied = X.copy()
    copied[:, 2] = NAN
    assert_allclose(read(copied).logits, explainer(X).logits, rtol=0.05, atol=0.02)
    constant = X.copy()
    constant[:, 3] = NAN
    assert_allclose(read(constant).weights, explainer(X).weights, atol=1e-12)
    moved = X.copy()
    moved[:, 0] = NAN
    before = read(moved).weights
    moved[:, 3] = 1e3  # a constant says nothing of the others
    assert_allclose(read(moved).weights[:, :3], before[:, :3], atol=1e-12)
    one_row, plain = missing_inputs(model, X[:1], "conditional")
    assert_allclose(one_row(np.full((2, 4), NAN)).logits, plain(X[[0, 0]]).logits, atol=1e-12)


def test_weights_shrink_with_what_is_left_open(binary: Any) -> None:
    X, model = binary
    read = MissingInputs.fit(adapt(model), X, "conditional")
    one, all_four = X[:1].copy(), np.full((1, 4), NAN)
    one[0, 1] = NAN
    gaussian = read.gaussian
    _, few = gaussian.completed(one, read.beta)
    _, many = gaussian.completed(all_four, read.beta)
    assert 0 < few[0, 0] < many[0, 0]
    covariance = gaussian.correlation * np.outer(gaussian.spread, gaussian.spread)
    assert_allclose(many[0], np.diag(read.beta.T @ covariance @ read.beta), rtol=1e-9)


def test_completed_features(iris: Any) -> None:
    X, model = iris
    gappy = _with_gaps(X)
    gaps = np.isnan(gappy)
    adapted = adapt(model)
    vacuous = MissingInputs.fit(adapted, X, "vacuous").complete(adapted, gappy)
    means = vacuous.rows.terms
    assert_allclose(means, np.where(gaps, X.mean(axis=0), X), atol=1e-12)
    assert vacuous.open_variance is None
    conditional = MissingInputs.fit(adapted, X, "conditional").complete(adapted, gappy)
    expected = conditional.rows.terms
    assert_array_equal(expected[~gaps], X[~gaps])
    assert_array_equal(conditional.rows.gaps, gaps)
    assert_array_equal(conditional.rows.encoded, expected)
    assert_array_equal(conditional.open_variance > 0.0, gaps.any(axis=1))
    assert np.abs(expected - X)[gaps].mean() < 0.7 * np.abs(means - X)[gaps].mean()


def test_background_weights_count(iris: Any) -> None:
    X, model = iris
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    gappy = _with_gaps(X)
    weighted, _ = missing_inputs(model, X, "vacuous", sample_weight=weight)
    repeated, _ = missing_inputs(model, np.repeat(X, weight, axis=0), "vacuous")
    assert_allclose(weighted(gappy).weights, repeated(gappy).weights, atol=1e-10)
    weighted, _ = missing_inputs(model, X, "conditional", sample_weight=np.ones(len(X)))
    plain, _ = missing_inputs(model, X, "conditional")
    assert_allclose(weighted(gappy).weights, plain(gappy).weights, atol=1e-12)


@pytest.mark.parametrize("how", ["vacuous", "conditional"])
@pytest.mark.parametrize("scalers", [(StandardScaler(),), (MinMaxScaler(), StandardScaler())])
def test_behind_scalers(how: str, scalers: Any) -> None:
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = make_pipeline(*scalers, LogisticRegression()).fit(X, y)
    gappy = X.mask(np.random.default_rng(0).random(X.shape) < 0.3)
    read, _ = missing_inputs(model, X, how)
    ev = read(gappy)
    assert ev.component_names == tuple(X.columns)
    Z = model[:-1].transform(X)
    inner, _ = missing_inputs((model[-1].coef_, model[-1].intercept_), Z, how)
    assert_allclose(ev.weights, inner(model[:-1].transform(gappy)).weights, atol=1e-10)
    assert_allclose(read(pl.from_pandas(gappy)).weights, ev.weights, atol=1e-12)


def test_conditional_predicts_better_than_nothing() -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    train, test = np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1
    model = LogisticRegression().fit(X[train], y[train])
    gappy = _with_gaps(X[test], 0.5)

    def log_loss(logits: Any) -> float:
        return float(-log_softmax(logits, axis=1)[np.arange(test.sum()), y[test]].mean())

    mean = log_loss(model.decision_function(np.nan_to_num(gappy)))
    losses = [
        log_loss(missing_inputs(model, X[train], how)[0](gappy).logits)
        for how in ("vacuous", "conditional")
    ]
    assert losses[1] < losses[0] < mean


def test_torch_heads() -> None:
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(20, 3)), rng.normal(size=(4, 3))
    intercept = rng.normal(size=4)
    gappy = _with_gaps(X)
    for how in ("vacuous", "conditional"):
        expected = missing_inputs((coef, intercept), X, how)[0](gappy)
        tensors = [torch.tensor(a) for a in (coef, intercept, X, gappy)]
        read, _ = missing_inputs((tensors[0], tensors[1]), tensors[2], how)
        ev = read(tensors[3])
        assert isinstance(ev.weights, torch.Tensor)
        assert_allclose(ev.weights.numpy(), expected.weights, atol=1e-12)


def test_a_model_trained_further_is_noticed(iris: Any) -> None:
    X, model = iris
    read, _ = missing_inputs(model, X, "vacuous")
    model.coef_ = model.coef_ + 1.0
    with pytest.raises(ValueError, match="trained again"):
        read(_with_gaps(X))


def test_single_precision_and_large_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    read, _ = missing_inputs(
        (np.ones((2, 3), dtype=np.float32) * [[1], [-1]], [0.0, 1.0]), X, "conditional"
    )
    assert np.isfinite(read(_with_gaps(X)).belief).all()
    huge = (np.array([[1e4, -1e4, 1e4]]), [0.0])
    for how in ("vacuous", "conditional"):
        ev = missing_inputs(huge, X, how)[0](_with_gaps(X))
        for array in (ev.belief, ev.plausibility, ev.ignorance):
            assert np.isfinite(array).all()


def test_infinity_is_no_gap(iris: Any) -> None:
    X, model = iris
    bad = X.copy()
    bad[2, 1] = np.inf
    for given in (model, (model.coef_, model.intercept_)):
        read, _ = missing_inputs(given, X, "vacuous")
        with pytest.raises(ValueError, match="infinity"):
            read(bad)


def test_a_missing_category_is_expected_from_the_other_inputs() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "c": ["u", "v", "w", "v"] * 5})
    y = [0, 1, 0, 1] * 5
    encoder = make_column_transformer(
        (StandardScaler(), ["a"]), (OneHotEncoder(handle_unknown="ignore"), ["c"])
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(X, y)
    for how in ("vacuous", "conditional"):
        read, explainer = missing_inputs(model, X, how)
        gappy = X.copy()
        gappy.loc[1, "a"] = NAN
        assert_allclose(read(gappy).weights[0], explainer(X).weights[0])
        gappy.loc[2, "c"] = None
        ev = read(gappy)
        others = [i for i in range(20) if i not in (1, 2)]
        assert_allclose(ev.weights[others], explainer(X).weights[others])
        # As if all indicators were missing behind the encoder.
        Z = model[:-1].transform(X)
        inner, _ = missing_inputs((model[-1].coef_, model[-1].intercept_), Z, how)
        Z[1, 0] = Z[2, 1:] = NAN
        assert_allclose(ev.weights, inner(Z).weights, atol=1e-10)


def test_imputers_are_passed_by() -> None:
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(X, y)
    read, _ = missing_inputs(model, X, "conditional")
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    expected, _ = missing_inputs(scaled, X, "conditional")
    gappy = _with_gaps(X)
    assert_allclose(read(gappy).weights, expected(gappy).weights, atol=1e-9)


def test_categories_that_stand_for_missing_values() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0] * 5, "c": ["u", "v", None, "v"] * 5}, dtype=object)
    encoder = make_column_transformer((StandardScaler(), ["a"]), (OneHotEncoder(), ["c"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(X, [0, 1, 0, 1] * 5)
    read = shafer.Explainer(model, X, missing="conditional", check=False)
    with pytest.raises(
        shafer.UnsupportedModelError, match=r"Row 2 of X has missing values in \['c'\]"
    ):
        read(X)


def test_refusals(iris: Any) -> None:
    X, model = iris
    y = model.predict(X)
    with pytest.raises(
        ValueError, match="missing must be one of 'error', 'vacuous', 'conditional'; got 'mean'"
    ):
        shafer.Explainer(model, X, missing="mean")
    with pytest.raises(ValueError, match="one dense array; got an iterator"):
        shafer.Explainer(model, iter([X]), missing="vacuous")
    with pytest.raises(ValueError, match="one dense array; got a sparse"):
        shafer.Explainer(model, sparse.csr_array(X), missing="vacuous")
    with pytest.raises(ValueError, match="dense rows"):
        shafer.Explainer(model, X, missing="vacuous")(sparse.csr_array(X))
    with pytest.raises(ValueError, match="NaN"):
        shafer.Explainer(model, _with_gaps(X), missing="vacuous")
    for bad, reason in [
        (HistGradientBoostingClassifier(max_iter=2), "linear models"),
        (make_pipeline(PCA(2), LogisticRegression()), "PCA mixes columns"),
        (make_pipeline(KNNImputer(), LogisticRegression()), "behind this KNNImputer"),
    ]:
        with pytest.raises(shafer.UnsupportedModelError, match=reason):
            shafer.Explainer(bad.fit(X, y), X, missing="conditional")
    wide = np.zeros((1, 10_001))
    head = (np.ones((1, 10_001)), [0.0])
    with pytest.raises(ValueError, match="at most 10,000 features"):
        missing_inputs(head, wide, "conditional")


def test_gaps_in_frames_whose_columns_are_numbered() -> None:
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    gaps = _with_gaps(X)
    explainer = shafer.Explainer(model, X, missing="conditional")
    assert_allclose(explainer(pd.DataFrame(gaps)).weights, explainer(gaps).weights)


# Unseen categories behind a one-hot encoder are atypical.


NUMBERS, CATEGORIES = ["x0", "x1"], ["c0", "c1"]


def _data(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({name: rng.normal(size=n) for name in NUMBERS})
    for name in CATEGORIES:
        rows[name] = rng.choice(list("abcdef"), size=n)
    score = rows["x0"] + 1.5 * (rows["c0"] == "a") + rng.logistic(size=n)
    return rows, (score > 0).astype(int).to_numpy()


TRAIN, Y = _data(600, 0)
TEST, _ = _data(200, 1)
NEW = TEST.assign(c0="new")


def _model(encoder: OneHotEncoder, *behind: Any) -> Any:
    columns = make_column_transformer((StandardScaler(), NUMBERS), (encoder, CATEGORIES))
    return make_pipeline(columns, *behind, LogisticRegression()).fit(TRAIN, Y)


def _auroc(explainer: shafer.Explainer) -> float:
    score = np.concatenate([explainer.typicality(TEST), explainer.typicality(NEW)])
    return float(roc_auc_score(np.repeat([0, 1], len(TEST)), -score))


@pytest.mark.parametrize("groups", [None, "source", "one"])
@pytest.mark.parametrize(
    "encoder",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
        OneHotEncoder(handle_unknown="infrequent_if_exist"),
    ],
)
def test_unseen_categories_are_atypical(encoder: OneHotEncoder, groups: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explainer = shafer.Explainer(_model(encoder), TRAIN, groups)
        assert _auroc(explainer) > 0.99
        assert _auroc(pickle.loads(pickle.dumps(explainer))) > 0.99
    usual = explainer.typicality(TEST)
    evidence = explainer(TEST), explainer(TRAIN)
    np.testing.assert_allclose(usual, shafer.typicality(*evidence))  # others keep their value


def test_frames_from_transformers() -> None:
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, CATEGORIES), (StandardScaler(), NUMBERS))
    columns.set_output(transform="pandas")
    model = make_pipeline(columns, LogisticRegression()).fit(TRAIN, Y)
    assert _auroc(shafer.Explainer(model, TRAIN)) > 0.99


def test_infrequent_categories_are_one_column() -> None:
    encoder = OneHotEncoder(handle_unknown="ignore", min_frequency=0.2, sparse_output=False)
    model = _model(encoder)
    found = UnseenCategories.behind([model[0]])
    widths = [block.stop - block.start for block in found.blocks]
    assert found.blocks[-1].stop == model[0].transform(TEST).shape[1]
    assert sum(widths) == model[0].transform(TEST).shape[1] - len(NUMBERS)


@pytest.mark.parametrize(
    "model",
    [
        _model(OneHotEncoder(handle_unknown="ignore", drop="first")),
        _model(OneHotEncoder(handle_unknown="ignore"), MaxAbsScaler()),
    ],
)
def test_a_warning_where_they_cannot_be_found(model: Any) -> None:
    explainer = shafer.Explainer(model, TRAIN)
    with pytest.warns(UserWarning, match="cannot detect all unseen categories"):
        explainer.typicality(TEST)


def test_encoders_that_raise_errors_are_left_alone() -> None:
    found = UnseenCategories.behind([_model(OneHotEncoder())[0]])
    assert found.blocks == ()
    assert not found.hidden


def test_the_discount_finds_them_too() -> None:
    model = _model(OneHotEncoder(handle_unknown="ignore"))
    explainer = shafer.Explainer(model, TRAIN, moderate="laplace+discount")
    score = np.concatenate([explainer(rows).epistemic_ignorance for rows in (TEST, NEW)])
    assert roc_auc_score(np.repeat([0, 1], len(TEST)), score) > 0.8


# Evidence of rows with gaps knows its base rate, also after saving, slicing and grouping.


def test_vacuous_gaps_keep_the_base_rate(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + rng.logistic(size=200) > 2.0).astype(int)
    rows = X[:6].copy()
    rows[0, 1] = np.nan
    rows[1] = np.nan
    model = LogisticRegression().fit(X, y)
    ev = shafer.Explainer(model, X, missing="vacuous", prior="shared")(rows)
    # A row without any input has nothing but the base rate; a complete row has that of the model.
    assert_allclose(ev.base_rate[1], ev.logits[1], atol=1e-12)
    complete = shafer.Explainer(model, X, prior="shared")(X[:6])
    assert_allclose(ev.base_rate[2:], complete.base_rate[2:], atol=1e-12)
    ev.save(tmp_path / "ev.npz")
    read = shafer.Evidence.load(tmp_path / "ev.npz")
    assert_allclose(read.base_rate, ev.base_rate)
    assert_allclose(read.fragility(), ev.fragility())
    assert_allclose(ev[[4, 0]].base_rate, ev.base_rate[[4, 0]])
    assert_allclose(ev.grouped({"g": [0, 1]}).base_rate, ev.base_rate)
    assert_allclose(ev.tempered(2.0).base_rate, 2.0 * ev.base_rate)
    assert_allclose(ev.without(["x0"]).n_components, 3)


def test_an_encoder_of_no_columns_is_passed_over() -> None:
    """scikit-learn does not fit it, as where a table happens to have no texts."""
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "c": ["u", "v", "u", "v"]})
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), []),
        (OneHotEncoder(handle_unknown="ignore"), ["c"]),
        (StandardScaler(), ["a"]),
    )
    model = make_pipeline(encode, LogisticRegression()).fit(X, [0, 0, 1, 1])
    explainer = shafer.Explainer(model, X, groups="source")
    assert_allclose(explainer(X).probability, model.predict_proba(X), atol=1e-12)
    new = X.assign(c="w")
    assert explainer.typicality(new).max() < explainer.typicality(X).min()
