"""Measure what the choice of the weights changes, on real data.

Each part compares ways to get the weights of the same logistic regression:

1. *powers*: least commitment by other powers than 2, and of the combined mass function;
2. *training*: least commitment as the penalty of training, beside ridge, at the same log loss;
3. *cautious*: the cautious rule between the features instead of Dempster's;
4. *unknown*: the plausibility of an unknown class as a score of novelty.

Every way is asked whether it became more truthful. AUROC of ignorance for errors of the model; of
ignorance for new rows (test rows whose columns were permuted one by one); of conflict, and of
fragility, for decisions that fall when a fifth of the inputs is lost and filled in with its
expectation. The sets are those of interval dominance.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from machine import RESULTS, describe, record, table
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import StandardScaler

import shafer
from datasets import load, names
from shafer.metrics import u65_score

Table = NDArray[np.float64]
TEN = [
    "australian", "contraceptive", "german", "heart", "pima",
    "saheart", "vehicle", "wdbc", "wine", "wisconsin",
]  # fmt: skip
LEFT_OUT = ["chess", "letter", "movement_libras", "mushroom", "optdigits", "splice", "texture"]
THIRTY = [name for name in names() if name not in LEFT_OUT]
MOST_ROWS = 600
SPLITS = 2
LOST = 0.2
COMPARED = ("u65", "errors", "new rows", "fragile", "fragile, by fragility", "unknown class")
PENALTIES = np.logspace(-3, 3, 13)


@dataclass(frozen=True)
class World:
    """A trained model, test rows, and what happened to them."""

    X: Table  # of training, standardised
    y: NDArray[np.intp]
    T: Table
    t: NDArray[np.intp]
    new: Table  # test rows with permuted columns
    gaps: Table  # test rows with a fifth of the values lost and filled in, (5 n, J)


def world(name: str, seed: int) -> World:
    """Split a data set, standardise it, and damage its test rows."""
    data = load(name, MOST_ROWS)
    X, T, y, t = train_test_split(data.X, data.y, test_size=0.5, random_state=seed, stratify=data.y)
    varies = X.std(axis=0) > 0
    scaler = StandardScaler().fit(X[:, varies])
    X, T = scaler.transform(X[:, varies]), scaler.transform(T[:, varies])
    random = np.random.default_rng(seed)
    new = random.permuted(T, axis=0)
    rows = np.tile(T, (5, 1))
    return World(X, y, T, t, new, filled(rows, random.random(rows.shape) < LOST, X))


def filled(rows: Table, lost: NDArray[np.bool_], X: Table) -> Table:
    """Replace lost values by their expectation given the others, for a Gaussian."""
    covariance = np.cov(X.T).reshape(X.shape[1], -1) + 1e-3 * np.eye(X.shape[1])
    result = rows.copy()
    for i, gone in enumerate(lost):
        if gone.all() or not gone.any():
            result[i, gone] = 0.0
            continue
        seen = ~gone
        inner = np.linalg.solve(covariance[np.ix_(seen, seen)], rows[i, seen])
        result[i, gone] = covariance[np.ix_(gone, seen)] @ inner
    return result


def auroc(event: NDArray[np.bool_], score: Table) -> float:
    """Return the area under the curve; NaN where all rows are alike."""
    return float(roc_auc_score(event, score)) if event.any() and not event.all() else np.nan


Weigh = Callable[[Table], shafer.Evidence]


def truths(weigh: Weigh, w: World, answers: Callable[[Table], Table]) -> dict[str, float]:
    """Return how imprecise the evidence is, and how truthful."""
    ev, new = weigh(w.T), weigh(w.new)
    p = answers(w.T)
    wrong = p.argmax(axis=1) != w.t
    kept = answers(w.gaps).argmax(axis=1).reshape(5, -1) == p.argmax(axis=1)
    fell = ~kept.all(axis=0)
    sets = ev.decide("interval_dominance")
    single = sets.sum(axis=1) == 1
    holds = sets[np.arange(len(w.t)), w.t]
    is_new = np.repeat([False, True], len(w.T))
    both = np.concatenate([ev.ignorance, new.ignorance])
    return {
        "ignorance": float(ev.ignorance.mean()),
        "conflict": float(ev.conflict.mean()),
        "log loss": float(log_loss(w.t, ev.probability, labels=range(p.shape[1]))),
        "decided": float(single.mean()),
        "error of decided": float((single & ~holds).sum() / max(1, single.sum())),
        "size": float(sets.sum(axis=1).mean()),
        "covered": float(holds.mean()),
        "u65": float(u65_score(w.t, sets, labels=np.arange(p.shape[1]))),
        "errors": auroc(wrong, ev.ignorance),
        "new rows": auroc(is_new, both),
        "fragile": auroc(fell, ev.conflict),
        "fragile, by fragility": auroc(fell, ev.fragility(LOST)),
        "fragile, by max p": auroc(fell, -p.max(axis=1)),
    }


def trained(w: World, C: float = 1.0) -> LogisticRegression:
    """Train a logistic regression."""
    return LogisticRegression(C=C, max_iter=1000).fit(w.X, w.y)


# -- the parts: a world -> name of a way -> its figures --------------------------------------------


def powers(w: World) -> dict[str, dict[str, float]]:
    """Compare measures of commitment."""
    model = trained(w)
    found = {}
    ways = [(p, m) for m in ("components", "combined") for p in (2.0, 1.0, 1.5, 3.0)]
    for power, measured in ways:
        if (power, measured) == (1.0, "combined"):
            continue  # the same as of the components
        pool = shafer.least_commitment(
            model.coef_, model.intercept_, features=w.X, power=power, measured=measured
        )
        found[f"{measured}, p = {power:g}"] = truths(pool, w, model.predict_proba)
    return found


def with_constant(X: Table) -> Table:
    """Add a column √J: its squared coefficient, times the rows, is the cost of the intercept."""
    return np.column_stack([X, np.full(len(X), np.sqrt(X.shape[1]))])


def training(w: World) -> dict[str, dict[str, float]]:
    """Compare ridge with least commitment, at the cross-validated log loss of ridge."""
    found = {}
    ridge_losses = [_held_out(LogisticRegression(C=C, max_iter=1000), w.X, w.y) for C in PENALTIES]
    least = min(ridge_losses)
    rows = with_constant(w.X)
    heads = [LogisticRegression(C=C, fit_intercept=False, max_iter=1000) for C in PENALTIES]
    losses = [_held_out(head, rows, w.y) for head in heads]
    same = int(np.argmin(np.abs(np.array(losses) - least)))
    ridge = trained(w, PENALTIES[int(np.argmin(ridge_losses))])
    pool = shafer.least_commitment(ridge.coef_, ridge.intercept_, w.X.mean(axis=0))
    found["ridge"] = truths(pool, w, ridge.predict_proba)
    for name, place in (
        ("least commitment, same log loss", same),
        ("least commitment, best log loss", int(np.argmin(losses))),
    ):
        head = heads[place].fit(rows, w.y)
        intercept = head.coef_[:, -1] * np.sqrt(w.X.shape[1])
        pool = shafer.least_commitment(head.coef_[:, :-1], intercept, w.X.mean(axis=0))
        found[name] = truths(pool, w, lambda X, head=head: head.predict_proba(with_constant(X)))
    return found


def _held_out(model: Any, X: Table, y: NDArray[np.intp]) -> float:
    return float(log_loss(y, cross_val_predict(model, X, y, cv=3, method="predict_proba")))


def cautious(w: World) -> dict[str, dict[str, float]]:
    """Compare the cautious rule between features with Dempster's, and with as much ignorance."""
    model = trained(w)
    pool = shafer.least_commitment(model.coef_, model.intercept_, w.X.mean(axis=0))

    def largest(X: Table) -> shafer.Evidence:
        weights = pool(X).weights
        sides = np.clip(weights, 0, None).max(axis=1), np.clip(weights, None, 0).min(axis=1)
        return shafer.Evidence.from_weights(np.stack(sides, axis=1))

    wanted = largest(w.X).ignorance.mean()
    low, high = 0.0, 1.0
    for _ in range(30):
        factor = (low + high) / 2
        if pool(w.X).tempered(factor).ignorance.mean() > wanted:
            low = factor
        else:
            high = factor
    ways: dict[str, Weigh] = {
        "Dempster's rule": pool,
        "cautious rule": largest,
        "Dempster's rule, tempered to the same ignorance": lambda X: pool(X).tempered(factor),
        "one component": lambda X: pool(X).grouped("one"),
    }
    return {name: truths(weigh, w, model.predict_proba) for name, weigh in ways.items()}


