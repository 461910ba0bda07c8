"""Compare decision rules by what their decisions cost, with an act "refer" for doubtful rows.

Fixed before the first run: 20 real data sets. For two classes, missing the rarer class costs 5 and
a false alarm 1; this is the matrix of the German credit and of the Statlog heart data (there the
rarer class is the bad risk and the ill patient). For more classes a wrong name costs 1. Referring a
row costs a quarter, a half or three quarters of the worst case: the expected cost of the best act
under the least favourable probabilities (5/6 and 1 − 1/K). All costs are divided by the worst case,
so that to refer every row costs 0.25, 0.5 or 0.75.

The model is a logistic regression on standardised columns. Three situations, each repeated over
random splits:

- *half*: trained on half of the rows, the others are decided;
- *little data*: trained on 40 rows (eight for each class, if that is more);
- *noisy*: trained as for half, but each column of the decided rows gets noise as large as its own
  spread, which the model has not seen.

Rules: expected loss with plain, tempered and moderated probabilities; and the belief rules on plain
evidence by feature, and on plain, moderated and discounted evidence as one component. A rule that
keeps several acts refers the row. Such rules are asked twice: with "refer" among the acts, and
without it ("…, names only"), so that the cost of referring has no influence. "never refer" and
"always refer" are for comparison.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from machine import RESULTS, describe, record, table
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from datasets import Dataset, load
from datasets import describe as size_of

DATA = (
    *("german", "heart", "saheart", "pima", "bupa", "mammographic", "wdbc", "wisconsin"),
    *("breast", "australian", "crx", "bands", "spambase", "magic"),
    *("contraceptive", "tae", "vehicle", "wine", "vowel", "segment"),
)
SPLITS = 10
SHARES = (0.25, 0.5, 0.75)
"""The cost of referring, as a share of the worst case."""
SITUATIONS = ("half", "little data", "noisy")
SET_RULES = ("interval_dominance", "maximality")
BELIEF_RULES = ("belief", "hurwicz", *SET_RULES)
REFERENCE = "expected loss, moderated"


class Task(NamedTuple):
    """A trained model's evidence for the rows to decide, by kind, and their true classes."""

    kinds: dict[str, Any]
    y: NDArray[np.intp]


def loss_of(data: Dataset) -> tuple[NDArray[np.float64], float]:
    """Return the losses of naming each class, (K, K), divided by the worst case, and that."""
    if data.n_classes == 2:
        rare = int(np.argmin(np.bincount(data.y)))
        loss = np.zeros((2, 2))
        loss[1 - rare, rare], loss[rare, 1 - rare] = 5.0, 1.0
        worst = 5.0 / 6.0
    else:
        loss, worst = 1.0 - np.eye(data.n_classes), 1.0 - 1.0 / data.n_classes
    return loss / worst, worst


def tasks(data: Dataset, seed: int) -> Iterator[tuple[str, Task]]:
    """Train on half of the rows and on few, and return the evidence of the others."""
    rows = np.arange(len(data.y))
    rng = np.random.default_rng(seed)
    half, rest = train_test_split(rows, train_size=0.5, stratify=data.y, random_state=seed)
    few = max(40, 8 * data.n_classes)
    little, _ = train_test_split(half, train_size=few, stratify=data.y[half], random_state=seed)
    X, y = data.X[rest], data.y[rest]
    noisy = X + rng.normal(size=X.shape) * data.X[half].std(axis=0)
    models = trained(data.X[half], data.y[half])
    yield "half", Task(evidence(models, X), y)
    yield "noisy", Task(evidence(models, noisy), y)
    yield "little data", Task(evidence(trained(data.X[little], data.y[little]), X), y)


def trained(X: Any, y: Any) -> dict[str, Any]:
    """Train a plain, a tempered, a moderated and a discounted classifier."""
    options = {
        "plain": {},
        "tempered": {"temper": "cv"},
        "moderated": {"moderate": "laplace"},
        "discounted": {"moderate": "laplace+discount"},
    }
    found: dict[str, Any] = {}
    for kind, given in options.items():
        if kind == "discounted":  # the factor is that of the moderated one
            given["temper"] = found["moderated"].explainer_.factor
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        found[kind] = shafer.EvidentialClassifier(model, **given).fit(X, y)
    return found


def evidence(models: dict[str, Any], X: Any) -> dict[str, Any]:
    """Return the evidence of each kind, by feature and as one component."""
    found = {kind: clf.evidence(X) for kind, clf in models.items()}
    discounted = found.pop("discounted")
    ones = {f"{kind}, one": ev.grouped("one") for kind, ev in found.items()}
    ones["discounted, one"] = discounted.evidence.grouped("one").discounted(discounted.reliability)
    return found | ones


def decided(task: Task, loss: NDArray[np.float64], refer: float) -> dict[str, NDArray[np.intp]]:
    """Return the act of each row by each method; the last act is to refer."""
    acts = np.vstack([loss, np.full(loss.shape[1], refer)])
    last = len(loss)
    found = {"always refer": np.full(len(task.y), last)}
    bet = task.kinds["moderated"].decide("expected_loss", loss=loss)
    found["never refer"] = np.argmax(bet, axis=1)
    for kind in ("plain", "tempered", "moderated"):
        chosen = task.kinds[kind].decide("expected_loss", loss=acts)
        found[f"expected loss, {kind}"] = np.argmax(chosen, axis=1)
    for kind in ("plain", "plain, one", "moderated, one", "discounted, one"):
        for rule in BELIEF_RULES:
            found[f"{rule}, {kind}"] = only_one(task.kinds[kind].decide(rule, loss=acts), last)
        for rule in SET_RULES:
            names = task.kinds[kind].decide(rule, loss=loss)
            found[f"{rule}, names only, {kind}"] = only_one(names, last)
    return found


