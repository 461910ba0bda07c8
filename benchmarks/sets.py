"""Compare prediction sets with MAPIE's, and set-valued decision rules by utility, on real data.

Every data set is split 40/20/40 into training, calibration and test rows, several times. A
standardised logistic regression and a small network are trained; all methods see the same splits.

- Conformal sets at 90 %: ours from both scores, of evidence by component and as one component, and
  MAPIE's own LAC, APS and RAPS (the last two take three classes or more, and come as MAPIE makes
  them and, for a fair coverage, with its randomised last class). *As calibrated*; *none empty*,
  with one class put into every empty set; and *at equal coverage*, each with the threshold under
  which 90 % of the test rows are covered.
- Set rules, by u65 and u80: interval dominance and expected-utility sets. Tempering is fitted on
  the calibration rows.

``python sets.py --quick`` runs a few small data sets; ``--tables`` prints the last results.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import mapie
import numpy as np
from machine import RESULTS, record
from machine import describe as describe_machine
from mapie.classification import SplitConformalClassifier
from numpy.typing import NDArray
from set_tables import print_tables
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

import shafer
from datasets import Dataset, describe, load, names
from shafer.decision import conformal_scores, split_conformal, tempering_factor

COVERAGE = 0.9
SEEDS = 20
QUICK = ["iris", "wine", "heart", "tae", "vehicle"]

MODELS: dict[str, Callable[[int], Any]] = {
    "logistic": lambda _: LogisticRegression(max_iter=1000),
    "network": lambda seed: MLPClassifier((20,), max_iter=300, random_state=seed),
}
EXPECTATIONS = ("probability", "pignistic", "lower", "upper", "hurwicz")

MAPIE: dict[str, tuple[str, dict[str, Any]]] = {
    "LAC": ("lac", {}),
    "APS": ("aps", {}),
    "APS, randomised": ("aps", {"include_last_label": "randomized"}),
    "RAPS": ("raps", {}),
    "RAPS, randomised": ("raps", {"include_last_label": "randomized"}),
}

REFUSALS: dict[tuple[str, str], str] = {}
"""Why MAPIE made no sets: (method, data) -> its error message."""

Figures = dict[str, float]
Split = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def split(y: NDArray[Any], seed: int) -> Split:
    """Return training, calibration and test rows; the last two are exchangeable."""
    every = np.arange(len(y))
    train, rest = train_test_split(every, train_size=0.4, stratify=y, random_state=seed)
    calibration, test = train_test_split(rest, train_size=1 / 3, random_state=seed)
    return train, calibration, test


def figures(sets: NDArray[Any], y: NDArray[Any]) -> Figures:
    """Measure sets: their size, coverage and utilities."""
    size = sets.sum(axis=1)
    covered = sets[np.arange(len(y)), y]
    share = covered / np.maximum(size, 1)
    return {
        "size": float(size.mean()),
        "coverage": float(covered.mean()),
        "filled": float(np.maximum(size, 1).mean()),
        "u65": float(np.mean(share * (1.6 - 0.6 / np.maximum(size, 1)))),
        "u80": float(np.mean(share * (2.2 - 1.2 / np.maximum(size, 1)))),
    }


def at_coverage(scores: NDArray[Any], y: NDArray[Any]) -> Figures:
    """Measure sets whose threshold covers 90 % of these rows, or more where scores are tied."""
    own = np.sort(scores[np.arange(len(y)), y])
    threshold = own[math.ceil(round(COVERAGE * len(y), 9)) - 1]
    found = figures(scores <= threshold, y)
    return {"equal": found["size"], "equal_coverage": found["coverage"]}


def with_mapie(model: Any, name: str, data: Dataset, parts: Split, seed: int) -> Figures | None:
    """Make sets by MAPIE; None where it refuses because of too few rows or classes."""
    _, calibration, test = parts
    score, options = MAPIE[name]
    try:
        sets = (
            SplitConformalClassifier(
                model, COVERAGE, conformity_score=score, prefit=True, random_state=seed
            )
            .conformalize(data.X[calibration], data.y[calibration])
            .predict_set(data.X[test], options)[1]
        )
    except ValueError as error:
        REFUSALS[name, data.name] = str(error)
        return None
    return figures(sets[:, :, 0], data.y[test])


def conformal(
    model: Any, evidence: shafer.Evidence, data: Dataset, parts: Split, seed: int
) -> dict[str, Figures | None]:
    """Measure conformal sets of both kinds of evidence, and MAPIE's."""
    _, calibration, test = parts
    found: dict[str, Figures | None] = {}
    for grain, ev in (("component", evidence), ("one", evidence.grouped("one"))):
        for score in ("plausibility", "dominance"):
            scores = conformal_scores(ev.pooled, score)
            calibrated = split_conformal(
                scores[calibration],
                data.y[calibration],
                coverage=COVERAGE,
                score=score,
                classes=range(data.n_classes),
            )
            result = figures(calibrated.sets(scores[test]), data.y[test])
            found[f"{score}, {grain}"] = result | at_coverage(scores[test], data.y[test])
    for name in MAPIE:
        found[name] = with_mapie(model, name, data, parts, seed)
    lac = found["LAC"]
    if lac is not None:
        lac |= at_coverage(1 - model.predict_proba(data.X[test]), data.y[test])
    return found


