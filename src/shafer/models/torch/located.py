"""PyTorch modules whose head sums over a feature map: a component is a location or a token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, final

import torch
from torch import Tensor, nn

from shafer._checks.arrays import check_later
from shafer.errors import UnsupportedModelError
from shafer.evidence.layout import ComponentLayout, read_layout
from shafer.evidence.least_commitment import MEANS
from shafer.models.heads import LinearHead
from shafer.models.live_parameters import trained_again
from shafer.models.located import LocatedModel, LocatedTerms
from shafer.models.torch.maps import (
    FLATTEN,
    POOL,
    WEIGHTED,
    MapLayout,
    MapPlan,
    MapReading,
    agree,
    bag_locations,
    find_plan,
    location_weights,
    total_of,
)
from shafer.models.torch.outputs import (
    check_form,
    check_values,
    has_form,
    is_same,
    live_parameters,
    logits_of,
    output_form,
)
from shafer.models.torch.probing import prove_places
from shafer.models.torch.tracing import (
    Head,
    LayerCall,
    OpTrace,
    check_finite_features,
    coefficients_of,
    forward,
    is_head,
    keyed,
    quiet,
    tensors,
    watched,
)
from shafer.rows.access import n_rows, take_rows
from shafer.rows.checks import check_columns

_ROWS = 4  # rows of the traced forward pass
_PROBED = 64  # rows of the background from which those that are changed are taken


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
        few = _few(rows, _n_rows(rows))
        plan, values = find_plan(model, few, n_rows(few), head, options)
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
    batches = MapForward(model, plan, layout, options, batch_size, columns)
    if options.restored is None and options.components != "channels":
        some = tensors(model, take_rows(rows, slice(0, min(_PROBED, n_rows(rows)))))
        grid = _grid(plan.reading, values, places, options)
        prove_places(some, batches.passed, grid, options.components, model)
    return LocatedModel(
        LinearHead(coef, intercept, None, None if shared else places.names),
        by_column=False,
        live=(live_parameters(model, plan.head),),
        options={"layer": _name_of(model, plan.head), "restored": _kept(plan, sizes, places)},
        batches=batches,
        layout=places,
        shared=shared,
        by_place=_is_flat(plan),
    )


def _few(rows: Any, n: int) -> Any:
    """Return some rows, at least two: for a single one torch leaves out some copies."""
    return take_rows(rows, slice(0, min(_ROWS, n)) if n > 1 else [0, 0])


def _grid(
    reading: MapReading | None, values: Tensor, places: ComponentLayout, options: MapOptions
) -> tuple[int, ...]:
    """Return the number of components along each axis of places, as they lie in the input."""
    sizes = (places.n_components,) if reading is None else reading.grid(values)
    if len(sizes) > 1:
        return sizes
    fold = None if reading is None else reading.fold
    fold = options.grid if fold is None else fold
    return fold if fold is not None and 1 not in fold else sizes


def _n_rows(rows: Any) -> int:
    try:
        return n_rows(rows)
    except ValueError as error:
        raise ValueError(
            f"{error} For an embedding bag with offsets, let the module take padded ids of shape "
            "(n, T) and compute the offsets from them."
        ) from error


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


# The user's options for components that lie in an image or a text.

COMPONENTS = ("locations", "tokens", "channels")


@final
@dataclass(frozen=True)
class MapOptions:
    """What the components are, and how their means are taken.

    Attributes
    ----------
    components : {"locations", "tokens", "channels"}
    location_means : {"place", "shared"}, optional
    grid : pair of int, optional
    restored : mapping, optional
        What a saved explainer has kept.
    """

    components: str
    location_means: str | None = None
    grid: tuple[int, int] | None = None
    restored: Mapping[str, Any] | None = None

    @property
    def strict(self) -> bool:
        """Whether the places of locations must be known; the user may give the grid instead."""
        return self.components == "locations" and self.grid is None

    @classmethod
    def read(cls, components: str, means: Any, grid: Any, restored: Any) -> MapOptions:
        """Check the options."""
        if means is not None and (not isinstance(means, str) or means not in MEANS):
            raise ValueError(
                "location_means must be 'place' (each location has means of its own) or 'shared' "
                f"(all have the same); got {means!r}."
            )
        if grid is None:
            return cls(components, means, None, restored)
        sizes = tuple(grid) if isinstance(grid, tuple | list) else ()
        whole = all(isinstance(size, int) and not isinstance(size, bool) for size in sizes)
        if len(sizes) != 2 or not whole or min(sizes) < 1:
            raise ValueError(f"grid must be a pair (height, width) of integers; got {grid!r}.")
        return cls(components, means, (sizes[0], sizes[1]), restored)


def refuse_map_options(means: Any, grid: Any) -> None:
    """Refuse options of maps for components that have no places."""
    given = {"location_means": means, "grid": grid}
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise ValueError(
            f"{named[0]}={given[named[0]]!r} is an option of components='locations' and 'tokens'; "
            "this Explainer has components='units'. Pass components=, or leave the option out."
        )


# The feature maps of rows, from one forward pass for each batch.


class _Seen(NamedTuple):
    """What one forward pass showed: the map or located embeddings, and their weights."""

    located: Tensor  # (n, L, C)
    sizes: tuple[int, ...]
    weights: Tensor | None  # (n, L)
    entered: Tensor  # (n, C): what the pool should have given
    pooled: Tensor
    logits: Tensor  # (n, K)
    total: Tensor | None = None  # (n, C): the features summed over the locations


@final
class MapForward:
    """Runs a module on rows and returns the feature maps that enter its head.

    Parameters
    ----------
    model : nn.Module
    plan : MapPlan
    layout : MapLayout
        What the components are, and where they lie.
    options : MapOptions
    batch_size : int
        Rows in one forward pass.
    columns : tuple of strings, optional
        The columns that a data frame must have.
    """

    def __init__(
        self,
        model: nn.Module,
        plan: MapPlan,
        layout: MapLayout,
        options: MapOptions,
        batch_size: int,
        columns: tuple[str, ...] | None,
    ) -> None:
        self._model = model
        self._plan = plan
        self._layout = layout
        self._options = options
        self._batch_size = batch_size
        self._columns = columns
        self._form: str | None = None
        self._weight = plan.head.weight.detach().clone()

    def __call__(self, X: Any) -> Iterator[LocatedTerms]:
        """Yield the feature maps of X, a batch at a time; each batch passes the module once."""
        check_columns(self._columns, X)
        X = keyed(X)
        n = n_rows(X)
        if n == 0:
            raise ValueError("X must have at least one row; got none.")
        if not self._plan.is_ready:
            self._find_plan(X, n)
        yield from self.passed(X)

    def passed(self, X: Any) -> Iterator[LocatedTerms]:
        """Yield the feature maps of rows that are known to be fit."""
        n = n_rows(X)
        for start in range(0, n, self._batch_size):
            stop = min(start + self._batch_size, n)
            rows = take_rows(X, slice(start, stop))
            if stop - start == 1 and self._plan.place is not None:
                yield _first_row(self._batch(take_rows(rows, [0, 0]), start))
            else:
                yield self._batch(rows, start)

    def _find_plan(self, X: Any, n: int) -> None:
        """Find where the map is again, as after loading from a file."""
        few = _few(X, n)
        before = self._plan
        plan, _ = find_plan(self._model, few, n_rows(few), before.head, self._options)
        kinds = [None if p.reading is None else p.reading.kind for p in (before, plan)]
        if kinds[0] != kinds[1] or before.head_first != plan.head_first:
            _another()
        self._plan = plan._replace(reading=before.reading)

    def _batch(self, rows: Any, start: int) -> LocatedTerms:
        plan = self._plan
        module = plan.module.module if plan.module is not None else None
        layers = [plan.head] if module is None or module is plan.head else [plan.head, module]
        trace = OpTrace(plan.place.number) if module is None and plan.place is not None else None
        with watched(self._model, layers) as calls:
            record = _Record(calls, trace)
            output = forward(self._model, rows, record, trace)
            seen = self._seen(record, n_rows(rows))
        if self._weight.is_cuda:  # on other devices all values are compared before
            check_later((plan.head.weight == self._weight).all(), trained_again)
        entered = seen.entered.to(seen.pooled.dtype)
        failure = partial(_wrong_features, self._model, seen.entered, rows, start)
        check_later(agree(seen.pooled, entered, seen.entered.dtype), failure)
        self._check_output(seen.logits, logits_of(output))
        return self._terms(seen, rows)

    def _check_output(self, logits: Tensor, given: Tensor) -> None:
        if self._form is None:
            self._form = check_form(output_form(logits, given), logits, given)
        elif self._form != "logits" or not is_same(logits, given):
            failure = partial(_other_form, logits, given)
            check_later(has_form(self._form, logits, given), failure)

    def _seen(self, record: _Record, n: int) -> _Seen:
        plan = self._plan
        head = record.call_of(plan.head)
        if plan.head_first:
            return self._seen_head_first(record, head, n)
        entered = head.features.reshape(n, -1)
        logits = head.logits.reshape(n, -1)
        if plan.reading is None:
            bag, used = bag_locations(record.op(plan))
            pooled = torch.einsum("ntc,nt->nc", bag.double(), used)
            return _Seen(bag, bag.shape[1:2], used, entered, pooled, logits)
        values, weights = record.map(plan, head.features)
        reading = plan.reading
        located, sizes = reading.by_location(values), reading.grid(values)
        if reading.kind != POOL:
            pooled = reading.entered(values, weights)
            return _Seen(located, sizes, weights, entered, pooled, logits)
        total = total_of(located)
        pooled = reading.of_total(total, located.shape[1])
        return _Seen(located, sizes, None, entered, pooled, logits, total)

    def _seen_head_first(self, record: _Record, head: LayerCall, n: int) -> _Seen:
        """Read a head at each location: its own outputs are what is pooled."""
        plan = self._plan
        assert plan.reading is not None
        located = plan.reading.by_location(head.features)
        weights = None
        if plan.reading.kind == WEIGHTED:
            weights = record.weights_of_logits(plan)
        logits = plan.reading.entered(head.logits, weights).to(head.logits.dtype)
        summed = plan.reading.by_location(head.logits).reshape(n, -1)[:, :1]
        sizes = plan.reading.grid(head.features)
        return _Seen(located, sizes, weights, summed, summed, logits)

    def _terms(self, seen: _Seen, rows: Any) -> LocatedTerms:
        kind = FLATTEN if self._plan.reading is None else self._plan.reading.kind
        fold = None if self._plan.reading is None else self._plan.reading.fold
        layout = self._layout.of(seen.sizes, seen.located.shape, rows, fold)
        if seen.weights is not None:
            return _weighted(seen.located, seen.weights, layout)
        if self._layout.components == "channels":
            return LocatedTerms(seen.located.movedim(1, 2), layout)
        scale = 1.0
        if kind != FLATTEN and self._plan.reading is not None:
            scale = self._plan.reading.scale(seen.located.shape[1])
        return LocatedTerms(seen.located, layout, scale, None, seen.total)


def _first_row(terms: LocatedTerms) -> LocatedTerms:
    shares = None if terms.shares is None else terms.shares[:1]
    total = None if terms.total is None else terms.total[:1]
    return replace(terms, features=terms.features[:1], shares=shares, total=total)


def _weighted(located: Tensor, weights: Tensor, layout: Any) -> LocatedTerms:
    """Multiply features by their weights; those with weight 0, padding, have no share."""
    used = weights != 0.0
    factor = weights[..., None].to(torch.promote_types(located.dtype, torch.float32))
    features = torch.where(used[..., None], located * factor, 0.0)
    used = used | ~used.any(1, keepdim=True)  # a row of padding alone
    shares = used.double() / used.sum(1, keepdim=True)
    return LocatedTerms(features, layout, 1.0, shares.to(features.dtype))


class _Record:
    """The calls and the operations that were recorded in one forward pass."""

    def __init__(self, calls: list[LayerCall], trace: OpTrace | None) -> None:
        self.calls = calls
        self.trace = trace

    def clear(self) -> None:
        """Forget a forward pass that failed."""
        self.calls.clear()
        if self.trace is not None:
            self.trace.clear()

    def call_of(self, layer: nn.Module) -> LayerCall:
        """Return the one call of the head."""
        calls = [call for call in self.calls if call.layer is layer]
        if len(calls) != 1:
            raise UnsupportedModelError(
                f"The last layer {layer} is called {len(calls)} times in one forward pass, so its "
                "input is not one set of features. Name another layer with layer=."
            )
        return calls[0]

    def map(self, plan: MapPlan, entered: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the map, and the weights of its locations if they differ."""
        if plan.module is not None:
            calls = [call for call in self.calls if call.layer is plan.module.module]
            if plan.module.call >= len(calls):
                _another()
            values: Tensor = calls[plan.module.call].logits
            return values, None
        trace, node = self._node(plan)
        reading: MapReading | None = plan.reading
        if reading is None or reading.kind != WEIGHTED:
            return trace.values[node], None
        target = trace.node_of(entered)
        weights = None if target is None else location_weights(trace, node, target, reading)
        if weights is None:
            _another()
        return trace.values[node], weights

    def weights_of_logits(self, plan: MapPlan) -> Tensor:
        """Return the weights with which the logits of the locations are pooled."""
        trace, node = self._node(plan)
        assert plan.reading is not None
        assert plan.logits is not None
        wanted = plan.logits.number, plan.logits.name
        found = [op.outputs for op in trace.ops if (op.number, op.name) == wanted]
        if not found:
            _another()
        target = found[0][plan.logits.output or 0]
        weights = location_weights(trace, node, target, plan.reading)
        if weights is None:
            _another()
        return weights

    def op(self, plan: MapPlan) -> Any:
        """Return the operation of the plan."""
        trace, _ = self._node(plan)
        return trace.ops[0]

    def _node(self, plan: MapPlan) -> tuple[OpTrace, int]:
        trace = self.trace
        node = None if trace is None or plan.place is None else plan.place.node(trace)
        if trace is None or node is None:
            _another()
        return trace, node


def _another() -> NoReturn:
    raise UnsupportedModelError(
        "For these rows the module computes the input of its head in another way than for the "
        "background, so it cannot be taken apart by location. Make an Explainer with rows of the "
        "same kind as background, or use components='units'."
    )


def _wrong_features(model: nn.Module, features: Tensor, rows: Any, start: int) -> NoReturn:
    """Raise the error for features that are not finite, or not the pooled map."""
    check_finite_features(model, features, rows, start)
    _another()


def _other_form(logits: Tensor, given: Tensor) -> NoReturn:
    check_form(output_form(logits, given), logits, given)
    raise UnsupportedModelError(
        "The module's output has another form than for the background: logits, or their softmax "
        "or sigmoid. Let it return the same form for all rows."
    )
