"""``MassEvidence``, the abstract class of all evidence; ``Evidence`` and ``DiscountedEvidence``.

Also least commitment (``identification``), expert statements and typicality (``profiles``). May
import ``decision``, ``metrics``, ``kernels``, ``belief`` and what is below; knows no framework.
"""

from shafer.evidence.component_layout import (
    ChannelLayout,
    ComponentLayout,
    GridLayout,
    RegionLayout,
    TokenLayout,
)
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.focal_sets import FocalSet
from shafer.evidence.identification.additive_pool import AdditivePool, least_commitment_additive
from shafer.evidence.identification.linear_pool import LinearPool, least_commitment
from shafer.evidence.identification.running_mean import RunningMean
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.profiles.typicality import typicality
from shafer.evidence.profiles.weight_profile import WeightProfile
from shafer.evidence.with_weights import with_weights

__all__ = [
    "AdditivePool",
    "ChannelLayout",
    "ComponentLayout",
    "DiscountedEvidence",
    "Evidence",
    "FocalSet",
    "GridLayout",
    "LinearPool",
    "MassEvidence",
    "RegionLayout",
    "RunningMean",
    "TokenLayout",
    "WeightProfile",
    "least_commitment",
    "least_commitment_additive",
    "typicality",
    "with_weights",
]
