"""Search for the feature map behind the input of a linear head, back along the operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias, final

import torch
from torch import Tensor, nn

from shafer._files import codec
from shafer._files.codec import OneOf, written
from shafer.errors import UnsupportedModelError
from shafer.evidence.layout import ChannelLayout, ComponentLayout, GridLayout, TokenLayout
from shafer.models.torch.tracing import (
    ROWS,
    Atom,
    Head,
    HeadCall,
    ModuleOutput,
    MovedError,
    Op,
    OpTrace,
    Role,
    Roles,
    TracedPass,
    heads_of,
    is_leaf_of_rows,
    last_head,
    quiet,
    roles_of_map,
    steps_back,
    traced_pass,
)

if TYPE_CHECKING:
    from shafer.models.torch.located import MapOptions


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
            strict = self._strict or axis != reading.channel_axis
            known, moved = placed(trace, node, replace(reading, channel_axis=axis), strict)
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


# How the input of a linear head follows from a feature map, tested by replay.

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
    swapped : bool
        Whether the two location axes are columns and rows, and not rows and columns.
    fold : pair of int, optional
        Height and width of locations that lie in one axis.
    """

    kind: Annotated[str, OneOf(POOL, FLATTEN, WEIGHTED)]
    channel_axis: int
    averages: bool = True
    gain: Annotated[Tensor | None, "c"] = None
    shift: Annotated[Tensor | None, "c"] = None
    swapped: bool = False
    fold: tuple[int, int] | None = None

    def plain(self) -> dict[str, Any]:
        """Return the reading as plain values and arrays, for a saved explainer."""
        held = written(self)
        affine = {name: held.pop(name) for name in ("gain", "shift")}
        return {**held, **{n: None if x is None else x.cpu().numpy() for n, x in affine.items()}}

    @classmethod
    def read(cls, given: Mapping[str, Any], device: torch.device) -> MapReading:
        """Make a reading from what :meth:`plain` gave."""
        found = codec.read(cls, given)
        gain, shift = (
            None if x is None else torch.tensor(x, device=device) for x in (found.gain, found.shift)
        )
        return replace(found, gain=gain, shift=shift)

    def by_location(self, values: Tensor) -> Tensor:
        """Return a map as (n, L, C)."""
        if self.channel_axis == 0:
            return values.reshape(len(values), -1, 1)
        moved = values.movedim(self.channel_axis, -1)
        moved = moved.transpose(1, 2) if self.swapped else moved
        return moved.reshape(len(values), -1, moved.shape[-1])

    def from_locations(self, located: Tensor, values: Tensor) -> Tensor:
        """Return (n, L, C) in the axes of a map, the inverse of :meth:`by_location`."""
        shape = (len(values), *self.grid(values), located.shape[-1])
        moved = located.reshape(shape)
        moved = moved.transpose(1, 2) if self.swapped else moved
        return moved.movedim(-1, self.channel_axis) if self.channel_axis else moved[..., 0]

    def grid(self, values: Tensor) -> tuple[int, ...]:
        """Return the sizes of the location axes."""
        sizes = values.shape[1:]
        found = tuple(n for axis, n in enumerate(sizes, start=1) if axis != self.channel_axis)
        return found[::-1] if self.swapped else found

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
    columns = located.mT  # (n, C, L)
    if located.is_cuda and located.dtype == torch.float32 and columns.is_contiguous():
        n, width, n_locations = columns.shape
        every = columns.reshape(n * width, n_locations)  # a product with ones is faster than a sum
        return torch.mv(every, every.new_ones(n_locations)).view(n, width)
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
        back = reading.from_locations(probe, values).contiguous()
        entered = _replayed(trace, node, back, target)
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


# The feature map of an embedding bag: the embedding of each token, which the bag never makes.

_SUM, _MEAN = 0, 1
_MOST_OPS = 16


def bag_behind(trace: OpTrace, target: int) -> int | None:
    """Return the position of the embedding bag whose output enters the head; None without one."""
    for node in trace.before(target, _MOST_OPS):
        made = trace.producer(node)
        op = None if made is None else trace.ops[made]
        if op is not None and op.name.startswith("_embedding_bag") and node == op.outputs[0]:
            same = node == target or as_flatten(trace, node, target, 1) is not None
            return made if same else None
    return None