def unknown(w: World) -> dict[str, dict[str, float]]:
    """Leave each of up to three classes out of training, and look for its rows."""
    found: dict[str, list[float]] = {}
    for left_out in range(min(3, int(w.y.max()) + 1)):
        known = w.y != left_out
        if len(np.unique(w.y[known])) < 2:
            return {}
        model = LogisticRegression(max_iter=1000).fit(w.X[known], w.y[known])
        pool = shafer.least_commitment(model.coef_, model.intercept_, w.X[known].mean(axis=0))
        ev, event = pool(w.T), w.t == left_out
        one = ev.grouped("one")
        scores = {
            "1 − max p": -ev.probability.max(axis=1),
            "ignorance": ev.ignorance,
            "unknown, belief": ev.with_unknown(-1).belief[:, -1],
            "unknown, probability": ev.with_unknown(-1).probability[:, -1],
            "unknown, belief, one component": one.with_unknown(-1).belief[:, -1],
            "unknown, plausibility, one component": one.with_unknown(-1).plausibility[:, -1],
        }
        for name, score in scores.items():
            found.setdefault(name, []).append(auroc(event, score))
    return {name: {"unknown class": float(np.mean(a))} for name, a in found.items()}


PARTS = {"powers": powers, "training": training, "cautious": cautious, "unknown": unknown}
DATA = {"powers": TEN, "training": TEN, "cautious": THIRTY, "unknown": THIRTY}


