"""shafer shows the evidence behind a classifier's probabilities.

Everything below is loaded on first use, so that ``import shafer`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shafer import belief as belief
    from shafer import datasets as datasets
    from shafer import fusion as fusion
    from shafer import metrics as metrics
    from shafer.errors import BadRowsError as BadRowsError
    from shafer.errors import FrameTooLargeError as FrameTooLargeError
    from shafer.errors import TotalConflictError as TotalConflictError
    from shafer.errors import UnsupportedModelError as UnsupportedModelError
    from shafer.estimators.evidential_classifier import EvidentialClassifier
    from shafer.estimators.evidential_voting import EvidentialVotingClassifier
    from shafer.estimators.neighbour_evidence import NeighbourEvidence
    from shafer.evidence.discounted_evidence import DiscountedEvidence as DiscountedEvidence
    from shafer.evidence.evidence import Evidence
    from shafer.evidence.least_commitment import least_commitment
    from shafer.evidence.mass_evidence import MassEvidence as MassEvidence
    from shafer.evidence.typicality import typicality
    from shafer.explain.answered_rows import AnsweredRows as AnsweredRows
    from shafer.explain.explainer import Explainer
    from shafer.fusion.combine import combine
    from shafer.models.heads import LinearHead
    from shafer.monitor.monitor import Monitor

__version__ = "0.2.0"

_HOME = {
    "AnsweredRows": "shafer.explain.answered_rows",
    "BadRowsError": "shafer.errors",
    "DiscountedEvidence": "shafer.evidence.discounted_evidence",
    "Evidence": "shafer.evidence.evidence",
    "EvidentialClassifier": "shafer.estimators.evidential_classifier",
    "EvidentialVotingClassifier": "shafer.estimators.evidential_voting",
    "Explainer": "shafer.explain.explainer",
    "FrameTooLargeError": "shafer.errors",
    "LinearHead": "shafer.models.heads",
    "MassEvidence": "shafer.evidence.mass_evidence",
    "Monitor": "shafer.monitor.monitor",
    "NeighbourEvidence": "shafer.estimators.neighbour_evidence",
    "TotalConflictError": "shafer.errors",
    "UnsupportedModelError": "shafer.errors",
    "combine": "shafer.fusion.combine",
    "least_commitment": "shafer.evidence.least_commitment",
    "typicality": "shafer.evidence.typicality",
}
_SUBPACKAGES = (
    "asking",
    "belief",
    "datasets",
    "decision",
    "deferral",
    "evidence",
    "export",
    "fusion",
    "metrics",
    "models",
    "monitor",
    "paper",
    "plots",
    "report",
    "scale",
    "scorecards",
    "serve",
)

__all__ = [
    "Evidence",
    "EvidentialClassifier",
    "EvidentialVotingClassifier",
    "Explainer",
    "LinearHead",
    "Monitor",
    "NeighbourEvidence",
    "combine",
    "least_commitment",
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
