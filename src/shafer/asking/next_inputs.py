"""Which missing input to measure next: the inputs of each row, ranked by information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.asking.information import information, read_moves, unit_roots
from shafer.asking.inputs import (
    AskedModel,
    AskedRows,
    InputUnits,
    LinearInputs,
    with_index_column,
)
from shafer.asking.overturn import unit_overturn
from shafer.evidence.groups import Groups
from shafer.explain.missing import patterns


@final
@dataclass(frozen=True, eq=False)
class Suggestions:
    """Measurements that were suggested, one entry each.

    Attributes
    ----------
    row, rank, unit : arrays of int
    information : array
    overturn : array
        The chance that the measurement changes the answer.
    pair : array of shape (m, 2)
        Positions of the classes between which the measurement decides most.
    """

    row: NDArray[np.intp]
    rank: NDArray[np.intp]
    unit: NDArray[np.intp]
    information: FloatArray
    overturn: FloatArray
    pair: NDArray[np.intp]

    @classmethod
    def joined(cls, parts: list[Suggestions]) -> Suggestions:
        """Put all parts into one, sorted by row and rank."""
        names = ("row", "rank", "unit", "information", "overturn", "pair")
        if not parts:
            none = np.zeros(0, dtype=np.intp)
            return cls(none, none, none, np.zeros(0), np.zeros(0), none.reshape(0, 2))
        row, rank, unit, information, overturn, pair = (
            np.concatenate([getattr(part, name) for part in parts]) for name in names
        )
        order = np.lexsort((rank, row))
        return cls(
            row[order], rank[order], unit[order], information[order], overturn[order], pair[order]
        )

    def columns(self, X: Any, units: InputUnits, classes: NDArray[Any]) -> dict[str, Any]:
        """Return the columns of the table."""
        cost = units.costs[self.unit]
        table = {
            "row": self.row,
            "rank": self.rank,
            "input": np.asarray(units.names, dtype=object)[self.unit],
            "information": self.information,
            "cost": cost,
            "information_per_cost": self.information / cost,
            "overturn": self.overturn,
            "class": classes[self.pair[:, 0]],
            "over": classes[self.pair[:, 1]],
        }
        return with_index_column(table, X)


def next_inputs(
    asked: AskedModel,
    X: Any,
    top: int | None,
    costs: Any,
    groups: Groups | None,
    together: Any = 1,
) -> dict[str, Any]:
    """Return the columns of the table of ``explainer.ask.next_inputs``."""
    limit = check_top(top)
    size = _check_together(together)
    units = InputUnits.read(asked.inputs.blocks, groups, costs)
    if size == 1:
        found = [
            part
            for rows in asked.chunks(X)
            for part in ranked_units(rows, asked.inputs, units, limit)
        ]
        return Suggestions.joined(found).columns(X, units, asked.classes)
    sets = UnitSets(units)
    found = [
        part
        for rows in asked.chunks(X)
        for part in ranked_sets(rows, asked.inputs, sets, limit, size)
    ]
    suggested = Suggestions.joined(found)
    columns = suggested.columns(X, sets.as_units(), asked.classes)
    return {**columns, **sets.members_of(suggested.unit, size)}


def _check_together(together: Any) -> int:
    whole = isinstance(together, int | np.integer) and not isinstance(together, bool)
    if not whole or together < 1:
        raise ValueError(
            f"together must be how many inputs are measured at once, an integer ≥ 1; got "
            f"{together!r}."
        )
    return int(together)


def order_cannot_differ(asked: AskedModel, X: Any, costs: Any = None) -> bool:
    """Return whether all rows must have one order of their missing inputs.

    They must if there are two classes, all rows that lack something lack the same, and all of it
    costs the same: then the information grows with one variance, which no known value changes.
    """
    units = InputUnits.read(asked.inputs.blocks, None, costs)
    found = {gaps.tobytes(): gaps for rows in asked.chunks(X) for _, gaps in patterns(rows.gaps)}
    if len(asked.classes) != 2 or len(found) != 1:
        return False
    [gaps] = found.values()
    cost = units.costs[[u for u, _ in units.missing_in(gaps)]]
    return len(cost) > 1 and bool((cost == cost[0]).all())


def ranked_units(
    rows: AskedRows, inputs: LinearInputs, units: InputUnits, top: int | None
) -> list[Suggestions]:
    """Return the best units of each row with something missing, pattern by pattern."""
    found = []
    for where, gaps in patterns(rows.gaps):
        open_units = units.missing_in(gaps)
        if not open_units:
            continue
        roots = unit_roots(inputs, gaps, [features for _, features in open_units])
        which = np.array([u for u, _ in open_units])
        gain = information(rows, where, read_moves(roots))
        order = np.argsort(-gain / units.costs[which], axis=1, kind="stable")[:, :top]
        found.append(_listed(rows, where, gain, order, which, roots))
    return found


def _listed(
    rows: AskedRows,
    where: NDArray[np.intp],
    gain: FloatArray,
    order: NDArray[np.intp],
    which: NDArray[np.intp],
    roots: list[FloatArray],
) -> Suggestions:
    n, width = order.shape
    flat = order.reshape(-1)
    owner = np.repeat(np.arange(n), width)
    pair, change = np.empty((len(flat), 2), dtype=np.intp), np.empty(len(flat))
    for u in np.unique(flat):
        lines = np.flatnonzero(flat == u)
        own = where[owner[lines]]
        pair[lines] = decided_pairs(rows.probability[own], roots[u])
        change[lines] = unit_overturn(rows, own, roots[u])
    return Suggestions(
        rows.start + where[owner],
        np.tile(np.arange(1, width + 1), n),
        which[flat],
        gain[owner, flat],
        change,
        pair,
    )


# Several inputs at once: all pairs, and more of them one by one.


@final
class UnitSets:
    """Sets of units that were looked at, numbered as they come.

    Parameters
    ----------
    units : InputUnits
    """

    def __init__(self, units: InputUnits) -> None:
        self.units = units
        self._numbers: dict[tuple[int, ...], int] = {}

    def number(self, members: Sequence[int]) -> int:
        """Return the number of a set of units."""
        return self._numbers.setdefault(tuple(sorted(members)), len(self._numbers))

    def cost(self, members: Sequence[int]) -> float:
        """Return what all of them cost together."""
        return float(self.units.costs[list(members)].sum())

    def as_units(self) -> InputUnits:
        """Return the sets as units of measurement."""
        names, features = self.units.names, self.units.features
        return InputUnits(
            tuple(" + ".join(names[u] for u in members) for members in self._numbers),
            tuple(tuple(j for u in members for j in features[u]) for members in self._numbers),
            np.array([self.cost(members) for members in self._numbers]),
        )

    def members_of(self, which: NDArray[np.intp], size: int) -> dict[str, Any]:
        """Return a column for each member of the sets; None where a set is smaller."""
        every, names = list(self._numbers), self.units.names
        columns: dict[str, Any] = {}
        for m in range(size):
            found = [every[k][m] if m < len(every[k]) else None for k in which.tolist()]
            columns[f"input_{m + 1}"] = np.array(
                [None if u is None else names[u] for u in found], dtype=object
            )
        return columns


def ranked_sets(
    rows: AskedRows, inputs: LinearInputs, sets: UnitSets, top: int | None, size: int
) -> list[Suggestions]:
    """Return the best sets of ``size`` units of each row, pattern by pattern.

    All pairs are compared. Beyond a pair, the best one grows by the unit that adds most, and one
    set is found for each row. Rows with fewer missing units have the set of all of them.
    """
    found = []
    for where, gaps in patterns(rows.gaps):
        features = dict(sets.units.missing_in(gaps))
        if not features:
            continue
        pairs = list(combinations(features, min(2, len(features))))
        limit = top if size == 2 else 1
        best = _best_sets(rows, where, gaps, inputs, sets, features, pairs, limit)
        for wanted in range(3, min(size, len(features)) + 1):
            best = [
                grown
                for members, own in _by_set(best)
                for grown in _best_sets(
                    rows,
                    own,
                    gaps,
                    inputs,
                    sets,
                    features,
                    [(*members, u) for u in features if u not in members],
                    1,
                )
            ]
            assert all(len(members) == wanted for members, _, _ in best)
        found += [listed for _, _, listed in best]
    return found


_Found = tuple[tuple[int, ...], NDArray[np.intp], Suggestions]


def _by_set(best: list[_Found]) -> list[tuple[tuple[int, ...], NDArray[np.intp]]]:
    """Return the sets that are best for some rows, and these rows."""
    return [(members, where) for members, where, _ in best]


def _best_sets(
    rows: AskedRows,
    where: NDArray[np.intp],
    gaps: NDArray[np.bool_],
    inputs: LinearInputs,
    sets: UnitSets,
    features: dict[int, list[int]],
    candidates: list[tuple[int, ...]],
    top: int | None,
) -> list[_Found]:
    """Return the best of some sets for each row; with ``top=1``, rows by their best set."""
    blocks = [[j for u in members for j in features[u]] for members in candidates]
    roots = unit_roots(inputs, gaps, blocks)
    gain = information(rows, where, read_moves(roots))
    cost = np.array([sets.cost(members) for members in candidates])
    order = np.argsort(-gain / cost, axis=1, kind="stable")[:, :top]
    which = np.array([sets.number(members) for members in candidates])
    if top != 1:
        return [((), where, _listed(rows, where, gain, order, which, roots))]
    found = []
    for k in np.unique(order[:, 0]):
        own = np.flatnonzero(order[:, 0] == k)
        listed = _listed(rows, where[own], gain[own], order[own], which, roots)
        found.append((candidates[int(k)], where[own], listed))
    return found


def check_top(top: Any) -> int | None:
    """Return the number of lines of each row; None for all."""
    if top is None:
        return None
    if not isinstance(top, int | np.integer) or isinstance(top, bool) or top < 1:
        raise ValueError(f"top must be an integer ≥ 1, or None for all; got {top!r}.")
    return int(top)


# Between which two classes a missing input decides most.

_LIKELY = 8  # pairs are searched among so many of the most probable classes


def decided_pairs(probability: FloatArray, root: FloatArray) -> NDArray[np.intp]:
    """Return the two classes (n, 2) between which a block decides most, the likelier one first.

    To second order, the information is a sum over pairs of classes of
    :math:`p_k p_l (y_k - y_l)^2`; this is the pair with the largest part, among the most probable
    classes.
    """
    n_classes = probability.shape[1]
    if n_classes == 2:
        first = np.argmax(probability, axis=1)
        return np.stack([first, 1 - first], axis=1)
    order = np.argsort(-probability, axis=1, kind="stable")[:, :_LIKELY]
    p = np.take_along_axis(probability, order, axis=1)
    apart = ((root[:, :, None] - root[:, None, :]) ** 2).sum(axis=0)  # (K, K)
    parts = apart[order[:, :, None], order[:, None, :]] * p[:, :, None] * p[:, None, :]
    upper = np.triu(np.ones(parts.shape[1:], dtype=bool), k=1)
    best = np.argmax(np.where(upper, parts, -1.0).reshape(len(p), -1), axis=1)
    first, second = np.divmod(best, parts.shape[2])
    rows = np.arange(len(p))
    return np.stack([order[rows, first], order[rows, second]], axis=1)