def run(part: str, data: list[str]) -> Iterator[dict[str, Any]]:
    """Give the mean figures of each way on each data set."""
    for name in data:
        worlds = [PARTS[part](world(name, seed)) for seed in range(SPLITS)]
        for way in worlds[0]:
            figures = {
                key: float(np.mean([found[way][key] for found in worlds])) for key in worlds[0][way]
            }
            yield {"part": part, "data": name, "way": way, **figures}


def summary(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Average over data sets; count those where a way is better than the first one."""
    ways = list(dict.fromkeys(row["way"] for row in rows))
    keys = [key for key in rows[0] if key not in ("part", "data", "way")]
    values = {
        way: {key: np.array([row[key] for row in rows if row["way"] == way]) for key in keys}
        for way in ways
    }
    result = []
    for way in ways:
        cells = {"way": way}
        for key in keys:
            own, first = values[way][key], values[ways[0]][key]
            cells[key] = f"{np.nanmean(own):.3f}"
            if way != ways[0] and key in COMPARED:
                better, worse = (own > first + 1e-9).sum(), (own < first - 1e-9).sum()
                cells[key] += f" ({better}:{worse})"
        result.append(cells)
    return result


def main() -> None:
    """Print the tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--data", nargs="*")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # solvers that stop early
    machine, kept, start = describe(), [], time.perf_counter()
    for part in arguments.parts:
        rows = []
        for row in run(part, arguments.data or DATA[part]):
            rows.append(row)
            if rows[-1]["data"] != (rows[-2]["data"] if len(rows) > 1 else ""):
                print(f"{time.perf_counter() - start:6.0f} s  {part}  {row['data']}", flush=True)
        print(f"\n{part}\n\n{table(summary(rows))}\n", flush=True)
        kept += [
            {k: round(v, 4) if isinstance(v, float) else v for k, v in r.items()} for r in rows
        ]
    if arguments.data is None:
        path = RESULTS / "commitment.json"
        others = json.loads(path.read_text())["rows"] if path.exists() else []
        record(
            "commitment", machine, [r for r in others if r["part"] not in arguments.parts] + kept
        )


if __name__ == "__main__":
    main()
