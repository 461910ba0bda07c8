"""Ask the evidence: what to measure next, would the decision stand, which cell is wrong.

Five questions to a logistic regression on standardised inputs, each with the answers of other
methods beside it. The modules in ``asking`` define every figure. Each data set is split at random
several times; figures are means over the splits (or pool their rows), then over the data sets.
Counts in brackets are the data sets where our answer is better : worse.

A finished data set is saved in ``results/ask``. If the run is stopped, it continues there;
``--fresh`` starts again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from asking.agreement import differences
from asking.library_answers import LibraryAnswers
from asking.real_tables import load, names
from asking.targets import targets
from asking.trial import Trial, trials
from machine import RESULTS, describe, record, table
from tqdm import tqdm

from asking import (
    categorical_gaps,
    checked_cells,
    fragile,
    guarded,
    next_input,
    overturned,
    pooled_pair,
    tables,
)

SPLITS = 3
SECTIONS = ("next", "overturn", "fragility", "cells", "guard", "pair", "agreement", "categories")


def measure(name: str, n_splits: int) -> dict[str, Any]:
    """Measure all five questions on one data set."""
    data = load(name)
    parts = [_collect(trial) for trial in trials(data, n_splits)]
    by_question = {question: [part[question] for part in parts] for question in parts[0]}
    size = {"data": name, "n": len(data.y), "J": data.X.shape[1], "K": int(data.y.max()) + 1}
    found = {
        "next": _mean(by_question["next"]),
        "overturn": overturned.summarise(by_question["overturn"]),
        "fragility": fragile.summarise(by_question["fragility"]),
        "cells": checked_cells.summarise(by_question["cells"]),
        "guard": guarded.summarise(by_question["guard"]),
        "pair": _mean(by_question["pair"]),
        "agreement": {
            key: max(part[key] for part in by_question["agreement"])
            for key in by_question["agreement"][0]
        },
    }
    return size | {
        question: {key: float(f"{value:.6g}") for key, value in figures.items()}
        for question, figures in found.items()
    }


def _collect(trial: Trial) -> dict[str, Any]:
    recipes = LibraryAnswers(trial.model, trial.X_train)
    return {
        "next": next_input.measure(trial, recipes),
        "overturn": overturned.collect(trial, recipes),
        "fragility": fragile.collect(trial, recipes),
        "cells": checked_cells.collect(trial, recipes),
        "guard": guarded.collect(trial, LibraryAnswers),
        "pair": pooled_pair.measure(trial, recipes),
        "agreement": differences(trial, recipes),
    }


def _mean(parts: list[dict[str, float]]) -> dict[str, float]:
    keys = dict.fromkeys(key for part in parts for key in part)
    return {key: float(np.mean([part[key] for part in parts if key in part])) for key in keys}


def report(rows: list[dict[str, Any]], mixed: list[dict[str, Any]]) -> None:
    """Print the tables."""
    print(f"\n{len(rows)} data sets, {sum(row['K'] > 2 for row in rows)} with 3 classes or more")
    for title, text in (
        ("1. Which missing input to ask for next?", tables.next_inputs(rows)),
        ("2. Would the missing inputs overturn the decision?", tables.overturned(rows)),
        ("3. Would it stand if each input were lost with chance 0.2?", tables.fragile(rows)),
        ("4. Which cells are worth checking?", tables.cells(rows)),
        ("5. A guard against wrong inputs", tables.guarded(rows)),
        ("What ignorance and conflict are not good for", tables.pooled_pair(rows)),
        ("Missing categories", tables.categories(mixed) if mixed else ""),
        ("Largest difference between the library and the reference", tables.agreement(rows)),
        ("Targets", f"\n{table(targets(rows))}\n"),
    ):
        print(f"\n{title}\n{text}")


def main() -> None:
    """Print the tables and save all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=SPLITS, help="random splits of each data set")
    parser.add_argument("--data", nargs="*", default=names(), help="data sets, all by default")
    parser.add_argument("--folder", type=Path, default=RESULTS / "ask", help="finished data sets")
    parser.add_argument("--fresh", action="store_true", help="measure finished data sets again")
    options = parser.parse_args()
    whole = options.data == names() and options.splits == SPLITS
    warnings.simplefilter("ignore")  # solvers that stop early
    machine = describe()
    print(*(f"{key}: {value}" for key, value in machine.items()), sep=", ")
    if options.fresh:
        shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = [
        finished(options.folder / f"{name.replace('/', '.')}.json", measure, name, options.splits)
        for name in tqdm(options.data, desc="numbers")
    ]
    mixed = [
        finished(
            options.folder / f"mixed.{name}.json", categorical_gaps.measure, name, options.splits
        )
        for name in tqdm(categorical_gaps.NAMES if whole else [], desc="categories")
    ]
    report(rows, mixed)
    if whole:
        measured = sorted({row.pop("commit") for row in rows + mixed})
        machine["commit"] = ", ".join(measured)  # finished data sets may be older than this run
        record("ask", machine, by_figure(rows))
        record("ask_categories", machine, by_figure(mixed))


def by_figure(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one line for each figure, with its values in the order of the data sets."""
    flat = [_flat(row) for row in rows]
    return [
        {"figure": key, "values": [row.get(key) for row in flat]}
        for key in dict.fromkeys(key for row in flat for key in row)
    ]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = {}
    for key, value in row.items():
        figures = {f"{key}/{name}": v for name, v in value.items()} if key in SECTIONS else {}
        flat |= figures or {key: value}
    return {key: float(f"{v:.5g}") if isinstance(v, float) else v for key, v in flat.items()}


def finished(path: Path, call: Any, name: str, n_splits: int) -> dict[str, Any]:
    """Return the figures of a data set from its file, or measure them."""
    if not path.exists():
        found = call(name, n_splits) | {"commit": describe()["commit"]}
        path.write_text(json.dumps(found, indent=1) + "\n")
    figures: dict[str, Any] = json.loads(path.read_text())
    return figures


if __name__ == "__main__":
    main()
