"""``WeightSource``: where weights of evidence come from, and what can be asked of them.

The (n, G, K) array of all weights is often far larger than anything else, so evidence keeps the
source and asks it for what is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeAlias

import array_api_compat
import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy import sparse

from shafer import _kernels as kernels
from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.labels import is_one_label
from shafer._files.codec import LEFT_OUT, UNSTORED
from shafer._kernels.pooling import Pooled
from shafer._typing import Array, FloatArray
from shafer.decision.acts import is_number
from shafer.evidence.layout import (
    ComponentLayout,
    GridLayout,
    RegionLayout,
    is_label_map,
    read_regions,
    region_shares,
)

Positions: TypeAlias = Sequence[int] | NDArray[np.intp]


def take(x: Array, positions: Positions, axis: int) -> Array:
    """Take entries along one axis by position."""
    xp = array_namespace(x)
    return xp.take(x, xp.asarray(positions, dtype=xp.int64, device=x.device), axis=axis)


def device_version(x: Array) -> int | None:
    """Return how often a tensor on a CUDA device was written to; None if it is not counted.

    Comparing its values instead would wait for the device.
    """
    counted = array_api_compat.is_torch_array(x) and x.is_cuda and not x.is_inference()
    return int(x._version) if counted else None


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
    def of_classes(self, positions: Positions) -> WeightSource:
        """Keep some classes; the others cost nothing then."""

    def of_row_classes(self, positions: Array) -> Array:
        """Return the weights for a few classes of each instance, (n, G, M).

        ``positions``, integers of shape (n, M) in the library of the weights, are these classes.
        """
        weights = self.dense()
        xp = array_namespace(weights)
        n, n_components, _ = weights.shape
        cells = xp.arange(n * n_components, dtype=positions.dtype, device=positions.device)
        starts = xp.reshape(cells, (n, n_components, 1)) * weights.shape[-1]
        wanted = starts + positions[:, None, :]
        taken = xp.take(xp.reshape(weights, (-1,)), xp.reshape(wanted, (-1,)), axis=0)
        return xp.reshape(taken, wanted.shape)

    @abstractmethod
    def keep(self, components: Positions) -> WeightSource:
        """Keep some components."""

    @abstractmethod
    def grouped(self, groups: Sequence[Positions]) -> WeightSource:
        """Sum the signed weights inside each group."""

    @abstractmethod
    def scaled(self, factor: float) -> WeightSource:
        """Multiply all weights."""

    @abstractmethod
    def base_shares(self) -> Array:
        """Return each component's share of the base rate, to be broadcast to (..., G, K).

        These are the weights of a row whose terms all have their background means. Weights from
        elsewhere have none: zeros.
        """

    def base_rates(self) -> tuple[int, ...]:
        """Return the positions of the components that are a base rate and nothing else."""
        return ()

    def has_changed(self, pooled: Pooled) -> bool:
        """Return whether the source no longer gives ``pooled``: it may share a user's array."""
        del pooled  # a source of its own cannot change
        return False

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the source, by the names of its fields."""


def kept_positions(marked: Sequence[int], components: Positions) -> tuple[int, ...]:
    """Return where marked components are among those that are kept."""
    return tuple(place for place, g in enumerate(components) if int(g) in marked)


def groups_of(marked: Sequence[int], groups: Sequence[Positions]) -> tuple[int, ...]:
    """Return which groups hold marked components alone."""
    own = ([int(g) in marked for g in group] for group in groups)
    return tuple(place for place, inside in enumerate(own) if inside and all(inside))


# Weights held in full.


@dataclass(frozen=True, eq=False)
class DenseWeights(WeightSource):
    """Weights held in full, (..., G, K), and the share of the base rate in them, if it is known."""

    weights: Annotated[Array, "... G K"]
    # In memory also (1, K); of each instance: (..., G, K).
    shares: Annotated[Array | None, "G K", "... G K", LEFT_OUT] = None
    base: Annotated[tuple[int, ...], LEFT_OUT] = ()  # files tell it for all sources together

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
        return replace(self, weights=take(self.weights, positions, 0), shares=shares)

    def of_classes(self, positions: Positions) -> DenseWeights:
        shares = None if self.shares is None else take(self.shares, positions, -1)
        return replace(self, weights=take(self.weights, positions, -1), shares=shares)

    def keep(self, components: Positions) -> DenseWeights:
        shares = self._all_shares()
        kept = None if shares is None else take(shares, components, -2)
        base = kept_positions(self.base, components)
        return DenseWeights(take(self.weights, components, -2), kept, base)

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        xp = array_namespace(self.weights)
        sums = [
            xp.sum(take(self.weights, group, -2), axis=-2, dtype=xp.float64) for group in groups
        ]
        shares = self._all_shares()
        if shares is not None:
            shares = xp.stack([xp.sum(take(shares, g, -2), axis=-2) for g in groups], axis=-2)
        weights = xp.astype(xp.stack(sums, axis=-2), self.weights.dtype, copy=False)
        return DenseWeights(weights, shares, groups_of(self.base, groups))

    def scaled(self, factor: float) -> DenseWeights:
        shares = None if self.shares is None else self.shares * factor
        return replace(self, weights=self.weights * factor, shares=shares)

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

    def base_rates(self) -> tuple[int, ...]:
        return self.base

    def arrays(self) -> dict[str, Array]:
        known = {} if self.shares is None else {"shares": self._all_shares()}
        return {"weights": self.weights, **known}


# The weights of a linear head on dense features.


@dataclass(frozen=True, eq=False)
class LinearWeights(WeightSource):
    """A linear head on dense features: w_jk = β_jk (φ_j − μ_j) + b_k / J.

    The features are the caller's own array: copying it would cost as much as all the rest.
    """

    features: Annotated[Array, "n J"]  # φ
    centre: Annotated[Array, "J"]  # μ
    beta: Annotated[Array, "J K"]
    offset: Annotated[Array, "K"]  # b / J

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
        centred = wide.features - wide.centre
        if isinstance(centred, np.ndarray):  # with equal bits for a row in any batch
            products = kernels.grouped_products(centred, wide.beta, groups)
        else:
            parts = [take(centred, group, 1) @ take(wide.beta, group, 0) for group in groups]
            products = xp.stack(parts, axis=1)
        added = xp.stack([len(group) * wide.offset for group in groups], axis=0)
        shares = xp.stack([len(group) * self.offset for group in groups], axis=0)
        dtype = self.features.dtype
        return DenseWeights(xp.astype(products + added, dtype, copy=False), shares)

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


# The weights of a linear head on sparse features.


@dataclass(frozen=True, eq=False)
class SparseWeights(WeightSource):
    """A linear head on sparse features, never made dense by itself."""

    features: Annotated[sparse.csr_array, "n J"]
    centre: Annotated[Array, "J"]  # μ
    beta: Annotated[Array, "J K"]
    offset: Annotated[Array, "K"]  # b / J

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


# The weights of a linear head on feature maps.


@dataclass(frozen=True, eq=False)
class LocatedWeights(WeightSource):
    r"""A linear head on the locations of a map: w_gk = Σ_c β_ck a_gc + (shift_gk + offset_k) s_g.

    The (n, G, K) weights are computed for the classes that are asked for, and a block of rows at a
    time for the pooled ones.
    """

    features: Annotated[Array, "n G C"]  # a, perhaps in half precision
    beta: Annotated[Array, "C K", "G C K"]  # the second if each location has its own
    shift: Annotated[Array, "1 K", "G K"]  # minus the contribution of the background mean
    offset: Annotated[Array, "1 K", "G K"]  # the share of the base rate
    shares: Annotated[Array | None, "n G", LEFT_OUT] = None  # s, on shift and offset; 1 by default
    # The features summed over the locations, (n, C), if known.
    total: Annotated[Array | None, UNSTORED] = None
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


# Weights multiplied by a factor: one for all instances, or one for each.


def per_instance(value: Any, name: str, like: Array) -> Array:
    """Return one number for each instance, in the library, precision and shape of ``like``[..., 0].

    Raises
    ------
    ValueError
        If the numbers are not real and finite, or are not as many as the instances.
    """
    xp = array_namespace(like)
    batch = tuple(like.shape[:-1])
    array = float_array(value, name)
    if array.ndim == 0:
        return xp.full(batch, float(array), dtype=like.dtype, device=like.device)
    if tuple(array.shape) != batch:
        wanted = " × ".join(map(str, batch))
        raise ValueError(
            f"{name} must be one number, or one for each instance ({wanted}); "
            f"got shape {tuple(array.shape)}."
        )
    return xp.asarray(np.array(to_numpy(array)), dtype=like.dtype, device=like.device)


def read_factor(factor: Any, like: Array) -> float | Array:
    """Return a factor ≥ 0 as a float, or as an array of one for each instance."""
    if is_number(factor) and factor >= 0.0:
        return float(factor)
    if is_one_label(factor):  # a number that will not do, or nothing like one
        raise ValueError(f"factor must be a finite number ≥ 0, or n of them; got {factor!r}.")
    array = per_instance(factor, "factor", like)
    xp = array_namespace(array)
    if bool(xp.any(array < 0)):
        raise ValueError(f"factor must be ≥ 0; got a smallest value of {float(xp.min(array))!r}.")
    return array


def scaled_weights(source: WeightSource, factor: float | Array) -> WeightSource:
    """Multiply the weights of a source, one that is scaled already only once."""
    if isinstance(factor, float):
        return source.scaled(factor)
    if isinstance(source, ScaledWeights):
        return ScaledWeights(source.source, source.factor * factor)
    return ScaledWeights(source, factor)


@dataclass(frozen=True, eq=False)
class ScaledWeights(WeightSource):
    """The weights of another source, those of each instance times a factor of its own."""

    source: WeightSource
    factor: Array  # (...,): one for each instance

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the weights in full."""
        return self.source.shape

    def pooled(self) -> Pooled:
        """Pool, then multiply: the factor is not negative."""
        return Pooled(*(array * self.factor[..., None] for array in self.source.pooled()))

    def dense(self) -> Array:
        """Return all weights."""
        return self.source.dense() * self.factor[..., None, None]

    def rows(self, positions: Positions) -> ScaledWeights:
        """Keep some instances, and their factors."""
        xp = array_namespace(self.factor)
        where = xp.asarray(positions, dtype=xp.int64, device=self.factor.device)
        return ScaledWeights(self.source.rows(positions), xp.take(self.factor, where, axis=0))

    def of_classes(self, positions: Positions) -> ScaledWeights:
        """Keep some classes."""
        return ScaledWeights(self.source.of_classes(positions), self.factor)

    def of_row_classes(self, positions: Array) -> Array:
        """Return the weights for a few classes of each row."""
        return self.source.of_row_classes(positions) * self.factor[..., None, None]

    def keep(self, components: Positions) -> ScaledWeights:
        """Keep some components."""
        return ScaledWeights(self.source.keep(components), self.factor)

    def grouped(self, groups: Any) -> ScaledWeights:
        """Sum the signed weights inside each group."""
        return ScaledWeights(self.source.grouped(groups), self.factor)

    def scaled(self, factor: float) -> ScaledWeights:
        """Multiply all weights once more."""
        return ScaledWeights(self.source, self.factor * factor)

    def base_shares(self) -> Array:
        """Multiply the shares of the base rate too."""
        return self.source.base_shares() * self.factor[..., None, None]

    def base_rates(self) -> tuple[int, ...]:
        """Return those of the source."""
        return self.source.base_rates()

    def has_changed(self, pooled: Pooled) -> bool:
        """Ask the source about the instances whose factor leaves something to compare."""
        factor = to_numpy(self.factor)
        if factor.ndim > 1:
            return False  # components of components have a source of their own
        seen = np.flatnonzero(factor > 1e-100)
        if not len(seen):
            return False
        part = self.rows(seen)
        xp = array_namespace(self.factor)
        where = xp.asarray(seen, dtype=xp.int64, device=self.factor.device)
        before = (xp.take(array, where, axis=0) / part.factor[..., None] for array in pooled)
        return part.source.has_changed(Pooled(*before))

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of the source, and the factor."""
        return {**self.source.arrays(), "row_factor": self.factor}


# The weights of another source, and the base rate as one more component.


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
        return DenseWeights(self.dense(), self.base_shares(), self.base_rates())

    def scaled(self, factor: float) -> BaseRateWeights:
        return BaseRateWeights(self.source.scaled(factor), self.base_rate * factor)

    def base_shares(self) -> Array:
        xp = array_namespace(self.base_rate)
        shares = self.source.base_shares()
        rows, (n_components, n_classes) = shares.shape[:-2], self.shape[-2:]
        inner = xp.broadcast_to(shares, (*rows, n_components - 1, n_classes))
        last = xp.broadcast_to(self.base_rate, (*rows, 1, n_classes))
        return xp.concat([inner, last], axis=-2)

    def base_rates(self) -> tuple[int, ...]:
        return (*self.source.base_rates(), self.shape[-2] - 1)

    def has_changed(self, pooled: Pooled) -> bool:
        return self.source.has_changed(self._added(pooled, -1.0))

    def arrays(self) -> dict[str, Array]:
        return {**self.source.arrays(), "base_rate": self.base_rate}


# The name under which a file knows a source of weights.


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


# The weights of regions of an image: those of the grid cells, by the area that each covers.

# Elements of the weights (rows, G, K) held at a time.
_BLOCK = 2**22


def grid_regions(groups: Any, layout: ComponentLayout | None, n: int) -> RegionLayout | None:
    """Return groups as regions of an image; None if they are other groups, or there is no grid."""
    if not isinstance(layout, GridLayout) or not is_label_map(groups):
        return None
    regions = read_regions(groups)
    if regions.label_map.ndim == 3 and len(regions.label_map) != n:
        raise ValueError(
            f"Label maps of each image must be as many as the {n} rows of evidence; got "
            f"{len(regions.label_map)}. One map of shape (H, W) serves all rows."
        )
    return regions


def region_weights(source: WeightSource, layout: GridLayout, regions: RegionLayout) -> DenseWeights:
    """Return the weights of regions; components after the grid, as the base rate, stay."""
    n, n_components, n_classes = source.shape
    shares = region_shares(regions, layout)
    step = max(1, _BLOCK // (n_components * n_classes))
    blocks, bases = [], []
    for start in range(0, n, step):
        rows = range(start, min(start + step, n))
        some = source.rows(rows)
        here = shares if shares.ndim == 2 else shares[start : rows.stop]
        blocks.append(_mixed(some.dense(), here, layout.n_components))
        bases.append(_base(some, here, layout.n_components, len(rows)))
    xp = array_namespace(blocks[0])
    moved = shares.shape[-1] - layout.n_components
    base = tuple(g + moved for g in source.base_rates() if g >= layout.n_components)
    return DenseWeights(xp.concat(blocks, axis=0), xp.concat(bases, axis=0), base)


def _base(some: WeightSource, shares: FloatArray, n_cells: int, n: int) -> Array:
    base = some.base_shares()
    xp = array_namespace(base)
    return _mixed(xp.broadcast_to(base, (n, *some.shape[1:])), shares, n_cells)


def _mixed(weights: Array, shares: FloatArray, n_cells: int) -> Array:
    """Add up the weights of cells by the shares (G, R) or (n, G, R) of the regions."""
    xp = array_namespace(weights)
    wide = xp.astype(weights[:, :n_cells, :], xp.float64)
    mix = xp.asarray(shares, dtype=xp.float64, device=weights.device)
    regions = xp.matrix_transpose(mix) @ wide
    return xp.concat([xp.astype(regions, weights.dtype), weights[:, n_cells:, :]], axis=1)
