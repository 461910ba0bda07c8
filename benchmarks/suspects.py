"""Which cells of a table are wrong, and which two inputs to measure at once.

(a) *Wrong cells*: ten cells, in ten of at most 500 held-out rows, get a wrong value ("mixed" in
    ``asking/wrong_cells.py``). Then a person checks ten cells, in the order of each method. The
    figure is how many of the ten checked cells are wrong. With *two in a row*, there are five rows
    with two wrong cells each.
(b) *Pairs*: eight inputs of 50 held-out rows are missing (all but one where there are fewer). The
    information of the pair that each method chooses, as a share of that of the best pair; and how
    often the two best single inputs are the best pair.

The model is a logistic regression on standardised inputs, on the KEEL data sets with four to twenty
numeric columns and no nominal one.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from asking.wrong_cells import with_errors
from machine import describe, record, table
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
        "all cells by surprise": wrong[first_cells(surprise)],
        "the best cell of each row": wrong[first_cells(best)],
        "check_cells": wrong[suspects["row"], [int(name[1:]) for name in suspects["input"]]],
        "guard: repaired cells": wrong[first_cells(certain)] & (certain[first_cells(certain)] > 0),
    }
    return {name: float(mask.sum()) for name, mask in found.items()}


def pairs(explainer: Any, X: Any, rng: Any) -> dict[str, float]:
    """Return how good the pairs of simple rules are, and what they cost."""
    width = X.shape[1]
    gaps = rng.choice(width, min(GAPS, width - 1), replace=False)
    gappy = X[:50].copy()
    gappy[:, gaps] = np.nan
    start = perf_counter()
    every = explainer.ask.next_inputs(gappy, None, together=2, backend="pandas")
    one_call = perf_counter() - start
    start = perf_counter()
    for a, b in combinations(sorted(gaps), 2):
        explainer.ask.next_inputs(gappy, None, groups={"two": [f"x{a}", f"x{b}"]})
    many_calls = perf_counter() - start
    single = explainer.ask.next_inputs(gappy, 2, backend="pandas")
    gain = {
        (line["row"], frozenset((line["input_1"], line["input_2"]))): line["information"]
        for line in every.to_dict("records")
    }
    shares, same, greedy = [], [], []
    for row, part in single.groupby("row"):
        best = max(value for (r, _), value in gain.items() if r == row)
        if best < 1e-12:
            continue  # the row is certain: every pair is as good
        top = frozenset(part["input"])
        shares.append(gain[row, top] / best)
        same.append(gain[row, top] >= best * (1 - 1e-9))
        first = part["input"].iloc[0]
        with_first = [v for (r, pair), v in gain.items() if r == row and first in pair]
        greedy.append(max(with_first) / best)
    return {
        "two best inputs are the best pair": float(np.mean(same or [1.0])),
        "their information": float(np.mean(shares or [1.0])),
        "greedy": float(np.mean(greedy or [1.0])),
        "least of greedy": float(np.min(greedy or [1.0])),
        "speed-up over single calls": many_calls / one_call,
    }


def measure(data: Dataset, n_splits: int) -> dict[str, Any]:
    """Return the figures of one data set, averaged over its splits."""
    found: dict[str, list[float]] = {}
    for seed in range(n_splits):
        rng = np.random.default_rng(seed)
        X, new, y, _ = train_test_split(
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
        for name, value in pairs(explainer, new, rng).items():
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
    lines = [{"figure": key, "mean": f"{np.mean([row[key] for row in rows]):.2f}"} for key in keys]
    print(f"\n{len(rows)} data sets\n\n{table(lines)}")
    if options.data == names():
        record("suspects", machine, rows)


def _is_numeric(data: Dataset) -> bool:
    width = data.X.shape[1]
    return 4 <= width <= MOST_COLUMNS and len(np.unique(data.source)) == width


if __name__ == "__main__":
    main()
