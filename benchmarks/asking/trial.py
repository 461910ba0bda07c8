"""One split of a table: training rows, test rows, and a logistic regression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from asking.real_tables import RealTable

MOST_TRAINED = 1000
MOST_TESTED = 300
MANY_INPUTS = 40
MOST_TESTED_OF_MANY = 200


@dataclass(frozen=True)
class Trial:
    """A trained model and the rows to ask it about."""

    model: Any
    X_train: NDArray[np.float64]
    y_train: NDArray[np.intp]
    X: NDArray[np.float64]
    y: NDArray[np.intp]
    seed: int

    def rng(self) -> np.random.Generator:
        """Return the random numbers of this split, from the start."""
        return np.random.default_rng(self.seed)


def logistic() -> Any:
    """Return an untrained logistic regression on standardised columns."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def trials(table: RealTable, n_splits: int) -> Iterator[Trial]:
    """Split 60 to 40, stratified; at most 1000 training rows and 300 test rows.

    With more than 40 inputs, at most 200 test rows.
    """
    most = MOST_TESTED if table.X.shape[1] <= MANY_INPUTS else MOST_TESTED_OF_MANY
    for seed in range(n_splits):
        X, X_test, y, y_test = train_test_split(
            table.X, table.y, test_size=0.4, stratify=table.y, random_state=seed
        )
        X, y = _at_most(X, y, MOST_TRAINED, seed)
        X_test, y_test = _at_most(X_test, y_test, most, seed)
        varies = np.ptp(X, axis=0) > 0
        X, X_test = X[:, varies], X_test[:, varies]
        yield Trial(logistic().fit(X, y), X, y, X_test, y_test, seed)


def _at_most(X: Any, y: Any, most: int, seed: int) -> tuple[Any, Any]:
    if len(y) <= most:
        return X, y
    X, _, y, _ = train_test_split(X, y, train_size=most, stratify=y, random_state=seed)
    return X, y
