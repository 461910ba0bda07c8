"""Time of computing evidence, compared with a prediction and with other libraries.

Every row times, on the same model and data: the model's own ``predict_proba``; the whole evidence
(w⁺, w⁻, belief, plausibility, ignorance, conflict); the same with the NumPy reference kernels;
SHAP's ``LinearExplainer``, which only makes the same additive decomposition and keeps all of it;
and, for few classes, evtools-dst, which combines over all 2^K sets, one row at a time. Times are
the best of several, in milliseconds.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import shap
from evtools import conversions
from machine import describe, record, table
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from timing import best, everything, load_compiled, trained

import shafer
from shafer._kernels import dispatch

DENSE = [(100_000, 100, 10), (1_000_000, 30, 2), (2_000, 2_048, 1_000)]
CLASSES = [2, 3, 10, 100, 1_000, 10_000]
GROWTH = [(25_000, 100, 10), (50_000, 100, 10), (100_000, 50, 10), (100_000, 100, 5)]
SPARSE = (20_000, 100_000, 20, 0.001)
FEW_ROWS = 200  # evtools-dst and slow references are timed on these and scaled up
ONE_ROW = [(30, 2), (64, 10), (2_048, 1_000)]


def with_numpy(function: Callable[[], Any]) -> float:
    """Time with the reference kernels."""
    usual = dispatch._pays
    dispatch._pays = lambda *_: (False, False)
    try:
        return best(function, 0.0, calls=1)
    finally:
        dispatch._pays = usual


def peak_memory(function: Callable[[], Any]) -> float:
    """Return the peak memory of a call, in megabytes."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def with_shap(model: LogisticRegression, X: Any) -> str:
    """Time the additive decomposition, where it fits in memory."""
    gigabytes = X.size * len(model.classes_) * 8 / 1e9
    if gigabytes > 2:
        return f"needs {gigabytes:.0f} GB"
    explainer = shap.LinearExplainer(model, X[:100])
    return f"{best(lambda: explainer.shap_values(X), 0.0, calls=1):.0f}"


def with_evtools(evidence: shafer.Evidence) -> float:
    """Pool the same weights through all 2^K sets, row by row; its weights are e^−w."""
    n_classes = evidence.n_classes
    singletons = 1 << np.arange(n_classes)
    complements = 2**n_classes - 1 - singletons
    rows = evidence[:FEW_ROWS]
    plus, minus = rows.weights_for, rows.weights_against

    def pool() -> None:
        for i in range(len(rows)):
            weights = np.ones(2**n_classes)
            weights[singletons] *= np.exp(-plus[i])
            weights[complements] *= np.exp(-minus[i])
            mass = conversions.wtom(weights)
            mass = np.append(0.0, mass[1:] / mass[1:].sum())
            conversions.mtobel(mass)
            conversions.mtopl(mass)

    return best(pool, 0.0, calls=1) * len(evidence) / len(rows)


def pooling_rate(explainer: shafer.Explainer, X: Any) -> float:
    """Return the weights that the pooling kernel computes and sums in a second, in billions."""
    source = explainer(X).source
    return X.size * len(explainer.classes) / best(source.pooled, 0.3) / 1e6


def measure_row(n_features: int, n_classes: int) -> dict[str, Any]:
    """Time a call on one row."""
    X = np.random.default_rng(0).normal(size=(200, n_features))
    model = trained(n_features, n_classes)
    explainer = shafer.Explainer(model, X)
    predict = best(lambda: model.predict_proba(X[:1]))
    ours = best(lambda: everything(explainer(X[:1])))
    return {
        "one row, J × K": f"{n_features:,} × {n_classes:,}",
        "predict_proba": f"{predict:.3f}",
        "evidence": f"{ours:.3f}",
        "ratio": f"{ours / predict:.2f}",
        "NumPy": f"{with_numpy(lambda: everything(explainer(X[:1]))):.3f}",
    }


def measure(n: int, n_features: int, n_classes: int, *, peers: bool) -> dict[str, Any]:
    """Time one dense shape."""
    X = np.random.default_rng(0).normal(size=(n, n_features))
    model = trained(n_features, n_classes)
    explainer = shafer.Explainer(model, X[:1000])
    predict = best(lambda: model.predict_proba(X))
    ours = best(lambda: everything(explainer(X)))
    row: dict[str, Any] = {
        "n × J × K": f"{n:,} × {n_features:,} × {n_classes:,}",
        "predict_proba": f"{predict:.2f}",
        "evidence": f"{ours:.2f}",
        "ratio": f"{ours / predict:.2f}",
        "10⁹ weights/s": f"{pooling_rate(explainer, X):.1f}",
        "memory MB": f"{peak_memory(lambda: everything(explainer(X))):.0f}",
    }
    if peers:
        some = X[:FEW_ROWS] if n_classes == 1_000 else X
        reference = with_numpy(lambda: everything(explainer(some))) * n / len(some)
        row["NumPy"] = f"{reference:.0f}"
        row["SHAP"] = with_shap(model, X)
        row["evtools-dst"] = f"{with_evtools(explainer(X)):.0f}" if n_classes <= 10 else "-"
    return row


def measure_sparse() -> dict[str, Any]:
    """Time a text-like sparse shape."""
    n, n_features, n_classes, density = SPARSE
    X = sparse.random_array((n, n_features), density=density, rng=0, format="csr")
    model = trained(n_features, n_classes)
    explainer = shafer.Explainer(model, X)
    predict = best(lambda: model.predict_proba(X))
    ours = best(lambda: everything(explainer(X)))
    return {
        "n × J × K": f"{n:,} × {n_features:,} × {n_classes} at {density:.1%}",
        "predict_proba": f"{predict:.1f}",
        "evidence": f"{ours:.1f}",
        "ratio": f"{ours / predict:.2f}",
        "memory MB": f"{peak_memory(lambda: everything(explainer(X))):.0f}",
        "NumPy": f"{with_numpy(lambda: everything(explainer(X))):.0f}",
    }


def main() -> None:
    """Print the tables and save them."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    warnings.simplefilter("ignore")  # deprecation warnings of other libraries
    machine = describe()
    load_compiled()
    print(*(f"{key}: {value}" for key, value in machine.items()), sep=", ")
    main_rows = [measure(*shape, peers=True) for shape in DENSE] + [measure_sparse()]
    print("\nTimes in ms, the best of several; ratio is evidence / predict_proba\n")
    print(table(main_rows))
    by_classes = [measure(2_000, 64, n_classes, peers=False) for n_classes in CLASSES]
    print("\nMore classes\n")
    print(table(by_classes))
    single = [measure_row(*shape) for shape in ONE_ROW]
    print("\nOne row\n")
    print(table(single))
    growth = [measure(*shape, peers=False) for shape in [*GROWTH, DENSE[0]]]
    print("\nHalf the rows, half the features, half the classes\n")
    print(table(growth))
    record("speed", machine, [*main_rows, *by_classes, *single, *growth])


if __name__ == "__main__":
    main()
