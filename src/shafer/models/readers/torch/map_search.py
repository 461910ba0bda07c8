"""Search for the feature map behind the input of a linear head, back along the operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from torch import Tensor, nn

from shafer.models.readers.torch.map_places import NotPlacedError, placed
from shafer.models.readers.torch.map_reading import (
    FLATTEN,
    WEIGHTED,
    MapReading,
    as_flatten,
    as_pool,
    as_weighted,
)
from shafer.models.readers.torch.op_trace import OpTrace
from shafer.models.readers.torch.pool_origin import is_small_map, pools_by_attention

_MOST_NODES = 200
_CHANNELS_FIRST = ("convolution", "batch_norm", "group_norm", "pool", "upsample", "instance_norm")
_CHANNELS_LAST = ("addmm", "mm", "bmm", "linear", "layer_norm", "embedding", "transformer")
_IMAGE_CHANNELS = (1, 3, 4)


class FoundMap(NamedTuple):
    """A feature map: its node in the trace, and how it enters the head."""

    node: int
    reading: MapReading
    n_locations: int
    masked: bool = False  # by something that depends on the row


def find_map(trace: OpTrace, target: int, n: int, n_axes: int, strict: bool) -> FoundMap | None:
    """Return the feature map behind a node of shape (n, J), whose locations are known.

    The map with the most locations is taken, and the nearest of these. Maps with ``n_axes``
    location axes are preferred: 2 for images, 1 for tokens. With ``strict``, the locations must be
    followed to the module's input.

    Raises
    ------
    NotPlacedError
        If there are maps, but their locations are not known.
    """
    found = _found(trace, target, n, n_axes, strict)
    if found is None:
        return None
    return found if found.n_locations > 1 or is_small_map(trace, found.node) else None


def _found(trace: OpTrace, target: int, n: int, n_axes: int, strict: bool) -> FoundMap | None:
    width = trace.values[target].numel() // n
    searched = _Search(trace, target, n, n_axes, strict)
    pooled = searched.best(lambda node: _pools(trace, node, target, width))
    if pooled is not None and pooled.n_locations > 1:
        return pooled
    flat = searched.best(lambda node: _flattens(trace, node, target, n_axes))
    if flat is not None and flat.n_locations > 1:
        return flat
    if searched.unplaced is not None:
        raise NotPlacedError(searched.unplaced)
    return pooled or flat


class _Search:
    """Tries the nodes before a target, the nearest first."""

    def __init__(self, trace: OpTrace, target: int, n: int, n_axes: int, strict: bool) -> None:
        self._trace, self._target, self._n = trace, target, n
        self._n_axes, self._strict = n_axes, strict
        self.unplaced: str | None = None  # what moves the locations of an exact map, or ""

    def best(self, read: Callable[[int], tuple[bool, MapReading | None]]) -> FoundMap | None:
        """Return the best map; nothing before a node that fails is tried."""
        trace = self._trace
        best: FoundMap | None = None
        waiting, seen = [self._target], {self._target}
        while waiting and len(seen) < _MOST_NODES:
            node = waiting.pop(0)
            values = trace.values[node]
            if _is_activation(values, self._n) and values.ndim > 2:
                fits, reading = read(node)
                if fits and reading is None and self._is_larger(node):
                    continue
                found = None if reading is None else self._placed(node, reading)
                if found is not None and (
                    best is None or _better(trace, found, best, self._n_axes)
                ):
                    best = found
            more = [parent for parent in trace.parents(node) if parent not in seen]
            seen.update(more)
            waiting += more
        return best

    def _is_larger(self, node: int) -> bool:
        return self._trace.values[node].numel() > self._trace.values[self._target].numel()

    def _placed(self, node: int, reading: MapReading) -> FoundMap | None:
        """Return a map if its locations are known, with the channel axis that makes them so."""
        trace = self._trace
        if pools_by_attention(trace, node, self._target):
            return None
        n_locations = math.prod(reading.grid(trace.values[node]))
        other_axes: list[int] = []
        if reading.kind == FLATTEN and reading.channel_axis:
            ndim = trace.values[node].ndim
            other_axes = [axis for axis in range(1, ndim) if axis != reading.channel_axis]
        for axis in (reading.channel_axis, *other_axes):
            known, moved = placed(trace, node, replace(reading, channel_axis=axis), self._strict)
            if known is not None:
                masked = any(map(trace.comes_from_rows, trace.beside(node, self._target)))
                masked = masked and known.kind == WEIGHTED
                return FoundMap(node, known, math.prod(known.grid(trace.values[node])), masked)
            if n_locations > 1:
                self.unplaced = moved or self.unplaced or ""
        return None


def _is_activation(values: Tensor, n: int) -> bool:
    return (
        not values.is_nested
        and values.is_floating_point()
        and not isinstance(values, nn.Parameter)
        and values.ndim > 0
        and len(values) == n
    )


def _better(trace: OpTrace, new: FoundMap, old: FoundMap, n_axes: int) -> bool:
    def rank(found: FoundMap) -> tuple[bool, int, bool, int]:
        axes = trace.values[found.node].ndim - 2
        kind = 1 if found.reading.kind != WEIGHTED else 2 * found.masked
        return found.n_locations > 1, kind, axes == n_axes, found.n_locations

    # Of masked sums the farthest, which comes before the padding is set to 0.
    later = new.masked and rank(new) == rank(old)
    return later or rank(new) > rank(old)


def _pools(trace: OpTrace, node: int, target: int, width: int) -> tuple[bool, MapReading | None]:
    """Return whether a node has the channels of the target, and how it is pooled into it."""
    values = trace.values[node]
    axes = [axis for axis in range(1, values.ndim) if values.shape[axis] == width]
    fixed = not any(map(trace.comes_from_rows, trace.beside(node, target)))
    for axis in axes if fixed else ():  # otherwise other rows may have another mask
        reading = as_pool(trace, node, target, axis)
        if reading is not None:
            return True, reading
    for axis in axes:
        reading = as_weighted(trace, node, target, axis)
        if reading is not None:
            return True, reading
    return bool(axes), None


def _flattens(
    trace: OpTrace, node: int, target: int, n_axes: int
) -> tuple[bool, MapReading | None]:
    if trace.values[node].numel() != trace.values[target].numel():
        return False, None
    return True, as_flatten(trace, node, target, channel_axis(trace, node, n_axes))


def channel_axis(trace: OpTrace, node: int, n_axes: int) -> int:
    """Return the axis of a map that holds the channels, judged by how the map was made.

    An input of rows and ``n_axes`` axes has no channels: 0.
    """
    ndim = trace.values[node].ndim
    axes = list(range(ndim))  # axes[i]: the axis of the current node that is axis i of the map
    made = trace.producer(node)
    while made is not None:
        op = trace.ops[made]
        inputs = list(op.inputs.values())
        if any(word in op.name for word in _CHANNELS_FIRST):
            return axes.index(1)
        if any(word in op.name for word in _CHANNELS_LAST):
            return axes.index(len(axes) - 1)
        if not inputs:
            break
        before, after = trace.values[inputs[0]].shape, trace.values[op.outputs[0]].shape
        if op.name == "permute":
            order = [int(d) % ndim for d in op.leaves[1 : 1 + ndim]]
            axes = [order[axis] for axis in axes]
        elif op.name in ("transpose", "swapaxes"):
            a, b = (int(d) % ndim for d in op.leaves[1:3])
            axes = [{a: b, b: a}.get(axis, axis) for axis in axes]
        elif before != after:  # a new shape: the axis that kept its size at one end
            last = len(before) > 1 and before[-1] == after[-1]
            return axes.index(ndim - 1 if last else 1)
        node = inputs[0]
        made = trace.producer(node)
    return axes.index(_axis_of_input(trace.values[node], n_axes))


def _axis_of_input(values: Tensor, n_axes: int) -> int:
    """Guess the channel axis of the user's own array."""
    if values.ndim <= n_axes + 1:
        return 0
    last = values.shape[-1] in _IMAGE_CHANNELS and values.shape[1] not in _IMAGE_CHANNELS
    return values.ndim - 1 if last or values.ndim == 3 else 1


def pooled_into(trace: OpTrace, node: int, n: int, n_classes: int) -> tuple[int, MapReading] | None:
    """Return the last node of shape (n, K) that is a pooled map of logits, and how it is pooled."""
    values = trace.values[node]
    axes = [axis for axis in range(1, values.ndim) if values.shape[axis] == n_classes]
    for op in reversed(trace.ops):  # the last: a sum may be divided later
        for target in op.outputs:
            size = trace.values[target].numel()
            if target <= node or size != n * n_classes or not trace.between(node, target):
                continue
            masked = any(map(trace.comes_from_rows, trace.beside(node, target)))
            for read in (as_weighted,) if masked else (as_pool, as_weighted):
                for axis in axes:
                    reading = read(trace, node, target, axis)
                    if reading is not None and not pools_by_attention(trace, node, target):
                        return target, reading
    return None
