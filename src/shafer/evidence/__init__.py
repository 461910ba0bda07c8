"""``MassEvidence``, the abstract class of all evidence; ``Evidence`` and ``DiscountedEvidence``.

Also least commitment, expert statements, and what is read from evidence: contrasts, reasons,
robustness, typicality, tables, files. May import ``decision``, ``metrics``, ``_masses``,
``_kernels``, ``belief`` and what is below; knows no framework.
"""

from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.layout import (
    ChannelLayout,
    ComponentLayout,
    GridLayout,
    RegionLayout,
    TokenLayout,
)
from shafer.evidence.least_commitment import (
    AdditivePool,
    LinearPool,
    RunningMean,
    least_commitment,
    least_commitment_additive,
)
from shafer.evidence.mass_evidence import FocalSet, MassEvidence
from shafer.evidence.typicality import WeightProfile, typicality

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
]
