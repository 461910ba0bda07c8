"""How ``sample_weight`` is named on its way into the ``fit`` of a scikit-learn estimator."""

from __future__ import annotations

import inspect
from typing import Any

from sklearn import get_config
from sklearn.pipeline import Pipeline


def fit_weights(inner: Any, sample_weight: Any) -> dict[str, Any]:
    """Name the weights as ``fit`` of ``inner`` takes them: a pipeline's reach its last step.

    What stands before the last step is not told of weights, as in scikit-learn. Where its metadata
    routing is on, the requests of the steps decide instead.
    """
    if sample_weight is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        return {"sample_weight": sample_weight}
    return {_name_in(inner): sample_weight}


def _name_in(inner: Any) -> str:
    if any(base.__name__ == "BaseSearchCV" for base in type(inner).__mro__):  # it hands all on
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
            f"sample_weight was given, but {type(inner).__name__}.fit takes none. Fit without "
            "weights, or use an estimator that takes them, such as LogisticRegression."
        )
