"""``MapPlan``: which feature map of a module enters its head, and how to get hold of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer.models.readers.torch.bag_map import bag_behind, bag_locations
from shafer.models.readers.torch.map_options import MapOptions
from shafer.models.readers.torch.map_places import NotPlacedError, moved_tokens, placed
from shafer.models.readers.torch.map_reading import WEIGHTED, MapReading
from shafer.models.readers.torch.map_search import find_map, pooled_into
from shafer.models.readers.torch.no_map_reasons import why_no_map, why_not_placed
from shafer.models.readers.torch.op_trace import OpTrace
from shafer.models.readers.torch.traced_pass import (
    Head,
    HeadCall,
    ModuleOutput,
    TracedPass,
    heads_of,
    last_head,
    traced_pass,
)
from shafer.models.readers.torch.watched_layers import quiet


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
