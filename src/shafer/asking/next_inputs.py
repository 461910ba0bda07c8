"""Which missing input to measure next: the inputs of each row, ranked by information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from shafer._typing import FloatArray
from shafer.asking.inputs import (
    AskedModel,
    AskedRows,
    InputUnits,
    LinearInputs,
    open_covariance,
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
            "against": classes[self.pair[:, 1]],
        }
        return with_index_column(table, X)


def next_inputs(
    asked: AskedModel, X: Any, top: int | None, costs: Any, groups: Groups | None
) -> dict[str, Any]:
    """Return the columns of the table of ``explainer.ask.next_inputs``."""
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
        found.append(_listed(rows, where, gain, order, which, roots))
    return found


def unit_roots(
    inputs: LinearInputs, gaps: NDArray[np.bool_], blocks: list[list[int]]
) -> list[FloatArray]:
    """Return the roots of the missing features of each unit, for one pattern of gaps."""
    out, covariance, slopes = open_covariance(inputs, gaps)
    place = {int(j): m for m, j in enumerate(out)}
    return block_roots(covariance, slopes, [[place[j] for j in block] for block in blocks])


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


def check_top(top: Any) -> int | None:
    """Return the number of lines of each row; None for all."""
    if top is None:
        return None
    if not isinstance(top, int | np.integer) or isinstance(top, bool) or top < 1:
        raise ValueError(f"top must be an integer ≥ 1, or None for all; got {top!r}.")
    return int(top)


# How much a missing input would tell about the class, in closed form.

_LIKELY = 8  # pairs are searched among so many of the most probable classes
_LEAST_VARIANCE = 1e-12  # of a standardised feature, given the others


def block_roots(
    covariance: FloatArray, slopes: FloatArray, blocks: Sequence[Sequence[int]]
) -> list[FloatArray]:
    """Return the root Y (B, K) of how each block would move the logits.

    Parameters
    ----------
    covariance : array of shape (M, M)
        S, of the missing features given the known ones, standardised.
    slopes : array of shape (M, K)
        Their coefficients β*.
    blocks : sequence of positions among the missing features
    """
    moved = covariance @ slopes  # C
    variance = np.maximum(np.diag(covariance), _LEAST_VARIANCE)
    scaled = moved / np.sqrt(variance)[:, None]
    roots: list[FloatArray] = []
    for block in blocks:
        if len(block) == 1:
            roots.append(scaled[list(block)])
            continue
        inner = covariance[np.ix_(block, block)]
        factor, lower = cho_factor(_lifted(inner), lower=True)
        roots.append(solve_triangular(factor, moved[list(block)], lower=lower))
    return roots


def covariance_given(covariance: FloatArray, known: Sequence[int]) -> FloatArray:
    """Return the covariance of all features once some are known: zero for these."""
    if not len(known):
        return covariance
    across = covariance[:, list(known)]
    inner = _lifted(covariance[np.ix_(known, known)])
    left = covariance - across @ cho_solve(cho_factor(inner, lower=True), across.T)
    left[list(known)] = 0.0
    left[:, list(known)] = 0.0
    return np.asarray(left)


def _lifted(covariance: FloatArray) -> FloatArray:
    """Raise a diagonal that rounding has brought to zero, so that a root exists."""
    return covariance + _LEAST_VARIANCE * np.eye(len(covariance))


def block_information(
    probability: FloatArray, factor: FloatArray, roots: Sequence[FloatArray]
) -> FloatArray:
    """Return the information of each block for each row, (n, number of blocks), in nats.

    Parameters
    ----------
    probability : array of shape (n, K)
    factor : array of shape (n,)
        κ, the factor on the weights.
    roots : sequence of arrays of shape (B, K)
        From :func:`block_roots`.
    """
    stacked = np.concatenate(roots)  # (M, K)
    starts = np.cumsum([0, *(len(root) for root in roots[:-1])])
    result = np.empty((len(probability), len(roots)))
    leading = np.argmax(probability, axis=1)
    for a in np.unique(leading):
        rows = np.flatnonzero(leading == a)
        p = probability[rows]
        # Relative to the leading class, no digits are lost where it is almost certain.
        lead = stacked - stacked[:, [a]]
        spread = p @ (lead**2).T - (p @ lead.T) ** 2
        result[rows] = np.add.reduceat(np.maximum(spread, 0.0), starts, axis=1)
    return np.asarray(0.5 * factor[:, None] ** 2 * result)


def decided_pairs(probability: FloatArray, root: FloatArray) -> NDArray[np.intp]:
    """Return the two classes (n, 2) between which a block decides most, the likelier one first.

    The information is the sum over pairs of classes of :math:`p_k p_l (y_k - y_l)^2`; this is the
    pair with the largest part, among the most probable classes.
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
