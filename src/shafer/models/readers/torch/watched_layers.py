"""Recording what layers of a torch module receive and return, safely from several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from shafer.models.readers.live_parameters import trained_again

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
            if any(part.training for part in inner):  # one was added in training mode
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
