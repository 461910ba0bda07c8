"""shafer shows the evidence behind a classifier's probabilities.

Everything below is loaded on first use, so that ``import shafer`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shafer import belief, datasets, fusion, metrics
    from shafer.errors import FrameTooLargeError, TotalConflictError, UnsupportedModelError
    from shafer.estimators.evidential_classifier import EvidentialClassifier
    from shafer.estimators.evidential_voting import EvidentialVotingClassifier
    from shafer.estimators.neighbour_evidence import NeighbourEvidence
    from shafer.evidence.discounted_evidence import DiscountedEvidence
    from shafer.evidence.evidence import Evidence
    from shafer.evidence.least_commitment import least_commitment
    from shafer.evidence.mass_evidence import MassEvidence
    from shafer.evidence.typicality import typicality
    from shafer.explain.explainer import Explainer
    from shafer.fusion.combine import combine
    from shafer.models.heads import LinearHead
    from shafer.monitor.monitor import Monitor

__version__ = "0.2.0.dev0"

_HOME = {
    "DiscountedEvidence": "shafer.evidence",
    "Evidence": "shafer.evidence",
    "EvidentialClassifier": "shafer.models",
    "EvidentialVotingClassifier": "shafer.models",
    "Explainer": "shafer.models",
    "FrameTooLargeError": "shafer.errors",
    "LinearHead": "shafer.models",
    "MassEvidence": "shafer.evidence",
    "Monitor": "shafer.monitor",
    "NeighbourEvidence": "shafer.models",
    "TotalConflictError": "shafer.errors",
    "UnsupportedModelError": "shafer.errors",
    "combine": "shafer.fusion",
    "least_commitment": "shafer.evidence",
    "typicality": "shafer.evidence",
}
_SUBPACKAGES = (
    "belief",
    "datasets",
    "decision",
    "evidence",
    "export",
    "fusion",
    "kernels",
    "metrics",
    "models",
    "monitor",
    "opinion",
    "paper",
    "plots",
    "report",
    "scale",
)

__all__ = [
    "DiscountedEvidence",
    "Evidence",
    "EvidentialClassifier",
    "EvidentialVotingClassifier",
    "Explainer",
    "FrameTooLargeError",
    "LinearHead",
    "MassEvidence",
    "Monitor",
    "NeighbourEvidence",
    "TotalConflictError",
    "UnsupportedModelError",
    "belief",
    "combine",
    "datasets",
    "fusion",
    "least_commitment",
    "metrics",
    "typicality",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _SUBPACKAGES:
        return importlib.import_module(f"shafer.{name}")
    raise AttributeError(f"module 'shafer' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_SUBPACKAGES, "__version__"})
