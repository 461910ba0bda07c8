"""Search for the feature map behind the input of a linear head, back along the operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from torch import Tensor, nn

from shafer.models.readers.torch.map_reading import (
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


def find_map(trace: OpTrace, target: int, n: int, n_axes: int) -> FoundMap | None:
    """Return the feature map behind a node of shape (n, J).

    The map with the most locations is taken, and the nearest of these. Maps with ``n_axes``
    location axes are preferred: 2 for images, 1 for tokens.
    """
    found = _found(trace, target, n, n_axes)
    if found is None or pools_by_attention(trace, found.node, target):
        return None
    return found if found.n_locations > 1 or is_small_map(trace, found.node) else None


def _found(trace: OpTrace, target: int, n: int, n_axes: int) -> FoundMap | None:
    width = trace.values[target].numel() // n
    pooled = _search(trace, target, n, n_axes, lambda node: _pools(trace, node, target, width))
    if pooled is not None and pooled.n_locations > 1:
        return pooled
    flat = _search(trace, target, n, n_axes, lambda node: _flattens(trace, node, target, n_axes))
    if flat is not None and flat.n_locations > 1:
        return flat
    return pooled or flat


def _search(
    trace: OpTrace,
    target: int,
    n: int,
    n_axes: int,
    read: Callable[[int], tuple[bool, MapReading | None]],
) -> FoundMap | None:
    """Try the nodes before the target, the nearest first; none before one that fails."""
    best: FoundMap | None = None
    waiting, seen = [target], {target}
    while waiting and len(seen) < _MOST_NODES:
        node = waiting.pop(0)
        values = trace.values[node]
        if _is_activation(values, n) and values.ndim > 2:
            fits, reading = read(node)
            if fits and reading is None and values.numel() > trace.values[target].numel():
                continue
            if reading is not None:
                sizes = reading.grid(values)
                masked = any(map(trace.comes_from_rows, trace.beside(node, target)))
                masked = masked and reading.kind == WEIGHTED
                found = FoundMap(node, reading, math.prod(sizes), masked)
                best = found if best is None or _better(trace, found, best, n_axes) else best
        more = [parent for parent in trace.parents(node) if parent not in seen]
        seen.update(more)
        waiting += more
    return best


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
