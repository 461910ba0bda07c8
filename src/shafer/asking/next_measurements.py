"""Whom to measure what, within a budget: (row, input) pairs of a batch by information per cost."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.asking.information import Move, block_roots, covariance_given, information, read_moves
from shafer.asking.inputs import (
    AskedModel,
    AskedRows,
    InputUnits,
    LinearInputs,
    open_covariance,
)
from shafer.asking.next_inputs import (
    Suggestions,
    decided_pairs,
    ranked_units,
)
from shafer.asking.overturn import unit_overturn
from shafer.decision.acts import is_number
from shafer.evidence.groups import Groups

_Roots = tuple[list[int], list[FloatArray], list[Move]]
"""The units that are left, their roots once the others are known, and the moves with these."""


def next_measurements(
    asked: AskedModel, X: Any, budget: Any, costs: Any, groups: Groups | None
) -> dict[str, Any]:
    """Return the columns of the table of ``explainer.ask.next_measurements``."""
    if not is_number(budget) or budget <= 0.0:
        raise ValueError(
            f"budget must be a number > 0: what all measurements together may cost, 1 for each "
            f"input without a cost; got {budget!r}."
        )
    units = InputUnits.read(asked.inputs.blocks, groups, costs)
    chunks = list(asked.chunks(X))
    plan = _Plan(
        asked.inputs,
        units,
        np.concatenate([rows.gaps for rows in chunks]),
        chunks,
    )
    first = Suggestions.joined(
        [part for rows in chunks for part in ranked_units(rows, asked.inputs, units, 1)]
    )
    return plan.bought(first, float(budget)).columns(X, units, asked.classes)


@final
@dataclass(frozen=True, eq=False)
class _Plan:
    """Rows, and which of their inputs a plan has bought so far."""

    inputs: LinearInputs
    units: InputUnits
    gaps: BoolArray  # (n, J)
    chunks: list[AskedRows]
    known: dict[int, float] = field(default_factory=dict)  # the information of what was bought
    taken: dict[int, frozenset[int]] = field(default_factory=dict)
    known_roots: dict[tuple[bytes, frozenset[int]], _Roots] = field(default_factory=dict)

    def bought(self, first: Suggestions, budget: float) -> Suggestions:
        """Buy the best affordable measurement of all rows again and again."""
        costs = self.units.costs
        queue = [
            (-gain / costs[unit], row, unit, gain)
            for row, unit, gain in zip(
                first.row.tolist(), first.unit.tolist(), first.information.tolist(), strict=True
            )
        ]
        heapq.heapify(queue)
        found: list[_Bought] = []
        while queue and budget >= costs.min():
            _, row, unit, gain = heapq.heappop(queue)
            if gain <= 0.0:
                break
            if costs[unit] <= budget:
                budget -= costs[unit]
                found.append(self._bought(row, unit, gain))
                self.known[row] = self.known.get(row, 0.0) + gain
                self.taken[row] = self.taken.get(row, frozenset()) | {unit}
            best = self._best(row, budget)
            if best is not None:
                heapq.heappush(queue, best)
        return _listed(found)

    def _roots(self, row: int) -> _Roots:
        """Return the units of a row that are left, and their roots once the bought are known."""
        taken = self.taken.get(row, frozenset())
        key = (self.gaps[row].tobytes(), taken)
        if key not in self.known_roots:
            self.known_roots[key] = self._computed_roots(self.gaps[row], taken)
        return self.known_roots[key]

    def _computed_roots(self, gaps: BoolArray, taken: frozenset[int]) -> _Roots:
        out, covariance, slopes = open_covariance(self.inputs, gaps)
        place = {int(j): m for m, j in enumerate(out)}
        parts = {u: [place[j] for j in block] for u, block in self.units.missing_in(gaps)}
        known = [m for u in sorted(taken) for m in parts[u]]
        left = [u for u in parts if u not in taken]
        together = block_roots(covariance, slopes, [[*known, *parts[u]] for u in left])
        beyond = covariance_given(covariance, known)
        roots = block_roots(beyond, slopes, [parts[u] for u in left])
        return left, roots, read_moves(together)

    def _best(self, row: int, budget: float) -> tuple[float, int, int, float] | None:
        """Return the best affordable measurement of a row as an entry of the queue."""
        left, _, moves = self._roots(row)
        affordable = [k for k, u in enumerate(left) if self.units.costs[u] <= budget]
        if not affordable:
            return None
        rows, place = self._place(row)
        gain = information(rows, place, [moves[k] for k in affordable])[0]
        gain = np.maximum(gain - self.known.get(row, 0.0), 0.0)
        cost = self.units.costs[[left[k] for k in affordable]]
        k = int(np.argmax(gain / cost))
        return -float(gain[k] / cost[k]), row, left[affordable[k]], float(gain[k])

    def _bought(self, row: int, unit: int, gain: float) -> _Bought:
        left, roots, _ = self._roots(row)
        root = roots[left.index(unit)]
        rows, place = self._place(row)
        pair = decided_pairs(rows.probability[place], root)[0]
        change = unit_overturn(rows, place, root)[0]
        return _Bought(row, unit, gain, float(change), pair)

    def _place(self, row: int) -> tuple[AskedRows, NDArray[np.intp]]:
        """Return the rows that a row is among, and its position there."""
        rows = next(part for part in self.chunks if row < part.start + len(part))
        return rows, np.array([row - rows.start])


class _Bought(NamedTuple):
    """A measurement that was bought."""

    row: int
    unit: int
    information: float
    overturn: float
    pair: NDArray[np.intp]


def _listed(found: list[_Bought]) -> Suggestions:
    """Return the measurements in the order in which they were bought."""
    return Suggestions(
        np.array([one.row for one in found], dtype=np.intp),
        np.arange(1, len(found) + 1),
        np.array([one.unit for one in found], dtype=np.intp),
        np.array([one.information for one in found], dtype=np.float64),
        np.array([one.overturn for one in found], dtype=np.float64),
        np.array([one.pair for one in found], dtype=np.intp).reshape(-1, 2),
    )
