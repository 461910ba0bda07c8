"""Where weights of evidence come from: held in full, or as a linear head that can give them.

The (n, G, K) array of all weights is often far larger than anything else, so evidence keeps the
source and asks it for what is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy import sparse

from shafer import kernels
from shafer._typing import Array, FloatArray
from shafer.kernels import Pooled

Positions: TypeAlias = Sequence[int] | NDArray[np.intp]


def _take(x: Array, positions: Positions, axis: int) -> Array:
    xp = array_namespace(x)
    return xp.take(x, xp.asarray(positions, dtype=xp.int64, device=x.device), axis=axis)


class WeightSource(ABC):
    """Weights of evidence w_gk of shape (..., G, K), given on demand."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape (..., G, K) the weights have in full."""

    @abstractmethod
    def pooled(self) -> Pooled:
        """Sum the positive and the negative parts over the components."""

    @abstractmethod
    def dense(self) -> Array:
        """Return all weights, (..., G, K)."""

    @abstractmethod
    def rows(self, positions: Positions) -> WeightSource:
        """Keep some instances."""

    @abstractmethod
    def keep(self, components: Positions) -> WeightSource:
        """Keep some components."""

    @abstractmethod
    def grouped(self, groups: Sequence[Positions]) -> WeightSource:
        """Sum the signed weights inside each group."""

    @abstractmethod
    def scaled(self, factor: float) -> WeightSource:
        """Multiply all weights."""

    def has_changed(self, pooled: Pooled) -> bool:
        """Say whether the source no longer gives what was pooled: it may share a user's array."""
        del pooled  # a source of its own cannot change
        return False

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the source, by the names of its fields."""


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
        return DenseWeights(_take(self.weights, positions, 0))

    def keep(self, components: Positions) -> DenseWeights:
        return DenseWeights(_take(self.weights, components, -2))

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        xp = array_namespace(self.weights)
        sums = [
            xp.sum(_take(self.weights, group, -2), axis=-2, dtype=xp.float64) for group in groups
        ]
        return DenseWeights(xp.astype(xp.stack(sums, axis=-2), self.weights.dtype, copy=False))

    def scaled(self, factor: float) -> DenseWeights:
        return DenseWeights(self.weights * factor)

    def arrays(self) -> dict[str, Array]:
        return {"weights": self.weights}


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
        return replace(self, features=_take(self.features, positions, 0))

    def keep(self, components: Positions) -> LinearWeights:
        return LinearWeights(
            _take(self.features, components, 1),
            _take(self.centre, components, 0),
            _take(self.beta, components, 0),
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
        return DenseWeights(xp.astype(xp.stack(sums, axis=1), self.features.dtype, copy=False))

    def scaled(self, factor: float) -> LinearWeights:
        return replace(self, beta=self.beta * factor, offset=self.offset * factor)

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


@dataclass(frozen=True, eq=False)
class SparseWeights(WeightSource):
    """A linear head on sparse features, never made dense by itself."""

    features: Array  # scipy CSR array, (n, J)
    centre: FloatArray  # (J,): μ
    beta: FloatArray  # (J, K)
    offset: FloatArray  # (K,): b / J

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.features.shape, self.beta.shape[1])

    def pooled(self) -> Pooled:
        return kernels.pool_linear_sparse(self.features, self.centre, self.beta, self.offset)

    def dense(self) -> Array:
        centred = self.features.toarray() - self.centre
        return kernels.linear_weights(centred, self.beta, self.offset)

    def rows(self, positions: Positions) -> SparseWeights:
        return replace(self, features=self.features[positions])

    def keep(self, components: Positions) -> SparseWeights:
        chosen = np.asarray(components, dtype=np.intp)
        return SparseWeights(
            self.features[:, chosen], self.centre[chosen], self.beta[chosen], self.offset
        )

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        parts = [(len(group), self.keep(group)) for group in groups]
        sums = [
            part.features @ part.beta - part.centre @ part.beta + size * self.offset
            for size, part in parts
        ]
        return DenseWeights(np.stack(sums, axis=1))

    def scaled(self, factor: float) -> SparseWeights:
        return replace(self, beta=self.beta * factor, offset=self.offset * factor)

    def arrays(self) -> dict[str, Array]:
        stored = sparse.csr_array(self.features)
        return {
            "data": stored.data,
            "indices": stored.indices,
            "indptr": stored.indptr,
            "shape": np.asarray(stored.shape),
            "centre": self.centre,
            "beta": self.beta,
            "offset": self.offset,
        }
