"""``tree_values="background"`` against the definition, shap, and what a file keeps."""

from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
import shap
from catboost import CatBoostClassifier, Pool
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import DMatrix, XGBClassifier

import shafer
from shafer.errors import UnsupportedModelError
from shafer.explain import interactions
from shafer.models.boosting import catboost as catboost_reader
from shafer.models.boosting import trees as boosted_trees
from shafer.models.boosting import xgboost as xgboost_reader
from shafer.models.boosting.trees import TreeBackground, scores_of_trees
from shafer.saving.file import loaded_bytes, saved_bytes

K, M = 3, 40
BOOSTED = {
    "XGBoost": XGBClassifier(n_estimators=8, enable_categorical=True, max_cat_to_onehot=1),
    "LightGBM": LGBMClassifier(
        n_estimators=8, verbose=-1, min_data_per_group=1, cat_smooth=1, max_cat_to_onehot=1
    ),
    "CatBoost": CatBoostClassifier(8, verbose=0, allow_writing_files=False),
    "CatBoost, other trees": CatBoostClassifier(
        8, verbose=0, allow_writing_files=False, grow_policy="Depthwise"
    ),
    "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5),
    "GradientBoosting": GradientBoostingClassifier(n_estimators=8),
}


@pytest.fixture(scope="module")
def world():
    """Return frames of numbers and with gaps and categories, and the classes."""
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    scores = np.stack([numbers.a * 2, numbers.b + numbers.c * numbers.d, -numbers.a], axis=1)
    y = (scores + rng.gumbel(size=(300, K))).argmax(axis=1)
    mixed = numbers.mask(rng.random(numbers.shape) < 0.1)
    mixed["e"] = pd.Categorical(rng.choice([f"v{i}" for i in range(20)], 300))
    mixed["f"] = pd.Categorical(rng.choice(["l", "m", "s"], 300))
    return numbers, mixed, y


def table_of(name, world):
    numbers, mixed, _ = world
    return numbers if "CatBoost" in name or name == "GradientBoosting" else mixed


def scores(model, X):
    if isinstance(model, XGBClassifier):  # in double precision, unlike its own
        booster = model.get_booster()
        rows = xgboost_reader._rows_of(booster, xgboost_reader._matrix_options(model), X)
        return scores_of_trees(xgboost_reader.xgboost_trees(booster, 0), rows)
    if isinstance(model, LGBMClassifier):
        return model.predict(X, raw_score=True)
    if isinstance(model, CatBoostClassifier):
        return model.predict(X, prediction_type="RawFormulaVal")
    return model.decision_function(X)


def by_definition(model, row, background, weight):
    """Average over all sets of columns that come from the row, (columns, K)."""
    n_columns = row.shape[1]
    subsets = [s for r in range(n_columns + 1) for s in combinations(range(n_columns), r)]
    tables = []
    for known in subsets:
        mixed = background.copy()
        for j in known:
            name = row.columns[j]
            same = [row[name].iloc[0]] * len(background)
            mixed[name] = pd.Series(same, index=background.index, dtype=row[name].dtype)
        tables.append(mixed)
    every = scores(model, pd.concat(tables)).reshape(len(subsets), len(background), -1)
    worth = dict(zip(subsets, np.average(every, axis=1, weights=weight), strict=True))
    values = np.zeros((n_columns, every.shape[2]))
    for j in range(n_columns):
        for known, before in worth.items():
            if j not in known:
                share = 1 / (n_columns * comb(n_columns - 1, len(known)))
                values[j] += share * (worth[tuple(sorted((*known, j)))] - before)
    return values - values.mean(axis=1, keepdims=True), worth[()] - worth[()].mean()


@pytest.mark.parametrize("name", BOOSTED)
def test_weights_are_interventional_shapley_values(name, world):
    X, y = table_of(name, world), world[2]
    model = BOOSTED[name].fit(X, y)
    weight = np.random.default_rng(2).random(M)
    explainer = shafer.Explainer(model, X[:M], tree_values="background", sample_weight=weight)
    ev = explainer(X[100:101])
    expected, usual = by_definition(model, X[100:101], X[:M], weight)
    np.testing.assert_allclose(ev.weights[0, :-1], expected, atol=1e-10)
    if name != "XGBoost":  # its constant is not in its trees
        np.testing.assert_allclose(ev.weights[0, -1], usual, atol=1e-10)
    np.testing.assert_allclose(ev.probability, model.predict_proba(X[100:101]), atol=1e-6)


