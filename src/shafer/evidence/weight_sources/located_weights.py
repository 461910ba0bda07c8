"""``LocatedWeights``: the weights of a linear head on feature maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from array_api_compat import array_namespace

from shafer import kernels
from shafer._typing import Array
from shafer.evidence.weight_sources.dense_weights import DenseWeights
from shafer.evidence.weight_sources.weight_source import (
    Positions,
    WeightSource,
    device_version,
    take,
)
from shafer.kernels import Pooled


@dataclass(frozen=True, eq=False)
class LocatedWeights(WeightSource):
    r"""A linear head on the locations of a map: w_gk = Σ_c β_ck a_gc + (shift_gk + offset_k) s_g.

    The (n, G, K) weights are computed for the classes that are asked for, and a block of rows at a
    time for the pooled ones.
    """

    features: Array  # (n, G, C): a, perhaps in half precision
    beta: Array  # (C, K), or (G, C, K) if each location has coefficients of its own
    shift: Array  # (1, K) or (G, K): minus the contribution of the background mean
    offset: Array  # (1, K) or (G, K): the share of the base rate
    shares: Array | None = None  # (n, G): s, a factor on shift and offset; 1 by default
    total: Array | None = None  # (n, C): the features summed over the locations, if known
    version: int | None = field(init=False)  # of the features, where it is counted

    def __post_init__(self) -> None:
        object.__setattr__(self, "version", device_version(self.features))

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.features.shape[:2], self.beta.shape[-1])

    def pooled(self) -> Pooled:
        return kernels.pool_located(*self._operands(), self.total)

    def _operands(self) -> tuple[Array, Array, Array, Array | None]:
        return self.features, self.beta, self.shift + self.offset, self.shares

    def dense(self) -> Array:
        return kernels.located_weights(*self._operands())

    def rows(self, positions: Positions) -> LocatedWeights:
        shares = None if self.shares is None else take(self.shares, positions, 0)
        total = None if self.total is None else take(self.total, positions, 0)
        features = take(self.features, positions, 0)
        return replace(self, features=features, shares=shares, total=total)

    def of_classes(self, positions: Positions) -> LocatedWeights:
        beta, shift, offset = (take(a, positions, -1) for a in (self.beta, self.shift, self.offset))
        return replace(self, beta=beta, shift=shift, offset=offset)

    def of_row_classes(self, positions: Array) -> Array:
        if self.beta.ndim != 2:
            return super().of_row_classes(positions)
        return kernels.located_weights_of(*self._operands(), positions)

    def keep(self, components: Positions) -> LocatedWeights:
        def kept(x: Array) -> Array:
            return x if x.shape[0] == 1 else take(x, components, 0)

        return LocatedWeights(
            take(self.features, components, 1),
            self.beta if self.beta.ndim == 2 else take(self.beta, components, 0),
            kept(self.shift),
            kept(self.offset),
            None if self.shares is None else take(self.shares, components, 1),
        )

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        xp = array_namespace(self.beta)
        sums, shares = [], []
        for group in groups:
            part = self.keep(group)
            inside = DenseWeights(part.dense()).grouped([range(len(group))])
            sums.append(inside.weights)
            whole = (len(group), self.beta.shape[-1])
            base = part.base_shares()
            base = base if base.ndim == 3 else xp.broadcast_to(base, whole)
            shares.append(xp.sum(base, axis=-2))
        return DenseWeights(xp.concat(sums, axis=1), xp.stack(shares, axis=-2))

    def scaled(self, factor: float) -> LocatedWeights:
        beta, shift, offset = self.beta * factor, self.shift * factor, self.offset * factor
        return replace(self, beta=beta, shift=shift, offset=offset)

    def base_shares(self) -> Array:
        return self.offset if self.shares is None else self.shares[..., None] * self.offset

    def arrays(self) -> dict[str, Array]:
        xp = array_namespace(self.beta)
        known = {} if self.shares is None else {"shares": self.shares}
        return {
            "features": xp.astype(self.features, self.beta.dtype, copy=False),
            "beta": self.beta,
            "shift": self.shift,
            "offset": self.offset,
            **known,
        }

    def has_changed(self, pooled: Pooled) -> bool:
        if self.version is not None:
            return device_version(self.features) != self.version
        xp = array_namespace(self.beta)
        logits = self._logits()
        change = xp.abs(logits - pooled.logits)
        size = 1.0 + pooled.weights_for + pooled.weights_against
        return not bool(xp.all(change <= xp.finfo(change.dtype).eps ** 0.5 * size))

    def _logits(self) -> Array:
        """Return the sums of the weights over the locations, (n, K)."""
        xp = array_namespace(self.beta)
        n, n_locations, n_classes = self.shape
        constant = self.shift + self.offset
        if self.shares is not None:
            constant = self.shares @ xp.broadcast_to(constant, (n_locations, n_classes))
        else:
            constant = xp.sum(xp.broadcast_to(constant, (n_locations, n_classes)), axis=0)
        if self.beta.ndim == 2:
            total = xp.sum(self.features, axis=1, dtype=self.beta.dtype) @ self.beta
        else:
            wide = xp.astype(self.features, self.beta.dtype, copy=False)
            total = xp.reshape(wide, (n, -1)) @ xp.reshape(self.beta, (-1, n_classes))
        return total + constant
