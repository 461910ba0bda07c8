"""One step back along the operations of a trace: where the axes of a result were before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from shafer.models.readers.torch.axis_roles import (
    OTHER,
    Atom,
    Role,
    Roles,
    has_place,
    regrouped,
    resized,
)
from shafer.models.readers.torch.op_trace import Op, OpTrace

Step: TypeAlias = tuple[int, Roles]

_SAME = (
    *("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "batch_norm_no_update"),
    *("native_batch_norm_legit_no_training", "native_batch_norm_legit", "native_layer_norm"),
    *("native_group_norm", "fused_rms_norm", "softmax", "to_copy", "clone", "copy", "detach"),
    *("alias", "contiguous", "native_dropout", "transformer_encoder_layer_fwd", "lift_fresh"),
    *("scaled_dot_product", "native_multi_head_attention", "masked_fill", "relu", "gelu"),
)
_VIEWS = ("view", "reshape", "unsafe_view", "squeeze", "unsqueeze", "flatten", "unflatten")
_SPATIAL = ("max_pool", "avg_pool", "adaptive", "upsample")
_PADS = ("constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "replication_pad2d")
_MOVES = ("flip", "roll", "sort", "topk", "gather", "index", "rot90", "take", "randperm", "scatter")


class MovedError(Exception):
    """An operation puts locations at other places."""


def steps_back(trace: OpTrace, op: Op, node: int, roles: Roles) -> list[Step]:
    """Return inputs of an operation with the roles of their axes; none if the axes get mixed."""
    name = op.name.strip("_")
    entered = [n for n in op.inputs.values() if not trace.values[n].is_nested]
    if name == "cat":
        return _cat(trace, op, entered, roles)
    if not entered:
        return []
    first = entered[0]
    if name == "convolution" or name.startswith(_SPATIAL):
        first = _before_padding(trace, first)
    before, after = trace.values[first].shape, trace.values[node].shape
    found: Roles | None = None
    if name in ("addmm", "mm", "bmm", "baddbmm", "linear", "matmul"):
        return _products(trace, entered[-2:], roles)
    if name == "convolution":
        found = _spatial(roles, before, ignored=1)
    elif name.startswith(_SPATIAL) and before[:2] == after[:2]:
        found = _spatial(roles, before, ignored=0)
    elif name in ("permute", "transpose", "t", "swapaxes"):
        found = _permuted(op, name, roles)
    elif name.startswith(_VIEWS):
        found = regrouped(roles, before)
    elif name == "embedding":
        return [(entered[-1], roles[:-1])]
    elif name in ("mean", "sum", "amax", "amin"):
        found = _reduced(trace, op, first, node, roles)
    elif name in ("slice", "select", "split", "unbind", "chunk", "narrow"):
        found = _cut(op, name, roles, before)
    elif name == "expand":
        found = _expanded(roles, before)
    elif name.startswith(_MOVES):
        if any(map(has_place, roles)):
            raise MovedError(op.name)
    elif _keeps_places(op, name):
        same = [n for n in entered if trace.values[n].shape == after]
        return [(n, roles) for n in same]
    return [] if found is None else [(first, found)]


def _before_padding(trace: OpTrace, node: int) -> int:
    """Go back through the padding of a layer, which is about the same on both sides."""
    made = trace.producer(node)
    if made is None or trace.ops[made].name not in _PADS:
        return node
    op = trace.ops[made]
    widths = [x for x in op.leaves[1:] if isinstance(x, int) and not isinstance(x, bool)]
    even = all(abs(a - b) <= 1 for a, b in zip(widths[::2], widths[1::2], strict=False))
    return next(iter(op.inputs.values())) if even else node


def _keeps_places(op: Op, name: str) -> bool:
    return torch.Tag.pointwise in op.function.tags or name.startswith(_SAME)


def _spatial(roles: Roles, before: Sequence[int], ignored: int) -> Roles | None:
    """Go back through a layer on (n, C, ...) that keeps the order of locations."""
    if len(roles) != len(before) or has_place(roles[1]) or has_place(roles[0]):
        return None
    found: list[Role] = [roles[0], (Atom(OTHER, before[1]),) if ignored else roles[1]]
    for role, size in zip(roles[2:], before[2:], strict=True):
        changed = resized(role, size)
        if changed is None:
            return None
        found.append(changed)
    return tuple(found)


def _products(trace: OpTrace, factors: list[int], roles: Roles) -> list[Step]:
    """Go back through a product of matrices to the factor that has the axes."""
    if len(factors) < 2 or len(roles) < 2:
        return []
    left, right = (trace.values[n] for n in factors)
    steps: list[Step] = []
    inner = (Atom(OTHER, left.shape[-1]),)
    if not has_place(roles[-1]) and left.ndim == len(roles):
        steps.append((factors[0], (*roles[:-1], inner)))
    if not has_place(roles[-2]) and right.ndim == len(roles):
        steps.append((factors[1], (*roles[:-2], inner, roles[-1])))
    return steps


def _permuted(op: Op, name: str, roles: Roles) -> Roles:
    ndim = len(roles)
    order = list(range(ndim))
    if name == "permute":
        order = [int(d) % ndim for d in op.leaves[1 : 1 + ndim]]
    elif ndim > 1:
        a, b = (0, 1) if name == "t" else (int(d) % ndim for d in op.leaves[1:3])
        order[a], order[b] = order[b], order[a]
    found: list[Role] = [()] * ndim
    for axis, source in enumerate(order):
        found[source] = roles[axis]
    return tuple(found)


def _reduced(trace: OpTrace, op: Op, first: int, node: int, roles: Roles) -> Roles | None:
    """Put back the axes that were summed over, or the axes of size 1 that were left of them."""
    before = trace.values[first].shape
    numbers = [x for x in op.leaves[1:] if isinstance(x, int) and not isinstance(x, bool)]
    axes = {int(d) % len(before) for d in numbers}
    kept = trace.values[node].ndim == len(before)
    found: list[Role] = []
    rest = list(roles)
    for axis, size in enumerate(before):
        if axis in axes:
            found.append((Atom(OTHER, size),))
            if kept:
                rest.pop(0)
        elif rest:
            found.append(rest.pop(0))
        else:
            return None
    return tuple(found)


def _cut(op: Op, name: str, roles: Roles, before: Sequence[int]) -> Roles | None:
    """Go back through a part of an axis: of channels, or all locations but some at the ends."""
    numbers = [x for x in op.leaves[1:] if isinstance(x, int) and not isinstance(x, bool)]
    ndim = len(before)
    if name in ("select", "unbind"):
        axis = (numbers[0] if numbers else 0) % ndim
        return (*roles[:axis], (Atom(OTHER, before[axis]),), *roles[axis:])
    axis, start, step = 0, 0, 1
    if name in ("slice", "narrow"):
        given = dict(enumerate(op.leaves[1:]))  # axis, start, end, step; None for the default
        axis = (given.get(0) or 0) % ndim
        start = (given.get(1) or 0) % max(before[axis], 1)
        step = (given.get(3) or 1) if name == "slice" else 1
    elif name in ("split", "chunk"):
        axis = (numbers[-1] if len(numbers) > 1 else 0) % ndim
        if has_place(roles[axis]):
            return None
    role = roles[axis]
    if not has_place(role):
        changed: Role = (Atom(OTHER, before[axis]),) if axis else role
    elif step > 1 and start < step:  # every second place, in the same order
        wider = resized(role, before[axis])
        if wider is None:
            return None
        changed = wider
    elif len(role) == 1:
        whole = role[0].size == before[axis]
        changed = role if whole else (role[0]._replace(offset=role[0].offset + start),)
        if not whole and start == 0 and role[0].offset == 0:
            return None  # the end is cut off
    else:
        return None
    return (*roles[:axis], changed, *roles[axis + 1 :])


def _cat(trace: OpTrace, op: Op, entered: list[int], roles: Roles) -> list[Step]:
    """Go back to the parts that were put side by side; locations must come from one of them."""
    ndim = len(roles)
    numbers = [x for x in op.leaves if isinstance(x, int) and not isinstance(x, bool)]
    axis = (numbers[-1] if numbers else 0) % ndim
    role = roles[axis]
    steps: list[Step] = []
    start = 0
    for part in entered:
        shape = trace.values[part].shape
        size = shape[axis] if len(shape) == ndim else 0
        if not has_place(role):
            here: Role | None = (Atom(OTHER, size),)
        else:
            fits = len(role) == 1 and (role[0].offset, role[0].size) == (start, size)
            here = (role[0]._replace(offset=0),) if fits else None
        if here is not None and size:
            steps.append((part, (*roles[:axis], here, *roles[axis + 1 :])))
        start += size
    return steps


def _expanded(roles: Roles, before: Sequence[int]) -> Roles | None:
    if len(roles) < len(before):
        return None
    rest = roles[len(roles) - len(before) :]
    if any(map(has_place, roles[: len(roles) - len(before)])):
        return None
    if any(size == 1 and has_place(role) for role, size in zip(rest, before, strict=True)):
        return None
    return tuple(() if size == 1 else role for role, size in zip(rest, before, strict=True))


def is_leaf_of_rows(trace: OpTrace, node: int) -> bool:
    """Return whether a node is an input of the module, and not a parameter or a constant."""
    values: Any = trace.values[node]
    return (
        trace.producer(node) is None
        and isinstance(values, Tensor)
        and id(values) not in trace.constants
    )
