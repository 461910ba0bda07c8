"""``OpTrace``: the tensor operations of one forward pass, and how to repeat a part of them.

The operations are those of the dispatcher, below all Python spellings: ``AdaptiveAvgPool2d(1)``,
``x.mean((2, 3))`` and ``torch.mean(x.flatten(2), -1)`` are the same few of them.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, NamedTuple, Protocol, TypeAlias, final
from weakref import WeakKeyDictionary

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_unflatten

from shafer._checks.arrays import float_array
from shafer._checks.frames import frame_columns
from shafer.errors import UnsupportedModelError
from shafer.models.live_parameters import trained_again
from shafer.rows.access import values_of

# PyTorch adds these from time to time, so they do not count.
_UNCOUNTED = ("detach", "alias", "lift_fresh", "empty")


class Op(NamedTuple):
    """One operation: what was called, on which nodes, and the nodes that came out."""

    function: Any
    leaves: list[Any]  # arguments and keyword arguments, flat
    structure: Any
    inputs: dict[int, int]  # position among the leaves -> node
    outputs: tuple[int, ...]
    number: int  # which operation of the forward pass it is, from 1

    @property
    def name(self) -> str:
        """The name without its overload, such as ``mean`` or ``native_layer_norm``."""
        return str(self.function.overloadpacket.__name__)

    @property
    def in_place(self) -> bool:
        """Whether it writes into its first argument."""
        return self.name.endswith("_") and not self.name.endswith("__")


@final
class OpTrace(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Records the operations of a forward pass; a tensor that is written to is a new node.

    Attributes
    ----------
    ops : list of Op
    values : list of tensors
        The tensor of each node. Those that came out of no operation are parameters or inputs.
    first : int
        Operations before this number are counted, but not kept.
    constants : set of int
        The ids of parameters and buffers.
    """

    def __init__(self, first: int = 0, constants: Iterable[Tensor] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.constants = {id(tensor) for tensor in constants}
        self.ops: list[Op] = []
        self.values: list[Tensor] = []
        self.count = 0
        self.first = first
        self._nodes: dict[int, int] = {}  # id of a tensor, which ``values`` keeps alive -> node
        self._producers: dict[int, int] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run one operation and record it."""
        del types
        self.count += func.overloadpacket.__name__ not in _UNCOUNTED
        if self.count < self.first:
            return func(*args, **(kwargs or {}))
        leaves, structure = tree_flatten((args, dict(kwargs or {})))
        inputs = {i: self._seen(x) for i, x in enumerate(leaves) if isinstance(x, Tensor)}
        result = func(*args, **(kwargs or {}))
        op = Op(func, leaves, structure, inputs, (), self.count)
        known = set(inputs.values()) if not op.in_place else set()
        outputs = []
        for x in tree_flatten(result)[0]:
            if isinstance(x, Tensor):
                node = self._nodes.get(id(x))
                outputs.append(node if node in known else self._new(x, len(self.ops)))
        self.ops.append(op._replace(outputs=tuple(n for n in outputs if n is not None)))
        return result

    def clear(self) -> None:
        """Forget everything, for another forward pass."""
        self.ops.clear()
        self.values.clear()
        self.count = 0
        self._nodes.clear()
        self._producers.clear()

    def node_of(self, tensor: Tensor) -> int | None:
        """Return the node that a tensor is now."""
        return self._nodes.get(id(tensor))

    def is_current(self, node: int) -> bool:
        """Return whether the tensor of a node was not written to afterwards."""
        return self._nodes.get(id(self.values[node])) == node

    def producer(self, node: int) -> int | None:
        """Return the position of the operation that a node came out of."""
        return self._producers.get(node)

    def parents(self, node: int) -> list[int]:
        """Return the nodes that a node was computed from in one operation."""
        made = self._producers.get(node)
        return [] if made is None else list(dict.fromkeys(self.ops[made].inputs.values()))

    def before(self, node: int, most: int) -> Iterator[int]:
        """Yield a node and those it was computed from, the nearest first."""
        waiting, seen = [node], {node}
        for _ in range(most):
            if not waiting:
                return
            here = waiting.pop(0)
            yield here
            more = [parent for parent in self.parents(here) if parent not in seen]
            seen.update(more)
            waiting += more

    def between(self, source: int, target: int) -> list[Op]:
        """Return the operations through which a node reaches another, in their order."""
        reached, found = {source}, []
        for op in self.ops:
            if reached.intersection(op.inputs.values()) and source not in op.outputs:
                reached.update(op.outputs)
                found.append(op)
        needed, kept = {target}, []
        for op in reversed(found):
            if needed.intersection(op.outputs):
                needed.update(op.inputs.values())
                kept.append(op)
        return kept[::-1] if target in reached else []

    def beside(self, source: int, target: int) -> list[int]:
        """Return the nodes that enter between two others, and do not come from the first."""
        between = self.between(source, target)
        inner = {output for op in between for output in op.outputs} | {source}
        entered = [node for op in between for node in op.inputs.values()]
        return [node for node in dict.fromkeys(entered) if node not in inner]

    def comes_from_rows(self, node: int) -> bool:
        """Return whether a node was computed from the rows, and not from parameters alone."""
        origins = (n for n in self.before(node, len(self.values)) if self.producer(n) is None)
        return any(id(self.values[origin]) not in self.constants for origin in origins)

    def replay(self, source: int, value: Tensor, target: int) -> Tensor | None:
        """Return what a node would have been with another value of an earlier one.

        All else keeps its value; None if the later node does not depend on the earlier one.
        """
        known: dict[int, Tensor] = {source: value}
        for op in self.between(source, target):
            leaves = list(op.leaves)
            for position, node in op.inputs.items():
                leaves[position] = known.get(node, self.values[node])
            if op.in_place:
                leaves[0] = leaves[0].clone()
            args, kwargs = tree_unflatten(leaves, op.structure)
            results = tree_flatten(op.function(*args, **kwargs))[0]
            tensors = [x for x in results if isinstance(x, Tensor)]
            known.update(zip(op.outputs, tensors, strict=True))
        return known.get(target)

    def _seen(self, tensor: Tensor) -> int:
        node = self._nodes.get(id(tensor))
        return self._new(tensor, None) if node is None else node

    def _new(self, tensor: Tensor, producer: int | None) -> int:
        node = len(self.values)
        self.values.append(tensor)
        self._nodes[id(tensor)] = node
        if producer is not None:
            self._producers[node] = producer
        return node


# One forward pass of a few rows, with its operations: where the head and its feature map are.

Head: TypeAlias = nn.Linear | nn.Conv1d | nn.Conv2d | nn.Conv3d
_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)


class HeadCall(NamedTuple):
    """One call of a layer that may be the head, by the nodes of its input and output."""

    layer: Head
    entered: int
    left: int


class ModuleOutput(NamedTuple):
    """The output of a module: which call of it in one forward pass."""

    module: nn.Module
    call: int


class TracedPass(NamedTuple):
    """What was seen in a forward pass.

    Attributes
    ----------
    trace : OpTrace
    heads : list of HeadCall
    outputs : dict from node to ModuleOutput
    result : what the module returned
    """

    trace: OpTrace
    heads: list[HeadCall]
    outputs: dict[int, ModuleOutput]
    result: Any


def is_head(layer: Any) -> bool:
    """Return whether a layer is linear at each location: ``nn.Linear``, or a 1×1 convolution."""
    if isinstance(layer, nn.Linear):
        return True
    if not isinstance(layer, _CONVOLUTIONS):
        return False
    plain = math.prod(layer.kernel_size) == math.prod(layer.stride) == layer.groups == 1
    return plain and layer.padding in (0, "valid", "same", (0,) * len(layer.kernel_size))


def heads_of(model: nn.Module) -> list[Head]:
    """List the layers of a module that may be its head."""
    found: list[Any] = [part for part in model.modules() if is_head(part)]
    return found


def traced_pass(model: nn.Module, rows: Any, layers: Sequence[Head], modules: bool) -> TracedPass:
    """Pass rows through the module once, in eval mode and without gradients.

    The calls of ``layers`` are recorded, and with ``modules`` the outputs of all modules.
    """
    if isinstance(model, torch.jit.ScriptModule):
        raise UnsupportedModelError(
            "A scripted module does not show what happens between its layers. Pass the module as "
            "it was before torch.jit.script or trace."
        )
    seen = _Observer(OpTrace(constants=[*model.parameters(), *model.buffers()]))
    parts: list[nn.Module] = list(model.modules()) if modules else list(layers)
    heads = {id(layer) for layer in layers}
    hooks = []
    with quiet(model):
        try:
            for part in parts:
                observe = seen.head if id(part) in heads else seen.part
                hooks.append(part.register_forward_hook(observe, with_kwargs=True))
            result = forward(model, rows, seen, seen.trace)
        finally:
            for hook in hooks:
                hook.remove()
    return TracedPass(seen.trace, seen.heads, seen.outputs, result)


class _Observer:
    """Collects what hooks see."""

    def __init__(self, trace: OpTrace) -> None:
        self.trace = trace
        self.clear()

    def clear(self) -> None:
        """Forget a forward pass that failed."""
        self.trace.clear()
        self.heads: list[HeadCall] = []
        self.outputs: dict[int, ModuleOutput] = {}
        self._calls: dict[int, int] = {}

    def part(self, module: nn.Module, inputs: Any, named: Any, output: Any) -> None:
        """Note the output of a module."""
        del inputs, named
        call = self._calls.get(id(module), 0)
        self._calls[id(module)] = call + 1
        node = self.trace.node_of(output) if isinstance(output, Tensor) else None
        if node is not None:
            self.outputs.setdefault(node, ModuleOutput(module, call))

    def head(self, module: Any, inputs: Any, named: Any, output: Tensor) -> None:
        """Note the input and the output of a layer that may be the head."""
        self.part(module, inputs, named, output)
        entered = self.trace.node_of(inputs[0] if inputs else named["input"])
        left = self.trace.node_of(output)
        if entered is not None and left is not None:
            self.heads.append(HeadCall(module, entered, left))


def last_head(model: nn.Module, seen: TracedPass, layer: Any) -> HeadCall:
    """Return the call of the head: the last one, or that of the layer that the user named."""
    if layer is None:
        if seen.heads:
            return seen.heads[-1]
        raise UnsupportedModelError(
            f"{type(model).__name__} calls neither an nn.Linear nor a 1×1 convolution, so it has "
            "no linear head. Pass the features and the head as arrays, "
            "shafer.LinearHead(coef, intercept)."
        )
    calls = [call for call in seen.heads if call.layer is layer]
    if len(calls) != 1:
        raise UnsupportedModelError(
            f"The last layer {layer} is called {len(calls)} times in one forward pass, so its "
            "input is not one set of features. Name another layer with layer=."
        )
    return calls[0]


def coefficients_of(head: Head) -> tuple[Tensor, Tensor]:
    """Return the weight (K, C) and the bias (K,) of a head; zeros if it has no bias."""
    weight = head.weight.detach().reshape(len(head.weight), -1)
    bias: Tensor | None = head.bias
    return weight, weight.new_zeros(len(weight)) if bias is None else bias.detach()


# Recording what layers of a torch module receive and return, safely from several threads.

# One lock for each module: eval mode and hooks belong to the module, not to a call.
_LOCKS: WeakKeyDictionary[nn.Module, threading.RLock] = WeakKeyDictionary()
_GUARD = threading.Lock()
_PARTS: WeakKeyDictionary[nn.Module, list[nn.Module]] = WeakKeyDictionary()


class LayerCall(NamedTuple):
    """One call of a layer."""

    layer: Any
    features: Tensor
    logits: Tensor


@contextmanager
def quiet(model: nn.Module) -> Iterator[None]:
    """Hold a module in eval mode and without gradients; then restore it.

    Only one thread at a time may hold a module. Its parts are listed while a device works on the
    rows, for the next time.
    """
    with _lock_of(model):
        known = [model, *_PARTS[model]] if model in _PARTS else parts_of(model)
        training = [part for part in known if part.training]
        modes = [(part, part.training) for part in parts_of(model)] if training else []
        try:
            if training:
                model.eval()
            with torch.no_grad():
                yield
            _, *inner = parts_of(model)
            _PARTS[model] = inner  # without the module, which could not be freed otherwise
            if not training and any(part.training for part in inner):  # one was added since
                trained_again()
        finally:
            for part, mode in modes:  # part by part: some may be frozen in eval mode
                part.training = mode


@contextmanager
def watched(model: nn.Module, layers: Sequence[nn.Module]) -> Iterator[list[LayerCall]]:
    """Record the calls of layers, in eval mode and without gradients; then restore the module.

    Calls from other threads are not recorded.
    """
    calls: list[LayerCall] = []
    thread = threading.get_ident()

    def record(layer: Any, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        if threading.get_ident() == thread:
            features = inputs[0] if inputs else named.get("input")
            calls.append(LayerCall(layer, _detached(features), _detached(output)))

    with quiet(model):
        hooks = [layer.register_forward_hook(record, with_kwargs=True) for layer in layers]
        try:
            yield calls
        finally:
            for hook in hooks:
                hook.remove()


def parts_of(model: nn.Module) -> list[nn.Module]:
    """List a module and all its parts, faster than ``modules()``; shared parts come repeatedly."""
    found = [model]
    for part in found:
        found += [child for child in part._modules.values() if child is not None]
    return found


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) and value.requires_grad else value


def _lock_of(model: nn.Module) -> threading.RLock:
    with _GUARD:
        return _LOCKS.setdefault(model, threading.RLock())


# Which axes of a tensor are rows, channels and locations, also after axes were joined or split.

ROWS, OTHER = "rows", "other"


class Atom(NamedTuple):
    """A part of an axis that is never mixed with others.

    Attributes
    ----------
    name : str
        ``"rows"`` for the instances, ``"other"`` for channels and the like, or a location axis of
        the map: ``"0"``, ``"1"``, and ``"0.0"``, ``"0.1"`` for parts of the first.
    size : int
    offset : int
        Where it starts in its axis, if others of the same axis were cut off.
    """

    name: str
    size: int
    offset: int = 0

    @property
    def is_place(self) -> bool:
        """Whether it is a location axis, or a part of one."""
        return self.name not in (ROWS, OTHER)


Role: TypeAlias = tuple[Atom, ...]
Roles: TypeAlias = tuple[Role, ...]


def roles_of_map(shape: Sequence[int], channel_axis: int) -> Roles:
    """Return the roles of the axes of a map; channel axis 0 means that there are no channels."""
    roles: list[Role] = []
    n_places = 0
    for axis, size in enumerate(shape):
        if axis == 0:
            roles.append((Atom(ROWS, size),))
        elif axis == channel_axis:
            roles.append((Atom(OTHER, size),))
        else:
            roles.append((Atom(str(n_places), size),))
            n_places += 1
    return tuple(roles)


def has_place(role: Role) -> bool:
    """Return whether an axis has locations."""
    return any(atom.is_place for atom in role)


def regrouped(roles: Roles, shape: Sequence[int]) -> Roles | None:
    """Return the roles in another shape with the same order of all values; None if they mix."""
    atoms = [atom for role in roles for atom in role if atom.size != 1]
    if any(atom.offset for atom in atoms):
        return None
    found: list[Role] = []
    for size in shape:
        axis: list[Atom] = []
        missing = size
        while missing > 1:
            if not atoms:
                return None
            atom = atoms.pop(0)
            if missing % atom.size == 0:
                axis.append(atom)
                missing //= atom.size
            elif atom.size % missing == 0:
                first, rest = _halves(atom, missing)
                axis.append(first)
                atoms.insert(0, rest)
                missing = 1
            else:
                return None
        found.append(tuple(axis))
    return tuple(found)


def _halves(atom: Atom, size: int) -> tuple[Atom, Atom]:
    if not atom.is_place:
        return Atom(atom.name, size), Atom(atom.name, atom.size // size)
    return Atom(f"{atom.name}.0", size), Atom(f"{atom.name}.1", atom.size // size)


def resized(role: Role, size: int) -> Role | None:
    """Return the role of an axis whose size changes, as under a convolution; None if it is joined.

    Locations keep their order along the axis.
    """
    if not has_place(role):
        return (Atom(OTHER, size),)
    if len(role) != 1 or role[0].offset:
        return None
    return (Atom(role[0].name, size),)


# One step back along the operations of a trace: where the axes of a result were before.

Step: TypeAlias = tuple[int, Roles]

_SAME = (
    *("native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "batch_norm_no_update"),
    *("native_batch_norm_legit_no_training", "native_batch_norm_legit", "native_layer_norm"),
    *("native_group_norm", "fused_rms_norm", "softmax", "to_copy", "clone", "copy", "detach"),
    *("alias", "contiguous", "native_dropout", "transformer_encoder_layer_fwd", "lift_fresh"),
    *("scaled_dot_product", "native_multi_head_attention", "masked_fill", "relu", "gelu"),
    *("hardtanh", "hardswish", "hardsigmoid", "leaky_relu", "elu", "silu", "mish", "celu", "selu"),
    *("prelu", "rrelu", "softplus", "softshrink", "hardshrink", "threshold", "tanh", "sigmoid"),
    *("log_softmax", "bernoulli", "clamp", "add", "sub", "mul", "div", "pow", "log_sigmoid"),
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
    elif op.name in _PADS:
        found = _barely_padded(op, roles, before)
    elif name.startswith(_MOVES):
        if any(map(has_place, roles)) and not _is_mask(trace, entered):
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


def _barely_padded(op: Op, roles: Roles, before: Sequence[int]) -> Roles | None:
    """Go back through a padding by one, which makes a size even."""
    widths = [x for x in op.leaves[1:] if isinstance(x, int) and not isinstance(x, bool)]
    if any(width not in (0, 1) for width in widths):
        return None
    found = [resized(r, n) if has_place(r) else r for r, n in zip(roles, before, strict=True)]
    return tuple(role for role in found if role is not None) if None not in found else None


def _is_mask(trace: OpTrace, entered: list[int]) -> bool:
    """Return whether values were chosen by a boolean mask, which keeps their order."""
    others = [trace.values[n].dtype for n in entered[1:]]
    return bool(others) and all(dtype == torch.bool for dtype in others)


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
        order = [int(d) % ndim for d in op.leaves[1:]]
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


# The forward pass of a torch module on the user's rows, with errors that show their shapes.

Inputs: TypeAlias = dict[Any, Tensor]

# What a module raises when it is given something else than it was written for.
_FAILURES = (RuntimeError, TypeError, ValueError, IndexError, AttributeError)

_MOST_SHOWN = 4


def keyed(X: Any) -> Any:
    """Return a tuple of inputs as a mapping by position, which cannot be taken for rows."""
    return dict(enumerate(X)) if isinstance(X, tuple) else X


class Recorded(Protocol):
    """What hooks have recorded, such as a list."""

    def clear(self) -> None:
        """Forget it."""


def forward(
    model: nn.Module,
    X: Any,
    calls: Recorded,
    within: AbstractContextManager[Any] | None = None,
) -> Any:
    """Return the module's output for rows; rows of another type are converted if need be.

    An embedding takes whole numbers and a linear layer does not, so integers are first passed as
    they are. ``calls``, which hooks have recorded, is emptied before the second attempt. The
    module is called inside ``within``.
    """
    inputs = tensors(model, X)
    inside = nullcontext() if within is None else within
    try:
        with inside:
            return _called(model, inputs)
    except torch.cuda.OutOfMemoryError:  # nothing is wrong with X
        raise
    except _FAILURES as error:
        cast = _in_precision_of(model, inputs)
        if cast is not None:
            calls.clear()
            with suppress(*_FAILURES), inside:
                return _called(model, cast)
        raise ValueError(_what_failed(model, inputs, error)) from error


def tensors(model: nn.Module, X: Any) -> Inputs:
    """Return rows as tensors on the module's device; floating arrays in its precision."""
    parts = X if isinstance(X, Mapping) else {0: X}
    return {name: _on_device(model, part) for name, part in parts.items()}


def _called(model: nn.Module, inputs: Inputs) -> Any:
    by_position = [part for name, part in inputs.items() if isinstance(name, int)]
    by_name = {name: part for name, part in inputs.items() if not isinstance(name, int)}
    return model(*by_position, **by_name)


def _on_device(model: nn.Module, X: Any) -> Tensor:
    parameter = next(model.parameters(), torch.empty(0))
    if isinstance(X, Tensor):
        if X.is_meta:
            raise ValueError("X is a tensor on the meta device, which has no values. Pass data.")
        return X.to(parameter.device)
    if sparse.issparse(X):
        raise ValueError(
            f"{type(model).__name__} takes dense arrays; got a sparse matrix of shape {X.shape}. "
            "Pass X.toarray(), a batch at a time if it is large."
        )
    array = np.ascontiguousarray(values_of(X))  # torch takes no negative strides
    if array.dtype.kind not in "biuf" or array.dtype == np.longdouble:
        array = float_array(array, "X", finite=True)  # such as a frame of numbers and booleans
    tensor = torch.tensor(array)
    dtype = parameter.dtype if tensor.is_floating_point() else tensor.dtype
    return tensor.to(parameter.device, dtype)


def _in_precision_of(model: nn.Module, inputs: Inputs) -> Inputs | None:
    """Return the inputs as floating numbers of the module's precision, if that changes them."""
    precision = next((p.dtype for p in model.parameters() if p.is_floating_point()), None)
    given = list(inputs.values())
    if precision is None or any(part.is_complex() for part in given):
        return None
    if all(part.dtype == precision for part in given):
        return None
    return {name: part.to(precision) for name, part in inputs.items()}


def _what_failed(model: nn.Module, inputs: Inputs, error: Exception) -> str:
    first_line, *_ = str(error).splitlines() or [type(error).__name__]
    shown = list(inputs.items())[:_MOST_SHOWN]
    shapes = ", ".join(_described(name, part, len(inputs)) for name, part in shown)
    shapes += f" and {len(inputs) - len(shown)} more" if len(inputs) > len(shown) else ""
    single = [part for part in inputs.values() if part.ndim == 1]
    hint = " Pass a single row as X[None]." if single and len(inputs) == 1 else ""
    return (
        f"{type(model).__name__} cannot take X, {shapes}: {first_line.rstrip('.')}. Pass X as its "
        f"forward takes it: one array, or a tuple or mapping with one array for each input.{hint}"
    )


def _described(name: Any, part: Tensor, n_inputs: int) -> str:
    shape = ", ".join(["n", *(str(size) for size in part.shape[1:])])
    which = f"input {name!r} " if n_inputs > 1 else ""
    return f"{which}of shape ({shape}{',' if part.ndim == 1 else ''}) and {part.dtype}"


def check_finite_features(model: nn.Module, features: Tensor, X: Any, start: int) -> None:
    """Refuse features that are not finite, and name the place in X that is not, if there is one."""
    bad = ~torch.isfinite(features)
    if not bool(bad.any()):
        return
    row, unit = (int(i) for i in bad.nonzero()[0])
    inputs = tensors(model, X)
    for name, part in inputs.items():
        values = part[row]
        wrong = ~torch.isfinite(values)
        if bool(wrong.any()):
            where = [int(i) for i in wrong.nonzero()[0]]
            column = f", index {where}"
            if len(where) == 1:
                names = None if isinstance(X, Mapping) else frame_columns(X)
                column = f", column {where[0] if names is None else repr(names[where[0]])}"
            which = f" of input {name!r}" if len(inputs) > 1 else ""
            value = "NaN" if bool(values[wrong][0].isnan()) else "infinity"
            raise ValueError(
                f"X contains {value}, the first in row {start + row}{column}"
                f"{which if where else ''}, and {type(model).__name__} computes features from it "
                "that are not finite. Impute it before the module."
            )
    raise ValueError(
        f"X is finite in row {start + row}, but the features that {type(model).__name__} computes "
        f"are not: unit {unit} before its last layer is {float(features[row, unit])}. Check the "
        "module, and the scale of X."
    )
