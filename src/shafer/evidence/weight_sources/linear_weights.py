"""``LinearWeights``: the weights of a linear head on dense features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from array_api_compat import array_namespace

from shafer import kernels
from shafer._typing import Array
from shafer.evidence.weight_sources.dense_weights import DenseWeights
from shafer.evidence.weight_sources.weight_source import Positions, WeightSource, take
from shafer.kernels import Pooled


@dataclass(frozen=True, eq=False)
class LinearWeights(WeightSource):
    """A linear head on dense features: w_jk = β_jk (φ_j − μ_j) + b_k / J.

    The features are the caller's own array: copying it would cost as much as all the rest.
    """

    features: Array  # (n, J): φ
    centre: Array  # (J,): μ
    beta: Array  # (J, K)
    offset: Array  # (K,): b / J

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.features.shape, self.beta.shape[1])

    def pooled(self) -> Pooled:
        return kernels.pool_linear(*self.arrays().values())

    def dense(self) -> Array:
        return kernels.linear_weights(self.features - self.centre, self.beta, self.offset)

    def rows(self, positions: Positions) -> LinearWeights:
        return replace(self, features=take(self.features, positions, 0))

    def of_classes(self, positions: Positions) -> LinearWeights:
        beta, offset = take(self.beta, positions, 1), take(self.offset, positions, 0)
        return replace(self, beta=beta, offset=offset)

    def keep(self, components: Positions) -> LinearWeights:
        return LinearWeights(
            take(self.features, components, 1),
            take(self.centre, components, 0),
            take(self.beta, components, 0),
            self.offset,
        )

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        xp = array_namespace(self.features)
        wide = LinearWeights(
            *(xp.astype(a, xp.float64, copy=False) for a in self.arrays().values())
        )
        parts = [(len(group), wide.keep(group)) for group in groups]
        sums = [
            (part.features - part.centre) @ part.beta + size * wide.offset for size, part in parts
        ]
        dtype = self.features.dtype
        shares = xp.stack([size * self.offset for size, _ in parts], axis=0)
        return DenseWeights(xp.astype(xp.stack(sums, axis=1), dtype, copy=False), shares)

    def scaled(self, factor: float) -> LinearWeights:
        return replace(self, beta=self.beta * factor, offset=self.offset * factor)

    def base_shares(self) -> Array:
        return self.offset[None, :]

    def arrays(self) -> dict[str, Array]:
        return {
            "features": self.features,
            "centre": self.centre,
            "beta": self.beta,
            "offset": self.offset,
        }

    def has_changed(self, pooled: Pooled) -> bool:
        xp = array_namespace(self.features)
        # Centred first, as when it was pooled: with means far from zero all else cancels.
        logits = (self.features - self.centre) @ self.beta + self.shape[-2] * self.offset
        change = xp.abs(logits - pooled.logits)
        size = 1.0 + pooled.weights_for + pooled.weights_against
        return not bool(xp.all(change <= xp.finfo(change.dtype).eps ** 0.5 * size))
