"""The weights of several sources side by side, as one: nothing is copied, nothing pooled again.

Each part keeps the source it came from and what that source pools to. On top of it lie a place for
each of its classes in the joined frame, and a factor on the weights for and on the weights against
each class: 0 where a part gives no evidence, 1 where it counts unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._kernels.pooling import Pooled
from shafer._typing import Array
from shafer.evidence.sources import (
    DenseWeights,
    Positions,
    ScaledWeights,
    WeightSource,
    groups_of,
    stored_kind,
    take,
)


@dataclass(frozen=True, eq=False)
class Part:
    """One source in its place.

    Attributes
    ----------
    source : WeightSource
    pooled : Pooled
        What the source pools to by itself.
    places : array of shape (K,)
        For each class of the joined frame, its column in the source, or −1 if the source does not
        know it.
    factors : pair of arrays of shape (n, 1) or (n, K), optional
        Factors on the weights for and on the weights against each class of the joined frame.
    """

    source: WeightSource
    pooled: Pooled
    places: NDArray[np.intp]
    factors: tuple[Array, Array] | None = None

    @property
    def n_components(self) -> int:
        """The number of components of the source."""
        return int(self.source.shape[-2])

    def placed(self, x: Array) -> Array:
        """Move the last axis from the source's classes to the joined frame; 0 for the others."""
        xp = array_namespace(x)
        if np.array_equal(self.places, np.arange(x.shape[-1])):
            return x
        padded = xp.concat([x, xp.zeros_like(x[..., :1])], axis=-1)
        places = np.where(self.places < 0, x.shape[-1], self.places)
        return take(padded, places, -1)

    def in_place(self, pooled: Pooled) -> Pooled:
        """Return pooled weights of the source as this part contributes them, (n, K)."""
        logits, weights_for, weights_against = (self.placed(array) for array in pooled)
        if self.factors is None:
            return Pooled(logits, weights_for, weights_against)
        factor_for, factor_against = self.factors
        weights_for, weights_against = weights_for * factor_for, weights_against * factor_against
        if factor_for is factor_against:  # the logits know more digits than their two sides
            return Pooled(logits * factor_for, weights_for, weights_against)
        return Pooled(weights_for - weights_against, weights_for, weights_against)

    def dense(self) -> Array:
        """Return all weights as this part contributes them, (n, G, K)."""
        return self._multiplied(self.placed(self.source.dense()))

    def base_shares(self) -> Array:
        """Return the shares of the base rate as this part contributes them, (1 or n, G, K)."""
        given = self.source.base_shares()
        xp = array_namespace(given)
        *rows, _, n_classes = given.shape if given.ndim == 3 else (1, *given.shape)
        shares = xp.broadcast_to(given, (*rows, self.n_components, n_classes))
        return self._multiplied(self.placed(shares))

    def _multiplied(self, weights: Array) -> Array:
        if self.factors is None:
            return weights
        xp = array_namespace(weights)
        factor_for, factor_against = (factor[:, None, :] for factor in self.factors)
        positive, negative = xp.clip(weights, min=0.0), xp.clip(-weights, min=0.0)
        return positive * factor_for - negative * factor_against

    def rows(self, positions: Positions) -> Part:
        """Keep some instances."""
        pooled = Pooled(*(take(array, positions, 0) for array in self.pooled))
        part = replace(self, source=self.source.rows(positions), pooled=pooled)
        if self.factors is None:
            return part
        first, second = self.factors
        taken = take(first, positions, 0)
        other = taken if second is first else take(second, positions, 0)
        return replace(part, factors=(taken, other))

    def of_classes(self, positions: Positions) -> Part:
        """Keep some classes of the joined frame."""
        chosen = np.asarray(positions, dtype=np.intp)
        part = replace(self, places=self.places[chosen])
        if self.factors is None:
            return part
        first, second = self.factors
        taken = first if first.shape[-1] == 1 else take(first, positions, -1)
        if second is first:
            return replace(part, factors=(taken, taken))
        other = second if second.shape[-1] == 1 else take(second, positions, -1)
        return replace(part, factors=(taken, other))

    def keep(self, components: Positions) -> Part:
        """Keep some components."""
        source = self.source.keep(components)
        return replace(self, source=source, pooled=source.pooled())

    def scaled(self, factor: Any) -> Part:
        """Multiply by a number, or by one for each instance."""
        xp = array_namespace(self.pooled.logits)
        column = xp.ones_like(self.pooled.logits[:, :1])
        column = column * (factor if isinstance(factor, float | int) else factor[:, None])
        if self.factors is None:
            return replace(self, factors=(column, column))
        first, second = self.factors
        scaled = first * column
        return replace(self, factors=(scaled, scaled if second is first else second * column))

    def limited(self, factor_for: Array, factor_against: Array) -> Part:
        """Multiply the weights for and against each class of the joined frame, (n, K) each."""
        if self.factors is not None:
            factor_for = factor_for * self.factors[0]
            factor_against = factor_against * self.factors[1]
        return replace(self, factors=(factor_for, factor_against))


