"""Our Shapley values of boosted trees against those of XGBoost, LightGBM and SHAP."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import shap
import xgboost
from scipy import sparse

import shafer
from shafer._kernels import dispatch
from shafer._kernels.trees import forest_paths, tree_shap
from shafer.models.boosting import trees as shapley_trees
from shafer.models.boosting.lightgbm import lightgbm_trees


def some_data(n_classes, n=300):
    rng = np.random.default_rng(n_classes)
    frame = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    scores = np.stack([frame.a * 2, frame.b + frame.c * frame.d, frame.e - frame.a], axis=1)
    y = (scores[:, -n_classes:] + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame["city"] = pd.Categorical(rng.choice([f"v{i}" for i in range(40)], n))
    frame["size"] = pd.Categorical(rng.choice(["l", "m", "s"], n))
    return frame, np.where(frame.city.cat.codes % 5 == 0, 0, y)


@pytest.fixture
def ours_only(monkeypatch):
    """Fail where the values of the library are used instead of ours."""
    given = shapley_trees.ShapleyTrees.contributions

    def checked(self, rows, scores):
        values = given(self, rows, scores)
        assert values is not None
        return values

    monkeypatch.setattr(shapley_trees.ShapleyTrees, "contributions", checked)


def centred(own, background):
    """Return what a library computes, (n, J, K), relative to the classes and to background rows."""
    own = np.asarray(own, dtype=np.float64)
    values = own[:, :, :-1].transpose(0, 2, 1) if own.ndim == 3 else own[:, :-1]
    if values.ndim == 2:
        values = np.stack([-values / 2, values / 2], axis=-1)
    values = values - values.mean(axis=2, keepdims=True)
    return values - values[:background].mean(axis=0)


def weights(model, X):
    return shafer.Explainer(model, X, prior="own")(X).weights[:, :-1]


XGBOOST = {
    "categories": {},
    "sets of categories": {"max_cat_to_onehot": 1},
    "dart": {"booster": "dart", "rate_drop": 0.3},
    "deep": {"max_depth": 14, "n_estimators": 10},
    "leafwise": {"grow_policy": "lossguide", "max_leaves": 40, "max_depth": 0},
    "forest in a round": {"num_parallel_tree": 3, "subsample": 0.5, "n_estimators": 5},
    "a thousand trees": {"n_estimators": 1000, "max_depth": 2},
}


@pytest.mark.usefixtures("ours_only")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", XGBOOST.values(), ids=XGBOOST)
def test_xgboost(options, n_classes):
    X, y = some_data(n_classes)
    settings = {"n_estimators": 20, "enable_categorical": True, "n_jobs": 1, **options}
    model = xgboost.XGBClassifier(**settings).fit(X, y)
    data = xgboost.DMatrix(X, enable_categorical=True)
    own = model.get_booster().predict(data, pred_contribs=True)
    np.testing.assert_allclose(weights(model, X), centred(own, len(X)), atol=2e-5)


@pytest.mark.usefixtures("ours_only")
def test_xgboost_with_pruned_nodes():
    X, y = some_data(2)
    X = X[list("abcde")]
    model = xgboost.XGBClassifier(tree_method="exact", gamma=2.0, n_estimators=20).fit(X, y)
    own = model.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)
    np.testing.assert_allclose(weights(model, X), centred(own, len(X)), atol=1e-5)


@pytest.mark.usefixtures("ours_only")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_xgboost_after_early_stopping(n_classes):
    X, y = some_data(n_classes)
    model = xgboost.XGBClassifier(early_stopping_rounds=2, enable_categorical=True)
    model.fit(X[:150], y[:150], eval_set=[(X[150:], y[150:])], verbose=False)
    booster, rounds = model.get_booster(), (0, model.best_iteration + 1)
    assert rounds[1] < booster.num_boosted_rounds()
    data = xgboost.DMatrix(X, enable_categorical=True)
    own = booster.predict(data, pred_contribs=True, iteration_range=rounds)
    np.testing.assert_allclose(weights(model, X), centred(own, len(X)), atol=1e-5)


@pytest.mark.usefixtures("ours_only")
def test_xgboost_reads_absent_values_of_a_sparse_matrix_as_missing():
    rng = np.random.default_rng(0)
    X = sparse.random(300, 8, 0.4, format="csr", random_state=0)
    y = (X[:, 0].toarray()[:, 0] > 0.2) ^ (rng.random(300) < 0.1)
    model = xgboost.XGBClassifier(n_jobs=1, n_estimators=10).fit(X, y)
    own = model.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)
    np.testing.assert_allclose(weights(model, X), centred(own, 300), atol=1e-5)


@pytest.mark.usefixtures("ours_only")
def test_xgboost_with_a_number_for_missing_values():
    X, y = some_data(3)
    X = X[list("abcde")].fillna(-9.0).to_numpy()
    model = xgboost.XGBClassifier(n_jobs=1, n_estimators=10, missing=-9.0).fit(X, y)
    own = model.get_booster().predict(xgboost.DMatrix(X, missing=-9.0), pred_contribs=True)
    np.testing.assert_allclose(weights(model, X), centred(own, len(X)), atol=1e-5)


def test_xgboost_recodes_categories_of_another_frame():
    X, y = some_data(2)
    model = xgboost.XGBClassifier(n_jobs=1, n_estimators=20, enable_categorical=True).fit(X, y)
    explainer = shafer.Explainer(model, X)
    other = X.assign(city=X.city.cat.reorder_categories(list(X.city.cat.categories)[::-1]))
    np.testing.assert_allclose(explainer(other).probability, model.predict_proba(other), atol=1e-5)


LIGHTGBM = {
    "categories": {},
    "sets of categories": {"max_cat_to_onehot": 1, "min_data_per_group": 1, "cat_smooth": 1},
    "dart": {"boosting_type": "dart"},
    "deep": {"num_leaves": 150, "min_child_samples": 2},
    "zero as missing": {"zero_as_missing": True},
    "missing as zero": {"use_missing": False},
    "a thousand trees": {"n_estimators": 1000, "num_leaves": 4},
}


@pytest.mark.usefixtures("ours_only")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", LIGHTGBM.values(), ids=LIGHTGBM)
def test_lightgbm(options, n_classes):
    X, y = some_data(n_classes)
    X.loc[::9, "b"] = 0.0
    settings = {"n_estimators": 20, "verbose": -1, "n_jobs": 1, **options}
    model = lightgbm.LGBMClassifier(**settings).fit(X, y)
    own = model.predict(X, pred_contrib=True)
    own = own.reshape(len(X), n_classes, -1) if n_classes > 2 else own
    np.testing.assert_allclose(weights(model, X), centred(own, len(X)), atol=1e-10)


@pytest.mark.usefixtures("ours_only")
def test_lightgbm_after_early_stopping():
    X, y = some_data(3)
    model = lightgbm.LGBMClassifier(verbose=-1, n_jobs=1)
    stop = lightgbm.early_stopping(2, verbose=False)
    model.fit(X[:150], y[:150], eval_X=X[150:], eval_y=y[150:], callbacks=[stop])
    assert model.best_iteration_ < 100
    own = model.predict(X, pred_contrib=True).reshape(len(X), 3, -1)
    np.testing.assert_allclose(weights(model, X), centred(own, len(X)), atol=1e-10)


@pytest.mark.usefixtures("ours_only")
def test_lightgbm_finds_categories_by_name_and_drops_new_ones():
    X, y = some_data(2)
    model = lightgbm.LGBMClassifier(n_estimators=20, n_jobs=1, verbose=-1).fit(X, y)
    explainer = shafer.Explainer(model, X)
    turned = X.city.cat.reorder_categories(list(X.city.cat.categories)[::-1])
    other = X.assign(city=turned.cat.rename_categories({"v5": "new"}))
    np.testing.assert_allclose(explainer(other).probability, model.predict_proba(other), atol=1e-12)


def tree_of_shap(forest, tree):
    nodes = slice(forest.starts[tree], forest.starts[tree + 1])
    first = forest.starts[tree]
    left, right = (np.where(c[nodes] < 0, -1, c[nodes] - first) for c in forest[4:6])
    return {
        "children_left": left,
        "children_right": right,
        "children_default": np.where(forest.missing_left[nodes], left, right),
        "features": forest.feature[nodes],
        "thresholds": forest.threshold[nodes],
        "values": forest.value[nodes, None],
        "node_sample_weight": forest.cover[nodes],
    }


@pytest.mark.parametrize("options", [{}, {"num_leaves": 150, "min_child_samples": 2}])
def test_values_are_those_of_shap(options):
    """SHAP asks LightGBM for its values; here it computes them itself."""
    X, y = some_data(2)
    X = X[list("abcde")].to_numpy()
    model = lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1, **options).fit(X, y)
    forest = lightgbm_trees(model.booster_)
    trees = [tree_of_shap(forest, t) for t in range(len(forest.output))]
    theirs = shap.TreeExplainer({"trees": trees}).shap_values(X)
    ours = tree_shap(forest, forest_paths(forest), X)[:, 0]
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("kind", ["gblinear", "rf"])
def test_other_boosters_use_the_library(kind):
    X, y = some_data(2)
    X = X[list("abcde")].fillna(0.0)
    if kind == "gblinear":
        model = xgboost.XGBClassifier(booster="gblinear", n_estimators=5).fit(X, y)
    else:
        model = lightgbm.LGBMClassifier(
            boosting_type="rf",
            bagging_freq=1,
            bagging_fraction=0.7,
            n_estimators=5,
            n_jobs=1,
            verbose=-1,
        ).fit(X, y)
    ev = shafer.Explainer(model, X)(X)
    np.testing.assert_allclose(ev.probability, model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_without_numba_the_bits_are_the_same(library, monkeypatch):
    X, y = some_data(3)
    if library == "lightgbm":
        model = lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1).fit(X, y)
    else:
        model = xgboost.XGBClassifier(n_jobs=1, n_estimators=10, enable_categorical=True).fit(X, y)
    monkeypatch.setattr(dispatch, "_pays", lambda *_: (True, True))
    fast = weights(model, X)
    monkeypatch.setattr(dispatch, "_pays", lambda *_: (False, False))
    assert weights(model, X).tobytes() == fast.tobytes()


def test_rows_that_the_library_reads_in_another_way_use_the_library(monkeypatch):
    """A misread table, such as one with other codes for its categories, must not be used."""
    X, y = some_data(3)
    model = lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1).fit(X, y)
    expected = weights(model, X)
    monkeypatch.setattr(
        shapley_trees,
        "tree_shap",
        lambda forest, paths, rows: dispatch.tree_shap(forest, paths, rows[:, ::-1]),
    )
    np.testing.assert_allclose(weights(model, X), expected, atol=1e-10)


def test_a_row_alone_has_the_same_evidence():
    X, y = some_data(3)
    model = xgboost.XGBClassifier(n_jobs=1, n_estimators=10, enable_categorical=True).fit(X, y)
    explainer = shafer.Explainer(model, X)
    together = explainer(X).weights
    alone = explainer(X.iloc[17:18]).weights
    np.testing.assert_allclose(alone[0], together[17], atol=1e-12)
