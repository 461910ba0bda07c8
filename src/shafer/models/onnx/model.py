"""ONNX graphs: a component is a column of the inputs, or a unit entering the last linear layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, numpy_helper

from shafer._text import listed
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.heads import Contributions, LinearHead
from shafer.models.live_parameters import LiveParameters, check_parameters
from shafer.models.onnx.branches import with_constants
from shafer.models.onnx.checked import check_graph
from shafer.models.onnx.columns import GraphColumns, TracedColumns
from shafer.models.onnx.forms import agrees, precision_of, probabilities_in
from shafer.models.onnx.graph import GraphIndex
from shafer.models.onnx.inputs import GraphInputs, input_spec
from shafer.models.onnx.reading import (
    Logits,
    Reading,
    found_reading,
    linear_logits,
    tracer_of,
    tree_logits,
)
from shafer.models.onnx.run import GraphRun
from shafer.models.onnx.trees import contributions, counted, raw_scores, shapley_trees, tree_tables
from shafer.models.read_model import AdditiveModel, LinearModel, PenalisedLoss, ReadModel
from shafer.rows.access import n_rows, take_rows
from shafer.rows.checks import check_columns, refuse_nan

_COUNTED = 10_000  # rows of the background that are counted in the nodes of trees


def adapt(
    model: ModelProto,
    background: Any,
    layer: str | None = None,
    batch_size: int | None = None,
    precision: float = 1.0,
    constants: Mapping[str, Any] | None = None,
    columns: tuple[str, ...] | None = None,
    restored: Mapping[str, Any] | None = None,
) -> ReadModel:
    """Read a graph that ends in a linear layer, or in boosted trees, and a softmax or sigmoid.

    Parameters
    ----------
    model : ModelProto
    background : as the graph takes it
        An array or a data frame, or a mapping from the names of the inputs to arrays. A few rows
        show what the graph makes of its logits; trees count the rows in their nodes.
    layer : str, optional
        The name of the last layer, or of the value that it makes; by default the one layer that is
        nearest to an output.
    batch_size : int, optional
        Rows in one run, 1024 by default; a graph with a fixed number of rows has its own.
    precision : float
        Precision of the normal prior on each coefficient of the last layer, for ``moderate`` and
        ``errors``, as for torch modules.
    constants : mapping, optional
        The values of inputs that are the same for all rows, such as a sampling rate, by name.
    columns : tuple of strings, optional
        The columns that a data frame must have.
    restored : mapping, optional
        What an earlier reading has found.
    """
    if not isinstance(precision, float | int) or not 0.0 <= precision < np.inf:
        raise ValueError(f"precision must be a finite number ≥ 0; got {precision!r}.")
    whole = isinstance(batch_size, int) and not isinstance(batch_size, bool)
    if batch_size is not None and (not whole or batch_size < 1):
        raise ValueError(f"batch_size must be a positive integer; got {batch_size!r}.")
    check_graph(model)
    index, inputs = _opened(model, constants, batch_size)
    if restored is None:
        found = found_reading(index, inputs, background, layer)
    else:
        found = Reading.restored(index, restored)
    read: ReadModel
    if found.layer is None:
        read = _trees(index, inputs, found, background, columns)
    else:
        read = _linear(index, inputs, found, columns, float(precision))
    live = LiveParameters.of(partial(_numbers_of, model, found.numbers))
    return replace(read, live=(live,), by_step=found.by_step)


def probabilities(model: ModelProto, X: Any, options: Mapping[str, Any]) -> FloatArray | None:
    """Return the probabilities that the graph puts out, (n, K), in the precision that it has."""
    index, inputs = _opened(model, options.get("constants"), options.get("batch_size"))
    found = Reading.restored(index, options["restored"])
    run = GraphRun(index.model, inputs, [found.features, found.answer])
    parts = []
    for _, n, n_run, (features, given) in run(X):  # n_run > n: the last row fills up a block
        rows = found.rows(features)
        parts.append(found.numbers_in(given, rows)[: n * (rows // n_run)])
    values = np.concatenate(parts)
    return probabilities_in(values, found.form, len(values))


def _opened(
    model: ModelProto, constants: Mapping[str, Any] | None, batch_size: int | None
) -> tuple[GraphIndex, GraphInputs]:
    index = with_constants(model, constants)
    specs = [input_spec(given) for given in index.inputs]
    full = bool(constants) and batch_size is not None
    return index, GraphInputs(specs, batch_size, full=full)


# Where the components come from, and their features for new rows.


@final
@dataclass(frozen=True, eq=False)
class _Source:
    """Where components come from: the inputs as they are, encoded columns, or units."""

    columns: TracedColumns | None
    as_given: bool

    @classmethod
    def of(cls, index: GraphIndex, inputs: GraphInputs, found: Reading) -> _Source:
        if found.by_step or not found.widths:
            return cls(None, False)
        columns = tracer_of(index, inputs, found).columns(found.features)
        if columns is None or len(columns) != found.width:
            return cls(None, False)
        same = columns == tuple((j, "") for j in range(found.width))
        value = found.features
        while (node := index.producer.get(value)) is not None and node.op_type == "Identity":
            value = node.input[0]
        direct = same and len(inputs.specs) == 1 and value == inputs.specs[0].name
        return cls(columns, direct)

    @property
    def encoded(self) -> bool:
        return self.columns is not None and not self.as_given

    def encoders(
        self, inputs: GraphInputs, found: Reading, run: HeadRun
    ) -> tuple[GraphColumns, ...]:
        if not self.encoded or self.columns is None:
            return ()
        own = None
        if len(inputs.specs) > 1:
            names = [spec.name for spec in inputs.specs]
            own = tuple(
                name if width == 1 else f"{name}_{j}"
                for name, width in zip(names, found.widths, strict=True)
                for j in range(width)
            )
        return (GraphColumns(run, self.columns, sum(found.widths), own),)

    def names(self, width: int) -> list[str] | None:
        return [f"unit {j}" for j in range(width)] if self.columns is None else None


@final
class HeadRun:
    """The features of rows, after a comparison of the last layer with what the graph puts out.

    Parameters
    ----------
    index, inputs, found : what was read
    logits : callable
        From features to logits, and the size of what was added up.
    columns : tuple of strings, optional
        The columns that a data frame must have.
    as_given : bool
        The features are the columns themselves.
    """

    def __init__(
        self,
        index: GraphIndex,
        inputs: GraphInputs,
        found: Reading,
        logits: Logits,
        columns: tuple[str, ...] | None,
        *,
        as_given: bool,
    ) -> None:
        self._run = GraphRun(index.model, inputs, [found.features, found.answer])
        self._inputs, self._found = inputs, found
        self._logits, self._columns = logits, columns
        self._as_given = as_given

    def __call__(self, X: Any) -> FloatArray:
        """Return the features of rows, (n, J), in double precision."""
        check_columns(self._columns, X)
        parts = []
        for start, n, n_run, (features, given) in self._run(X):
            parts.append(self._checked(start, n, n_run, features, given))
        return np.concatenate(parts)

    def inputs(self, X: Any) -> FloatArray:
        """Return the inputs themselves, which may be NaN."""
        check_columns(self._columns, X)
        (values,) = self._inputs.arrays(X).values()
        return np.asarray(values, dtype=np.float64)

    def _checked(
        self, start: int, n: int, n_run: int, features: NDArray[Any], given: NDArray[Any]
    ) -> FloatArray:
        found = self._found
        if not found.fits(features, given, n_run) or (
            not found.by_step and found.rows(features) != n_run
        ):
            raise UnsupportedModelError(
                f"The graph gives features of shape {features.shape} and an output of shape "
                f"{given.shape} for {n} rows, unlike those of the background. Pass rows of the "
                "same shape as the background."
            )
        flat = found.flat(features)
        numbers = found.numbers_in(given, len(flat))
        kept = n * (len(flat) // n_run)
        flat, numbers = flat[:kept], numbers[:kept]
        if found.layer is not None and not np.isfinite(flat).all():
            self._refuse(flat, start)
        logits, size = self._logits(flat)
        holds = agrees(found.form, logits, numbers, size, precision_of(features, given))
        if not holds.all():
            row = start + int(np.argmin(holds)) // (len(flat) // n)
            raise UnsupportedModelError(
                f"In row {row} the graph puts out {listed(numbers[np.argmin(holds)].tolist())}, "
                f"which is not the {found.form} of its last layer, as it was for the background. "
                "The graph does something else with some logits, such as a limit on them."
            )
        return flat.astype(np.float64)

    def _refuse(self, flat: FloatArray, start: int) -> None:
        if self._as_given:
            refuse_nan(flat, "the graph", self._columns)
        row, unit = (int(place) for place in np.argwhere(~np.isfinite(flat))[0])
        raise ValueError(
            f"The features before the last layer of the graph are not finite: feature {unit} of "
            f"row {start + row} is {float(flat[row, unit])}. Check X for NaN and very large values."
        )


def _linear(
    index: GraphIndex,
    inputs: GraphInputs,
    found: Reading,
    columns: tuple[str, ...] | None,
    precision: float,
) -> LinearModel:
    layer = found.layer
    assert layer is not None
    check_parameters("The ONNX graph", (layer.coef, layer.intercept))
    source = _Source.of(index, inputs, found)
    logits = partial(linear_logits, layer)
    run = HeadRun(index, inputs, found, logits, columns, as_given=source.as_given)
    head = LinearHead(layer.coef, layer.intercept, found.labels, source.names(found.width))
    read = LinearModel(
        head,
        by_column=source.columns is not None,
        encoders=source.encoders(inputs, found, run),
        finite=True,
        loss=PenalisedLoss(precision),
        options=_options(found),
    )
    if source.encoded:
        return read
    return replace(read, features=run, gaps=run.inputs if source.as_given else None)


def _trees(
    index: GraphIndex,
    inputs: GraphInputs,
    found: Reading,
    background: Any,
    columns: tuple[str, ...] | None,
) -> AdditiveModel:
    width, n_logits = found.width, found.n_logits
    logits = tree_logits(index, found.node, width, n_logits)
    source = _Source.of(index, inputs, found)
    run = HeadRun(index, inputs, found, logits, columns, as_given=source.as_given)
    tables = tree_tables(found.node)
    if found.cover is None:
        rows = take_rows(background, slice(0, None, 1 + n_rows(background) // _COUNTED))
        tables = counted(tables, run(rows))
        found = replace(found, cover=np.concatenate([table.cover for table in tables]))
    else:
        ends = np.cumsum([len(table.left) for table in tables])
        parts = np.split(np.asarray(found.cover, dtype=np.float64), ends[:-1])
        tables = [replace(t, cover=part) for t, part in zip(tables, parts, strict=True)]
    session = raw_scores(index, found.node, width)
    trees = shapley_trees(tables, session, width, n_logits)
    function = partial(contributions, trees, n_logits)
    if not source.encoded:
        function = partial(_behind, function, run)
    head = Contributions(function, None, found.labels, source.names(width))
    encoders = source.encoders(inputs, found, run)
    by_column = source.columns is not None
    return AdditiveModel(head, by_column=by_column, encoders=encoders, options=_options(found))


def _behind(function: Callable[[Any], Any], run: HeadRun, X: Any) -> Any:
    return function(run(X))


def _options(found: Reading) -> dict[str, Any]:
    """Return the options under which the graph is read again, without rows."""
    return {"layer": found.node.output[-1], "restored": found.kept()}


def _numbers_of(model: ModelProto, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return what changes if the graph is changed: the number of its nodes, and the last layer."""
    held = [tensor for tensor in model.graph.initializer if tensor.name in names]
    return (len(model.graph.node), *map(numpy_helper.to_array, held))
