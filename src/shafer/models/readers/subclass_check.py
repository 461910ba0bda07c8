"""Refuse subclasses of supported models that may compute their probabilities differently."""

from __future__ import annotations

from typing import Any

from shafer._errors import UnsupportedModelError

# Methods that take no part in predict_proba of any supported class.
_HARMLESS = {
    "fit",
    "partial_fit",
    "fit_transform",
    "fit_predict",
    "predict",
    "score",
    "get_params",
    "set_params",
    "_get_param_names",
    "_more_tags",
    "_parameter_constraints",
    "_estimator_type",
}
# What Python itself puts into the namespace of every class.
_ADDED_BY_PYTHON = {"_abc_impl"}


def check_not_overridden(model: Any, package: str, base: str) -> None:
    """Refuse a model whose class, or the model itself, replaces methods of the supported class.

    ``base`` is the class of ``package`` that a reader supports. Its own subclasses inside the
    package are supported too. A torch module is exempt: its output is checked in every call.
    """
    if package == "torch":
        return
    kinds = type(model).__mro__
    supported = next(kind for kind in kinds if _is_from(kind, package) and kind.__name__ == base)
    for kind in kinds[: kinds.index(supported)]:
        if not _is_from(kind, package):
            _check(model, supported, [name for name in vars(kind) if hasattr(supported, name)])
    own = vars(model) if hasattr(model, "__dict__") else {}
    _check(model, supported, [name for name in own if callable(getattr(supported, name, None))])


def _is_from(kind: type, package: str) -> bool:
    return kind.__module__.partition(".")[0] == package


def _check(model: Any, supported: type, names: list[str]) -> None:
    changed = [name for name in names if not _is_harmless(name)]
    if changed:
        raise UnsupportedModelError(
            f"{type(model).__name__} overrides {changed[0]} of {supported.__name__}, so its "
            "probabilities may differ from those of the base class. Pass a plain "
            f"{supported.__name__}, or the contributions: shafer.models.Contributions(function)."
        )


def _is_harmless(name: str) -> bool:
    special = name.startswith("__") and name not in ("__getattr__", "__getattribute__")
    # scikit-learn adds a set_…_request for each method of a class.
    routing = name.startswith("set_") and name.endswith("_request")
    return special or routing or name in _HARMLESS or name in _ADDED_BY_PYTHON
