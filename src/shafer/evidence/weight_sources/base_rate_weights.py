"""``BaseRateWeights``: the weights of another source, and the base rate as one more component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from array_api_compat import array_namespace

from shafer._typing import Array
from shafer.evidence.weight_sources.dense_weights import DenseWeights
from shafer.evidence.weight_sources.weight_source import Positions, WeightSource, take
from shafer.kernels import Pooled


@dataclass(frozen=True, eq=False)
class BaseRateWeights(WeightSource):
    """The components of a source, then a last one with the same weights in all instances."""

    source: WeightSource
    base_rate: Array  # (K,): b

    @property
    def shape(self) -> tuple[int, ...]:
        *instances, n_components, n_classes = self.source.shape
        return (*instances, n_components + 1, n_classes)

    def pooled(self) -> Pooled:
        return self._added(self.source.pooled())

    def _added(self, pooled: Pooled, sign: float = 1.0) -> Pooled:
        """Add the base rate to pooled weights, or take it out again."""
        xp = array_namespace(self.base_rate)
        positive = xp.clip(self.base_rate, min=0.0)
        return Pooled(
            pooled.logits + sign * self.base_rate,
            pooled.weights_for + sign * positive,
            pooled.weights_against + sign * (positive - self.base_rate),
        )

    def dense(self) -> Array:
        weights = self.source.dense()
        xp = array_namespace(weights)
        last = xp.broadcast_to(self.base_rate, (*weights.shape[:-2], 1, weights.shape[-1]))
        return xp.concat([weights, xp.astype(last, weights.dtype)], axis=-2)

    def rows(self, positions: Positions) -> BaseRateWeights:
        return replace(self, source=self.source.rows(positions))

    def of_classes(self, positions: Positions) -> BaseRateWeights:
        return BaseRateWeights(
            self.source.of_classes(positions), take(self.base_rate, positions, 0)
        )

    def of_row_classes(self, positions: Array) -> Array:
        weights = self.source.of_row_classes(positions)
        xp = array_namespace(weights)
        last = xp.take(self.base_rate, xp.reshape(positions, (-1,)), axis=0)
        last = xp.reshape(last, (positions.shape[0], 1, positions.shape[1]))
        return xp.concat([weights, xp.astype(last, weights.dtype, copy=False)], axis=-2)

    def keep(self, components: Positions) -> WeightSource:
        kept = [int(g) for g in components]
        last = self.shape[-2] - 1
        if last not in kept:
            return self.source.keep(kept)
        if kept.index(last) != len(kept) - 1:  # in another place, or more than once
            return self._in_full().keep(kept)
        return BaseRateWeights(self.source.keep(kept[:-1]), self.base_rate)

    def grouped(self, groups: Sequence[Positions]) -> WeightSource:
        last = self.shape[-2] - 1
        if [int(g) for g in groups[-1]] != [last]:  # joined with others, or in another place
            return self._in_full().grouped(groups)
        return BaseRateWeights(self.source.grouped(groups[:-1]), self.base_rate)

    def _in_full(self) -> DenseWeights:
        return DenseWeights(self.dense(), self.base_shares())

    def scaled(self, factor: float) -> BaseRateWeights:
        return BaseRateWeights(self.source.scaled(factor), self.base_rate * factor)

    def base_shares(self) -> Array:
        xp = array_namespace(self.base_rate)
        shares = self.source.base_shares()
        rows, (n_components, n_classes) = shares.shape[:-2], self.shape[-2:]
        inner = xp.broadcast_to(shares, (*rows, n_components - 1, n_classes))
        last = xp.broadcast_to(self.base_rate, (*rows, 1, n_classes))
        return xp.concat([inner, last], axis=-2)

    def has_changed(self, pooled: Pooled) -> bool:
        return self.source.has_changed(self._added(pooled, -1.0))

    def arrays(self) -> dict[str, Array]:
        return {**self.source.arrays(), "base_rate": self.base_rate}
