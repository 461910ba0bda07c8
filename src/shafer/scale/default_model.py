"""The logistic regression that is trained when no model is given."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shafer.decision.policy import answers

_FOLDS = 5
_LEAST = 1e-300  # a probability whose logarithm is finite


_MOST_CATEGORIES = 30


def train_default_model(X: Any, y: NDArray[Any]) -> Pipeline:
    """Train a logistic regression: numbers imputed and scaled, categories one-hot encoded.

    Parameters
    ----------
    X : pandas frame of shape (n, J)
    y : array of shape (n,)
        Class labels.
    """
    numeric = [name for name, kind in X.dtypes.items() if _is_number(kind)]
    other = [name for name, kind in X.dtypes.items() if not _is_number(kind)]
    encode = OneHotEncoder(
        max_categories=_MOST_CATEGORIES, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    parts = [
        ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
        ("categories", encode, other),
    ]
    columns = ColumnTransformer([part for part in parts if part[2]])
    model = make_pipeline(columns, LogisticRegression(max_iter=1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a thousand steps are close enough
        return model.fit(X, y)


def _is_number(kind: Any) -> bool:
    return getattr(kind, "kind", "O") in "iuf"


def held_out_error(
    model: Any, X: Any, y: NDArray[Any], rule: Any = None
) -> tuple[float | None, int]:
    """Return the cross-validated error of the model, and the number of folds.

    Five folds, or fewer if a class has fewer rows. None and 0 if a class has a single row. ``rule``
    is what answers, if that is not the most probable class.
    """
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return None, 0
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare categories may be missing from a fold
        if rule is None:
            predicted = cross_val_predict(clone(model), X, y, cv=splitter)
        else:
            p = cross_val_predict(clone(model), X, y, cv=splitter, method="predict_proba")
            predicted = np.unique(y)[answers(np.log(np.maximum(p, _LEAST)), rule)]
    return float(np.mean(predicted != y)), folds


def how_measured(folds: int) -> str:
    """Return sentences on how the error of a model trained here was measured."""
    marks = "The answers marked wrong are those of the model trained on all rows"
    if folds < 2:
        return (
            "A class has a single row, so the error on held-out rows is not known. "
            f"{marks}, these rows included."
        )
    return (
        f"Its error is measured on held-out rows, by {folds}-fold cross-validation: it is trained "
        f"{folds} times, each time without the rows it is then tested on. {marks}."
    )
