"""Sums of one term for each raw input, learnt by changing one input at a time.

A number adds in proportion to its value, or a fixed amount between two edges; a category adds a
fixed amount, and so does a missing value. Encoders and scalers may stand between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from shafer._typing import BoolArray, FloatArray
from shafer.report.what_if.cells import (
    NoSlidersError,
    is_category,
    native,
    repeated,
    with_values,
)

if TYPE_CHECKING:
    from shafer._values import Value
    from shafer.report.table import Columns

Asks: TypeAlias = Callable[[Any], FloatArray]
"""From rows to the sums, (n, G, K)."""

MOST_CHOICES = 60
"""A category with more values than this has no menu, so the page has no sliders."""
_TOLERANCE = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Input:
    """One raw input, and what it adds to the sums that it changes.

    A number x adds ``slope * (x - anchor)``, and the level of its interval if there are edges; a
    number that equals an edge belongs to the interval above. A category or a missing value adds
    its entry in ``effects``.

    Attributes
    ----------
    name : str
    reached : list of int
        The C sums that it changes.
    anchor, low, high, digits : the numbers of a slider
    slope : array of shape (C, K), or None for a category
    effects : dict of category, or None for a missing value, to array of shape (C, K)
    edges : array
    levels : array of shape (edges + 1, C, K), or None
    copied : list of int
        Positions among the C sums to which a number adds itself, to the last bit.
    """

    name: str
    reached: list[int]
    anchor: float | None
    low: float
    high: float
    digits: int
    slope: FloatArray | None
    effects: dict[Value, FloatArray]
    edges: FloatArray
    levels: FloatArray | None
    copied: list[int]

    def added(self, cells: Sequence[Value]) -> FloatArray:
        """Return what the input adds to the sums that it changes, (n, C, K)."""
        if self.slope is not None and self.anchor is not None:
            numbers = [cell if isinstance(cell, float) else np.nan for cell in cells]
            x = np.array(numbers, dtype=np.float64)
            total = self.slope * (x - self.anchor)[:, None, None]
            total[:, self.copied] = x[:, None, None]
            if self.levels is not None:
                total += self.levels[np.searchsorted(self.edges, x, side="right")]
            fixed = [i for i, cell in enumerate(cells) if not isinstance(cell, float)]
        else:
            shape = next(iter(self.effects.values())).shape
            total = np.empty((len(cells), *shape))
            fixed = list(range(len(cells)))
        for i in fixed:
            if cells[i] not in self.effects:
                raise NoSlidersError(f"{self.name!r} has values that the model does not take")
            total[i] = self.effects[cells[i]]
        return total


@final
@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of ``base`` (G, K) and one term for each input."""

    base: FloatArray
    inputs: list[Input]

    def __call__(self, cells: Sequence[Sequence[Value]]) -> FloatArray:
        """Return the sums of rows, (n, G, K), given the cells of each input."""
        total = np.repeat(self.base[None], len(cells[0]) if cells else 1, axis=0)
        for entry, own in zip(self.inputs, cells, strict=True):
            total[:, entry.reached] += entry.added(own)
        return total

    @property
    def size(self) -> int:
        """Count the numbers that the page has to store."""
        arrays = [a for e in self.inputs for a in (e.slope, e.levels, *e.effects.values())]
        return self.base.size + sum(a.size for a in arrays if a is not None)


