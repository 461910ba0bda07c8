r"""What-if sliders: how the raw inputs make the weights of evidence.

A model is *linear on raw inputs* if its weights are a sum of one term for each input: a number adds
in proportion to its value, a category adds a fixed amount. Encoders and scalers may stand between.
The amounts are found by changing one input at a time. They are then checked on every instance that
is shown. If the rebuilt weights differ from the model's own, the page has no sliders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, final

import narwhals as nw
import numpy as np
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._typing import FloatArray
from shafer.evidence.mass_evidence import MassEvidence
from shafer.report.table import WIDEST_SPARSE, table_of, texts_of

if TYPE_CHECKING:
    from shafer._values import Value
    from shafer.report.table import Columns


Explains: TypeAlias = Callable[[Any], MassEvidence]
"""An ``Explainer``, or the method ``evidence`` of a classifier."""

MOST_CHOICES = 60
"""A category with more values than this has no menu, so the page has no sliders."""
MOST_INPUTS = 200
_LARGEST = 25_000  # numbers in the page, at some twenty bytes each
_TOLERANCE = 1e-9
_AT_ONCE = 64  # instances checked together


@final
@dataclass(frozen=True, eq=False)
class Input:
    """One raw input, and what it adds to the weights of the components it changes.

    A number x adds ``slope * (x - anchor)``. A category or a missing value adds its entry in
    ``effects``.
    """

    name: str
    components: list[int]
    anchor: float | None
    low: float
    high: float
    digits: int
    slope: FloatArray | None  # (components, K)
    effects: dict[str | None, FloatArray]  # (components, K) each

    def effect(self, value: Value) -> FloatArray:
        """Return what the input adds to the weights of its components, (components, K)."""
        if isinstance(value, float) and self.slope is not None and self.anchor is not None:
            return self.slope * (value - self.anchor)
        assert value is None or isinstance(value, str)
        return self.effects[value]


@final
@dataclass(frozen=True, eq=False)
class WhatIf:
    """The weights of an instance as a sum: ``base`` (G, K) plus one term for each input."""

    base: FloatArray
    inputs: list[Input]

    @property
    def size(self) -> int:
        """Count the numbers that the page has to store."""
        arrays = [a for e in self.inputs for a in (e.slope, *e.effects.values()) if a is not None]
        return sum(a.size for a in [self.base, *arrays])

    def weights(self, values: list[Value]) -> FloatArray:
        """Rebuild the weights (G, K) of an instance."""
        total = self.base.copy()
        for entry, value in zip(self.inputs, values, strict=True):
            total[entry.components] += entry.effect(value)
        return total


@final
@dataclass(frozen=True)
class _Probe:
    """The rows to ask the model about for one input: in each it has another value."""

    name: str
    reference: Value
    rows: dict[Value, int]
    numbers: list[float]  # all values of a numeric input; empty for a category


def _digits(values: list[float]) -> int:
    """Count the decimals of the user's own numbers: a slider gives numbers with as many."""
    spread = max(values) - min(values)
    needed = 0 if spread == 0 else max(0, 2 - int(np.floor(np.log10(spread))))
    for digits in range(needed + 1):
        if all(round(value, digits) == value for value in values):
            return digits
    return needed


def _probed_values(name: str, cells: list[Value], numbers: list[float]) -> list[Value]:
    """Choose the values to ask about: all categories or three numbers, and missing if it occurs."""
    values: list[Value] = [cell for cell in dict.fromkeys(cells) if cell is not None]
    if numbers:
        low, high = min(numbers), max(numbers)
        between = low + 0.37 * (high - low)
        if all(number.is_integer() for number in numbers):
            between = float(round(between))
        values = list(dict.fromkeys([low, high, between]))
    elif len(values) > MOST_CHOICES:
        raise NotLinearError(f"{name!r} has {len(values)} different values, too many for a menu")
    return [*values, None] if None in cells else values


