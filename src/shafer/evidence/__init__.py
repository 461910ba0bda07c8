"""Components, least commitment, and ``Evidence``, the face that gathers kernels and decisions.

May import ``decision``, ``metrics``, ``kernels``, ``belief`` and what is below; knows no framework.
"""

from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.focal_set import FocalSet
from shafer.evidence.identification.additive_pool import AdditivePool, least_commitment_additive
from shafer.evidence.identification.linear_pool import LinearPool, least_commitment
from shafer.evidence.identification.running_mean import RunningMean
from shafer.evidence.kinds import AnyEvidence
from shafer.evidence.profiles.typicality import typicality
from shafer.evidence.profiles.weight_profile import WeightProfile

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