@final
@dataclass(frozen=True, eq=False)
class Probes:
    """Rows to ask about: each is a complete row with one other value in one input.

    Attributes
    ----------
    table : the complete row, as the model takes it
    reference : list of values
        The complete row as plain values.
    names : list of str
    values : list of lists of values
        The values to ask about, for each input.
    menus : list of bool
        Which inputs are categories.
    edges : list of arrays
        The edges of each input.
    ends : list of pairs
        The smallest and the largest number of each input among the rows.
    """

    table: Any
    reference: list[Value]
    names: list[str]
    values: list[list[Value]]
    menus: list[bool]
    edges: list[FloatArray]
    ends: list[tuple[float, float]]

    @classmethod
    def of(
        cls,
        table: Any,
        columns: Columns,
        complete: tuple[Any, list[Value]],
        edges: Mapping[str, FloatArray],
    ) -> Probes:
        """Choose the values: all categories; or three numbers, and some between all edges.

        Parameters
        ----------
        table : as the model takes it
        columns : dict of name to values
        complete : one row of the table, and the row as plain values
        edges : mapping of name to array
        """
        values, menus, ends = [], [], []
        own_edges = [edges.get(name, np.zeros(0)) for name in columns]
        for j, (name, cells) in enumerate(columns.items()):
            numbers = [cell for cell in cells if isinstance(cell, float)]
            ends.append((min(numbers, default=0.0), max(numbers, default=0.0)))
            menus.append(is_category(table, j) or not numbers)
            values.append(_probed_values(name, cells, own_edges[j], menus[j]))
        return cls(complete[0], complete[1], list(columns), values, menus, own_edges, ends)

    def asked(self, values: Sequence[Sequence[Value]]) -> Any:
        """Return the complete row, and a row for each of the values."""
        changes: dict[int, list[tuple[int, Any]]] = {}
        row = 1
        for j, own in enumerate(values):
            changes[j] = [(row + at, native(self.table, j, v)) for at, v in enumerate(own)]
            row += len(own)
        return with_values(repeated(self.table, 0, row), changes)

    def cells(self, values: Sequence[Sequence[Value]]) -> list[list[Value]]:
        """Return the same rows as plain values, those of each input."""
        n = 1 + sum(map(len, values))
        found: list[list[Value]] = [[value] * n for value in self.reference]
        row = 1
        for j, own in enumerate(values):
            for value in own:
                found[j][row] = value
                row += 1
        return found

    def with_gaps(self, allowed: Sequence[bool]) -> Probes:
        """Ask about missing values too, in the inputs where the model takes them."""
        values = [
            [*(v for v in own if v is not None), *([None] if gap else [])]
            for own, gap in zip(self.values, allowed, strict=True)
        ]
        return replace(self, values=values)


def _probed_values(name: str, cells: list[Value], edges: FloatArray, is_menu: bool) -> list[Value]:
    present = [cell for cell in dict.fromkeys(cells) if cell is not None]
    numbers = [cell for cell in present if isinstance(cell, float)]
    values: list[Value] = list(present)
    if 0 < len(numbers) < len(present):
        raise NoSlidersError(f"{name!r} has both numbers and texts, or infinite numbers")
    if numbers and not is_menu:
        values = list(_probed_numbers(numbers, edges))
    elif len(values) > MOST_CHOICES:
        raise NoSlidersError(f"{name!r} has {len(values)} different values, too many for a menu")
    return values


def _probed_numbers(numbers: list[float], edges: FloatArray) -> list[float]:
    low, high = min(numbers), max(numbers)
    between = low + 0.37 * (high - low)
    if all(number.is_integer() for number in numbers):
        between = float(round(between))
    values = [low, high, between]
    if len(edges):
        ends = np.concatenate([edges, [edges[-1] + 2.0 * (1.0 + abs(edges[-1]))]])
        values += [float(edges[0] - 1.0 - abs(edges[0])), *edges.tolist()]
        values += ((ends[:-1] + ends[1:]) / 2.0).tolist()
    return list(dict.fromkeys(values))


def learn_sums(ask: Asks, probes: Probes, *, exact: bool) -> Sums:
    """Find out what each input adds.

    Parameters
    ----------
    ask : callable
    probes : Probes
    exact : bool
        Take the effects of an input that alone changes a sum as they are, not as differences from
        the complete row: the last bit may decide at a split of a tree.

    Raises
    ------
    NoSlidersError
        If a number adds neither in proportion to its value nor a fixed amount between edges.
    """
    sums = ask(probes.asked(probes.values))
    first, parts = sums[0], _parts(sums, probes)
    changed = [np.any(part != first, axis=(0, 2)) for part in parts]
    alone = np.sum(changed, axis=0) == 1 if exact and changed else np.zeros(len(first), dtype=bool)
    base, inputs = first.copy(), []
    for j, (part, reached) in enumerate(zip(parts, changed, strict=True)):
        places = np.flatnonzero(reached)
        found = dict(zip(probes.values[j], part[:, places], strict=True))
        entry, free = _input(probes, j, places.tolist(), found, first[places], alone[places])
        base[places[free]] = 0.0
        inputs.append(entry)
    return Sums(base, inputs)


