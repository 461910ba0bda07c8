"""Which numbers about a row keep their order when something else about the explainer changes.

A model is trained on half of the rows of each data set (logistic regression on standardised
columns), and explained on the other half. Then one choice changes, the model stays:

- *base rate*: shared among the components instead of a component of its own;
- *grouping*: a few joined components (``groups="auto"``) instead of one for each column;
- *background*: a fifth of the training rows instead of all of them.

The figure is Spearman's rank correlation over the rows before and after, averaged over the splits,
then over the data sets. A number that is the same for all rows before or after has no order: that
counts as 0. ``surprise`` is −ln of the largest probability, which none of the choices can change.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from machine import describe, record, table
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from datasets import Dataset, load, names

CHANGES = ("base rate", "grouping", "background")


def readings(ev: Any) -> dict[str, Any]:
    """Return every number about a row, (n,) each, of which the order is compared."""
    for_, against = np.log(ev.odds_for), np.log(ev.odds_against)
    return {
        "surprise": ev.surprise,
        "lack": ev.lack,
        "contradiction": ev.contradiction,
        "weaker side": np.minimum(for_, against) / np.maximum(for_, 1e-300),
        "ignorance": ev.ignorance,
        "disagreement": ev.weight_of_disagreement,  # the same order, without rounding to 1
        "conflict": ev.weight_of_conflict,
    }


def correlation(before: Any, after: Any) -> float:
    """Return Spearman's rank correlation, 0 where there is no order."""
    if np.ptp(before) == 0.0 or np.ptp(after) == 0.0:
        return 0.0
    return float(spearmanr(before, after).statistic)


def measure(data: Dataset, n_splits: int) -> dict[str, Any]:
    """Return the correlations of one data set, averaged over its splits, by change and number."""
    found: dict[str, list[float]] = {}
    for seed in range(n_splits):
        X, X_new, y, _ = train_test_split(
            data.X, data.y, test_size=0.5, stratify=data.y, random_state=seed
        )
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, y)
        few = np.random.default_rng(seed).choice(len(X), max(10, len(X) // 5), replace=False)
        usual = shafer.Explainer(model, X, groups=None, prior="own")
        before = readings(usual(X_new))
        changed = {
            "base rate": shafer.Explainer(model, X, groups=None, prior="shared"),
            "grouping": shafer.Explainer(model, X, groups="auto", prior="own"),
            "background": shafer.Explainer(model, X[few], groups=None, prior="own"),
        }
        for change, explainer in changed.items():
            after = readings(explainer(X_new))
            for name, values in before.items():
                key = f"{change}: {name}"
                found.setdefault(key, []).append(correlation(values, after[name]))
    return {"data": data.name, **{key: float(np.mean(values)) for key, values in found.items()}}


def report(rows: list[dict[str, Any]]) -> None:
    """Print the mean correlations, and how many data sets agree with the leading pair."""
    quantities = list(dict.fromkeys(key.partition(": ")[2] for key in rows[0] if ": " in key))
    lines = [
        {"number": name}
        | {c: f"{np.mean([row[f'{c}: {name}'] for row in rows]):.2f}" for c in CHANGES}
        for name in quantities
    ]
    print(f"\nRank correlation over rows, mean over {len(rows)} data sets\n\n{table(lines)}")


def main() -> None:
    """Print the table and save all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=5, help="random splits of each data set")
    parser.add_argument("--data", nargs="*", default=names(), help="data sets, all by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # solvers that stop early
    machine = describe()
    print(*(f"{key}: {value}" for key, value in machine.items()), sep=", ")
    rows = [measure(load(name), options.splits) for name in tqdm(options.data)]
    report(rows)
    if options.data == names():
        record("stability", machine, rows)


if __name__ == "__main__":
    main()
