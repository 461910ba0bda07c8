"""Which missing input to measure next: the inputs of each row, ranked by information."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.evidence.component_groups import Groups
from shafer.models.asking.asked_model import AskedModel, AskedRows, with_index_column
from shafer.models.asking.information import block_information, block_roots, decided_pairs
from shafer.models.asking.input_units import InputUnits
from shafer.models.asking.linear_inputs import LinearInputs
from shafer.models.uncertainty.conditional_gaussian import patterns


@final
@dataclass(frozen=True, eq=False)
class Suggestions:
    """Measurements that were suggested, one entry each.

    Attributes
    ----------
    row, rank, unit : arrays of int
    information : array
    pair : array of shape (m, 2)
        Positions of the classes between which the measurement decides most.
    """

    row: NDArray[np.intp]
    rank: NDArray[np.intp]
    unit: NDArray[np.intp]
    information: FloatArray
    pair: NDArray[np.intp]

    @classmethod
    def joined(cls, parts: list[Suggestions]) -> Suggestions:
        """Put all parts into one, sorted by row and rank."""
        names = ("row", "rank", "unit", "information", "pair")
        if not parts:
            none = np.zeros(0, dtype=np.intp)
            return cls(none, none, none, np.zeros(0), none.reshape(0, 2))
        row, rank, unit, information, pair = (
            np.concatenate([getattr(part, name) for part in parts]) for name in names
        )
        order = np.lexsort((rank, row))
        return cls(row[order], rank[order], unit[order], information[order], pair[order])

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
            "class": classes[self.pair[:, 0]],
            "against": classes[self.pair[:, 1]],
        }
        return with_index_column(table, X)


def next_inputs(
    asked: AskedModel, X: Any, top: int | None, costs: Any, groups: Groups | None
) -> dict[str, Any]:
    """Return the columns of the table of ``Explainer.next_inputs``."""
    limit = check_top(top)
    units = InputUnits.read(asked.inputs.blocks, groups, costs)
    found = [
        part for rows in asked.chunks(X) for part in ranked_units(rows, asked.inputs, units, limit)
    ]
    return Suggestions.joined(found).columns(X, units, asked.classes)


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
        p, factor = rows.probability[where], rows.factor[where]
        gain = block_information(p, factor, roots)
        order = np.argsort(-gain / units.costs[which], axis=1, kind="stable")[:, :top]
        found.append(_listed(rows.start + where, p, gain, order, which, roots))
    return found


def unit_roots(
    inputs: LinearInputs, gaps: NDArray[np.bool_], blocks: list[list[int]]
) -> list[FloatArray]:
    """Return the roots of the missing features of each unit, for one pattern of gaps."""
    out, covariance, slopes = open_covariance(inputs, gaps)
    place = {int(j): m for m, j in enumerate(out)}
    return block_roots(covariance, slopes, [[place[j] for j in block] for block in blocks])


def open_covariance(
    inputs: LinearInputs, gaps: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Return the missing features, their covariance given the others, and their slopes."""
    out, there = np.flatnonzero(gaps), np.flatnonzero(~gaps)
    _, left = inputs.gaussian.given(there, out)
    return out, left, inputs.beta[out] * inputs.gaussian.spread[out][:, None]


def _listed(
    row: NDArray[np.intp],
    p: FloatArray,
    gain: FloatArray,
    order: NDArray[np.intp],
    which: NDArray[np.intp],
    roots: list[FloatArray],
) -> Suggestions:
    n, width = order.shape
    flat = order.reshape(-1)
    owner = np.repeat(np.arange(n), width)
    pair = np.empty((len(flat), 2), dtype=np.intp)
    for u in np.unique(flat):
        lines = np.flatnonzero(flat == u)
        pair[lines] = decided_pairs(p[owner[lines]], roots[u])
    return Suggestions(
        row[owner],
        np.tile(np.arange(1, width + 1), n),
        which[flat],
        gain[owner, flat],
        pair,
    )


def check_top(top: Any) -> int | None:
    """Return the number of lines of each row; None for all."""
    if top is None:
        return None
    if not isinstance(top, int | np.integer) or isinstance(top, bool) or top < 1:
        raise ValueError(f"top must be an integer ≥ 1, or None for all; got {top!r}.")
    return int(top)
