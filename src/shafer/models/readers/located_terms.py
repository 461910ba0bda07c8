"""``LocatedTerms``: the feature maps of rows, as a linear head sums over their locations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.evidence import ComponentLayout, Evidence, TokenLayout
from shafer.evidence.identification.located_pool import LocatedPool


@final
@dataclass(frozen=True, eq=False)
class LocatedTerms:
    """Feature maps of n rows.

    Attributes
    ----------
    features : array of shape (n, G, C)
        The features of each location, perhaps in half precision.
    layout : ComponentLayout
        The places of the G locations.
    scale : float
        A factor on the features: 1 / G for a mean.
    shares : array of shape (n, G), optional
        How each row shares among its locations what belongs to all; 0 for padding.
    total : array of shape (n, C), optional
        The features summed over the locations, if they are known.
    """

    features: Array
    layout: ComponentLayout
    scale: float = 1.0
    shares: Array | None = None
    total: Array | None = None

    @property
    def dtype(self) -> Any:
        """The precision of the features."""
        return self.features.dtype

    @property
    def ndim(self) -> int:
        """Features of rows, not contributions: 2, as for other linear models."""
        return 2

    def weighed(self, pool: LocatedPool) -> Evidence:
        """Return the evidence of these maps."""
        return pool(self.features, self.layout, self.scale, self.shares, self.total)

    def scaled_features(self) -> Array:
        """Return the features times their factor, in single or double precision."""
        xp = array_namespace(self.features)
        wide = self.features
        if xp.finfo(wide.dtype).bits < 32:
            wide = xp.astype(wide, xp.float32)
        return wide if self.scale == 1.0 else wide * self.scale


def joined_terms(parts: Sequence[LocatedTerms]) -> LocatedTerms:
    """Put the rows of batches together; shorter texts are padded."""
    first = parts[0]
    if len(parts) == 1:
        return first
    xp = array_namespace(first.features)
    longest = max(part.features.shape[1] for part in parts)
    if first.shares is None:
        return LocatedTerms(
            xp.concat([part.features for part in parts], axis=0), first.layout, first.scale
        )
    features = xp.concat([_padded(part.features, longest) for part in parts], axis=0)
    shares = xp.concat([_padded(part.shares, longest) for part in parts], axis=0)
    same = all(part.features.shape[1] == longest for part in parts)
    layout = first.layout if same else TokenLayout(longest)
    return LocatedTerms(features, layout, first.scale, shares)


def _padded(x: Array, length: int) -> Array:
    xp = array_namespace(x)
    missing = (x.shape[0], length - x.shape[1], *x.shape[2:])
    return xp.concat([x, xp.zeros(missing, dtype=x.dtype, device=x.device)], axis=1)
