"""scikit-learn's boosting and the boosting libraries: what a component is, NaN and categories."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

import shafer
from shafer.models.boosting.trees import Tree, path_contributions


@pytest.fixture(scope="module")
def heart() -> tuple[pd.DataFrame, Any]:
    """The heart data with missing values and a categorical column in the middle."""
    data = shafer.datasets.load_heart(as_frame=True)
    frame = data.data.copy()
    frame["famhist"] = frame["famhist"].map({0.0: "Absent", 1.0: "Present"}).astype("category")
    frame.loc[::9, "ldl"] = np.nan
    return frame, data.target


@pytest.mark.filterwarnings("ignore:Missing values detected")  # interpret, of its plots
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingClassifier(max_iter=15, categorical_features="from_dtype"),
        xgboost.XGBClassifier(n_estimators=15, enable_categorical=True),
        lightgbm.LGBMClassifier(n_estimators=15, verbose=-1, n_jobs=1),
        CatBoostClassifier(15, cat_features=["famhist"], verbose=0, allow_writing_files=False),
        ExplainableBoostingClassifier(max_rounds=20, outer_bags=2, interactions=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_missing_values_and_categories_are_the_models_affair(
    heart: tuple[pd.DataFrame, Any], model: Any
) -> None:
    X, y = heart
    model.fit(X, y)
    histogram = isinstance(model, HistGradientBoostingClassifier)
    for options in ({}, {"components": "feature"}) if histogram else ({},):
        explainer = shafer.Explainer(model, X, **options)
        assert_allclose(explainer(X).probability, model.predict_proba(X), atol=1e-5)
        if options or not histogram:
            assert explainer.component_names[:9] == tuple(X.columns)


def test_a_feature_that_no_tree_asks_about_says_nothing(heart: tuple[pd.DataFrame, Any]) -> None:
    X, y = heart
    X = X.assign(constant=1.0)
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    explainer = shafer.Explainer(model.fit(X, y), X, components="feature")
    weights = explainer(X).weights
    silent = explainer.component_names.index("constant")
    assert_allclose(np.ptp(weights[:, silent], axis=0), 0.0, atol=1e-12)
    # The categorical column is read as itself, though the trees see it first.
    spoken = np.ptp(weights[:, :, 1], axis=0)
    assert spoken[list(X.columns).index("famhist")] > 0.05


def test_paths_of_one_tree() -> None:
    # Node 0 asks feature 1; its right child, node 2, asks feature 0.
    tree = Tree(
        left=np.array([1, -1, 3, -1, -1]),
        right=np.array([2, -1, 4, -1, -1]),
        feature=np.array([1, 0, 0, 0, 0]),
        leaf_value=np.array([0.0, 4.0, 0.0, 1.0, -1.0]),
        cover=np.array([8.0, 4.0, 4.0, 1.0, 3.0]),
    )
    paths = path_contributions(tree, 2)
    # Values: node 2 is (1·1 − 1·3)/4 = −0.5, the root (4·4 − 0.5·4)/8 = 1.75.
    assert_allclose(paths[1], [0.0, 2.25])
    assert_allclose(paths[3], [1.5, -2.25])
    assert_allclose(paths[4], [-0.5, -2.25])


@pytest.mark.parametrize("learner", [HistGradientBoostingClassifier, GradientBoostingClassifier])
def test_a_stump_gives_its_feature_the_whole_tree(learner: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    size = {"max_iter": 1} if learner is HistGradientBoostingClassifier else {"n_estimators": 1}
    model = learner(max_depth=1, **size).fit(X, y)
    by_tree = shafer.Explainer(model, X, components="tree", prior="shared")(X)
    by_feature = shafer.Explainer(model, X, prior="shared")(X)
    spread = np.ptp(by_feature.weights[:, :, 1], axis=0)
    assert (spread > 1e-12).sum() == 1
    assert_allclose(spread.max(), np.ptp(by_tree.weights[:, 0, 1]), rtol=1e-10)


def test_options() -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="components must be 'feature' or 'tree'.*got 'leaf'"):
        shafer.Explainer(model, X, components="leaf")
    started = GradientBoostingClassifier(n_estimators=2, init=GaussianNB()).fit(X, y)
    trees = ("init", "tree 0", "tree 1", "base rate")  # no feature holds what it starts from
    assert shafer.Explainer(started, X).component_names == trees
    with pytest.raises(ValueError, match="components must be 'tree' for this model"):
        shafer.Explainer(started, X, components="feature")


def test_frames() -> None:
    X, y = shafer.datasets.load_heart(as_frame=True, return_X_y=True)
    for init in (None, GaussianNB()):
        model = GradientBoostingClassifier(n_estimators=3, init=init).fit(X, y)
        for options in ({}, {"components": "tree"}) if init is None else ({},):
            ev = shafer.Explainer(model, X, **options)(X)
            assert_allclose(ev.probability, model.predict_proba(X), atol=1e-10)
    assert shafer.Explainer(model, X).component_names[0] == "init"


def test_early_stopping() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = xgboost.XGBClassifier(n_estimators=200, early_stopping_rounds=2)
    model.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)
    assert model.best_iteration < model.get_booster().num_boosted_rounds() - 1
    assert_allclose(shafer.Explainer(model, X)(X).probability, model.predict_proba(X), atol=1e-5)
    other = lightgbm.LGBMClassifier(n_estimators=200, verbose=-1, n_jobs=1)
    stop = lightgbm.early_stopping(2, verbose=False)
    other.fit(X[::2], y[::2], eval_X=X[1::2], eval_y=y[1::2], callbacks=[stop])
    assert_allclose(shafer.Explainer(other, X)(X).probability, other.predict_proba(X), atol=1e-10)


def test_bare_boosters() -> None:
    X, y = load_iris(return_X_y=True)
    data = xgboost.DMatrix(X, y)
    booster = xgboost.train({"objective": "multi:softprob", "num_class": 3}, data, 8)
    assert_allclose(
        shafer.Explainer(booster, X, prior="shared")(X).probability,
        booster.predict(data),
        atol=1e-5,
    )
    names = {"names": list("abcd"), "classes": ["s", "c", "v"], "prior": "shared"}
    ev = shafer.Explainer(booster, X, **names)(X)
    assert ev.component_names == ("a", "b", "c", "d")
    assert ev.classes.tolist() == ["s", "c", "v"]
    options = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
    light = lightgbm.train(options, lightgbm.Dataset(X, y), 8)
    assert_allclose(
        shafer.Explainer(light, X, prior="shared")(X).probability, light.predict(X), atol=1e-10
    )
    odds = lightgbm.train(
        {"objective": "cross_entropy", "verbose": -1, "num_threads": 1}, lightgbm.Dataset(X, y == 1)
    )
    assert_allclose(
        shafer.Explainer(odds, X, prior="shared")(X).probability[:, 1], odds.predict(X), atol=1e-10
    )


def test_sparse_rows() -> None:
    X, y = load_iris(return_X_y=True)
    rows = sparse.csr_matrix(np.where(X > 1, X, 0.0))
    for target in (y, y == 1):
        for model in (
            lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1),
            xgboost.XGBClassifier(n_estimators=8),
        ):
            model.fit(rows, target.astype(int))
            ev = shafer.Explainer(model, rows)(rows)
            assert_allclose(ev.probability, model.predict_proba(rows), atol=1e-5)
