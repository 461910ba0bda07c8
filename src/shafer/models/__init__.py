"""Trained models in, components out: the only place that knows a framework.

One file per family turns a model into a sum of contributions (``adapted.py``) and nothing else;
``families.py`` is the door that picks the file, ``refusals.py`` says why some models find none.
``Explainer``, ``EvidentialClassifier`` and ``EvidentialVotingClassifier`` are what users call. May
import ``fusion``, ``evidence`` and below, never ``plots`` or ``datasets``. A framework is loaded
only when one of its models comes in.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shafer.models.ensemble.evidential_voting import EvidentialVotingClassifier
from shafer.models.ensemble.neighbour_evidence import NeighbourEvidence
from shafer.models.evidential_classifier import EvidentialClassifier
from shafer.models.explainer import Explainer
from shafer.models.heads import Contributions, LinearHead
from shafer.models.rbf_layer import RBFLayer

if TYPE_CHECKING:
    from shafer.models.readers.shap import from_shap, to_shap

__all__ = [
    "Contributions",
    "EvidentialClassifier",
    "EvidentialVotingClassifier",
    "Explainer",
    "LinearHead",
    "NeighbourEvidence",
    "RBFLayer",
    "from_shap",
    "to_shap",
]

# Loaded on first use, with the framework they need.
_HOME = {"from_shap": "shafer.models.readers.shap", "to_shap": "shafer.models.readers.shap"}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name == "torch":
        return importlib.import_module("shafer.models.torch")
    raise AttributeError(f"module 'shafer.models' has no attribute {name!r}")
