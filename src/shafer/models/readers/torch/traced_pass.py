"""One forward pass of a few rows, with its operations: where the head and its feature map are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer.models.readers.torch.forward import forward
from shafer.models.readers.torch.op_trace import OpTrace
from shafer.models.readers.torch.watched_layers import quiet

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
