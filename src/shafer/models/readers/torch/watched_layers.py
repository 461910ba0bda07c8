"""Recording what layers of a torch module receive and return, safely from several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

# One lock for each module: eval mode and hooks belong to the module, not to a call.
_LOCKS: WeakKeyDictionary[nn.Module, threading.RLock] = WeakKeyDictionary()
_GUARD = threading.Lock()


class LayerCall(NamedTuple):
    """One call of a linear layer."""

    layer: nn.Linear
    features: Tensor
    logits: Tensor


@contextmanager
def watched(model: nn.Module, layers: list[nn.Linear]) -> Iterator[list[LayerCall]]:
    """Record the calls of layers, in eval mode and without gradients; then restore the module.

    Only one thread at a time may watch a module. Calls from other threads are not recorded.
    """
    calls: list[LayerCall] = []
    thread = threading.get_ident()

    def record(layer: Any, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        if threading.get_ident() == thread:
            features = inputs[0] if inputs else named["input"]
            calls.append(LayerCall(layer, features.detach(), output.detach()))

    with _lock_of(model):
        modes = [(part, part.training) for part in model.modules()]
        hooks = [layer.register_forward_hook(record, with_kwargs=True) for layer in layers]
        try:
            model.eval()
            with torch.no_grad():
                yield calls
        finally:
            for hook in hooks:
                hook.remove()
            for part, training in modes:  # part by part: some may be frozen in eval mode
                part.training = training


def _lock_of(model: nn.Module) -> threading.RLock:
    with _GUARD:
        return _LOCKS.setdefault(model, threading.RLock())