def bag_locations(op: Op) -> tuple[Tensor, Tensor]:
    """Return the embeddings of the tokens of each bag, (n, T, C), and their weights, (n, T).

    Tokens that a shorter bag lacks, and the padding token, have weight 0 and embedding 0.
    """
    given = _arguments(op)
    if given["mode"] not in (_SUM, _MEAN):
        raise UnsupportedModelError(
            "The embedding bag takes the maximum over the tokens, which is not a sum over them. "
            "Train it with mode='mean' or 'sum', or use components='units'."
        )
    indices, offsets = given["indices"], given["offsets"]
    stops = torch.cat([offsets[1:], offsets.new_tensor([len(indices)])])
    if given["include_last_offset"]:
        offsets, stops = offsets[:-1], offsets[1:]
    length = max(1, int((stops - offsets).max()))
    places = offsets[:, None] + torch.arange(length, device=offsets.device)
    inside = places < stops[:, None]
    chosen = indices[places.clamp(max=max(len(indices) - 1, 0))]
    padding = given["padding_idx"]
    used = inside if padding is None or padding < 0 else inside & (chosen != padding)
    weights = used.double()
    if given["per_sample_weights"] is not None:
        each = given["per_sample_weights"].double()
        weights = weights * each[places.clamp(max=len(each) - 1)]
    elif given["mode"] == _MEAN:
        weights = weights / used.sum(1, keepdim=True).clamp(min=1)
    embedded = given["weight"][chosen] * used[..., None]
    return embedded, weights


def _arguments(op: Op) -> dict[str, Any]:
    """Return the arguments of an embedding bag by name, with their defaults."""
    names = [argument.name for argument in op.function._schema.arguments]
    defaults = {a.name: a.default_value for a in op.function._schema.arguments}
    positional, named = torch.utils._pytree.tree_unflatten(op.leaves, op.structure)
    given = {**defaults, **dict(zip(names, positional, strict=False)), **named}
    return {**given, "padding_idx": given.get("padding_idx", -1)}


# Which feature map of a module enters its head, and how to get hold of it.


class OpPlace(NamedTuple):
    """A tensor at an operation: its output, or one of its arguments."""

    number: int
    name: str
    output: int | None
    leaf: int | None

    def node(self, trace: OpTrace) -> int | None:
        """Return the node in a trace that starts with this operation; None if it is another."""
        if not trace.ops or trace.ops[0].name != self.name:
            return None
        first = trace.ops[0]
        if self.output is None:
            return first.inputs.get(-1 if self.leaf is None else self.leaf)
        return first.outputs[self.output] if self.output < len(first.outputs) else None