def _probes(columns: Columns, reference: int) -> list[_Probe]:
    probes, row = [], 1
    for name, cells in columns.items():
        present = [cell for cell in cells if cell is not None]
        numbers = [cell for cell in present if isinstance(cell, float)]
        if 0 < len(numbers) < len(present):
            raise NotLinearError(f"{name!r} has both numbers and texts, or infinite numbers")
        values = _probed_values(name, cells, numbers)
        rows = {value: row + at for at, value in enumerate(values)}
        row += len(values)
        probes.append(_Probe(name, cells[reference], rows, numbers))
    return probes


def _input(probe: _Probe, weights: FloatArray) -> Input:
    """Read one input off the weights (rows, G, K) of the probed rows."""
    change = weights[list(probe.rows.values())] - weights[0]
    reached = np.flatnonzero(np.any(change != 0.0, axis=(0, 2))).tolist()
    effects: dict[Value, FloatArray] = {
        value: weights[row, reached] - weights[0, reached] for value, row in probe.rows.items()
    }
    texts = {v: e for v, e in effects.items() if not isinstance(v, float)}
    if not probe.numbers:
        return Input(probe.name, reached, None, 0.0, 0.0, 0, None, texts)
    low, high = min(probe.numbers), max(probe.numbers)
    rise = effects[high] - effects[low]
    slope = rise / (high - low) if high > low else np.zeros_like(rise)
    assert isinstance(probe.reference, float)  # the reference row is complete
    for value, effect in effects.items():
        if isinstance(value, float) and not _same(slope * (value - probe.reference), effect):
            raise NotLinearError(f"the weights do not change in proportion to {probe.name!r}")
    digits = _digits(probe.numbers)
    return Input(probe.name, reached, probe.reference, low, high, digits, slope, texts)


def _same(rebuilt: FloatArray, true: FloatArray) -> bool:
    gap = np.abs(rebuilt - true)
    return not gap.size or bool(np.max(gap) <= _TOLERANCE * (1.0 + np.max(np.abs(true))))


def learn(explainer: Explains, X: Any, columns: Columns, rows: list[int]) -> WhatIf:
    """Find out how the raw inputs make the weights, and check the result on ``rows``.

    Parameters
    ----------
    explainer : callable
        Returns the evidence of rows.
    X : array, sparse matrix, list of rows or pandas frame of shape (n, J)
        Instances, as the model takes them.
    columns : dict of name to values
        The same instances as plain values.
    rows : list of int
        The instances on which the rebuilt weights must be the model's own, to 1e-9.

    Raises
    ------
    NotLinearError
        If they are not, if X is not a table, or if the model is too large for the page.
    """
    table = as_table(X)
    if len(columns) > MOST_INPUTS:
        raise NotLinearError(f"{len(columns)} inputs are too many for the page")
    complete = [i for i in rows if all(cells[i] is not None for cells in columns.values())]
    if not complete:
        raise NotLinearError("every instance has a missing value")
    reference = complete[0]
    n_components, n_classes = _weights(explainer, rows_of(table, [reference])).shape[1:]
    size = n_components * n_classes
    _check_size(size)
    probes = _probes(columns, reference)
    # Before asking the model: the least size, if every input reaches one component.
    _check_size(size + n_classes * sum(1 if p.numbers else len(p.rows) for p in probes))
    n_probed = 1 + sum(len(probe.rows) for probe in probes)
    changes = {
        j: [(row, native(table, j, value)) for value, row in probe.rows.items()]
        for j, probe in enumerate(probes)
    }
    asked = with_values(repeated(table, reference, n_probed), changes)
    try:
        weights = _weights(explainer, asked)
    except ValueError as error:  # such as a number between two that are names of categories
        raise NotLinearError(
            f"the model refuses values between those of the rows: {error}"
        ) from None
    model = WhatIf(weights[0], [_input(probe, weights) for probe in probes])
    _check_size(model.size)
    _verify(model, explainer, table, columns, rows)
    return model


