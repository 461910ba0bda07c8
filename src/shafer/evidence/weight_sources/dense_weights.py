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
    """Weights held in full, (..., G, K)."""

    weights: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.weights.shape)

    def pooled(self) -> Pooled:
        return kernels.pool(self.weights)

    def dense(self) -> Array:
        return self.weights

    def rows(self, positions: Positions) -> DenseWeights:
        return DenseWeights(take(self.weights, positions, 0))

    def keep(self, components: Positions) -> DenseWeights:
        return DenseWeights(take(self.weights, components, -2))

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        xp = array_namespace(self.weights)
        sums = [
            xp.sum(take(self.weights, group, -2), axis=-2, dtype=xp.float64) for group in groups
        ]
        return DenseWeights(xp.astype(xp.stack(sums, axis=-2), self.weights.dtype, copy=False))

    def scaled(self, factor: float) -> DenseWeights:
        return DenseWeights(self.weights * factor)

    def arrays(self) -> dict[str, Array]:
        return {"weights": self.weights}
