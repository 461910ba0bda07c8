"""Values of a torch module's parameters: a check of them, and a sample that tells of training."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer.models.readers.live_parameters import check_parameters

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
