"""PyTorch modules that end in ``nn.Linear``: a component is a unit entering the last layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.inputs.rows import check_columns, n_rows, take_rows
from shafer.models.readers.adapted_model import LinearModel
from shafer.models.readers.live_parameters import Origin
from shafer.models.readers.torch.forward import check_finite_features, forward, keyed
from shafer.models.readers.torch.penalty import coefficients


def adapt(
    model: nn.Module,
    background: Any,
    layer: str | nn.Linear | None = None,
    batch_size: int = 1024,
    precision: float = 1.0,
    columns: tuple[str, ...] | None = None,
) -> LinearModel:
    """Read a module whose output is that of an ``nn.Linear``, or its softmax or sigmoid.

    The head is copied as it is now; the module itself is left as it was after every call.

    Parameters
    ----------
    model : nn.Module
    background : tensor or array; a tuple or a mapping of them for a module of several inputs
        A few of its rows show which layer comes last.
    layer : str or nn.Linear, optional
        The last layer, or its name in ``model.named_modules()``; by default the ``nn.Linear``
        that is called last.
    batch_size : int
        Rows in one forward pass.
    precision : float
        Of the normal prior on each coefficient of the last layer, for ``moderate``: with weight
        decay λ on the mean loss over n rows, λn.
    columns : tuple of strings, optional
        The columns that a data frame must have, in this order: those of the background.
    """
    if not isinstance(precision, float | int) or not 0.0 <= precision < np.inf:
        raise ValueError(f"precision must be a finite number ≥ 0; got {precision!r}.")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive integer; got {batch_size!r}.")
    head = _last_called(model, background) if layer is None else _named(model, layer)
    coef, intercept = _settled(model, head)
    names = None if head is model else [f"unit {j}" for j in range(head.in_features)]
    arrays = LinearHead(coef.clone(), intercept.clone(), None, names)
    features = partial(_features, model, head, batch_size, columns)
    return LinearModel(
        arrays,
        by_column=head is model,
        features=features,
        precision=float(precision),
        free_intercept=head.bias is not None,
        origin=Origin.of(partial(_values, model, head)),
        options={"layer": _name_of(model, head)},
    )


def _settled(model: nn.Module, head: nn.Linear) -> tuple[Tensor, Tensor]:
    """Read the head in eval mode: in training, reading a spectral norm changes it."""
    with _watched(model, []):
        coef, intercept = coefficients(head)
        return coef.detach(), intercept.detach()


def _values(model: nn.Module, head: nn.Linear) -> tuple[Tensor, ...]:
    return tuple(array.double() for array in _settled(model, head))  # NumPy has no bfloat16


def _named(model: nn.Module, layer: str | nn.Linear) -> nn.Linear:
    named = dict(model.named_modules())
    found = named.get(layer) if isinstance(layer, str) else layer
    if not isinstance(found, nn.Linear) or not any(found is part for part in named.values()):
        linear = [name for name, part in named.items() if isinstance(part, nn.Linear)]
        raise ValueError(
            f"layer must be an nn.Linear of the module, one of {linear}; got {layer!r}."
        )
    return found


def _name_of(model: nn.Module, head: nn.Linear) -> str:
    return str(next(name for name, part in model.named_modules() if part is head))


def _last_called(model: nn.Module, background: Any) -> nn.Linear:
    """Find the ``nn.Linear`` that is called last in a forward pass of a few rows."""
    linear = [part for part in model.modules() if isinstance(part, nn.Linear)]
    rows = keyed(background)
    with _watched(model, linear) as calls:
        forward(model, take_rows(rows, slice(0, min(2, n_rows(rows)))), calls)
    if not calls:
        raise UnsupportedModelError(
            f"{type(model).__name__} calls no nn.Linear, so it has no last layer to read. "
            "Give the features and the head: shafer.LinearHead(coef, intercept)."
        )
    return calls[-1].layer


class _Call(NamedTuple):
    layer: nn.Linear
    features: Tensor
    logits: Tensor


@contextmanager
def _watched(model: nn.Module, layers: list[nn.Linear]) -> Iterator[list[_Call]]:
    """Record the calls of layers, in eval mode and without gradients; then put all back."""
    calls: list[_Call] = []

    def record(layer: Any, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
        features = inputs[0] if inputs else named["input"]
        calls.append(_Call(layer, features.detach(), output.detach()))

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


def _features(
    model: nn.Module, head: nn.Linear, batch_size: int, columns: tuple[str, ...] | None, X: Any
) -> Tensor:
    """Return what enters the head, (n, J), and make sure that what leaves it is the output."""
    check_columns(columns, X)
    X = keyed(X)
    batches = []
    n = n_rows(X)
    with _watched(model, [head]) as calls:
        for start in range(0, max(n, 1), batch_size):
            rows = take_rows(X, slice(start, min(start + batch_size, n)))
            output = forward(model, rows, calls)
            _check_calls(head, calls)
            check_finite_features(model, calls[0].features, rows, start)
            _check_output(calls[0].logits, output)
            batches.append(calls[0].features)
            calls.clear()
    return torch.cat(batches)


def _check_calls(head: nn.Linear, calls: list[_Call]) -> None:
    if len(calls) != 1:
        raise UnsupportedModelError(
            f"The last layer {head} is called {len(calls)} times in one forward pass, so its "
            "inputs are no single set of features. Name another with layer=."
        )
    if calls[0].features.ndim != 2:
        raise UnsupportedModelError(
            f"The last layer {head} gets an input of shape {tuple(calls[0].features.shape)}; one "
            "row of features for each instance is needed, (n, J). Flatten or pool before it; an X "
            "that is one row by itself is X[None]."
        )


def _check_output(logits: Tensor, output: Any) -> None:
    """Refuse a module that does more to the last layer's output than softmax or sigmoid."""
    given = _logits_of(output)
    if given.ndim == 1 and logits.shape[1] == 1:
        given = given[:, None]
    single = logits.shape[1] == 1
    if given.shape == logits.shape:
        accepted = [logits]
        if single:
            accepted += [torch.sigmoid(logits), nn.functional.logsigmoid(logits)]
        else:
            accepted += [torch.softmax(logits, 1), torch.log_softmax(logits, 1)]
        if any(_close(given, wanted) for wanted in accepted):
            return
        if not single and _close(given, torch.sigmoid(logits)):
            raise UnsupportedModelError(
                f"The module puts a sigmoid on each of {logits.shape[1]} outputs, which are labels "
                "of their own and not one set of classes. Explain each output by itself."
            )
    raise UnsupportedModelError(
        f"The module's output, of shape {tuple(given.shape)}, is not that of its last nn.Linear, "
        f"of shape {tuple(logits.shape)}, nor its softmax or sigmoid. Name the last layer with "
        "layer=, or let the module end in it."
    )


def _logits_of(output: Any) -> Tensor:
    """Find the logits in what a module returns: itself, ``["logits"]``, or the first of several."""
    if isinstance(output, Mapping) and "logits" in output:
        output = output["logits"]
    elif isinstance(output, tuple | list) and output:
        output = output[0]
    if not isinstance(output, Tensor):
        raise UnsupportedModelError(
            f"The module returns {type(output).__name__}, in which no logits were found. "
            "Let it return a tensor, or a mapping with 'logits'."
        )
    return output


def _close(given: Tensor, wanted: Tensor) -> bool:
    tolerance = 1e-2 if torch.finfo(wanted.dtype).bits < 32 else 1e-5
    return torch.allclose(given.to(wanted.dtype), wanted, rtol=tolerance, atol=tolerance)