def _parts(sums: FloatArray, probes: Probes) -> list[FloatArray]:
    """Return the sums of the rows of each input."""
    ends = 1 + np.cumsum([len(own) for own in probes.values])
    return np.split(sums, [1, *ends])[1:-1]


def _input(
    probes: Probes,
    j: int,
    reached: list[int],
    found: dict[Value, FloatArray],
    first: FloatArray,
    alone: BoolArray,
) -> tuple[Input, BoolArray]:
    """Read one input off the sums (C, K) of its values; also return the sums that it is, alone."""
    name, none = probes.names[j], np.zeros(0)
    numbers = {v: one for v, one in found.items() if isinstance(v, float)}
    if probes.menus[j] or not numbers:
        effects: dict[Value, FloatArray] = {
            v: one - _origin(first, alone) for v, one in found.items()
        }
        return Input(name, reached, None, 0.0, 0.0, 0, None, effects, none, None, []), alone
    anchor, known = probes.reference[j], probes.ends[j]
    assert isinstance(anchor, float)  # the row is complete
    low, high = known
    shown = low, high, _digits([v for v in list(numbers)[:3] if low <= v <= high])
    edges, levels, copied = probes.edges[j], None, np.zeros(len(reached), dtype=bool)
    free = alone
    if len(edges):
        slope = np.zeros_like(first)
        levels = _levels(name, edges, numbers) - _origin(first, alone)
    else:
        rise = numbers[high] - numbers[low]
        slope = rise / (high - low) if high > low else np.zeros_like(rise)
        exact = [np.all(np.stack([one == v for v, one in numbers.items()]), axis=(0, 2))]
        free = copied = alone & exact[0]
        for v, one in numbers.items():
            if not same(slope * (v - anchor), one - first):
                raise NoSlidersError(f"the weights do not change in proportion to {name!r}")
    effects = {v: one - _origin(first, free) for v, one in found.items() if v is None}
    places = np.flatnonzero(copied).tolist()
    return Input(name, reached, anchor, *shown, slope, effects, edges, levels, places), free


def _origin(first: FloatArray, free: BoolArray) -> FloatArray:
    return np.where(free[:, None], 0.0, first)


def _levels(name: str, edges: FloatArray, numbers: dict[float, FloatArray]) -> FloatArray:
    """Return what the numbers between two edges have in common, (edges + 1, C, K)."""
    place = np.searchsorted(edges, list(numbers), side="right")
    found = np.stack(list(numbers.values()))
    levels = np.stack([found[place == i][0] for i in range(len(edges) + 1)])
    if not same(levels[place], found):
        raise NoSlidersError(f"the weights are not constant between the edges of {name!r}")
    return levels


def same(rebuilt: FloatArray, true: FloatArray) -> bool:
    """Tell whether two arrays are equal, to 1e-9 of the largest value; NaN equals NaN."""
    lost = np.isnan(true)
    if not np.array_equal(np.isnan(rebuilt), lost):
        return False
    gap, size = np.abs(rebuilt - true)[~lost], np.abs(true[~lost])
    return not gap.size or bool(np.max(gap) <= _TOLERANCE * (1.0 + np.max(size)))


def _digits(values: list[float]) -> int:
    """Count the decimals of the user's own numbers: a slider gives numbers with as many."""
    spread = max(values) - min(values)
    needed = 0 if spread == 0 else max(0, 2 - int(np.floor(np.log10(spread))))
    for digits in range(needed + 1):
        if all(round(value, digits) == value for value in values):
            return digits
    return needed