class MapPlan(NamedTuple):
    """How the feature map enters the head.

    Attributes
    ----------
    head : layer
    reading : MapReading, or None for an embedding bag, which has no map until it is made
    head_first : bool
        Whether the head is applied at each location, before the pool.
    module : ModuleOutput or None
        The module whose output is the map; for ``head_first``, the map is the head's input.
    place : OpPlace or None
        Otherwise the operation where it is found. For weighted sums and bags always known.
    logits : OpPlace or None
        For a head before a weighted sum: where the logits are.
    """

    head: Head
    reading: MapReading | None
    head_first: bool = False
    module: ModuleOutput | None = None
    place: OpPlace | None = None
    logits: OpPlace | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it is known where the map is; the plan of a saved explainer must look first."""
        weighted = self.reading is not None and self.reading.kind == WEIGHTED
        found = self.module is not None or self.place is not None
        return found or (self.head_first and not weighted)


def find_plan(
    model: nn.Module, rows: Any, n: int, layer: Head | None, options: MapOptions
) -> tuple[MapPlan, Tensor]:
    """Find the feature map behind the head, in one forward pass of a few rows, and its values.

    Raises
    ------
    UnsupportedModelError
        If the head's input is not a mean, a sum or a flattening of a feature map.
    """
    with quiet(model):
        plan, values = _found_plan(model, rows, n, layer, options, modules=True)
        if plan.place is not None:
            # Hooks change what some modules do, so the operations are counted without them.
            plan, values = _found_plan(model, rows, n, plan.head, options, modules=False)
        return plan, values


def _found_plan(
    model: nn.Module, rows: Any, n: int, layer: Head | None, options: MapOptions, modules: bool
) -> tuple[MapPlan, Tensor]:
    seen = traced_pass(model, rows, heads_of(model) if layer is None else [layer], modules)
    call = last_head(model, seen, layer)
    components = options.components
    n_axes = 1 if components == "tokens" else 2
    trace = seen.trace
    left = trace.values[call.left]
    if left.numel() > n * _n_classes(call.layer):
        return _head_first(seen, call, n, options)
    bag = bag_behind(trace, call.entered)
    if bag is not None:
        moved = moved_tokens(trace, trace.ops[bag].inputs[1], n)
        if moved is not None:
            raise UnsupportedModelError(why_not_placed(moved, components))
        place = OpPlace(trace.ops[bag].number, trace.ops[bag].name, 0, None)
        return MapPlan(call.layer, None, place=place), bag_locations(trace.ops[bag])[0]
    try:
        found = find_map(trace, call.entered, n, n_axes, options.strict)
    except NotPlacedError as error:
        raise UnsupportedModelError(why_not_placed(str(error), components)) from None
    if found is None:
        raise UnsupportedModelError(why_no_map(trace, call.entered, n, components))
    values = trace.values[found.node]
    in_module = seen.outputs.get(found.node) if trace.is_current(found.node) else None
    if in_module is not None and found.reading.kind != WEIGHTED:
        return MapPlan(call.layer, found.reading, module=in_module), values
    return MapPlan(call.layer, found.reading, place=_place_of(trace, found.node)), values


def _n_classes(head: Head) -> int:
    return len(head.weight)


def _head_first(
    seen: TracedPass, call: HeadCall, n: int, options: MapOptions
) -> tuple[MapPlan, Tensor]:
    """Read a head that is applied at each location, whose outputs are pooled."""
    trace = seen.trace
    found = pooled_into(trace, call.left, n, _n_classes(call.layer))
    if found is None:
        raise UnsupportedModelError(why_no_map(trace, len(trace.values) - 1, n, options.components))
    target, given = found
    reading, moved = placed(trace, call.entered, given, options.strict)
    if reading is None:
        raise UnsupportedModelError(why_not_placed(moved or "", options.components))
    plan = MapPlan(call.layer, reading, head_first=True)
    if reading.kind == WEIGHTED:
        plan = plan._replace(place=_place_of(trace, call.left), logits=_place_of(trace, target))
    return plan, trace.values[call.entered]


def _place_of(trace: OpTrace, node: int) -> OpPlace:
    """Return where a node is found: at the operation it came out of, or else entered first."""
    made = trace.producer(node)
    if made is not None:
        op = trace.ops[made]
        return OpPlace(op.number, op.name, op.outputs.index(node), None)
    for op in trace.ops:
        for leaf, entered in op.inputs.items():
            if entered == node:
                return OpPlace(op.number, op.name, None, leaf)
    raise AssertionError("a node of a trace came out of an operation or entered one")


# Where the locations of a feature map lie in the module's input, followed along the operations.

_MOST_STEPS = 20_000
_Fold: TypeAlias = tuple[int, int] | None


class Places(NamedTuple):
    """How the location axes of a map lie in the input.

    Attributes
    ----------
    known : bool
        Whether a way from the input keeps the order of the locations.
    swapped : bool
        Whether the second location axis is the first of the input.
    fold : pair of int, optional
        Height and width of locations in one axis.
    moved : str, optional
        An operation that puts locations at other places, on a way that was tried.
    """

    known: bool
    swapped: bool = False
    fold: _Fold = None
    moved: str | None = None


def places_of(trace: OpTrace, node: int, channel_axis: int) -> Places:
    """Follow the locations of a map back to the input, along any way that keeps their order."""
    return _followed(trace, node, roles_of_map(trace.values[node].shape, channel_axis))


def moved_tokens(trace: OpTrace, node: int, n: int) -> str | None:
    """Return what moves the tokens of n texts, all in one axis of a node; None if nothing does."""
    length = trace.values[node].numel() // n
    if trace.values[node].numel() != n * length:  # of several lengths
        return None
    return _followed(trace, node, ((Atom(ROWS, n), Atom("0", length)),)).moved


def _followed(trace: OpTrace, node: int, start: Roles) -> Places:
    moved: str | None = None
    waiting: list[tuple[int, Roles, _Fold]] = [(node, start, None)]
    seen = {(node, start)}
    while waiting and len(seen) < _MOST_STEPS:
        here, roles, fold = waiting.pop()
        if is_leaf_of_rows(trace, here):
            found = _at_input(trace.values[here], roles, start, fold)
            if found is not None:
                return found
        made = trace.producer(here)
        if made is None:
            continue
        try:
            steps = steps_back(trace, trace.ops[made], here, roles)
        except MovedError as error:
            moved = str(error)
            continue
        for parent, before in steps:
            if (parent, before) not in seen:
                seen.add((parent, before))
                waiting.append((parent, before, fold or _folded(before)))
    return Places(known=False, moved=moved)


def _folded(roles: Roles) -> _Fold:
    """Return height and width of the only location axis, where it is split for the first time."""
    sizes = {atom.name: atom.size for role in roles for atom in role}
    return (sizes["0.0"], sizes["0.1"]) if {"0.0", "0.1"} <= set(sizes) else None


def _at_input(values: Tensor, roles: Roles, start: Roles, fold: _Fold) -> Places | None:
    """Read the axes of the input; None if locations of the map are not axes of their own."""
    if len(roles) != values.ndim:
        return None
    axes = {role[0].name: axis for axis, role in enumerate(roles) if _is_alone(role)}
    wanted = [atom for role in start for atom in role if atom.is_place]
    needed = [atom.name for atom in wanted if atom.size > 1]
    if len(wanted) == 1 and needed:
        if {"0.0", "0.1"} <= set(axes) and axes["0.0"] < axes["0.1"]:
            return Places(known=True, fold=fold)
        return _along_one_axis(values, axes, wanted[0].size) if "0" in axes else None
    order = [axes[atom.name] for atom in wanted if atom.name in axes]
    if not set(needed) <= set(axes):
        return None
    if order == sorted(order):
        return Places(known=True)
    return Places(known=True, swapped=True) if len(wanted) == 2 else None


def _is_alone(role: Role) -> bool:
    return len(role) == 1 and role[0].is_place and role[0].offset == 0


def _along_one_axis(values: Tensor, axes: dict[str, int], length: int) -> Places:
    """Return places along the height or the width of images, or along signals and texts."""
    fold = (1, length)
    if values.ndim == 4:
        last = values.shape[3] in _IMAGE_CHANNELS and values.shape[1] not in _IMAGE_CHANNELS
        if axes["0"] == (1 if last else 2):
            fold = (length, 1)
    return Places(known=True, fold=fold)


class NotPlacedError(Exception):
    """The locations of an exact feature map could not be followed to the input."""


def placed(
    trace: OpTrace, node: int, reading: MapReading, strict: bool
) -> tuple[MapReading | None, str | None]:
    """Return the reading with its places, or None and the operation that moves them.

    Without ``strict``, places that are not known are taken in their order.
    """
    places = places_of(trace, node, reading.channel_axis)
    if places.known:
        return replace(reading, swapped=places.swapped, fold=places.fold), None
    if strict or places.moved is not None:
        return None, places.moved
    return reading, None


# Where the locations of a feature map lie in the user's image or text.


@final
@dataclass(frozen=True)
class MapLayout:
    """What the components are: ``"locations"``, ``"tokens"`` or ``"channels"``.

    Attributes
    ----------
    components : str
    grid : pair of int, optional
        The user's grid, for maps that have the locations in one axis, such as image tokens.
    """

    components: str
    grid: tuple[int, int] | None = None

    def of_map(self, reading: MapReading | None, values: Tensor, rows: Any) -> ComponentLayout:
        """Return the layout of a feature map, or of the embeddings (n, T, C) of tokens."""
        if reading is None:
            return self.of(tuple(values.shape[1:2]), tuple(values.shape), rows)
        shape = tuple(reading.by_location(values).shape)
        return self.of(reading.grid(values), shape, rows, reading.fold)

    def of(
        self,
        sizes: tuple[int, ...],
        shape: tuple[int, ...],
        rows: Any,
        fold: tuple[int, int] | None = None,
    ) -> ComponentLayout:
        """Return the layout of a map with these location axes, as (n, L, C), of these rows.

        ``fold`` is the grid of locations in one axis, for images of the size of the background.
        """
        if self.components == "channels":
            return ChannelLayout(shape[2])
        if self.components == "tokens":
            return TokenLayout(shape[1])
        if len(sizes) == 2:
            return GridLayout(*sizes)
        if len(sizes) > 2:
            return GridLayout(math.prod(sizes[:-1]), sizes[-1])
        return GridLayout(*self._grid(shape[1], rows, fold))

    def _grid(self, length: int, rows: Any, fold: tuple[int, int] | None) -> tuple[int, int]:
        """Return the grid of locations in one axis: as given, or in the proportions of X."""
        if self.grid is not None:
            if self.grid[0] * self.grid[1] != length:
                raise ValueError(
                    f"grid={self.grid} has {self.grid[0] * self.grid[1]} places, but the feature "
                    f"map has {length} locations. Pass grid=(height, width) of that number."
                )
            return self.grid
        if fold is not None and 1 in fold:  # along one side of the image
            return (1, length) if fold[0] == 1 else (length, 1)
        if fold is not None and fold[0] * fold[1] == length:
            return fold
        image = image_size(rows)
        if image is not None:
            height = math.isqrt(length * image[0] // image[1])
            fits = height > 0 and length % height == 0
            if fits and height * image[1] == length // height * image[0]:
                return height, length // height
        return 1, length


def image_size(rows: Any) -> tuple[int, int] | None:
    """Return height and width of images (n, C, H, W) or (n, H, W, C); None for other rows."""
    part = next(iter(rows.values())) if isinstance(rows, Mapping) else rows
    shape = tuple(getattr(part, "shape", ()))
    if len(shape) != 4:
        return None
    channels_last = shape[3] in (1, 3, 4) and shape[1] not in (1, 3, 4)
    height, width = shape[1:3] if channels_last else shape[2:4]
    return int(height), int(width)


# Why the input of a head is not a sum over the locations of a feature map, and what to do.

_MOST_NAMED_NODES = 100
# Beginnings of the names of operations -> the reason, and the remedy. The first found counts.
_REASONS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("softmax", "bmm", "scaled_dot_product", "native_multi_head_attention"),
        "pools with weights that depend on the features, as attention does",
        "Train the module with a mean in its place",
    ),
    (
        ("max", "amax", "adaptive_max", "topk", "logsumexp", "median", "quantile", "kthvalue"),
        "takes a maximum over the locations",
        "Train the module with a mean in its place",
    ),
    (
        ("native_layer_norm", "native_group_norm", "fused_rms_norm", "rms_norm", "linalg_vector"),
        "normalises the pooled features",
        "Put the normalisation before the mean",
    ),
    (
        ("addmm", "mm", "linear", "convolution", "baddbmm", "matmul"),
        "has another layer between its feature map and the head",
        "Name the layer behind the map with layer=, if it is the last one",
    ),
    (
        ("select", "slice", "index", "gather", "narrow"),
        "takes some of the locations, such as a CLS token",
        "Train the module with a mean over the tokens",
    ),
)
_LINEAR = (
    *("mean", "sum", "view", "reshape", "permute", "transpose", "squeeze", "unsqueeze", "expand"),
    *("clone", "to_copy", "dropout", "detach", "alias", "add", "mul", "div", "sub", "avg_pool"),
    *("native_batch_norm", "cudnn_batch_norm", "cat", "empty", "unsafe_view", "adaptive_avg"),
)


def why_no_map(trace: OpTrace, target: int, n: int, components: str) -> str:
    """Return the error for a head whose input cannot be taken apart by location."""
    names = _names_behind_map(trace, target, n)
    if names is None:
        return (
            f"components={components!r} needs a feature map, but what enters the last layer comes "
            "from no tensor with locations. Use components='units'."
        )
    cause, remedy = _explained(names)
    return (
        f"components={components!r} needs a head on a mean, a sum or a flattening of a feature "
        f"map, because only these are sums over its locations. This module {cause}. "
        f"{remedy}, or use components='units'."
    )


def why_not_placed(moved: str, components: str) -> str:
    """Return the error for a map whose locations cannot be followed to the input."""
    what = f"moves them ({moved})" if moved else "cuts, joins or mixes its axes on the way"
    return (
        f"components={components!r} found a feature map, but not where its locations lie in the "
        f"input: the module {what}. If they lie on a grid, row by row, pass "
        "grid=(height, width); otherwise use components='units'."
    )


def _explained(names: list[str]) -> tuple[str, str]:
    for words, cause, remedy in _REASONS:
        if any(_begins(name, words) for name in names):
            return cause, remedy
    other = [name for name in names if not _begins(name, _LINEAR)]
    if other:
        return (
            f"applies a non-linear operation ({other[0]}) after the pool",
            "Put the non-linearity before the pool",
        )
    return (
        "combines the locations in another way before its last layer",
        "Let the head follow the pool",
    )


def _begins(name: str, words: tuple[str, ...]) -> bool:
    return name.strip("_").startswith(words)


def _names_behind_map(trace: OpTrace, target: int, n: int) -> list[str] | None:
    """Name the operations between the nearest tensor with locations and the head."""
    width = trace.values[target].numel() // n
    for node in trace.before(target, _MOST_NAMED_NODES):
        values = trace.values[node]
        if values.is_nested:
            continue
        tokens = values.ndim >= 3 and len(values) == n and values.is_floating_point()
        if tokens and math.prod(values.shape[1:]) > width:
            between = [op.name for op in trace.between(node, target)]
            if between:
                return ["softmax"] if pools_by_attention(trace, node, target) else between
    return None


# Where a feature map and its pool come from: attention, or a map that is a single location.

# Operations that only move, copy or multiply values.
_PASSING = (
    *("mul", "div", "view", "squeeze", "unsqueeze", "expand", "transpose", "permute", "clone"),
    *("to_copy", "bmm", "select", "slice", "alias", "detach", "reshape", "split", "unsafe_view"),
)
_LAYERS = ("convolution", "embedding", "addmm", "mm", "linear")
_MOST_ORIGIN_NODES = 40


def pools_by_attention(trace: OpTrace, node: int, target: int) -> bool:
    """Return whether a softmax enters the pool beside the map, or was multiplied into the map."""
    return any(_from_softmax(trace, start) for start in (*trace.beside(node, target), node))


def _from_softmax(trace: OpTrace, start: int) -> bool:
    waiting, seen = [start], {start}
    while waiting and len(seen) < _MOST_ORIGIN_NODES:
        made = trace.producer(waiting.pop())
        if made is None:
            continue
        name = trace.ops[made].name
        if "softmax" in name:
            return True
        if name == "t" or name.strip("_").startswith(_PASSING):
            more = [entered for entered in trace.ops[made].inputs.values() if entered not in seen]
            seen.update(more)
            waiting += more
    return False


def is_small_map(trace: OpTrace, node: int) -> bool:
    """Return whether a map of one location came so out of a layer, and not out of a pool."""
    made = trace.producer(node)
    while made is not None:
        op = trace.ops[made]
        if op.name in _LAYERS:
            return True
        if any(trace.values[node].is_nested for node in (*op.inputs.values(), *op.outputs)):
            return True
        size = trace.values[op.outputs[0]].numel()
        same = [entered for entered in op.inputs.values() if trace.values[entered].numel() == size]
        if not same:
            return False
        made = trace.producer(same[0])
    return True
