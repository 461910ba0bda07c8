"""Weights multiplied by a factor: one for all instances, or one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from shafer._typing import Array
from shafer._validation import float_array, is_one_label, to_numpy
from shafer.decision.option_checks import is_number
from shafer.evidence.weight_sources.weight_source import Positions, WeightSource
from shafer.kernels import Pooled


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
