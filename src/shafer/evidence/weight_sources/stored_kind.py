"""The name under which a file knows a source of weights."""

from __future__ import annotations

from shafer.evidence.weight_sources.scaled_weights import ScaledWeights
from shafer.evidence.weight_sources.weight_source import WeightSource


def stored_kind(source: WeightSource) -> str:
    """Return the kind of a source as a file names it.

    A factor for each row is one of the arrays of the source, so it does not change the kind.
    """
    if isinstance(source, ScaledWeights):
        source = source.source
    return type(source).__name__
