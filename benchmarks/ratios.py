"""Compare the cost of evidence, relative to a prediction, with recorded ratios.

Ratios of two times on the same machine move less between machines than times do. A ratio that is
more than half above its record is reported, and the exit status is 1. ``--record`` writes new
records.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from families import models, some_data
from machine import RESULTS, describe, table
from scipy import sparse
from timing import best, everything, load_compiled, trained

import shafer

SHAPES = [
    (1, 30, 2),
    (1, 2_048, 1_000),
    (1_000, 30, 2),
    (2_000, 64, 2),
    (2_000, 64, 10),
    (2_000, 64, 100),
    (2_000, 64, 1_000),
    (2_000, 2_048, 1_000),
    (100_000, 100, 10),
    (1_000_000, 30, 2),
]
FAMILIES = ("scaler and logistic regression", "Gaussian naive Bayes", "MLP", "EBM")
TOLERANCE = 1.5
FILE = RESULTS / "ratios.json"


def ratio(model: Any, background: Any, X: Any) -> float:
    """Return the time of all evidence relative to that of ``predict_proba``.

    Both are the best of three turns, taken alternately, so that both see the same machine.
    """
    explainer = shafer.Explainer(model, background)
    calls = (lambda: everything(explainer(X))), (lambda: model.predict_proba(X))
    turns = [[best(call, 0.3) for call in calls] for _ in range(3)]
    ours, predict = (min(times) for times in zip(*turns, strict=True))
    return ours / predict


def measured() -> Iterator[tuple[str, float]]:
    """Give the name and the ratio of each case."""
    for n, n_features, n_classes in SHAPES:
        X = np.random.default_rng(0).normal(size=(max(n, 200), n_features))
        name = f"{n:,} × {n_features:,} × {n_classes:,}"
        yield name, ratio(trained(n_features, n_classes), X[:1000], X[:n])
    rows = sparse.random_array((20_000, 100_000), density=0.001, rng=0, format="csr")
    yield "20,000 × 100,000 × 20, sparse", ratio(trained(100_000, 20), rows, rows)
    X, y = some_data()
    for name, model in models().items():
        if name in FAMILIES:
            yield name, ratio(model.fit(X, y), X[:1000], X)


def main() -> None:
    """Print the ratios beside their records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write new records")
    record = parser.parse_args().record
    warnings.simplefilter("ignore")  # of other libraries: convergence, deprecation
    load_compiled()
    found = {name: round(value, 2) for name, value in measured()}
    if record:
        content = {"machine": describe(), "tolerance": TOLERANCE, "ratios": found}
        FILE.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    known = json.loads(FILE.read_text())["ratios"]
    worse = [name for name, value in found.items() if value > TOLERANCE * known.get(name, np.inf)]
    marks = {name: "slower" if name in worse else "" for name in found}
    print(
        table(
            [
                {"work": name, "ratio": value, "recorded": known.get(name, "-"), "": marks[name]}
                for name, value in found.items()
            ]
        )
    )
    if worse:
        sys.exit(f"{len(worse)} ratio(s) are more than {TOLERANCE} times their record.")


if __name__ == "__main__":
    main()