def only_one(chosen: NDArray[np.bool_], otherwise: int) -> NDArray[np.intp]:
    """Return the act of each row that keeps one, and another act for rows that keep several."""
    return np.where(chosen.sum(axis=1) == 1, np.argmax(chosen, axis=1), otherwise)


def measure(name: str, n_splits: int) -> dict[str, Any]:
    """Return the mean cost and the share of referred rows of each method, on one data set."""
    data = load(name)
    loss, worst = loss_of(data)
    sums: dict[str, Any] = {}
    for seed in range(n_splits):
        for situation, task in tasks(data, seed):
            for share in SHARES:
                acts = np.vstack([loss, np.full(loss.shape[1], share)])
                for method, act in decided(task, loss, share).items():
                    cost = acts[act, task.y].mean()
                    referred = (act == len(loss)).mean()
                    cell = sums.setdefault(situation, {}).setdefault(method, {})
                    cell.setdefault(share, []).append((cost, referred))
    means = {
        situation: {
            method: written(np.mean([by_share[s] for s in SHARES], axis=1).T)
            for method, by_share in by_method.items()
        }
        for situation, by_method in sums.items()
    }
    return {**size_of(data), "worst": round(worst, 4), **means}


def written(figures: NDArray[np.float64]) -> str:
    """Write costs, and shares of referred rows, (2, shares), in one line of text."""
    cost, referred = figures
    return f"{' '.join(f'{x:.4f}' for x in cost)} / {' '.join(f'{x:.2f}' for x in referred)}"


def figures_of(rows: list[dict[str, Any]], situation: str, method: str) -> NDArray[np.float64]:
    """Return costs and shares of referred rows, (2, data sets, shares)."""
    parts = [row[situation][method].split(" / ") for row in rows]
    numbers = [[[float(x) for x in part.split()] for part in pair] for pair in parts]
    return np.moveaxis(np.array(numbers), 1, 0)


def interval(values: NDArray[np.float64]) -> str:
    """Write a mean with its 95 % interval over data sets."""
    half = student.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():+.3f} ± {half:.3f}"


def cost_table(rows: list[dict[str, Any]], situation: str) -> str:
    """Write the mean cost of each method, and its difference from the reference."""
    lines = []
    reference, _ = figures_of(rows, situation, REFERENCE)
    for method in rows[0][situation]:
        cost, referred = figures_of(rows, situation, method)
        line: dict[str, Any] = {"rule": method}
        for share, mean in zip(SHARES, cost.mean(axis=0), strict=True):
            line[f"cost, refer {share}"] = f"{mean:.4f}"
        gap = (cost - reference).mean(axis=1)
        line["all, less the reference"] = "" if method == REFERENCE else interval(gap)
        wins, losses = int((gap < -1e-9).sum()), int((gap > 1e-9).sum())
        line["better : worse"] = "" if method == REFERENCE else f"{wins} : {losses}"
        line["referred"] = " / ".join(f"{value:.2f}" for value in referred.mean(axis=0))
        lines.append(line)
    return table(lines)


def summary_table(rows: list[dict[str, Any]]) -> str:
    """Write the mean over the costs of referring, for each situation, against the reference."""
    lines = []
    for method in rows[0][SITUATIONS[0]]:
        line: dict[str, Any] = {"rule": method}
        for situation in SITUATIONS:
            cost = figures_of(rows, situation, method)[0].mean(axis=1)
            gap = cost - figures_of(rows, situation, REFERENCE)[0].mean(axis=1)
            wins, losses = int((gap < -1e-9).sum()), int((gap > 1e-9).sum())
            line[situation] = f"{cost.mean():.3f}"
            line[f"{situation}: difference"] = "" if method == REFERENCE else interval(gap)
            line[f"{situation}: better : worse"] = (
                "" if method == REFERENCE else f"{wins} : {losses}"
            )
        lines.append(line)
    return table(lines)


def print_tables(rows: list[dict[str, Any]]) -> None:
    """Print a summary, and a table for each situation, also by the number of classes."""
    print(f"\nMean over the three costs of referring:\n\n{summary_table(rows)}")
    for situation in SITUATIONS:
        print(f"\n{situation}, {len(rows)} data sets:\n\n{cost_table(rows, situation)}")
    for title, some in (
        ("two classes, costs 5 : 1", [row for row in rows if row["K"] == 2]),
        ("more classes", [row for row in rows if row["K"] > 2]),
    ):
        for situation in SITUATIONS if len(some) > 1 else ():
            print(f"\n{situation}, {title} ({len(some)} data sets):\n")
            print(cost_table(some, situation))


def main() -> None:
    """Run the benchmark, print its tables, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three small data sets, two splits")
    parser.add_argument("--tables", action="store_true", help="print the recorded results")
    arguments = parser.parse_args()
    if arguments.tables:
        print_tables(json.loads((RESULTS / "costs.json").read_text())["rows"])
        return
    warnings.simplefilter("ignore")  # models that stop early
    start = time.perf_counter()
    chosen = ("heart", "wine", "tae") if arguments.quick else DATA
    splits = 2 if arguments.quick else SPLITS
    rows = [measure(name, splits) for name in tqdm(chosen)]
    machine = describe() | {"splits": splits, "seconds": round(time.perf_counter() - start)}
    print_tables(rows)
    if not arguments.quick:
        record("costs", machine, rows)


if __name__ == "__main__":
    main()
