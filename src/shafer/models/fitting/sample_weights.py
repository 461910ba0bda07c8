"""The name under which ``sample_weight`` is passed to the ``fit`` of a scikit-learn estimator."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn import get_config
from sklearn.pipeline import Pipeline


def fit_weights(inner: Any, sample_weight: Any) -> dict[str, Any]:
    """Return the keyword argument that passes sample weights to ``inner.fit``.

    In a pipeline they go to the last step, as in scikit-learn; a search passes them on. With
    scikit-learn's metadata routing the requests of the steps decide instead.
    """
    if sample_weight is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        return {"sample_weight": sample_weight}
    return {_name_in(inner): sample_weight}


def _name_in(inner: Any) -> str:
    if any(base.__name__ == "BaseSearchCV" for base in type(inner).__mro__):
        return _name_in(inner.estimator)
    if isinstance(inner, Pipeline):
        step, last = inner.steps[-1]
        return f"{step}__{_name_in(last)}"
    _check_takes_weights(inner)
    return "sample_weight"


def _check_takes_weights(inner: Any) -> None:
    parameters = inspect.signature(inner.fit).parameters
    some = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if "sample_weight" not in parameters and not some:
        raise ValueError(
            f"sample_weight was given, but {type(inner).__name__}.fit does not accept it. Fit "
            "without sample weights, or use an estimator that accepts them, such as "
            "LogisticRegression."
        )
