"""The name under which a file knows a source of weights."""

from __future__ import annotations

from shafer.evidence.weight_sources.base_rate_weights import BaseRateWeights
from shafer.evidence.weight_sources.scaled_weights import ScaledWeights
from shafer.evidence.weight_sources.weight_source import WeightSource


def stored_kind(source: WeightSource) -> str:
    """Return the kind of a source as a file names it.

    Factors for the rows, and a component of the base rate, are among the arrays of the source, so
    they do not change the kind.
    """
    if isinstance(source, ScaledWeights):
        source = source.source
    if isinstance(source, BaseRateWeights):
        source = source.source
    return type(source).__name__
