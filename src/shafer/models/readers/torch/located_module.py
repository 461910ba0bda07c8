"""PyTorch modules whose head sums over a feature map: a component is a location or a token."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer.evidence.component_layout import ComponentLayout, read_layout
from shafer.models.heads import LinearHead
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.readers.located_model import LocatedModel
from shafer.models.readers.torch.forward import keyed
from shafer.models.readers.torch.map_forward import MapForward
from shafer.models.readers.torch.map_layout import MapLayout
from shafer.models.readers.torch.map_options import MapOptions
from shafer.models.readers.torch.map_plan import MapPlan, find_plan
from shafer.models.readers.torch.map_reading import FLATTEN, WEIGHTED, MapReading
from shafer.models.readers.torch.parameters import check_values, live_parameters
from shafer.models.readers.torch.traced_pass import Head, coefficients_of, is_head
from shafer.models.readers.torch.watched_layers import quiet

_ROWS = 4  # rows of the traced forward pass


def adapt_located(
    model: nn.Module,
    background: Any,
    layer: str | nn.Module | None,
    options: MapOptions,
    batch_size: int,
    columns: tuple[str, ...] | None,
) -> LocatedModel:
    """Read a module whose head is linear on a pooled or flattened feature map."""
    head = None if layer is None else named_head(model, layer)
    layout = MapLayout(options.components, options.grid)
    if options.restored is None:
        rows = keyed(background)
        few = take_rows(rows, slice(0, min(_ROWS, n_rows(rows))))
        plan, values = find_plan(model, few, n_rows(few), head, options.components)
        sizes = tuple(values.shape[1:])
        places = layout.of_map(plan.reading, values, few)
    else:
        plan, sizes, places = _restored(head, options.restored)
    _check_channels(plan, options)
    check_values(model, plan.head)
    with quiet(model):
        coef, intercept = (x.clone() for x in coefficients_of(plan.head))
    coef, intercept = _effective(plan, coef, intercept, sizes, options)
    shared = _shared(plan, options)
    return LocatedModel(
        LinearHead(coef, intercept, None, None if shared else places.names),
        by_column=False,
        live=(live_parameters(model, plan.head),),
        options={"layer": _name_of(model, plan.head), "restored": _kept(plan, sizes, places)},
        batches=MapForward(model, plan, layout, batch_size, columns),
        layout=places,
        shared=shared,
        by_place=_is_flat(plan),
    )


def named_head(model: nn.Module, layer: str | nn.Module) -> Head:
    """Return the layer that the user named, or gave: ``nn.Linear`` or a 1×1 convolution."""
    named = dict(model.named_modules())
    found: Any = named.get(layer) if isinstance(layer, str) else layer
    if not is_head(found) or not any(found is part for part in named.values()):
        known = [name for name, part in named.items() if is_head(part)]
        raise ValueError(
            f"layer must be an nn.Linear or a 1×1 convolution of the module, one of {known}; got "
            f"{layer!r}."
        )
    head: Head = found
    return head


def _name_of(model: nn.Module, head: nn.Module) -> str:
    return str(next(name for name, part in model.named_modules() if part is head))


def _is_flat(plan: MapPlan) -> bool:
    return plan.reading is not None and plan.reading.kind == FLATTEN


def _shared(plan: MapPlan, options: MapOptions) -> bool:
    """Return whether the locations share the means; those of texts have no fixed places."""
    weighted = plan.reading is None or plan.reading.kind == WEIGHTED
    if weighted and options.location_means == "place":
        raise UnsupportedModelError(
            "location_means='place' needs the same places in all rows; this module leaves out "
            "some tokens of each row, such as padding. Use location_means='shared'."
        )
    default = "shared" if options.components == "tokens" and not _is_flat(plan) else "place"
    return weighted or (options.location_means or default) == "shared"


def _check_channels(plan: MapPlan, options: MapOptions) -> None:
    if options.components == "channels" and not _is_flat(plan):
        raise UnsupportedModelError(
            "components='channels' adds up each channel of a flattened feature map. This module "
            "pools its map, so its channels are what enters the last layer. Use "
            "components='units'."
        )


def _effective(
    plan: MapPlan, coef: Tensor, intercept: Tensor, sizes: tuple[int, ...], options: MapOptions
) -> tuple[Tensor, Tensor]:
    """Return coefficients and intercept that act on the scaled features of the locations."""
    reading = plan.reading
    if reading is None:
        return coef, intercept
    if reading.kind == FLATTEN:
        by_location = reading.by_location(coef.reshape(len(coef), *sizes))  # (K, L, C)
        ordered = by_location.movedim(1, 2) if options.components == "channels" else by_location
        return ordered.reshape(len(coef), -1).contiguous(), intercept
    wide = torch.promote_types(coef.dtype, torch.float32)
    if plan.head_first:
        return _of_pooled_logits(reading, coef, intercept, sizes)
    if reading.shift is not None:
        intercept = (intercept.double() + coef.double() @ reading.shift).to(wide)
    if reading.gain is not None:
        coef = (coef.double() * reading.gain).to(wide)
    return coef, intercept


def _of_pooled_logits(
    reading: MapReading, coef: Tensor, intercept: Tensor, sizes: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """Return coefficients and intercept of a head whose outputs are pooled."""
    n_locations = reading.by_location(torch.empty(1, *sizes, device="meta")).shape[1]
    wide = torch.promote_types(coef.dtype, torch.float32)
    gain = torch.ones_like(intercept.double()) if reading.gain is None else reading.gain
    times = 1.0 if reading.kind == WEIGHTED else n_locations * reading.scale(n_locations)
    total = intercept.double() * gain * times
    total = total if reading.shift is None else total + reading.shift
    return (coef.double() * gain[:, None]).to(wide), total.to(wide)


def _kept(plan: MapPlan, sizes: tuple[int, ...], places: ComponentLayout) -> dict[str, Any]:
    """Return what a saved explainer keeps, as plain values and arrays."""
    reading = None if plan.reading is None else plan.reading.plain()
    layout = places.plain()
    return {"reading": reading, "first": plan.head_first, "sizes": sizes, "layout": layout}


def _restored(head: Head | None, kept: Any) -> tuple[MapPlan, tuple[int, ...], ComponentLayout]:
    """Return the plan of a saved explainer; where the map is, its first call finds again."""
    places = read_layout(kept["layout"])
    if head is None or places is None:
        raise ValueError("a head and its layout are needed to read a saved Explainer.")
    given = kept["reading"]
    reading = None if given is None else MapReading.read(given, head.weight.device)
    return MapPlan(head, reading, bool(kept["first"])), tuple(kept["sizes"]), places
