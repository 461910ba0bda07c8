"""``MapReading``: how the input of a linear head follows from a feature map, tested by replay.

Between the map and the head lie a few operations. They are repeated with other values of the map,
so it does not matter how they are spelled, and what is not exact is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import torch
from torch import Tensor

from shafer.models.readers.torch.op_trace import OpTrace

POOL, FLATTEN, WEIGHTED = "pool", "flatten", "weighted"

# Accepted differences, relative to the largest value, by the bits of the precision.
_TOLERANCE = {64: 1e-9, 32: 1e-4, 16: 3e-2}
_PROBE = 64.0  # a probe of this size reads a gain beside a large shift with more digits
_AVERAGES = ("mean", "avg_pool", "div", "mul", "native_dropout")


@final
@dataclass(frozen=True, eq=False)
class MapReading:
    """What lies between a feature map and the head: h = gain · Σ map (/ L) + shift.

    Attributes
    ----------
    kind : {"pool", "flatten", "weighted"}
        The same sum over all locations; all values side by side; or a sum with a weight for each
        row and location, as for texts with padding.
    channel_axis : int
        The axis of the map that is not a location; 0 if all but the rows are, as for grey images.
    averages : bool
        Whether the sum is divided by the number of locations.
    gain, shift : tensors of shape (C,), optional
        What follows the pool, such as a batch normalisation; None for 1 and for 0.
    """

    kind: str
    channel_axis: int
    averages: bool = True
    gain: Tensor | None = None
    shift: Tensor | None = None

    def plain(self) -> dict[str, Any]:
        """Return the reading as plain values and arrays, for a saved explainer."""
        affine = {"gain": self.gain, "shift": self.shift}
        return {
            "kind": self.kind,
            "channel_axis": self.channel_axis,
            "averages": self.averages,
            **{name: None if x is None else x.cpu().numpy() for name, x in affine.items()},
        }

    @classmethod
    def read(cls, given: Mapping[str, Any], device: torch.device) -> MapReading:
        """Make a reading from what :meth:`plain` gave."""
        kind, axis, averages = given["kind"], int(given["channel_axis"]), bool(given["averages"])
        if kind not in (POOL, FLATTEN, WEIGHTED):
            raise ValueError(f"kind must be one of {(POOL, FLATTEN, WEIGHTED)}; got {kind!r}.")
        affine = (
            None if given[name] is None else torch.tensor(given[name], device=device)
            for name in ("gain", "shift")
        )
        return cls(kind, axis, averages, *affine)

    def by_location(self, values: Tensor) -> Tensor:
        """Return a map as (n, L, C)."""
        if self.channel_axis == 0:
            return values.reshape(len(values), -1, 1)
        moved = values.movedim(self.channel_axis, -1)
        return moved.reshape(len(values), -1, moved.shape[-1])

    def grid(self, values: Tensor) -> tuple[int, ...]:
        """Return the sizes of the location axes."""
        sizes = values.shape[1:]
        return tuple(n for axis, n in enumerate(sizes, start=1) if axis != self.channel_axis)

    def scale(self, n_locations: int) -> float:
        """Return the factor on each location."""
        return 1.0 / n_locations if self.kind == POOL and self.averages else 1.0

    def entered(self, values: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return what enters the head, (n, J), given the map."""
        if self.kind == FLATTEN:
            return values.reshape(len(values), -1)
        located = self.by_location(values)
        if weights is not None:
            wide = torch.promote_types(located.dtype, torch.float32)
            return torch.einsum("nlc,nl->nc", located.to(wide), weights.to(wide))
        return self.of_total(total_of(located), located.shape[1])

    def of_total(self, total: Tensor, n_locations: int) -> Tensor:
        """Return what enters the head, given the sum of the features over the locations."""
        entered = total * self.scale(n_locations)
        entered = entered if self.gain is None else entered * self.gain
        return entered if self.shift is None else entered + self.shift


def total_of(located: Tensor) -> Tensor:
    """Return the sum of features (n, L, C) over the locations, at least in single precision."""
    return located.sum(dim=1, dtype=torch.promote_types(located.dtype, torch.float32))


def tolerance(dtype: torch.dtype) -> float:
    """Return the accepted difference of values in a precision, relative to the largest."""
    return _TOLERANCE[torch.finfo(dtype).bits]


def agree(found: Tensor, wanted: Tensor, dtype: torch.dtype) -> Tensor:
    """Return whether two tensors agree in a precision, as a tensor on their device."""
    if found.shape != wanted.shape:
        return torch.zeros((), dtype=torch.bool, device=found.device)
    limit = tolerance(dtype) * (1e-6 + wanted.abs().amax())
    return ((found - wanted).abs() <= limit).all()


