"""PyTorch modules that end in ``nn.Linear``: a component is a unit entering the last layer."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from shafer._checks.arrays import check_later, to_numpy
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.read_model import (
    LinearModel,
    PenalisedLoss,
    ReadModel,
    both_probabilities,
    by_region,
)
from shafer.models.torch.located import COMPONENTS, MapOptions, adapt_located, refuse_map_options
from shafer.models.torch.outputs import (
    check_form,
    check_values,
    live_parameters,
    logits_if_plain,
    logits_of,
    output_form,
    refuse_meta,
)
from shafer.models.torch.penalty import coefficients
from shafer.models.torch.tracing import (
    LayerCall,
    check_finite_features,
    forward,
    heads_of,
    keyed,
    watched,
)
from shafer.rows.access import n_rows, take_rows
from shafer.rows.checks import check_columns


def adapt(
    model: nn.Module,
    background: Any,
    layer: str | nn.Linear | None = None,
    batch_size: int = 1024,
    precision: float = 1.0,
    columns: tuple[str, ...] | None = None,
    components: str = "units",
    location_means: str | None = None,
    grid: tuple[int, int] | None = None,
    regions: Any = None,
    restored: Any = None,
) -> ReadModel:
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
    components : {"units", "locations", "tokens", "channels"}
        What counts as one piece of evidence: a unit entering the last layer; a location of the
        feature map of an image; a token of a text; a channel of a flattened map.
    location_means : {"place", "shared"}, optional
        Whether each location has background means of its own, or all the same; by default
        ``"place"`` for locations and ``"shared"`` for tokens.
    grid : pair of int, optional
        Height and width of the grid, for image tokens in one axis.
    regions : label map, optional
        A segmentation of the image, which ``Explainer`` takes as ``groups``.
    restored : mapping, optional
        What a saved explainer has kept.
    """
    if not isinstance(precision, float | int) or not 0.0 <= precision < np.inf:
        raise ValueError(f"precision must be a finite number ≥ 0; got {precision!r}.")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size must be a positive integer; got {batch_size!r}.")
    refuse_meta(model)
    if not isinstance(components, str) or components not in ("units", *COMPONENTS):
        raise ValueError(
            "components must be 'units', 'locations', 'tokens' or 'channels' for a torch module; "
            f"got {components!r}."
        )
    if components != "units":
        options = MapOptions.read(components, location_means, grid, restored)
        located = adapt_located(model, background, layer, options, batch_size, columns)
        return located if regions is None else by_region(located, regions)
    refuse_map_options(location_means, grid)
    return _units(model, background, layer, batch_size, precision, columns)


def _units(
    model: nn.Module,
    background: Any,
    layer: str | nn.Linear | None,
    batch_size: int,
    precision: float,
    columns: tuple[str, ...] | None,
) -> LinearModel:
    """Read the units entering the last layer as components."""
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
        finite=True,
        loss=PenalisedLoss(float(precision), None if head.bias is None else 0.0),
        live=(live_parameters(model, head),),
        options={"layer": _name_of(model, head)},
    )


def probabilities(model: nn.Module, X: Any) -> FloatArray | None:
    """Return the probabilities in the module's output, (n, K); None where they cannot be found."""
    rows = keyed(X)
    n = n_rows(rows)
    with watched(model, heads_of(model)) as calls:
        given = logits_of(forward(model, rows, calls))
        by_row = [c for c in calls if c.logits.numel() == n * len(c.layer.weight)]
        for call in reversed(by_row):
            logits = call.logits.reshape(n, -1)
            if output_form(logits, given) is not None:
                return _probabilities(logits)
    # A head that is called at each location is pooled later, so no call returns the logits.
    pooled = logits_if_plain(given) if len(by_row) < len(calls) else None
    return None if pooled is None else _probabilities(pooled)


def _probabilities(logits: Tensor) -> FloatArray:
    wide = logits.double()
    if wide.shape[1] == 1:
        return both_probabilities(to_numpy(torch.sigmoid(wide[:, 0])))
    return to_numpy(torch.softmax(wide, 1))


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
    last: nn.Linear = calls[-1].layer
    return last


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
            features = calls[0].features
            check_later(
                torch.isfinite(features).all(),
                partial(check_finite_features, model, features, rows, start),
            )
            given = logits_of(output)
            check_form(output_form(calls[0].logits, given), calls[0].logits, given)
            batches.append(features)
            calls.clear()
    return batches[0] if len(batches) == 1 else torch.cat(batches)


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