@dataclass(frozen=True, eq=False)
class JoinedWeights(WeightSource):
    """The components of all parts, one part after the other."""

    parts: tuple[Part, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape (n, G, K) the weights have in full."""
        first = self.parts[0]
        n_components = sum(part.n_components for part in self.parts)
        return int(first.pooled.logits.shape[0]), n_components, len(first.places)

    def pooled(self) -> Pooled:
        """Add up what the parts pool to, in double precision."""
        xp = array_namespace(*(part.pooled.logits for part in self.parts))
        dtype = xp.result_type(*(part.pooled.logits for part in self.parts))
        sums: list[Array] = []
        for part in self.parts:
            more = [xp.astype(a, xp.float64, copy=False) for a in part.in_place(part.pooled)]
            sums = [a + b for a, b in zip(sums, more, strict=True)] if sums else more
        return Pooled(*(xp.astype(total, dtype, copy=False) for total in sums))

    def dense(self) -> Array:
        """Return all weights, (n, G, K)."""
        blocks = [part.dense() for part in self.parts]
        return array_namespace(*blocks).concat(blocks, axis=-2)

    def rows(self, positions: Positions) -> JoinedWeights:
        """Keep some instances."""
        return JoinedWeights(tuple(part.rows(positions) for part in self.parts))

    def of_classes(self, positions: Positions) -> JoinedWeights:
        """Keep some classes."""
        return JoinedWeights(tuple(part.of_classes(positions) for part in self.parts))

    def base_shares(self) -> Array:
        """Return the shares of all parts, (1 or n, G, K)."""
        blocks = [part.base_shares() for part in self.parts]
        xp = array_namespace(*blocks)
        n = max(int(block.shape[0]) for block in blocks)
        full = [xp.broadcast_to(block, (n, *block.shape[1:])) for block in blocks]
        return xp.concat(full, axis=1)

    def base_rates(self) -> tuple[int, ...]:
        """Return those of all parts."""
        found, start = [], 0
        for part in self.parts:
            found += [start + g for g in part.source.base_rates()]
            start += part.n_components
        return tuple(found)

    def _where(self, components: Positions) -> list[tuple[int, list[int]]]:
        """Split positions into runs inside one part: its number, and the positions there."""
        ends = np.cumsum([part.n_components for part in self.parts])
        found = []
        for g in components:
            p = int(np.searchsorted(ends, g, side="right"))
            found.append((p, int(g) - int(ends[p]) + self.parts[p].n_components))
        return [(p, [g for _, g in run]) for p, run in groupby(found, key=lambda at: at[0])]

    def keep(self, components: Positions) -> JoinedWeights:
        """Keep some components."""
        kept = []
        for p, inside in self._where(components):
            part = self.parts[p]
            whole = inside == list(range(part.n_components))
            kept.append(part if whole else part.keep(inside))
        if not kept:  # the first part, without components, still has the shape
            kept.append(self.parts[0].keep([]))
        return JoinedWeights(tuple(kept))

    def grouped(self, groups: Sequence[Positions]) -> DenseWeights:
        """Sum the signed weights inside each group."""
        xp = array_namespace(*(part.pooled.logits for part in self.parts))
        sums = [self.keep(group).pooled().logits for group in groups]
        known = self.base_shares()
        shares = xp.stack([xp.sum(take(known, group, -2), axis=-2) for group in groups], axis=-2)
        shares = shares[0] if shares.shape[0] == 1 else shares
        return DenseWeights(xp.stack(sums, axis=-2), shares, groups_of(self.base_rates(), groups))

    def scaled(self, factor: Any) -> JoinedWeights:
        """Multiply all weights by a number, or by one for each instance."""
        return JoinedWeights(tuple(part.scaled(factor) for part in self.parts))

    def has_changed(self, pooled: Pooled) -> bool:
        """Return whether some part no longer gives its pooled weights."""
        del pooled  # each part has its own
        return any(part.source.has_changed(part.pooled) for part in self.parts)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of all parts; their names begin with the part and its kind."""
        arrays: dict[str, Array] = {}
        for p, part in enumerate(self.parts):
            named = part.source.arrays() | {"places": part.places}
            if part.factors is not None:
                named |= {"factor_for": part.factors[0], "factor_against": part.factors[1]}
            kind = stored_kind(part.source)
            arrays |= {f"{p}.{kind}.{name}": array for name, array in named.items()}
        return arrays


def parts_of(source: WeightSource, pooled: Pooled, places: NDArray[np.intp]) -> list[Part]:
    """Return the parts of a source whose classes go to places; a joined source stays flat."""
    if isinstance(source, ScaledWeights) and isinstance(source.source, JoinedWeights):
        source = source.source.scaled(source.factor)
    if not isinstance(source, JoinedWeights):
        return [Part(source, pooled, places)]
    return [_moved(part, places) for part in source.parts]


def _moved(part: Part, places: NDArray[np.intp]) -> Part:
    known = places >= 0
    composed = np.where(known, part.places[np.where(known, places, 0)], -1)
    if part.factors is None:
        return replace(part, places=composed)
    mover = replace(part, places=places, factors=None)
    first, second = (f if f.shape[-1] == 1 else mover.placed(f) for f in part.factors)
    same = part.factors[0] is part.factors[1]
    return replace(part, places=composed, factors=(first, first if same else second))