def test_weights_are_those_of_shap(world):
    X, _, y = world
    model = GradientBoostingClassifier(n_estimators=8).fit(X, y == 0)
    peer = shap.TreeExplainer(model, X[:M], feature_perturbation="interventional")
    ev = shafer.Explainer(model, X[:M], tree_values="background")(X)
    theirs = peer.shap_values(X, check_additivity=False)
    np.testing.assert_allclose(2 * ev.weights[:, :-1, 1], theirs, atol=1e-6)
    assert 2 * ev.weights[0, -1, 1] == pytest.approx(float(np.ravel(peer.expected_value)[0]))


def test_they_differ_from_the_default_where_columns_depend_on_each_other(world):
    X, _, y = world
    X = X.assign(b=X.a + 0.1 * X.b)
    model = XGBClassifier(n_estimators=8).fit(X, y)
    usual = shafer.Explainer(model, X)(X)
    named = shafer.Explainer(model, X, tree_values="path")(X)
    ev = shafer.Explainer(model, X, tree_values="background")(X)
    assert named.weights.tobytes() == usual.weights.tobytes()
    assert np.abs(ev.weights - usual.weights).max() > 0.05
    np.testing.assert_allclose(ev.logits, usual.logits, atol=1e-6)
    np.testing.assert_allclose(ev.weights[:, :-1].mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", ["XGBoost", "LightGBM", "CatBoost", "GradientBoosting"])
@pytest.mark.parametrize("tree_values", ["path", "background"])
def test_interactions_add_up_to_weights(name, tree_values, world):
    X, y = table_of(name, world), world[2]
    model = BOOSTED[name].fit(X, y)
    options = {"groups": {"first": ["a", "b"], "second": ["c"], "third": ["d", "e", "f"]}}
    explainer = shafer.Explainer(model, X, tree_values=tree_values, temper=0.5)
    joined = shafer.Explainer(model, X, tree_values=tree_values, temper=0.5, **options)
    if name == "GradientBoosting" and tree_values == "path":  # not Shapley values
        with pytest.raises(UnsupportedModelError, match="use tree_values='background'"):
            explainer.interactions(X)
        return
    pairs, together = explainer.interactions(X[:30]), joined.interactions(X[:30])
    np.testing.assert_allclose(pairs.sum(axis=2), explainer(X[:30]).weights, atol=1e-13)
    np.testing.assert_allclose(together.sum(axis=2), joined(X[:30]).weights, atol=1e-13)
    expected = pairs[:, :2, 3:6].sum(axis=(1, 2))
    np.testing.assert_allclose(together[:, 0, 2], expected, atol=1e-13)
    assert np.array_equal(pairs, pairs.swapaxes(1, 2))
    assert np.abs(pairs[:, 2, 3]).max() > np.abs(pairs[:, 4, 5]).max() / 2


def test_interactions_are_those_of_xgboost(world):
    X, _, y = world
    model = XGBClassifier(n_estimators=8).fit(X, y == 0)
    own = model.get_booster().predict(DMatrix(X), pred_interactions=True)[:, :-1, :-1]
    ours = 2.0 * shafer.Explainer(model, X).interactions(X)[:, :-1, :-1, 1]
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(ours[:, off], own[:, off], atol=1e-5)


def test_interactions_are_refused_before_memory_is_taken(world, monkeypatch):
    X, _, y = world
    model = XGBClassifier(n_estimators=8).fit(X, y)
    explainer = shafer.Explainer(model, X)
    monkeypatch.setattr(interactions, "_MOST_BYTES", 10_000)
    with pytest.raises(ValueError, match="Pass fewer rows at a time: 2"):
        explainer.interactions(X)
    monkeypatch.setattr(boosted_trees, "_MOST_OF_BACKGROUND", 10)
    with pytest.raises(UnsupportedModelError, match="interactions would need tables"):
        explainer.interactions(X[:1])
    with pytest.raises(UnsupportedModelError, match="no two columns"):
        shafer.Explainer(([1.0, 2.0], 0.0), np.zeros((1, 2))).interactions([[1.0, 2.0]])


def test_behind_steps_and_calibrations(world):
    X, _, y = world
    inside = make_pipeline(StandardScaler(), HistGradientBoostingClassifier(max_iter=8))
    model = CalibratedClassifierCV(inside, ensemble=False, method="temperature", cv=2).fit(X, y)
    ev = shafer.Explainer(model, X[:M], tree_values="background")(X[:9])
    np.testing.assert_allclose(ev.probability, model.predict_proba(X[:9]), atol=1e-12)
    # The factor of the calibration is on the values of the model inside.
    fitted = model.calibrated_classifiers_[0].estimator
    plain = shafer.Explainer(fitted, X[:M], tree_values="background")(X[:9])
    factor = ev.weights[:, 0] / plain.weights[:, 0]
    np.testing.assert_allclose(factor, factor[0, 0])


def test_a_loaded_explainer_gives_the_same_bits(world):
    _, X, y = world
    model = XGBClassifier(n_estimators=8, enable_categorical=True).fit(X, y)
    explainer = shafer.Explainer(model, X, tree_values="background", background_rows=50)
    loaded = loaded_bytes(saved_bytes(explainer))
    assert loaded(X).weights.tobytes() == explainer(X).weights.tobytes()
    assert len(explainer.__getstate__()["options"]["restored"]["rows"]) == 50


def test_a_row_has_the_same_bits_alone_and_with_others(world):
    X, _, y = world
    model = LGBMClassifier(n_estimators=8, verbose=-1).fit(X, y)
    explainer = shafer.Explainer(model, X, tree_values="background")
    together = explainer(X).weights
    assert explainer(X[17:18]).weights.tobytes() == together[17:18].tobytes()


def test_equal_rows_are_joined_and_too_many_are_thinned():
    rows = np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan], [3.0, 1.0], [9.0, 9.0]])
    found = TreeBackground.of(rows, np.array([1.0, 1, 2, 1, 0]), 9)
    np.testing.assert_array_equal(found.rows, rows[[0, 1, 3]])
    np.testing.assert_array_equal(found.weight, [3.0, 1.0, 1.0])
    few = TreeBackground.of(np.arange(100.0)[:, None], None, 5)
    np.testing.assert_array_equal(few.rows[:, 0], [0.0, 25.0, 50.0, 74.0, 99.0])
    assert few.plain()["rows"].dtype == np.float32
    assert TreeBackground.of(rows + 0.1, None, 9).plain()["rows"].dtype == np.float64


