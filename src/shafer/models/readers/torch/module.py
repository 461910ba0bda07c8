"""PyTorch modules that end in ``nn.Linear``: a component is a unit entering the last layer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.models.heads import LinearHead
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.inputs.table_checks import check_columns
from shafer.models.readers.adapted_model import LinearModel, both_probabilities
from shafer.models.readers.live_parameters import LiveParameters
from shafer.models.readers.penalised_loss import PenalisedLoss
from shafer.models.readers.torch.forward import check_finite_features, forward, keyed
from shafer.models.readers.torch.parameters import check_values, current_values, refuse_meta
from shafer.models.readers.torch.penalty import coefficients
from shafer.models.readers.torch.watched_layers import LayerCall, watched


def adapt(
    model: nn.Module,
    background: Any,
    layer: str | nn.Linear | None = None,
    batch_size: int = 1024,
    precision: float = 1.0,
    columns: tuple[str, ...] | None = None,
) -> LinearModel:
    """Read a module whose output is that of an ``nn.Linear``, or its softmax or sigmoid.

    The last layer's parameters are copied. Each call leaves the module as it was.

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
        Precision of the normal prior on each coefficient of the last layer, for ``moderate`` and
        ``errors``: with weight decay λ on the mean loss over n rows, λn.
    columns : tuple of strings, optional
        The columns that a data frame must have, in this order: those of the background.
    """
    if not isinstance(precision, float | int) or not 0.0 <= precision < np.inf:
        raise ValueError(f"precision must be a finite number ≥ 0; got {precision!r}.")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive integer; got {batch_size!r}.")
    refuse_meta(model)
    head = _last_called(model, background) if layer is None else _named(model, layer)
    check_values(model, head)
    coef, intercept = _settled(model, head)
    names = None if head is model else [f"unit {j}" for j in range(head.in_features)]
    arrays = LinearHead(coef.clone(), intercept.clone(), None, names)
    features = partial(_features, model, head, batch_size, columns)
    return LinearModel(
        arrays,
        by_column=head is model,
        features=features,
        loss=PenalisedLoss(float(precision), None if head.bias is None else 0.0),
        live=(LiveParameters.of(partial(current_values, model, head)),),
        options={"layer": _name_of(model, head)},
    )


def probabilities(model: nn.Module, X: Any) -> FloatArray | None:
    """Return the probabilities in the module's output, (n, K); None where they cannot be found."""
    linear = [part for part in model.modules() if isinstance(part, nn.Linear)]
    with watched(model, linear) as calls:
        given = _logits_of(forward(model, keyed(X), calls))
        for call in reversed(calls):
            if call.logits.ndim == 2 and _form(call.logits, given) is not None:
                logits = call.logits.double()
                if logits.shape[1] == 1:
                    return both_probabilities(to_numpy(torch.sigmoid(logits[:, 0])))
                return to_numpy(torch.softmax(logits, 1))
    return None


def _settled(model: nn.Module, head: nn.Linear) -> tuple[Tensor, Tensor]:
    """Read the head in eval mode: in training, reading a spectral norm changes it."""
    with watched(model, []):
        coef, intercept = coefficients(head)
        return coef.detach(), intercept.detach()


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
    with watched(model, linear) as calls:
        forward(model, take_rows(rows, slice(0, min(2, n_rows(rows)))), calls)
    if not calls:
        raise UnsupportedModelError(
            f"{type(model).__name__} calls no nn.Linear, so it has no last layer to read. "
            "Pass the last layer as arrays, shafer.LinearHead(coef, intercept), with its features "
            "as X."
        )
    return calls[-1].layer


def _features(
    model: nn.Module, head: nn.Linear, batch_size: int, columns: tuple[str, ...] | None, X: Any
) -> Tensor:
    """Return the input of the last layer, (n, J); its output must be that of the module."""
    check_columns(columns, X)
    X = keyed(X)
    batches = []
    n = n_rows(X)
    with watched(model, [head]) as calls:
        for start in range(0, max(n, 1), batch_size):
            rows = take_rows(X, slice(start, min(start + batch_size, n)))
            output = forward(model, rows, calls)
            _check_calls(head, calls)
            check_finite_features(model, calls[0].features, rows, start)
            _check_output(calls[0].logits, output)
            batches.append(calls[0].features)
            calls.clear()
    return torch.cat(batches)


def _check_calls(head: nn.Linear, calls: list[LayerCall]) -> None:
    if len(calls) != 1:
        raise UnsupportedModelError(
            f"The last layer {head} is called {len(calls)} times in one forward pass, so its "
            "input is not one set of features. Name another layer with layer=."
        )
    if calls[0].features.ndim != 2:
        raise UnsupportedModelError(
            f"The last layer {head} gets an input of shape {tuple(calls[0].features.shape)}; it "
            "must be (n, J), one row of features for each instance. Flatten or pool the features "
            "before this layer. If X is a single row, pass X[None]."
        )


def _check_output(logits: Tensor, output: Any) -> None:
    """Refuse a module that does more to the last layer's output than softmax or sigmoid."""
    given = _logits_of(output)
    form = _form(logits, given)
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


def _form(logits: Tensor, given: Tensor) -> str | None:
    """Name what the module made of the logits of its last layer; None if it is something else."""
    if given.ndim < 2 and logits.shape[1] == 1:  # squeezed, perhaps the only row too
        given = given.reshape(-1, 1)
    if given.shape != logits.shape:
        return None
    if logits.shape[1] == 1:
        forms = {
            "logits": logits,
            "sigmoid": torch.sigmoid(logits),
            "log-sigmoid": nn.functional.logsigmoid(logits),
        }
    else:
        forms = {
            "logits": logits,
            "softmax": torch.softmax(logits, 1),
            "log-softmax": torch.log_softmax(logits, 1),
            "sigmoids": torch.sigmoid(logits),
        }
    return next((name for name, wanted in forms.items() if _close(given, wanted)), None)


def _logits_of(output: Any) -> Tensor:
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


def _close(given: Tensor, wanted: Tensor) -> bool:
    tolerance = 1e-2 if torch.finfo(wanted.dtype).bits < 32 else 1e-5
    return torch.allclose(given.to(wanted.dtype), wanted, rtol=tolerance, atol=tolerance)
