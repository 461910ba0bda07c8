"""From trained models to evidence: the only folder that knows a framework.

``readers`` has one file per model family, which reads a model as a sum of contributions;
``weighed_model.py`` turns rows into weights, ``uncertainty`` changes weights by what the model does
not know, ``asking`` answers questions about inputs, ``deferring`` hands rows to a person, and
``Explainer`` puts them together.
``EvidentialClassifier`` and ``EvidentialVotingClassifier`` also train. May import ``fusion``,
``evidence`` and below, never ``plots`` or ``datasets``. A framework is loaded only when one of its
models is given.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from shafer.models.asking.guarded_prediction import GuardedPrediction
from shafer.models.deferring.deferral_control import DeferralControl
from shafer.models.deferring.deferring_prediction import DeferringPrediction
from shafer.models.ensemble.evidential_voting import EvidentialVotingClassifier
from shafer.models.ensemble.neighbour_evidence import NeighbourEvidence
from shafer.models.evidential_classifier import EvidentialClassifier
from shafer.models.explainer import Explainer
from shafer.models.fitting.bootstrap_refits import bootstrap_refits
from shafer.models.heads import Contributions, LinearHead
from shafer.models.rbf_layer import RBFLayer

if TYPE_CHECKING:
    from shafer.models.readers.shap import from_shap, to_shap

__all__ = [
    "Contributions",
    "DeferralControl",
    "DeferringPrediction",
    "EvidentialClassifier",
    "EvidentialVotingClassifier",
    "Explainer",
    "GuardedPrediction",
    "LinearHead",
    "NeighbourEvidence",
    "RBFLayer",
    "bootstrap_refits",
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
