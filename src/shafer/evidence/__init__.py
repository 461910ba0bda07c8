"""Components, least commitment, and ``Evidence``, the face that gathers kernels and decisions.

May import ``decision``, ``metrics``, ``kernels``, ``belief`` and what is below; knows no framework.
"""

from shafer.evidence.additive import AdditivePool, least_commitment_additive
from shafer.evidence.discounted import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.focal import FocalSet
from shafer.evidence.identification import LinearPool, least_commitment
from shafer.evidence.kinds import AnyEvidence
from shafer.evidence.means import RunningMean
from shafer.evidence.weight_profile import WeightProfile, typicality

__all__ = [
    "AdditivePool",
    "AnyEvidence",
    "DiscountedEvidence",
    "Evidence",
    "FocalSet",
    "LinearPool",
    "RunningMean",
    "WeightProfile",
    "least_commitment",
    "least_commitment_additive",
    "typicality",
]
