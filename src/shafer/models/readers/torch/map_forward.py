"""``MapForward``: the feature maps of rows, from one forward pass for each batch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple, NoReturn, final

import torch
from torch import Tensor, nn

from shafer._errors import UnsupportedModelError
from shafer._validation import check_later
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.inputs.table_checks import check_columns
from shafer.models.readers.live_parameters import trained_again
from shafer.models.readers.located_terms import LocatedTerms
from shafer.models.readers.torch.bag_map import bag_locations
from shafer.models.readers.torch.forward import check_finite_features, forward, keyed
from shafer.models.readers.torch.map_layout import MapLayout
from shafer.models.readers.torch.map_plan import MapPlan, find_plan
from shafer.models.readers.torch.map_reading import (
    FLATTEN,
    POOL,
    WEIGHTED,
    MapReading,
    agree,
    location_weights,
    total_of,
)
from shafer.models.readers.torch.op_trace import OpTrace
from shafer.models.readers.torch.output_form import (
    check_form,
    has_form,
    is_same,
    logits_of,
    output_form,
)
from shafer.models.readers.torch.watched_layers import LayerCall, watched

_ROWS = 4  # of the forward pass in which the map is looked for


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
        batch_size: int,
        columns: tuple[str, ...] | None,
    ) -> None:
        self._model = model
        self._plan = plan
        self._layout = layout
        self._batch_size = batch_size
        self._columns = columns
        self._form: str | None = None
        self._weight = plan.head.weight.detach().clone()

    def __call__(self, X: Any) -> Iterator[LocatedTerms]:
        """Yield the feature maps of X, a batch at a time; each batch passes the module once."""
        check_columns(self._columns, X)
        X = keyed(X)
        n = n_rows(X)
        if not self._plan.is_ready:
            self._find_plan(X, n)
        for start in range(0, max(n, 1), self._batch_size):
            rows = take_rows(X, slice(start, min(start + self._batch_size, n)))
            yield self._batch(rows, start)

    def _find_plan(self, X: Any, n: int) -> None:
        """Find where the map is again, as after loading from a file."""
        few = take_rows(X, slice(0, min(_ROWS, n)))
        before = self._plan
        plan, _ = find_plan(self._model, few, n_rows(few), before.head, self._layout.components)
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
        layout = self._layout.of(seen.sizes, seen.located.shape, rows)
        if seen.weights is not None:
            return _weighted(seen.located, seen.weights, layout)
        if self._layout.components == "channels":
            return LocatedTerms(seen.located.movedim(1, 2), layout)
        scale = 1.0
        if kind != FLATTEN and self._plan.reading is not None:
            scale = self._plan.reading.scale(seen.located.shape[1])
        return LocatedTerms(seen.located, layout, scale, None, seen.total)


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
