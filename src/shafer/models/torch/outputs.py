"""What a module makes of its logits: it returns them, or their softmax or sigmoid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shafer.errors import UnsupportedModelError
from shafer.models.live_parameters import LiveParameters, check_parameters
from shafer.models.torch.tracing import parts_of


def _softmax(logits: Tensor) -> Tensor:
    return torch.softmax(logits, 1)


def _log_softmax(logits: Tensor) -> Tensor:
    return torch.log_softmax(logits, 1)


def _same(logits: Tensor) -> Tensor:
    return logits


_ONE: dict[str, Callable[[Tensor], Tensor]] = {
    "logits": _same,
    "sigmoid": torch.sigmoid,
    "log-sigmoid": nn.functional.logsigmoid,
}
_SEVERAL: dict[str, Callable[[Tensor], Tensor]] = {
    "logits": _same,
    "softmax": _softmax,
    "log-softmax": _log_softmax,
    "sigmoids": torch.sigmoid,
}


def output_form(logits: Tensor, given: Tensor) -> str | None:
    """Name what the module made of its logits (n, K); None if it is something else."""
    if is_same(logits, given):
        return "logits"
    forms = _ONE if logits.shape[1] == 1 else _SEVERAL
    return next((name for name in forms if bool(has_form(name, logits, given))), None)


def is_same(logits: Tensor, given: Tensor) -> bool:
    """Return whether an output is the tensor of the logits itself, perhaps with another shape."""
    return given.data_ptr() == logits.data_ptr() and given.numel() == logits.numel()


def has_form(name: str, logits: Tensor, given: Tensor) -> Tensor:
    """Return whether an output is the named form of the logits, as a tensor on their device."""
    if given.ndim < 2 and logits.shape[1] == 1:  # squeezed, perhaps the only row too
        given = given.reshape(-1, 1)
    if given.shape != logits.shape:
        return torch.zeros((), dtype=torch.bool, device=logits.device)
    wanted = (_ONE if logits.shape[1] == 1 else _SEVERAL)[name](logits)
    tolerance = 1e-2 if torch.finfo(wanted.dtype).bits < 32 else 1e-5
    difference = (given.to(wanted.dtype) - wanted).abs()
    return (difference <= tolerance + tolerance * wanted.abs()).all()


def check_form(form: str | None, logits: Tensor, given: Tensor) -> str:
    """Refuse a module that does more to the last layer's output than softmax or sigmoid."""
    if form == "sigmoids":
        raise UnsupportedModelError(
            f"The module applies a sigmoid to each of {logits.shape[1]} outputs. These are "
            "separate labels, not one set of classes. Explain each output by itself."
        )
    if form is None:
        raise UnsupportedModelError(
            f"The module's output, of shape {tuple(given.shape)}, is not that of its last "
            f"nn.Linear, of shape {tuple(logits.shape)}, nor its softmax or sigmoid. Name the last "
            "layer with layer= if it is another one; otherwise let the module end in it."
        )
    return form


def logits_if_plain(output: Tensor) -> Tensor | None:
    """Return logits of an output (n, K) that is logits, or their softmax, or its logarithm.

    A softmax is told by its sum. None for other shapes.
    """
    if output.ndim != 2 or output.shape[1] < 2:
        return None
    limit = 1e-2 if torch.finfo(output.dtype).bits < 32 else 1e-5
    one = torch.ones_like(output[:, 0])
    if bool((output >= 0.0).all()) and torch.allclose(output.sum(1), one, atol=limit):
        return output.double().log()
    return output  # a log-softmax has the same softmax as the logits


def logits_of(output: Any) -> Tensor:
    """Find the logits in what a module returns: itself, ``["logits"]``, or the first of several."""
    if isinstance(output, Mapping) and "logits" in output:
        output = output["logits"]
    elif isinstance(output, tuple | list) and output:
        output = output[0]
    if not isinstance(output, Tensor):
        raise UnsupportedModelError(
            f"The module returns {type(output).__name__}, without logits that could be found. "
            "Let it return a tensor, or a mapping with 'logits'."
        )
    return output


# Values of a torch module's parameters: a check of them, and a sample that tells of training.

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
