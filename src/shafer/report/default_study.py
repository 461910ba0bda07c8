"""The bundled example: the heart data under a logistic regression."""

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

from shafer.datasets.heart import load_heart
from shafer.explain.explainer import Explainer
from shafer.report.study import Study, make_study


def heart_study(prior: str = "own", errors: str | None = None) -> Study:
    """Return the study of the heart data: a logistic regression, fitted as in the paper.

    Parameters
    ----------
    prior : {"own", "shared"}
        Show the base rate as a component of its own, or share it equally among the features, as
        the paper does.
    errors : {"laplace"}, optional
        Give the weights error bars, as in :class:`shafer.Explainer`.

    Returns
    -------
    Study

    See Also
    --------
    make_study : The same for your own model.
    shafer.datasets.load_heart : The data.

    Examples
    --------
    >>> from shafer.report import heart_study
    >>> len(heart_study().evidence)
    462
    """
    heart = load_heart()
    model = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(heart.data, heart.target)
    explainer = Explainer(
        model,
        heart.data,
        names=heart.feature_names,
        classes=heart.target_names,
        prior=prior,
        errors=errors,
    )
    error, folds = held_out_error(model, heart.data, heart.target)
    return make_study(
        explainer,
        heart.data,
        heart.target_names[heart.target],
        title="Heart disease in 462 men",
        about=(
            "The data come with shafer: 462 men from a high-risk region of the Western Cape, South "
            "Africa. 160 of them have coronary heart disease (chd).",
            "The model is a logistic regression on nine features, trained by maximum likelihood "
            "on all of these men.",
            how_measured(folds),
        ),
        names=heart.feature_names,
        held_out_error=error,
    )


# The logistic regression that is trained when a table comes without a model.

_FOLDS = 5
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


def held_out_error(model: Any, X: Any, y: NDArray[Any]) -> tuple[float | None, int]:
    """Return the cross-validated error of the model, and the number of folds.

    Five folds, or fewer if a class has fewer rows. None and 0 if a class has a single row.
    """
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return None, 0
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rare categories may be missing from a fold
        predicted = cross_val_predict(clone(model), X, y, cv=splitter)
    return float(np.mean(predicted != y)), folds


def how_measured(folds: int) -> str:
    """Return sentences on how the error of a model trained here was measured."""
    marks = "The answers marked wrong below are those of the model trained on all rows"
    if folds < 2:
        return (
            "A class has a single row, so the error on held-out rows is not known. "
            f"{marks}, these rows included."
        )
    return (
        f"Its error is measured on held-out rows, by {folds}-fold cross-validation: it is trained "
        f"{folds} times, each time without the rows it is then tested on. {marks}."
    )
