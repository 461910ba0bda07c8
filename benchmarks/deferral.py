"""Check that the promise of ``control_error`` holds, and count the rows that it decides.

The population of a real data set is its held-out rows, after a model was trained on a quarter of
the rows: a logistic regression, and boosted trees for magic. A calibration set is drawn from it
1000 times, with replacement: then the error above any threshold is known exactly. It is also drawn
without replacement, as a split, and the error is taken among the other rows, which is itself an
estimate. For the simulated populations the chance of error is known for every score.

Compared with MAPIE's ``BinaryClassificationController`` on the same scores, and with two bounds
that are broken on purpose. ``python deferral.py --quick`` draws 100 times.

A budget, the other way round: a share of the rows is handed on, and the bound of ``control_budget``
should be above the true error of the others in 90 % of the sets. Beside it a bound that holds for
100 thresholds at once, and the error of the decided calibration rows as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from deferring.populations import Population, real_population, simulated
from deferring.reason_study import reason_rows
from deferring.rival_thresholds import (
    mapie_threshold,
    plain_error_threshold,
    unpaid_search_threshold,
)
from machine import describe, record, table
from tqdm import tqdm

from shafer.deferral.search import budget_threshold, error_threshold
from shafer.metrics.bounds import upper_rate

CONFIDENCE = 0.9
ERRORS = (0.05, 0.1)
SHARES = (0.04, 0.2)
SIZES = (500, 1000)
REAL = {"magic": "a9", "spambase": "a57", "satimage": "a17"}
BINARY = ("magic", "spambase", "simulated", "noise at the top")
REASON_DATA = {"spambase": 0.05, "magic": 0.15, "satimage": 0.1, "german": 0.2, "segment": 0.02}

Rule = Callable[[Any, Any, float, float], float]


def ours(scores: Any, wrong: Any, error: float, confidence: float) -> float:
    """Return the threshold of ``control_error``."""
    return error_threshold(scores, wrong, error, confidence).threshold


def promise_row(population: Population, rule: Rule, error: float, n: int, draws: int) -> Any:
    """Return how often the promise is kept, and the share of rows decided."""
    random = np.random.default_rng(0)
    kept, decided, in_rest = [], [], []
    for _ in range(draws):
        rows = population.draw(n, random)
        limit = rule(population.scores[rows], population.wrong(rows, random), error, CONFIDENCE)
        true, share = population.true_error(limit)
        kept.append(true <= error)
        decided.append(share)
    if population.real and rule is ours:
        in_rest = [kept_in_rest(population, error, n, random) for _ in range(draws)]
    return {
        "population": population.name,
        "error": error,
        "rows": n,
        "kept": round(100 * float(np.mean(kept)), 1),
        "kept in the rest": round(100 * float(np.mean(in_rest)), 1) if in_rest else "",
        "decided": round(100 * float(np.mean(decided)), 1),
    }


def kept_in_rest(population: Population, error: float, n: int, random: Any) -> bool:
    """Return whether the error in the rows that were not drawn is small enough."""
    rows = population.draw(n, random, replace=False)
    wrong = population.chance[rows] > 0.5
    limit = ours(population.scores[rows], wrong, error, CONFIDENCE)
    rest = np.ones(len(population.scores), dtype=bool)
    rest[rows] = False
    decided = rest & (population.scores > limit)
    return not decided.any() or bool(population.chance[decided].mean() <= error)


def group_rows(population: Population, error: float, n: int, draws: int) -> list[Any]:
    """Return the same for each group, of calibration sets of n rows in all."""
    random = np.random.default_rng(1)
    names = np.unique(population.groups).tolist()
    kept: dict[Any, list[bool]] = {name: [] for name in names}
    decided: dict[Any, list[float]] = {name: [] for name in names}
    for _ in range(draws):
        rows = population.draw(n, random)
        wrong = population.wrong(rows, random)
        for name in names:
            own = population.groups[rows] == name
            limit = ours(population.scores[rows][own], wrong[own], error, CONFIDENCE)
            true, share = population.true_error(limit, name)
            kept[name].append(true <= error)
            decided[name].append(share)
    return [
        {
            "population": population.name,
            "error": error,
            "rows": n,
            "group": str(name),
            "kept": round(100 * float(np.mean(kept[name])), 1),
            "decided": round(100 * float(np.mean(decided[name])), 1),
        }
        for name in names
    ]


def rivals(population: Population, error: float, draws: int) -> list[Any]:
    """Return the rows of all rules on one population, at the smaller size."""
    rules: dict[str, Rule] = {
        "control_error": ours,
        "no bound (broken)": plain_error_threshold,
        "search not paid for (broken)": unpaid_search_threshold,
    }
    if population.name in BINARY:
        for method in ("bonferroni_holm", "fixed_sequence"):
            rules[f"MAPIE, {method}"] = partial(mapie_threshold, method=method)
    found = []
    for name, rule in rules.items():
        row = promise_row(population, rule, error, SIZES[-1], draws)
        row.pop("kept in the rest")
        found.append({"rule": name, **row})
    return found


def budget_rows(population: Population, share: float, n: int, draws: int) -> list[Any]:
    """Return how often the bound of a budget holds, how wide it is, and what is handed on."""
    random = np.random.default_rng(2)
    true, handed_on = np.empty(draws), np.empty(draws)
    bounds = {name: np.empty(draws) for name in ("control_budget", "for 100 thresholds", "none")}
    for draw in range(draws):
        rows = population.draw(n, random)
        wrong = population.wrong(rows, random)
        found = budget_threshold(population.scores[rows], wrong, share, CONFIDENCE)
        true[draw], decided = population.true_error(found.threshold)
        handed_on[draw] = 1.0 - decided
        errors = round(found.risk * found.n_decided)
        bounds["control_budget"][draw] = found.upper_bound
        stricter = 1.0 - (1.0 - CONFIDENCE) / 100
        bounds["for 100 thresholds"][draw] = upper_rate(errors, found.n_decided, stricter)
        bounds["none"][draw] = found.risk
    return [
        {
            "population": population.name,
            "share": share,
            "rows": n,
            "bound": name,
            "held": round(100 * float(np.mean(true <= values)), 1),
            "mean bound": round(100 * float(values.mean()), 2),
            "mean error": round(100 * float(true.mean()), 2),
            "handed on": f"{100 * handed_on.mean():.1f} ± {100 * handed_on.std():.1f}",
        }
        for name, values in bounds.items()
    ]


def main() -> None:
    """Print the tables, and save them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--budget", action="store_true", help="only the table about budgets")
    options = parser.parse_args()
    draws = 100 if options.quick else 1000
    populations = [real_population(name, column) for name, column in REAL.items()]
    populations += [simulated(name) for name in ("simulated", "noise at the top", "flat")]
    sized = [(p, share, n) for p in populations for share in SHARES for n in SIZES]
    budgets = [row for case in sized for row in budget_rows(*case, draws)]
    print(f"\nbudgets\n{table(budgets)}")
    if options.budget:
        return
    cases = [(p, error) for p in populations for error in ERRORS]
    kept: list[Any] = []
    groups: list[Any] = []
    compared: list[Any] = []
    for population, error in tqdm(cases, unit="case", disable=None):
        kept += [promise_row(population, ours, error, n, draws) for n in SIZES]
        groups += group_rows(population, error, 2 * SIZES[-1], draws)
        compared += rivals(population, error, draws)
    reasons = [row for name, error in REASON_DATA.items() for row in reason_rows(name, error)]
    parts = {"promise": kept, "groups": groups, "rules": compared, "reasons": reasons}
    parts["budgets"] = budgets
    for name, rows in parts.items():
        print(f"\n{name}\n{table(rows)}")
    rows = [{"table": name, **row} for name, part in parts.items() for row in part]
    record("deferral", describe(), rows)


if __name__ == "__main__":
    main()