def as_pool(trace: OpTrace, node: int, target: int, axis: int) -> MapReading | None:
    """Read a node as a map whose sum over all locations enters the head; None if it is not."""
    values = trace.values[node]
    reading = MapReading(POOL, axis, averages=False)
    at_zero = _replayed(trace, node, torch.zeros_like(values), target)
    at_probe = _replayed(trace, node, torch.full_like(values, _PROBE), target)
    if at_zero is None or at_probe is None or at_zero.shape[1] != values.shape[axis]:
        return None
    n_locations = math.prod(reading.grid(values))
    gain = (at_probe - at_zero)[0] / (_PROBE * n_locations)
    for seed in (0, 1):
        probe = _normal(values, seed)
        entered = _replayed(trace, node, probe, target)
        wanted = reading.by_location(probe).double().sum(1) * gain + at_zero[0]
        if entered is None or not bool(agree(entered, wanted, values.dtype)):
            return None
    if not bool(gain.abs().amax() > 0.0):  # the map does not reach the head
        return None
    reading = replace(reading, averages=_averages(trace, node, target, gain, n_locations))
    return _with_affine(reading, gain / reading.scale(n_locations), at_zero[0], values.dtype)


def _averages(trace: OpTrace, node: int, target: int, gain: Tensor, n_locations: int) -> bool:
    """Tell a mean from a sum: for another size of the map they differ."""
    one = torch.ones_like(gain)
    if n_locations > 1:
        if bool(agree(gain, one, torch.float32)):
            return False
        if bool(agree(gain * n_locations, one, torch.float32)):
            return True
    names = [op.name for op in trace.between(node, target)]
    if n_locations == 1 and "sum" in names:
        return False
    return any(word in name for name in names for word in _AVERAGES)


def _with_affine(
    reading: MapReading, gain: Tensor, shift: Tensor, dtype: torch.dtype
) -> MapReading:
    """Keep a gain and a shift only if they are not 1 and 0 up to rounding."""
    same = bool(agree(gain, torch.ones_like(gain), dtype))
    zero = bool((shift == 0.0).all())
    return replace(reading, gain=None if same else gain, shift=None if zero else shift)


def as_flatten(trace: OpTrace, node: int, target: int, axis: int) -> MapReading | None:
    """Read a node as a map that enters the head value by value; None if it does not."""
    values = trace.values[node]
    for seed in (0, 1):
        probe = _normal(values, seed)
        entered = _replayed(trace, node, probe, target)
        wanted = probe.reshape(len(probe), -1).double()
        if entered is None or not bool(agree(entered, wanted, values.dtype)):
            return None
    return MapReading(FLATTEN, axis)


def as_weighted(trace: OpTrace, node: int, target: int, axis: int) -> MapReading | None:
    """Read a node as a map that enters the head as a weighted sum; None if it does not."""
    values = trace.values[node]
    reading = MapReading(WEIGHTED, axis)
    weights = location_weights(trace, node, target, reading)
    if weights is None:
        return None
    at_zero = _replayed(trace, node, torch.zeros_like(values), target)
    if at_zero is None or bool(at_zero.any()):
        return None
    for seed in (0, 1):
        probe = _normal(values, seed)
        entered = _replayed(trace, node, probe, target)
        wanted = torch.einsum("nlc,nl->nc", reading.by_location(probe).double(), weights)
        if entered is None or not bool(agree(entered, wanted, values.dtype)):
            return None
    used = weights != 0.0
    return reading if bool((used.sum(1) > 1).any()) or _differ(used) else None


def _differ(used: Tensor) -> bool:
    """Return whether the rows use different locations; a CLS token is the same one in all."""
    return bool((used != used[:1]).any())


def location_weights(trace: OpTrace, node: int, target: int, reading: MapReading) -> Tensor | None:
    """Return the weight of each location of each row, (n, L), in double precision."""
    values = trace.values[node]
    located = reading.by_location(values)
    n, n_locations, width = located.shape
    parts = []
    for start in range(0, n_locations, width):
        size = min(width, n_locations - start)
        probe = torch.zeros_like(located)
        places = torch.arange(size, device=values.device)
        probe[:, start + places, places] = 1.0  # one location for each channel
        shape = (n, *reading.grid(values), width)
        back = probe.reshape(shape).movedim(-1, reading.channel_axis)
        entered = _replayed(trace, node, back.contiguous(), target)
        if entered is None or entered.shape != (n, width):
            return None
        parts.append(entered[:, :size])
    return torch.cat(parts, dim=1)


def _replayed(trace: OpTrace, node: int, value: Tensor, target: int) -> Tensor | None:
    found = trace.replay(node, value, target)
    return None if found is None else found.reshape(len(found), -1).double()


def _normal(like: Tensor, seed: int) -> Tensor:
    """Return random values that leave the generator of the user alone."""
    generator: Any = torch.Generator(like.device).manual_seed(seed)
    return torch.randn(like.shape, generator=generator, device=like.device).to(like.dtype)
