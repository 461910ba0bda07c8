"""Where weights of evidence come from: held in full, a linear head, or several side by side.

Every source implements ``WeightSource``. May import ``kernels`` and what is below.
"""

from shafer.evidence.weight_sources.base_rate_weights import BaseRateWeights
from shafer.evidence.weight_sources.dense_weights import DenseWeights
from shafer.evidence.weight_sources.joined_weights import JoinedWeights, Part, parts_of
from shafer.evidence.weight_sources.linear_weights import LinearWeights
from shafer.evidence.weight_sources.located_weights import LocatedWeights
from shafer.evidence.weight_sources.scaled_weights import (
    ScaledWeights,
    per_instance,
    read_factor,
    scaled_weights,
)
from shafer.evidence.weight_sources.sparse_weights import SparseWeights
from shafer.evidence.weight_sources.stored_kind import stored_kind
from shafer.evidence.weight_sources.weight_source import Positions, WeightSource

__all__ = [
    "BaseRateWeights",
    "DenseWeights",
    "JoinedWeights",
    "LinearWeights",
    "LocatedWeights",
    "Part",
    "Positions",
    "ScaledWeights",
    "SparseWeights",
    "WeightSource",
    "parts_of",
    "per_instance",
    "read_factor",
    "scaled_weights",
    "stored_kind",
]
