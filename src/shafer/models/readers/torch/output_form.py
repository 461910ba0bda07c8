"""What a module makes of its logits: it returns them, or their softmax or sigmoid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError


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
