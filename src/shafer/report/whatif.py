r"""Which weights of evidence the page may recompute, learnt by asking the model.

A model is *linear on raw features* if every input adds to the weights by itself: a number in
proportion, a category by a fixed amount. Whatever encoders and scalers stand between, the amounts
are found by changing one input at a time, and then checked on every instance that is shown. If the
weights so rebuilt are not the model's own, the page offers no sliders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.models import Explainer
from shafer.report.inputs import Columns, Value, columns_of, repeated, rows_of, with_values

MOST_CHOICES = 60
"""A category of more values than this makes no menu."""
MOST_INPUTS = 200
_LARGEST = 20_000  # weights in the page, at some twenty bytes each
_TOLERANCE = 1e-9
_AT_ONCE = 64  # instances checked together


@final
@dataclass(frozen=True, eq=False)
class Input:
    """One raw input, and what it adds to the weights of the components it reaches.

    A number x adds ``slope * (x - anchor)``; a category, and a missing value, what ``effects`` says.
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
    """The weights of one instance as a sum: ``base`` (G, K) and what each input adds."""

    base: FloatArray
    inputs: list[Input]

    def weights(self, values: list[Value]) -> FloatArray:
        """Rebuild the weights (G, K) of an instance."""
        total = self.base.copy()
        for entry, value in zip(self.inputs, values, strict=True):
            total[entry.components] += entry.effect(value)
        return total


class NotLinear(ValueError):
    """The model is not linear on raw features, or is too large for the page; says which."""


@final
@dataclass
class _Probe:
    """The rows to ask the model about one input: (row, value) pairs."""

    name: str
    reference: Value
    rows: dict[Value, int]
    number: bool
    whole: bool


def _digits(values: list[float]) -> int:
    """Count the decimals the user's own numbers have, so that a slider gives such numbers."""
    spread = max(values) - min(values)
    needed = 0 if spread == 0 else max(0, 2 - int(np.floor(np.log10(spread))))
    for digits in range(needed + 1):
        if all(round(value, digits) == value for value in values):
            return digits
    return needed


def _probes(columns: Columns, reference: int) -> list[_Probe]:
    probes, row = [], 1
    for name, cells in columns.items():
        present = [cell for cell in cells if cell is not None]
        number = all(isinstance(cell, float) for cell in present) and bool(present)
        values: list[Value] = list(dict.fromkeys(present))
        whole = number and all(float(value).is_integer() for value in values)  # type: ignore[arg-type]
        if number:
            low, high = min(present), max(present)  # type: ignore[type-var]
            assert isinstance(low, float) and isinstance(high, float)
            middle = low + 0.37 * (high - low)
            values = list(dict.fromkeys([low, high, round(middle) if whole else middle]))
            values = [float(value) for value in values]  # type: ignore[arg-type]
        elif len(values) > MOST_CHOICES:
            raise NotLinear(f"{name!r} has {len(values)} values, too many for a menu")
        if len(present) < len(cells):
            values.append(None)
        rows = {}
        for value in values:
            rows[value] = row
            row += 1
        probes.append(_Probe(name, cells[reference], rows, number, whole))
    return probes


def _native(X: Any, j: int, value: Value) -> Any:
    """Bring a probed value back to what the model's table holds."""
    if value is None:
        return np.nan
    if isinstance(value, str) and not isinstance(X, np.ndarray) and X.dtypes.iloc[j] == bool:
        return value == "True"
    if isinstance(value, float) and not isinstance(X, np.ndarray):
        return int(value) if X.dtypes.iloc[j].kind in "iu" else value
    return value


def _input(probe: _Probe, weights: FloatArray, present: list[float]) -> Input:
    """Read one input off the weights (rows, G, K) of the probed rows."""
    change = weights[list(probe.rows.values())] - weights[0]
    reached = np.flatnonzero(np.any(change != 0.0, axis=(0, 2))).tolist()
    effects = {v: weights[row, reached] - weights[0, reached] for v, row in probe.rows.items()}
    if not probe.number:
        texts = {v: e for v, e in effects.items() if v is None or isinstance(v, str)}
        return Input(probe.name, reached, None, 0.0, 0.0, 0, None, texts)
    low, high = min(present), max(present)
    rise = effects[high] - effects[low]
    slope = rise / (high - low) if high > low else np.zeros_like(rise)
    anchor = probe.reference if isinstance(probe.reference, float) else low
    missing: dict[str | None, FloatArray] = {None: effects[None]} if None in effects else {}
    for value, effect in effects.items():
        if isinstance(value, float):
            if not _same(slope * (value - anchor), effect):
                raise NotLinear(f"the weights do not change in proportion to {probe.name!r}")
    return Input(probe.name, reached, anchor, low, high, _digits(present), slope, missing)


def _same(rebuilt: FloatArray, true: FloatArray) -> bool:
    gap = np.abs(rebuilt - true)
    return not gap.size or bool(np.max(gap) <= _TOLERANCE * (1.0 + np.max(np.abs(true))))


def learn(explainer: Explainer, X: Any, names: list[str] | None, rows: list[int]) -> WhatIf:
    """Learn how the raw inputs make the weights, and check it on ``rows``.

    Parameters
    ----------
    explainer : Explainer
        The model.
    X : array or pandas frame of shape (n, J)
        Instances, as the model takes them.
    names : list of strings, optional
        Names of the columns of an array.
    rows : list of int
        The instances on which the rebuilt weights must be the model's own, to 1e-9.

    Raises
    ------
    NotLinear
        If they are not, or the model is too large for the page.
    """
    columns = columns_of(X, names)
    size = len(explainer.component_names) * len(explainer.classes)
    if len(columns) > MOST_INPUTS or size > _LARGEST:
        raise NotLinear(f"{len(columns)} inputs and {size} weights are too many for the page")
    complete = [i for i in rows if all(cells[i] is not None for cells in columns.values())]
    if not complete:
        raise NotLinear("every instance lacks some value")
    reference = complete[0]
    probes = _probes(columns, reference)
    n_probed = 1 + sum(len(probe.rows) for probe in probes)
    changes = {
        j: [(row, _native(X, j, value)) for value, row in probe.rows.items()]
        for j, probe in enumerate(probes)
    }
    asked = with_values(repeated(X, reference, n_probed), changes)
    weights = to_numpy(explainer(asked).weights).astype(np.float64)
    inputs = []
    for probe in probes:
        present = [cell for cell in columns[probe.name] if isinstance(cell, float)]
        inputs.append(_input(probe, weights, present))
    model = WhatIf(weights[0], inputs)
    _verify(model, explainer, X, columns, rows)
    return model


def _verify(
    model: WhatIf, explainer: Explainer, X: Any, columns: Columns, rows: list[int]
) -> None:
    for start in range(0, len(rows), _AT_ONCE):
        block = rows[start : start + _AT_ONCE]
        true = to_numpy(explainer(rows_of(X, block)).weights)
        for position, i in enumerate(block):
            if not _same(model.weights([cells[i] for cells in columns.values()]), true[position]):
                raise NotLinear("the weights are no sum of what each input adds by itself")