def test_symmetric_trees_of_catboost_are_read_here(world, monkeypatch):
    X, _, y = world
    model = CatBoostClassifier(8, verbose=0, allow_writing_files=False).fit(X, y)
    own = model.get_feature_importance(Pool(X), type="ShapValues")[:, :, :-1]
    own = (own - own.mean(axis=1, keepdims=True)).transpose(0, 2, 1)
    monkeypatch.setattr(catboost_reader, "_library", lambda *_: pytest.fail("CatBoost's own"))
    explainer = shafer.Explainer(model, X)
    ours = explainer(X).weights[:, :-1]
    np.testing.assert_allclose(ours, own - own.mean(axis=0), atol=1e-12)
    monkeypatch.setattr(boosted_trees, "_MOST_OF_PATHS", 1)  # by quadrature
    np.testing.assert_allclose(shafer.Explainer(model, X)(X).weights[:, :-1], ours, atol=1e-12)


def test_trees_that_are_not_read_are_refused(world, monkeypatch):
    X, mixed, y = world
    linear = XGBClassifier(booster="gblinear", n_estimators=2).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="tree_values='path'"):
        shafer.Explainer(linear, X, tree_values="background")
    names = mixed[["a", "b", "e"]].fillna(0.0).astype({"e": str})
    model = CatBoostClassifier(4, verbose=0, allow_writing_files=False, cat_features=["e"])
    model.fit(names, y)
    with pytest.raises(UnsupportedModelError, match="needs the background as an array of numbers"):
        shafer.Explainer(model, names, tree_values="background")
    deep = LGBMClassifier(n_estimators=4, verbose=-1).fit(X, y)
    monkeypatch.setattr(boosted_trees, "_MOST_OF_BACKGROUND", 1000)
    with pytest.raises(UnsupportedModelError, match="Train shallower trees"):
        shafer.Explainer(deep, X, tree_values="background")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tree_values": "interventional"}, "tree_values must be 'path'"),
        ({"tree_values": "background", "background_rows": 0}, "background_rows must be"),
        ({"tree_values": "background", "background_rows": True}, "background_rows must be"),
        ({"tree_values": "background", "components": "tree"}, "is about features"),
    ],
)
def test_wrong_options(options, message, world):
    X, _, y = world
    model = GradientBoostingClassifier(n_estimators=1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        shafer.Explainer(model, X, **options)


def test_an_iterator_of_batches_is_refused(world):
    X, _, y = world
    model = XGBClassifier(n_estimators=1).fit(X, y)
    with pytest.raises(ValueError, match="iterator of batches"):
        shafer.Explainer(model, iter([X]), tree_values="background")