def utility_of(make: Callable[[str], NDArray[Any]], y: NDArray[Any]) -> Figures:
    """Measure a rule by each utility, with sets made for that utility."""
    found = {u: figures(make(u), y) for u in ("u65", "u80")}
    return {
        "u65": found["u65"]["u65"],
        "u80": found["u80"]["u80"],
        "size": found["u65"]["size"],
        "size80": found["u80"]["size"],
    }


def rules(evidence: shafer.Evidence, data: Dataset, parts: Split) -> dict[str, Figures]:
    """Measure the set rules by their utilities."""
    _, calibration, test = parts
    y = data.y[test]
    one = evidence.grouped("one")
    factor = tempering_factor(
        one.logits[calibration], data.y[calibration], classes=range(data.n_classes)
    )
    tempered = one[test].tempered(factor)
    kinds = {
        "interval dominance, by component": evidence[test],
        "interval dominance, one component": one[test],
        "interval dominance, one component, tempered": tempered,
    }
    found = {
        name: utility_of(lambda _, ev=ev: ev.decide("interval_dominance"), y)
        for name, ev in kinds.items()
    }
    found["one class"] = utility_of(lambda _: tempered.decide("plausibility"), y)
    found["expected utility, not tempered"] = utility_of(
        lambda u: one[test].decide("utility_set", tolerance=u), y
    )
    for expectation in EXPECTATIONS:
        found[f"utility set, {expectation}"] = utility_of(
            lambda u, e=expectation: tempered.decide("utility_set", tolerance=u, expectation=e), y
        )
    found["utility set, as it comes"] = utility_of(lambda _: tempered.decide("utility_set"), y)
    # For comparison, without evidence: the best sets for the tempered probabilities.
    found["expected-utility sets"] = utility_of(
        lambda u: best_for_probability(tempered.probability, u), y
    )
    return found


def best_for_probability(probability: NDArray[Any], utility: str) -> NDArray[Any]:
    """Return the sets of the largest expected utility, by sorting."""
    order = np.argsort(-probability, axis=1, kind="stable")
    size = np.arange(1, probability.shape[1] + 1)
    worth = 1.6 / size - 0.6 / size**2 if utility == "u65" else 2.2 / size - 1.2 / size**2
    held = np.cumsum(np.take_along_axis(probability, order, axis=1), axis=1)
    best = np.argmax(worth * held, axis=1)
    return np.argsort(order, axis=1) <= best[:, None]


def mean_over_seeds(runs: list[dict[str, Figures | None]]) -> dict[str, Figures]:
    """Average every figure of every method over the seeds in which it ran."""
    means = {}
    for method in runs[0]:
        ran = [run[method] for run in runs if run[method] is not None]
        if ran:
            means[method] = {key: round(np.mean([r[key] for r in ran]).item(), 6) for key in ran[0]}
            means[method]["seeds"] = len(ran)
    return means


def measure(data: Dataset, kind: str, seeds: int) -> dict[str, Any]:
    """Run everything on one data set with one kind of model."""
    calibrated, chosen, right = [], [], []
    for seed in range(seeds):
        parts = split(data.y, seed)
        train, _, test = parts
        model = make_pipeline(StandardScaler(), MODELS[kind](seed))
        model.fit(data.X[train], data.y[train])
        evidence = shafer.Explainer(model, data.X[train])(data.X)
        calibrated.append(conformal(model, evidence, data, parts, seed))
        chosen.append(rules(evidence, data, parts))
        right.append(model.score(data.X[test], data.y[test]))
    return {
        **describe(data),
        "model": kind,
        "accuracy": round(float(np.mean(right)), 6),
        "conformal": mean_over_seeds(calibrated),
        "rules": mean_over_seeds(chosen),
        "refused": {method: why for (method, name), why in REFUSALS.items() if name == data.name},
    }


def main() -> None:
    """Run the benchmark, print its tables, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few small data sets, two seeds")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--tables", action="store_true", help="print the recorded results")
    arguments = parser.parse_args()
    if arguments.tables:
        print_tables(json.loads((RESULTS / "sets.json").read_text())["rows"])
        return
    warnings.simplefilter("ignore")  # networks that stop early
    start = time.perf_counter()
    chosen = QUICK if arguments.quick else names()
    seeds = 2 if arguments.quick else arguments.seeds
    rows = []
    for name, kind in tqdm([(name, kind) for name in chosen for kind in MODELS]):
        rows.append(measure(load(name), kind, seeds))
    machine = describe_machine() | {
        "mapie": mapie.__version__,
        "seeds": seeds,
        "seconds": round(time.perf_counter() - start),
    }
    print_tables(rows)
    if not arguments.quick:
        record("sets", machine, rows)


if __name__ == "__main__":
    main()
