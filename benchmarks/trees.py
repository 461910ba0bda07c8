"""Time of Shapley values of boosted trees, beside SHAP, WOODELF, shapiq and XGBoost's own.

5,000 rows, 50 features, 100 trees of depth 6, 1,000 background rows. Peers that take minutes are
timed on a few rows and scaled up; this is said in the table. Every round times each of them once,
so that all have the same share of the machine; the medians are reported.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import shap
import shapiq
import xgboost
from machine import describe, record, table
from timing import load_compiled
from woodelf import WoodelfExplainer

import shafer
from shafer._kernels import trees as kernels
from shafer._kernels.dispatch import tree_shap
from shafer._kernels.trees import forest_paths
from shafer.models.boosting.xgboost import xgboost_trees

N, J, TREES, DEPTH, BACKGROUND = 5_000, 50, 100, 6, 1_000
ROUNDS = 5
FEW = {"SHAP": 20, "shapiq": 2}


def some_model() -> tuple[Any, Any]:
    """Return a trained model, and rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, J)).astype(np.float32)
    y = X[:, :10] @ rng.normal(size=10) + X[:, 10] * X[:, 11] + rng.logistic(size=N) > 0
    model = xgboost.XGBClassifier(n_estimators=TREES, max_depth=DEPTH)
    return model.fit(X, y), X


def shap_explainer(model: Any, background: Any) -> Any:
    """Return SHAP's explainer for all background rows; by default it takes 100 of them."""
    masker = shap.maskers.Independent(background, max_samples=len(background))
    return shap.TreeExplainer(model, masker, feature_perturbation="interventional")


def calls(model: Any, X: Any) -> dict[str, tuple[Callable[[], Any], float]]:
    """Return what is timed, each with the factor for rows that were left out."""
    booster, background = model.get_booster(), X[:BACKGROUND]
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(J)])
    named = xgboost.XGBClassifier()
    named.load_model(bytearray(booster.save_raw("json")))
    named.get_booster().feature_names = list(frame.columns)
    ready = shafer.Explainer(model, background, tree_values="background")
    by_path = shafer.Explainer(model, background)
    peer = shap_explainer(model, background)
    slow = shapiq.TreeExplainer(model, max_order=1, min_order=1, index="SV")
    few = {name: X[:n] for name, n in FEW.items()}
    matrix = partial(xgboost.DMatrix, X)

    def woodelf() -> Any:
        explainer = WoodelfExplainer(named, frame[:BACKGROUND])
        return explainer.shap_values(frame, verbose=False)

    return {
        "background: shafer, all": (
            lambda: (
                shafer.Explainer(model, background, tree_values="background", check=False)(
                    X
                ).weights
            ),
            1.0,
        ),
        "background: shafer, explainer made before": (lambda: ready(X).weights, 1.0),
        "background: WOODELF, all": (woodelf, 1.0),
        "background: SHAP": (
            lambda: peer.shap_values(few["SHAP"], check_additivity=False),
            N / FEW["SHAP"],
        ),
        "path: shafer": (lambda: by_path(X).weights, 1.0),
        "path: XGBoost's own": (lambda: booster.predict(matrix(), pred_contribs=True), 1.0),
        "path: WOODELF": (
            lambda: WoodelfExplainer(named, None).shap_values(frame, verbose=False),
            1.0,
        ),
        "path: shapiq": (
            lambda: [slow.explain(row) for row in few["shapiq"]],
            N / FEW["shapiq"],
        ),
        "a prediction": (lambda: model.predict_proba(X), 1.0),
    }


def measure(timed: dict[str, tuple[Callable[[], Any], float]]) -> list[dict[str, Any]]:
    """Time all in turns."""
    times: dict[str, list[float]] = {name: [] for name in timed}
    for round_ in range(ROUNDS + 1):  # the first loads and compiles
        for name, (call, factor) in timed.items():
            if round_ > 2 and factor > 1.0:
                continue  # slow ones three times
            start = time.perf_counter()
            call()
            if round_:
                times[name].append((time.perf_counter() - start) * factor)
    medians = {name: float(np.median(found)) for name, found in times.items()}
    return [
        {
            "what": name,
            "seconds": f"{median:.3g}",
            "of ours": f"{median / medians[ours_for(name)]:.2g}",
            "rows timed": round(N / timed[name][1]),
        }
        for name, median in medians.items()
    ]


def ours_for(name: str) -> str:
    """Return which of our times is the comparable one."""
    return "background: shafer, all" if name.startswith("background") else "path: shafer"


def agreement(model: Any, X: Any) -> list[dict[str, Any]]:
    """Return the largest differences of values: ours from the peers', and of eight points."""
    ours = shafer.Explainer(model, X[:BACKGROUND], tree_values="background")(X[:20])
    values = 2.0 * ours.weights[:, :-1, 1]
    peer = shap_explainer(model, X[:BACKGROUND])
    theirs = peer.shap_values(X[:20], check_additivity=False)
    gap = np.abs(values - theirs).max()
    found = [{"what": "from SHAP, background", "difference": f"{gap:.1e}"}]
    forest = xgboost_trees(model.get_booster(), 0)
    assert forest is not None
    paths = forest_paths(forest)
    rows = X[:200].astype(np.float64)
    exact = tree_shap(forest, paths, rows)
    own = model.get_booster().predict(xgboost.DMatrix(X[:200]), pred_contribs=True)[:, :-1]
    found.append(
        {"what": "from XGBoost, path", "difference": f"{np.abs(exact[:, 0] - own).max():.1e}"}
    )
    for points in (2, 4, 8):
        fixed = paths._replace(n_points=np.full_like(paths.n_points, points))
        gap = np.abs(kernels.tree_shap(forest, fixed, rows) - exact).max()
        found.append({"what": f"{points} points, path", "difference": f"{gap:.1e}"})
    return found


def main() -> None:
    """Print the tables and save them."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    warnings.simplefilter("ignore")  # of other libraries
    machine = describe() | {"xgboost": xgboost.__version__, "shap": shap.__version__}
    load_compiled()
    model, X = some_model()
    rows = measure(calls(model, X))
    print(f"{N:,} rows, {J} features, {TREES} trees of depth {DEPTH}, {BACKGROUND:,} background\n")
    print(table(rows))
    same = agreement(model, X)
    print()
    print(table(same))
    record("trees", machine, [*rows, *same])


if __name__ == "__main__":
    main()
