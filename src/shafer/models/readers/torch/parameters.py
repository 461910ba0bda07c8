"""Values of a torch module's parameters: a check of them, and a sample that tells of training."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer.models.readers.live_parameters import LiveParameters, check_parameters
from shafer.models.readers.torch.watched_layers import parts_of

_SAMPLED = 64  # values of each tensor outside the last layer


def check_values(model: nn.Module, head: nn.Module) -> None:
    """Refuse a last layer with NaN or infinite values."""
    check_parameters(type(model).__name__, tuple(_exact(tensor) for tensor in _tensors(head)))


def refuse_meta(model: nn.Module) -> None:
    """Refuse a module on the meta device, whose parameters have shapes but no values."""
    if any(tensor.is_meta for tensor in _tensors(model)):
        raise UnsupportedModelError(
            f"{type(model).__name__} is on the meta device, so its parameters have no values. Load "
            "the trained parameters first: model.to_empty(device='cpu'), then load_state_dict."
        )


def current_values(model: nn.Module, head: nn.Module) -> tuple[NDArray[Any], ...]:
    """Return all values of the last layer, and a few of every other parameter and buffer."""
    own = _tensors(head)
    known = {id(tensor) for tensor in own}
    others = [tensor for tensor in _tensors(model) if id(tensor) not in known]
    return (*map(_exact, own), *map(_sample, others))


def live_parameters(model: nn.Module, head: nn.Module) -> LiveParameters:
    """Remember the parameters and buffers of a module, to notice that it was trained again."""
    return LiveParameters.of(partial(current_values, model, head), partial(versions, model))


def versions(model: nn.Module) -> tuple[tuple[int, int], ...] | None:
    """Return where each tensor on a CUDA device is, and how often it was written to.

    Reading its values would wait for the device. None on other devices, where values are compared,
    because a write through ``.data`` or NumPy does not count.
    """
    found = []
    for part in parts_of(model):
        for tensor in (*part._parameters.values(), *part._buffers.values()):
            if tensor is None:
                continue
            if not tensor.is_cuda or tensor.is_inference():
                return None
            found.append((tensor.data_ptr(), tensor._version))
    return tuple(found)


def _tensors(module: nn.Module) -> list[Tensor]:
    return [*module.parameters(), *module.buffers()]


def _exact(tensor: Tensor) -> NDArray[Any]:
    values = tensor.detach()
    if values.dtype in (torch.float16, torch.bfloat16):  # NumPy has no bfloat16
        values = values.float()
    array: NDArray[Any] = values.cpu().numpy()
    return array


def _sample(tensor: Tensor) -> NDArray[Any]:
    flat = tensor.detach().reshape(-1)
    return _exact(flat[:: max(1, len(flat) // _SAMPLED)])
