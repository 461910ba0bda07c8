"""Time of evidence for every family of models, beside a prediction and what users have now.

5,000 rows, 20 features, 3 classes. For boosted trees the peer is the library's own contributions
(``pred_contribs``), which SHAP's tree explainer calls as well.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import xgboost
from catboost import CatBoostClassifier, Pool
from interpret.glassbox import ExplainableBoostingClassifier
from machine import describe, record, table
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from timing import best, everything

import shafer

N, J, K = 5_000, 20, 3
ROUNDS = 100


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
        "XGBoost": xgboost.XGBClassifier(n_estimators=ROUNDS),
        "LightGBM": lightgbm.LGBMClassifier(n_estimators=ROUNDS, verbose=-1),
        "CatBoost": CatBoostClassifier(ROUNDS, verbose=0, allow_writing_files=False),
    }


def peer(model: Any, X: Any) -> Callable[[], Any] | None:
    """Return what the library of a model computes for an explanation."""
    if isinstance(model, xgboost.XGBClassifier):
        return partial(model.get_booster().predict, xgboost.DMatrix(X), pred_contribs=True)
    if isinstance(model, lightgbm.LGBMClassifier):
        return partial(model.predict, X, pred_contrib=True)
    if isinstance(model, CatBoostClassifier):
        return partial(model.get_feature_importance, Pool(X), type="ShapValues")
    return None


def measure(name: str, model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Time one model."""
    model.fit(X, y)
    explainer = shafer.Explainer(model, X[:1000])
    predict = best(lambda: model.predict_proba(X), 1.0)
    ours = best(lambda: everything(explainer(X)), 1.0)
    contributions = peer(model, X)
    theirs = None if contributions is None else best(contributions, 0.0, calls=1)
    return {
        "model": name,
        "predict_proba": f"{predict:.1f}",
        "evidence": f"{ours:.1f}",
        "ratio": f"{ours / predict:.1f}",
        "library's contributions": "-" if theirs is None else f"{theirs:.0f}",
        "of them": "-" if theirs is None else f"{ours / theirs:.3f}",
    }


def main() -> None:
    """Print the table and save it."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    warnings.simplefilter("ignore")  # of other libraries: convergence, deprecation
    machine = describe()
    X, y = some_data()
    rows = [measure(name, model, X, y) for name, model in models().items()]
    print(f"{N:,} rows, {J} features, {K} classes; times in ms, the best of several\n")
    print(table(rows))
    record("families", machine, rows)


if __name__ == "__main__":
    main()
