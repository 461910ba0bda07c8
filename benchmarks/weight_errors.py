"""Measure whether error bars of weights hold what they promise.

(a) *Known coefficients*: 300 training sets of 500 rows with six correlated features are drawn from
    a logistic model whose coefficients are known, with two and with three classes. A model is
    trained on each. The 90 % intervals of its weights for 200 new rows should hold the true weights
    (those of the true coefficients, relative to the same means) in 90 % of cases.
(b) *Real data*: on each data set a logistic regression on standardised columns is trained, and 100
    times again on rows drawn with replacement. The 90 % intervals of the weights of the first
    should hold 90 % of the weights of the refits. Every refit is read on the same background. Its
    weights are compared for at most 200 rows, chosen evenly; those of the base rate too. A
    component is an encoded column, or a column of the file: then the one-hot columns of a nominal
    column are one component.

Both are done with the posterior (``errors="laplace"``) and with the covariance over samples
(``errors="sandwich"``).

The data sets of (b) are the first 20 of the alphabetical list in ``datasets.py`` that have at most
60 encoded columns. Weights that are the same in all refits are left out.

``--quick`` makes the study smaller.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from machine import describe, record, table
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from datasets import Dataset, load, names
from shafer.models import bootstrap_refits

LEVEL = 0.9
KINDS = ("laplace", "sandwich")
N_TRAIN, N_NEW, N_FEATURES, CORRELATION = 500, 200, 6, 0.5
MOST_COLUMNS, N_DATA_SETS, MOST_ROWS = 60, 20, 200


# -- (a) known coefficients ---------------------------------------------------------------------


def true_head(n_classes: int) -> shafer.LinearHead:
    """Return a model of six features: strong, weak and useless ones."""
    rng = np.random.default_rng(n_classes)
    if n_classes == 2:
        return shafer.LinearHead(np.array([[1.0, -0.7, 0.5, 0.3, 0.0, 0.0]]), np.array([-0.5]))
    coef = rng.normal(scale=0.7, size=(n_classes, N_FEATURES))
    coef[:, -1] = 0.0
    return shafer.LinearHead(coef, rng.normal(scale=0.3, size=n_classes))


def draw(head: shafer.LinearHead, n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw rows, and their classes from the model."""
    place = np.arange(N_FEATURES)
    covariance = CORRELATION ** np.abs(place[:, None] - place)
    X = rng.multivariate_normal(np.zeros(N_FEATURES), covariance, size=n)
    logits = X @ np.asarray(head.coef).T + head.intercept
    if logits.shape[1] == 1:
        logits = np.column_stack([np.zeros(n), logits])
    return X, (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)


def held_by(ev: Any, weights: Any) -> Any:
    """Return which weights the 90 % intervals of evidence hold."""
    lower, upper = ev.weight_interval(LEVEL)
    return (lower <= weights) & (weights <= upper)


def simulated(n_classes: int, C: float, prior: str, n_simulations: int) -> dict[str, Any]:
    """Return the share of true weights inside the intervals, and its standard error."""
    head = true_head(n_classes)
    shares: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for seed in range(n_simulations):
        rng = np.random.default_rng(seed)
        X, y = draw(head, N_TRAIN, rng)
        new, _ = draw(head, N_NEW, rng)
        model = LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(X, y)
        truth = shafer.Explainer(head, X, prior=prior, check=False)(new)
        for kind in KINDS:
            ev = shafer.Explainer(model, X, errors=kind, prior=prior, check=False)(new)
            shares[kind].append(held_by(ev, truth.weights).mean())
    found: dict[str, Any] = {"K": n_classes, "C": "∞" if np.isinf(C) else C, "prior": prior}
    for kind, held in shares.items():
        found[f"{kind}: held"] = f"{100 * np.mean(held):.1f} %"
        found[f"{kind}: ±"] = f"{100 * np.std(held) / np.sqrt(n_simulations):.1f}"
    return found


# -- (b) real data ------------------------------------------------------------------------------


def chosen() -> list[Dataset]:
    """Return the data sets, by the rule above."""
    small = (data for data in map(load, names()) if data.X.shape[1] <= MOST_COLUMNS)
    return [data for data, _ in zip(small, range(N_DATA_SETS), strict=False)]


def real(data: Dataset, n_refits: int) -> dict[str, Any]:
    """Return the share of the weights of refits inside the intervals."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    model.fit(data.X, data.y)
    refits = bootstrap_refits(model, data.X, data.y, n_refits)
    rows = data.X[np.unique(np.linspace(0, len(data.X) - 1, MOST_ROWS).astype(int))]
    others = [
        shafer.Explainer(m, data.X, groups=None, prior="own", check=False)(rows) for m in refits
    ]
    by_file = [np.flatnonzero(data.source == j).tolist() for j in np.unique(data.source)]
    joined_others = [other.grouped(by_file) for other in others]
    found = {"data": data.name, "n": len(data.X), "J": data.X.shape[1], "K": data.n_classes}
    for kind in KINDS:
        ev = shafer.Explainer(model, data.X, groups=None, errors=kind, prior="own")(rows)
        share, ratio = compared(ev, others)
        joined, _ = compared(ev.grouped(by_file), joined_others)
        found[f"{kind}: held"] = f"{100 * share:.1f} %"
        found[f"{kind}: held, by column of the file"] = f"{100 * joined:.1f} %"
        found[f"{kind} / bootstrap"] = f"{ratio:.2f}"
    return found


def compared(ev: Any, others: list[Any]) -> tuple[float, float]:
    """Return the share of weights of refits that are held, and the median ratio of the errors."""
    draws = np.stack([other.weights for other in others])
    moving = np.ptp(draws, axis=0) > 1e-12
    held = np.stack([held_by(ev, draw) for draw in draws])
    ratio = ev.weights_std[moving] / draws.std(axis=0, ddof=1)[moving]
    return float(held[:, moving].mean()), float(np.median(ratio))


def main() -> None:
    """Print both tables, and save them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    n_simulations, n_refits = (30, 20) if quick else (300, 100)
    warnings.simplefilter("ignore", ConvergenceWarning)
    settings = [
        (n_classes, C, prior)
        for n_classes in (2, 3)
        for C in (1.0, np.inf)
        for prior in ("shared", "own")
    ]
    settings += [(2, 0.1, "own"), (3, 0.1, "own")]  # a penalty that pulls weights to 0
    known = [simulated(*setting, n_simulations) for setting in tqdm(settings)]
    print(table(known))
    found = [real(data, n_refits) for data in tqdm(chosen())]
    print(table(found))
    for kind in KINDS:
        held = [float(row[f"{kind}: held"].split()[0]) for row in found]
        inside = sum(86.0 <= share <= 94.0 for share in held)
        print(f"{kind}: median {np.median(held):.1f} %, {inside} of {len(held)} within 86 to 94 %")
    if not quick:
        record("weight_errors", describe(), [*known, *found])


if __name__ == "__main__":
    main()
