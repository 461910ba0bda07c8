"""``SparseWeights``: the weights of a linear head on sparse features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from shafer import kernels
from shafer._typing import Array, FloatArray
from shafer.evidence.weight_sources.dense_weights import DenseWeights
from shafer.evidence.weight_sources.weight_source import Positions, WeightSource
from shafer.kernels import Pooled


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

    def of_classes(self, positions: Positions) -> SparseWeights:
        chosen = np.asarray(positions, dtype=np.intp)
        return replace(self, beta=self.beta[:, chosen], offset=self.offset[chosen])

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
        shares = np.stack([size * self.offset for size, _ in parts], axis=0)
        return DenseWeights(np.stack(sums, axis=1), shares)

    def scaled(self, factor: float) -> SparseWeights:
        return replace(self, beta=self.beta * factor, offset=self.offset * factor)

    def base_shares(self) -> Array:
        return self.offset[None, :]

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
