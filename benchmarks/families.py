"""Time of evidence for every family of models, beside a prediction and what users have now.

5,000 rows, 20 features, 3 classes (2 for the support vector machine). The peer is what a user would
pick now. For boosted trees: the library's own contributions (``pred_contribs``), which SHAP's tree
explainer calls as well. For an EBM: its local explanations. For a linear model: SHAP's linear
explainer. For the rest: SHAP's permutation explainer, timed on a few rows and scaled up.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import shap
import xgboost
from catboost import CatBoostClassifier, Pool
from interpret.glassbox import ExplainableBoostingClassifier
from machine import describe, record, table
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from timing import best, everything, load_compiled

import shafer

N, J, K = 5_000, 20, 3
ROUNDS = 100
FEW_ROWS = 5


def some_data() -> tuple[Any, Any]:
    """Return features, and classes that depend on three of them with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, J))
    return X, (X[:, :K] + rng.gumbel(size=(N, K))).argmax(axis=1)


def models() -> dict[str, Any]:
    """Return one model of each family."""
    return {
        "scaler and logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "Gaussian naive Bayes": GaussianNB(),
        "MLP": MLPClassifier((64,), max_iter=20),
        "EBM": ExplainableBoostingClassifier(interactions=0, max_rounds=200, n_jobs=1),
        "SVM, calibrated": CalibratedClassifierCV(SVC(), ensemble=False, cv=2),
        "XGBoost": xgboost.XGBClassifier(n_estimators=ROUNDS),
        "LightGBM": lightgbm.LGBMClassifier(n_estimators=ROUNDS, verbose=-1),
        "CatBoost": CatBoostClassifier(ROUNDS, verbose=0, allow_writing_files=False),
    }


def peer(model: Any, X: Any) -> tuple[str, Callable[[], Any], float]:
    """Return what a user would pick now: its name, a call, and the factor on its time."""
    if isinstance(model, xgboost.XGBClassifier):
        rows = xgboost.DMatrix(X)
        return "own", partial(model.get_booster().predict, rows, pred_contribs=True), 1.0
    if isinstance(model, lightgbm.LGBMClassifier):
        return "own", partial(model.predict, X, pred_contrib=True), 1.0
    if isinstance(model, CatBoostClassifier):
        return "own", partial(model.get_feature_importance, Pool(X), type="ShapValues"), 1.0
    if isinstance(model, ExplainableBoostingClassifier):
        return "own", partial(model.explain_local, X[:FEW_ROWS]), N / FEW_ROWS
    if isinstance(model, Pipeline):
        explainer = shap.LinearExplainer(model[-1], model[:-1].transform(X[:100]))
        return "SHAP linear", lambda: explainer.shap_values(model[:-1].transform(X)), 1.0
    permutation = shap.explainers.Permutation(model.predict_proba, X[:100], seed=0)
    return "SHAP permutation", lambda: permutation(X[:FEW_ROWS]), N / FEW_ROWS


def measure(name: str, model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Time one model."""
    if name.startswith("SVM"):
        y = y == 0
        model.fit(X[:1000], y[:1000])
    else:
        model.fit(X, y)
    explainer = shafer.Explainer(model, X[:1000])
    predict = best(lambda: model.predict_proba(X))
    ours = best(lambda: everything(explainer(X)))
    whose, call, factor = peer(model, X)
    theirs = best(call, 0.0, calls=1 if factor == 1.0 else 2) * factor  # SHAP compiles at first
    return {
        "model": name,
        "predict_proba": f"{predict:.2f}",
        "evidence": f"{ours:.2f}",
        "ratio": f"{ours / predict:.2f}",
        "peer": whose,
        "peer's time": f"{theirs:.0f}",
        "of it": f"{ours / theirs:.2g}",
    }


def main() -> None:
    """Print the table and save it."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    warnings.simplefilter("ignore")  # of other libraries: convergence, deprecation
    machine = describe()
    load_compiled()
    X, y = some_data()
    rows = [measure(name, model, X, y) for name, model in models().items()]
    print(f"{N:,} rows, {J} features, {K} classes; times in ms, the best of several\n")
    print(table(rows))
    record("families", machine, rows)


if __name__ == "__main__":
    main()
