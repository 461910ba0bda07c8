"""shafer shows the evidence behind a classifier's probabilities.

Everything below is loaded on first use, so that ``import shafer`` is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shafer import belief, datasets, fusion, metrics
    from shafer._errors import FrameTooLargeError, TotalConflictError, UnsupportedModelError
    from shafer.evidence import (
        DiscountedEvidence,
        Evidence,
        MassEvidence,
        least_commitment,
        typicality,
    )
    from shafer.fusion import combine
    from shafer.models import (
        EvidentialClassifier,
        EvidentialVotingClassifier,
        Explainer,
        LinearHead,
        NeighbourEvidence,
    )
    from shafer.monitor import Monitor

__version__ = "0.2.0.dev0"

_HOME = {
    "DiscountedEvidence": "shafer.evidence",
    "Evidence": "shafer.evidence",
    "EvidentialClassifier": "shafer.models",
    "EvidentialVotingClassifier": "shafer.models",
    "Explainer": "shafer.models",
    "FrameTooLargeError": "shafer._errors",
    "LinearHead": "shafer.models",
    "MassEvidence": "shafer.evidence",
    "Monitor": "shafer.monitor",
    "NeighbourEvidence": "shafer.models",
    "TotalConflictError": "shafer._errors",
    "UnsupportedModelError": "shafer._errors",
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
