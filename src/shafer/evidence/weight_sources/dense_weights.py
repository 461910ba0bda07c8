"""``DenseWeights``: weights held in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from array_api_compat import array_namespace

from shafer import kernels
from shafer._typing import Array
from shafer.evidence.weight_sources.weight_source import Positions, WeightSource, take
from shafer.kernels import Pooled


@dataclass(frozen=True, eq=False)
class DenseWeights(WeightSource):
    """Weights held in full, (..., G, K), and the share of the base rate in them, if it is known."""

    weights: Array
    shares: Array | None = None  # (G, K) or (1, K); of each instance: (..., G, K)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.weights.shape)

    def pooled(self) -> Pooled:
        return kernels.pool(self.weights)

    def dense(self) -> Array:
        return self.weights

    def rows(self, positions: Positions) -> DenseWeights:
        shares = self.shares
        if shares is not None and self._shares_differ:
            shares = take(shares, positions, 0)
        return DenseWeights(take(self.weights, positions, 0), shares)

    def of_classes(self, positions: Positions) -> DenseWeights:
        shares = None if self.shares is None else take(self.shares, positions, -1)
        return DenseWeights(take(self.weights, positions, -1), shares)

    def keep(self, components: Positions) -> DenseWeights:
        shares = self._all_shares()
        kept = None if shares is None else take(shares, components, -2)
        return DenseWeights(take(self.weights, components, -2), kept)

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        xp = array_namespace(self.weights)
        sums = [
            xp.sum(take(self.weights, group, -2), axis=-2, dtype=xp.float64) for group in groups
        ]
        shares = self._all_shares()
        if shares is not None:
            shares = xp.stack([xp.sum(take(shares, g, -2), axis=-2) for g in groups], axis=-2)
        dtype = self.weights.dtype
        return DenseWeights(xp.astype(xp.stack(sums, axis=-2), dtype, copy=False), shares)

    def scaled(self, factor: float) -> DenseWeights:
        shares = None if self.shares is None else self.shares * factor
        return DenseWeights(self.weights * factor, shares)

    @property
    def _shares_differ(self) -> bool:
        """Whether each instance has shares of its own."""
        return self.shares is not None and self.shares.ndim > 2

    def _all_shares(self) -> Array | None:
        """Return the shares with a row for each component."""
        if self.shares is None:
            return None
        xp = array_namespace(self.weights)
        shape = self.shape if self._shares_differ else self.shape[-2:]
        return xp.broadcast_to(self.shares, shape)

    def base_shares(self) -> Array:
        if self.shares is not None:
            return self.shares
        xp, like = array_namespace(self.weights), self.weights
        return xp.zeros((1, like.shape[-1]), dtype=like.dtype, device=like.device)

    def arrays(self) -> dict[str, Array]:
        known = {} if self.shares is None else {"shares": self._all_shares()}
        return {"weights": self.weights, **known}