def _weights(explainer: Explains, table: Any) -> FloatArray:
    return to_numpy(explainer(table).weighed.weights).astype(np.float64)


def _check_size(size: int) -> None:
    if size > _LARGEST:
        raise NotLinearError(f"{size:,} weights are too many for the page")


def _verify(
    model: WhatIf, explainer: Explains, table: Any, columns: Columns, rows: list[int]
) -> None:
    for start in range(0, len(rows), _AT_ONCE):
        block = rows[start : start + _AT_ONCE]
        true = _weights(explainer, rows_of(table, block))
        for position, i in enumerate(block):
            if not _same(model.weights([cells[i] for cells in columns.values()]), true[position]):
                raise NotLinearError("the weights are not a sum of one term for each input")


# Copies of a study's rows in which some cells are changed, to ask the model about them.


class NotLinearError(ValueError):
    """The page cannot offer sliders for this model; the message gives the reason."""


def as_table(X: Any) -> Any:
    """Return X as a NumPy array, a sparse matrix or a pandas frame, whose cells can be changed.

    Raises
    ------
    NotLinearError
        If the rows are something else, such as texts.
    """
    if sparse.issparse(X):
        if X.shape[1] > WIDEST_SPARSE:
            raise NotLinearError(f"{X.shape[1]:,} sparse inputs are too many for the page")
        return X.tocsr()
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame) and frame.implementation.is_pandas():
        return X
    if texts_of(X) is not None:
        raise NotLinearError("the input of this model is text")
    if len(getattr(X, "shape", ())) > 2:
        raise NotLinearError("the input of this model is images, or has other axes than columns")
    table = table_of(X) if isinstance(X, np.ndarray | list) else None
    if table is None:
        raise NotLinearError("the rows are not a pandas table, a NumPy array or a list of rows")
    return table


def rows_of(table: Any, rows: Sequence[int]) -> Any:
    """Return some rows of a table; a row that is named twice comes twice."""
    if isinstance(table, np.ndarray) or sparse.issparse(table):
        return table[list(rows)]
    return table.iloc[list(rows)].reset_index(drop=True)


def stacked(first: Any, second: Any) -> Any:
    """Return the rows of two tables of one kind, one below the other.

    Raises
    ------
    NotLinearError
        If they are of different kinds.
    """
    if sparse.issparse(first) and sparse.issparse(second):
        return sparse.vstack([first, second]).tocsr()
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.concatenate([first, second])
    if type(first) is not type(second) or isinstance(first, np.ndarray):
        raise NotLinearError("the rows are another kind of table than the background")
    return nw.concat([nw.from_native(first), nw.from_native(second)]).to_native()


def repeated(table: Any, row: int, times: int) -> Any:
    """Return one row of a table, many times over."""
    return rows_of(table, [row] * times)


def native(table: Any, j: int, value: Value) -> Any:
    """Return a plain value as column j of the table holds it."""
    if value is None:
        return np.nan
    if isinstance(table, np.ndarray) or sparse.issparse(table):
        return value
    letter = getattr(table.dtypes.iloc[j], "kind", "O")
    if letter == "b":
        return value == "True"
    return int(value) if letter in "iu" else value


def with_values(table: Any, changes: dict[int, list[tuple[int, Any]]]) -> Any:
    """Return a copy in which column j holds, for each (row, value) of ``changes[j]``, the value."""
    if sparse.issparse(table):
        return table.__class__(with_values(table.toarray(), changes))
    changed = table.copy()
    for j, cells in changes.items():
        if isinstance(changed, np.ndarray):
            for row, value in cells:
                changed[row, j] = value
            continue
        series = changed.iloc[:, j]
        values = series.tolist()
        for row, value in cells:
            values[row] = value
        # The explainer finds the category of each value again.
        dtype = object if series.dtype.name == "category" else series.dtype
        changed = changed.assign(
            **{changed.columns[j]: type(series)(values, index=series.index, dtype=dtype)}
        )
    return changed
