"""Missing categories: is the conditional Gaussian good enough for one-hot columns.

The Gaussian takes the indicator columns of a category as if they were numbers. This is measured
here, not assumed. Tables: all real KEEL tables with a nominal input and at least four inputs, by
the other rules of ``table_rules`` (100 to 20,000 rows, 2 to 10 classes of at least 20 rows, one
version of each source, log loss at least 5 % below that of the class frequencies). Nominal inputs
are one-hot encoded, numbers standardised.

Half of the nominal inputs of each test row (*nominal*), or half of all inputs (*all*), are hidden.
Log loss and accuracy of

- *conditional*: the library, ``missing="conditional"``;
- *vacuous*: the library, ``missing="vacuous"``;
- *frequencies*: every indicator at its mean over the training rows, as numbers at their mean;
- *most frequent*: the most frequent category, numbers at their mean (``SimpleImputer``);
- *complete*: nothing hidden.

*overturn*: AUROC for the event that the complete row gets another class, beside max-softmax of the
conditional probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import datasets as keel
import shafer
from asking.gaps import hide
from asking.real_tables import MOST_ROWS, keel_files
from asking.scores import accuracy, auroc, calibration_error, enough, log_loss

NAMES = [
    "chess",
    "crx",
    "german",
    "housevotes",
    "mushroom",
    "saheart",
    "splice",
    "tic-tac-toe",
    "abalone-17_vs_7-8-9-10",
    "car-good",
    "flare-F",
    "kddcup-guess_passwd_vs_satan",
    "kr-vs-k-zero-one_vs_draw",
]
MOST_TRAINED, MOST_TESTED = 1000, 200


@dataclass(frozen=True)
class MixedTable:
    """A frame of numbers and texts; ``y`` holds positions of classes."""

    X: Any
    y: Any
    nominal: list[str]
    numbers: list[str]


def load(name: str) -> MixedTable:
    """Read one table; more than 3000 rows are cut to a seeded sample, stratified by class."""
    table = read_mixed(name)
    if len(table.y) <= MOST_ROWS:
        return table
    X, _, y, _ = train_test_split(
        table.X, table.y, train_size=MOST_ROWS, stratify=table.y, random_state=0
    )
    return MixedTable(X, y, table.nominal, table.numbers)


def read_mixed(name: str) -> MixedTable:
    """Read all rows of a table of KEEL; constants are dropped."""
    import pandas as pd

    rows = keel._read(keel_files()[name])
    y = np.unique([row[-1] for row in rows], return_inverse=True)[1]
    columns, nominal, numbers = {}, [], []
    for j in range(len(rows[0]) - 1):
        cells = [row[j] for row in rows]
        if len(set(cells)) == 1:
            continue
        try:
            columns[f"a{j + 1}"] = np.array(cells, dtype=float)
            numbers.append(f"a{j + 1}")
        except ValueError:
            columns[f"a{j + 1}"] = np.array(cells, dtype=object)
            nominal.append(f"a{j + 1}")
    return MixedTable(pd.DataFrame(columns), y, nominal, numbers)


def pipeline(table: MixedTable) -> Any:
    """Return an untrained logistic regression on indicators and standardised numbers."""
    encode = ColumnTransformer(
        [
            (
                "categories",
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
                table.nominal,
            ),
            ("numbers", StandardScaler(), table.numbers),
        ]
    )
    return make_pipeline(encode, LogisticRegression(max_iter=1000))


def measure(name: str, n_splits: int) -> dict[str, Any]:
    """Return the figures of one table."""
    table = load(name)
    parts = [_measure_split(table, seed) for seed in range(n_splits)]
    figures: dict[str, float] = {}
    for key in parts[0]:
        values = [part[key] for part in parts]
        if not key.endswith("overturn"):
            figures[key] = float(np.mean(values))
            continue
        event, chance, largest = (np.concatenate(part) for part in zip(*values, strict=True))
        if enough(event):
            figures[f"{key}, auroc: overturn"] = auroc(chance, event)
            figures[f"{key}, auroc: 1 − max-softmax"] = auroc(largest, event)
            figures[f"{key}, calibration error"] = calibration_error(chance, event)
    size = {"data": name, "n": len(table.y), "J": table.X.shape[1], "K": int(table.y.max()) + 1}
    return size | {"nominal": len(table.nominal), "categories": figures}


def _measure_split(table: MixedTable, seed: int) -> dict[str, Any]:
    X, X_test, y, y_test = train_test_split(
        table.X, table.y, test_size=0.4, stratify=table.y, random_state=seed
    )
    X, y = X.iloc[:MOST_TRAINED], y[:MOST_TRAINED]
    X_test, y_test = X_test.iloc[:MOST_TESTED].reset_index(drop=True), y_test[:MOST_TESTED]
    model = pipeline(table).fit(X, y)
    explainers = {
        how: shafer.Explainer(model, X, missing=how) for how in ("conditional", "vacuous")
    }
    result: dict[str, Any] = {}
    for kind, columns in (("nominal", table.nominal), ("all", list(table.X.columns))):
        if len(columns) < 2:
            continue
        gappy = _hidden(X_test, columns, np.random.default_rng(seed))
        answers = {how: explainer(gappy).probability for how, explainer in explainers.items()}
        answers |= {
            "frequencies": _with_frequencies(model, X, gappy),
            "most frequent": model.predict_proba(_with_modes(table, X, gappy)),
            "complete": model.predict_proba(X_test),
        }
        for how, p in answers.items():
            result[f"{kind}, loss: {how}"] = log_loss(p, y_test)
            result[f"{kind}, accuracy: {how}"] = accuracy(p, y_test)
        filled = answers["conditional"]
        event = filled.argmax(axis=1) != answers["complete"].argmax(axis=1)
        chance = explainers["conditional"].ask.overturn(gappy)
        result[f"{kind}, overturn"] = (event, chance, 1.0 - filled.max(axis=1))
    return result


def _hidden(X: Any, columns: list[str], rng: Any) -> Any:
    gaps = hide((len(X), len(columns)), 0.5, rng)
    gappy = X.copy()
    for j, column in enumerate(columns):
        gappy.loc[gaps[:, j], column] = np.nan
    return gappy


def _with_modes(table: MixedTable, X: Any, gappy: Any) -> Any:
    modes = {column: X[column].mode()[0] for column in table.nominal}
    return gappy.fillna(modes | {column: X[column].mean() for column in table.numbers})


def _with_frequencies(model: Any, X: Any, gappy: Any) -> Any:
    """Answer with every feature of a missing input at its mean over the training rows."""
    encode, head = model[0], model[-1]
    features = encode.transform(gappy.fillna(X.iloc[0]))
    mean = encode.transform(X).mean(axis=0)
    for name, block in _features_by_column(encode).items():
        missing = gappy[name].isna().to_numpy()
        features[np.ix_(missing, block)] = mean[block]
    return head.predict_proba(features)


def _features_by_column(encode: Any) -> dict[str, list[int]]:
    categories = encode.named_transformers_["categories"].categories_
    names = [
        n for n, levels in zip(encode.transformers_[0][2], categories, strict=True) for _ in levels
    ]
    names += list(encode.transformers_[1][2])
    return {name: [j for j, n in enumerate(names) if n == name] for name in dict.fromkeys(names)}
