"""Trained models read as sums of contributions: the only folder that knows a framework.

``registry`` finds the reader of a model, ``read_model`` and ``located`` are what a reader returns,
``heads`` are models given as arrays or functions; ``sklearn``, ``boosting``, ``torch`` and other
files have one reader for each family. May import ``rows``, ``texts`` and what is below. A framework
is loaded only when one of its models is given.

Names that live in other folders but belong to models for a user are loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shafer.models.heads import Contributions

if TYPE_CHECKING:
    from shafer.estimators.bootstrap_refits import bootstrap_refits
    from shafer.estimators.rbf_layer import RBFLayer
    from shafer.models.shap import from_shap, to_shap

__all__ = [
    "Contributions",
    "RBFLayer",
    "bootstrap_refits",
    "from_shap",
    "to_shap",
]

_HOME = {
    "RBFLayer": "shafer.estimators.rbf_layer",
    "bootstrap_refits": "shafer.estimators.bootstrap_refits",
    "from_shap": "shafer.models.shap",
    "to_shap": "shafer.models.shap",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name == "torch":
        return importlib.import_module("shafer.models.torch")
    raise AttributeError(f"module 'shafer.models' has no attribute {name!r}")
