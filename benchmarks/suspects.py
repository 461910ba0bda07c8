"""Which cells of a table are wrong, and which two inputs to measure at once.

(a) *Wrong cells*: ten cells, in ten of at most 500 held-out rows, get a wrong value ("mixed" in
    ``asking/wrong_cells.py``). Then a person checks ten cells, in the order of each method. The
    figure is how many of the ten checked cells are wrong. With *two in a row*, there are five rows
    with two wrong cells each.
(b) *Pairs*: eight inputs of 50 held-out rows are missing (all but one where there are fewer). Each
    method chooses two of them: its information as a share of that of the best pair, how often it is
    the best pair, and the log loss once the two true values are known. *Greedy entropy search*
    takes the input with the smallest expected entropy of the answer, then the one that lowers it
    most together with the first. *SHAP*: the two with the largest mean absolute value over the
    background, by the package shap; and the cells of (a) by their absolute values.

The model is a logistic regression on standardised inputs, on the KEEL data sets with four to twenty
numeric columns and no nominal one.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
import shap
from asking.knowledge import Knowledge, LinearGaussian, moderating
from asking.reference_recipes import NODES
from asking.scores import log_loss
from asking.wrong_cells import with_errors
from machine import describe, record, table
from scipy.special import entr, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from datasets import Dataset, load, names

WRONG, MOST_ROWS, MOST_COLUMNS, GAPS = 10, 500, 20, 8


def spoiled(X: Any, spread: Any, per_row: int, rng: Any) -> tuple[Any, Any]:
    """Return rows with ten wrong cells, and which cells these are."""
    bad, wrong = X.copy(), np.zeros(X.shape, dtype=bool)
    for row in rng.choice(len(X), WRONG // per_row, replace=False):
        while wrong[row].sum() < per_row:
            tried, changed = with_errors(X[[row]], spread, "mixed", 1.0, rng)
            j = rng.integers(X.shape[1])
            if changed[0, j]:
                bad[row, j], wrong[row, j] = tried[0, j], True
    return bad, wrong


def first_cells(scores: Any) -> Any:
    """Return the ten cells of the largest scores."""
    return np.unravel_index(np.argsort(-scores, axis=None, kind="stable")[:WRONG], scores.shape)


def absolute_shap(model: Any, background: Any, X: Any) -> Any:
    """Return the absolute SHAP values (interventional), the largest over the classes."""
    masker = shap.maskers.Independent(model[0].transform(background), max_samples=len(background))
    values = np.abs(shap.LinearExplainer(model[-1], masker).shap_values(model[0].transform(X)))
    return values if values.ndim == 2 else values.max(axis=2)


def hits(explainer: Any, X: Any, bad: Any, wrong: Any, spread: Any) -> dict[str, float]:
    """Return how many wrong cells each method finds with ten checks."""
    alone = explainer.ask.check_cells(bad, None, order="stake", backend="pandas")
    place = np.array([int(name[1:]) for name in alone["input"]])
    surprise = np.zeros(bad.shape)
    surprise[alone["row"], place] = alone["surprise"]
    best = np.where(surprise == surprise.max(axis=1, keepdims=True), surprise, 0.0)
    suspects = explainer.ask.check_cells(bad, 3, backend="pandas").head(WRONG)
    guarded = explainer.ask.guard(bad)
    certain = np.where(guarded.repaired, guarded.alarm[:, None], 0.0) * (1 + surprise)
    centre = X.mean(axis=0)
    found = {
        "z-score of each cell": wrong[first_cells(np.abs(bad - centre) / spread)],
        "absolute SHAP value": wrong[first_cells(absolute_shap(explainer.model, X, bad))],
        "all cells by surprise": wrong[first_cells(surprise)],
        "the best cell of each row": wrong[first_cells(best)],
        "check_cells": wrong[suspects["row"], [int(name[1:]) for name in suspects["input"]]],
        "guard: repaired cells": wrong[first_cells(certain)] & (certain[first_cells(certain)] > 0),
    }
    return {name: float(mask.sum()) for name, mask in found.items()}


def pairs(explainer: Any, X: Any, new: Any, y: Any, rng: Any) -> dict[str, float]:
    """Return how good the pairs of each method are, and what they cost."""
    width = new.shape[1]
    gaps = np.sort(rng.choice(width, min(GAPS, width - 1), replace=False))
    gappy = new[:50].copy()
    gappy[:, gaps] = np.nan
    start = perf_counter()
    every = explainer.ask.next_inputs(gappy, None, together=2, backend="pandas")
    one_call = perf_counter() - start
    start = perf_counter()
    for a, b in combinations(gaps, 2):
        explainer.ask.next_inputs(gappy, None, groups={"two": [f"x{a}", f"x{b}"]})
    many_calls = perf_counter() - start
    gain = np.zeros((len(gappy), width, width))
    place = [every[f"input_{k}"].str.removeprefix("x").astype(int) for k in (1, 2)]
    gain[every["row"], place[0], place[1]] = every["information"]
    gain = np.maximum(gain, np.moveaxis(gain, 1, 2))
    best = gain.max(axis=(1, 2))
    open_ = best >= 1e-12  # else the row is certain: every pair is as good
    found: dict[str, float] = {"speed-up over single calls": many_calls / one_call}
    known = Knowledge.of(LinearGaussian.of(explainer.model, X), explainer.model[0].transform(gappy))
    for name, (a, b) in _choices(explainer, X, known, gappy, gaps, gain, rng).items():
        got = gain[np.arange(len(gappy)), a, b]
        found[f"{name}: information"] = float(np.mean((got / np.maximum(best, 1e-12))[open_]))
        found[f"{name}: is the best pair"] = float(np.mean((got >= best * (1 - 1e-9))[open_]))
        found[f"{name}: log loss"] = _loss_with(known.copy(), explainer.model, new, y, (a, b))
    return found


def _choices(
    explainer: Any, X: Any, known: Knowledge, gappy: Any, gaps: Any, gain: Any, rng: Any
) -> dict[str, tuple[Any, Any]]:
    """Return the pair of inputs that each method chooses in each row."""
    n, width = gappy.shape
    rows = np.arange(n)
    single = explainer.ask.next_inputs(gappy, 2, backend="pandas")
    ranked = single["input"].str.removeprefix("x").to_numpy(dtype=int).reshape(n, 2)
    importance = absolute_shap(explainer.model, X, X).mean(axis=0)
    by_shap = gaps[np.argsort(-importance[gaps], kind="stable")[:2]]
    at_random = np.stack([rng.choice(gaps, 2, replace=False) for _ in rows])
    entropy = _expected_entropy(known)
    first = gaps[np.stack([entropy([j] * n) for j in gaps], axis=1).argmin(axis=1)]
    second = np.stack([entropy(first, [j] * n) for j in gaps], axis=1)
    second[rows, np.searchsorted(gaps, first)] = np.inf
    grown = gain[rows, ranked[:, 0]].argmax(axis=1)
    return {
        "together=2": np.divmod(gain.reshape(n, -1).argmax(axis=1), width),
        "the best, and what adds most to it": (ranked[:, 0], grown),
        "the two best inputs": (ranked[:, 0], ranked[:, 1]),
        "greedy entropy search": (first, gaps[second.argmin(axis=1)]),
        "mean absolute SHAP": (np.full(n, by_shap[0]), np.full(n, by_shap[1])),
        "at random": (at_random[:, 0], at_random[:, 1]),
    }


def _expected_entropy(known: Knowledge) -> Callable[..., Any]:
    """Return a function from inputs to the expected entropy of the answer once they are known."""
    reach = known.covariance @ known.model.beta  # (n, J, K)
    node, weight = np.polynomial.hermite_e.hermegauss(NODES)
    weight = weight / weight.sum()
    rows = np.arange(len(known.mean))

    def entropy(*inputs: Any) -> Any:
        chosen = np.stack([np.asarray(one) for one in inputs], axis=1)  # (n, B)
        size = chosen.shape[1]
        block = known.covariance[rows[:, None, None], chosen[:, :, None], chosen[:, None, :]]
        factor = np.linalg.cholesky(block + 1e-9 * np.eye(size))
        root = np.linalg.solve(factor, reach[rows[:, None], chosen])  # (n, B, K)
        kappa = moderating(np.maximum(known.variances - (root**2).sum(axis=1), 0.0))
        grid = np.stack(np.meshgrid(*[node] * size, indexing="ij"), axis=-1).reshape(-1, size)
        shares = np.prod(np.stack(np.meshgrid(*[weight] * size, indexing="ij")), axis=0).ravel()
        moved = known.logits[:, None, :] + grid @ root  # (n, nodes, K)
        return entr(softmax(kappa[:, None, None] * moved, axis=2)).sum(axis=2) @ shares

    return entropy


def _loss_with(known: Knowledge, model: Any, new: Any, y: Any, pair: tuple[Any, Any]) -> float:
    rows = np.arange(len(known.mean))
    true = model[0].transform(new[: len(rows)])
    for inputs in pair:
        still = known.unknown[rows, inputs]
        known.measure(rows[still], inputs[still], true[rows[still], inputs[still]])
    return log_loss(known.probability, y[: len(rows)])


def measure(data: Dataset, n_splits: int) -> dict[str, Any]:
    """Return the figures of one data set, averaged over its splits."""
    found: dict[str, list[float]] = {}
    for seed in range(n_splits):
        rng = np.random.default_rng(seed)
        X, new, y, y_new = train_test_split(
            data.X, data.y, test_size=0.5, stratify=data.y, random_state=seed
        )
        new = new[:MOST_ROWS]
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
        explainer = shafer.Explainer(model, X)
        spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        for per_row, title in ((1, "one in a row"), (2, "two in a row")):
            bad, wrong = spoiled(new, spread, per_row, rng)
            for name, value in hits(explainer, X, bad, wrong, spread).items():
                found.setdefault(f"{title}: {name}", []).append(value)
        for name, value in pairs(explainer, X, new, y_new, rng).items():
            found.setdefault(f"pairs: {name}", []).append(value)
    return {"data": data.name, **{key: float(np.mean(values)) for key, values in found.items()}}


def main() -> None:
    """Print the tables and save all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=5, help="random splits of each data set")
    parser.add_argument("--data", nargs="*", default=names(), help="data sets, all by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # solvers that stop early
    machine = describe()
    print(*(f"{key}: {value}" for key, value in machine.items()), sep=", ")
    chosen = [data for data in map(load, options.data) if _is_numeric(data)]
    rows = [measure(data, options.splits) for data in tqdm(chosen)]
    keys = [key for key in rows[0] if key != "data"]
    lines = [{"figure": key, "mean": f"{np.mean([row[key] for row in rows]):.3f}"} for key in keys]
    print(f"\n{len(rows)} data sets\n\n{table(lines)}")
    if options.data == names():
        record("suspects", machine, rows)


def _is_numeric(data: Dataset) -> bool:
    width = data.X.shape[1]
    return 4 <= width <= MOST_COLUMNS and len(np.unique(data.source)) == width


if __name__ == "__main__":
    main()
