r"""Which values to check: a surprising value that decides is worth more than either alone.

The stake of a cell is the probability π that it is wrong, times the divergence of the
probabilities with its expectation in place from the present ones:

.. math:: \pi\,\mathrm{KL}\bigl(\operatorname{softmax}(\kappa (z - r_j \beta_j)) \,\|\,
          \operatorname{softmax}(\kappa z)\bigr), \qquad
          \operatorname{logit} \pi = \ln 0.02 + \ln \text{factor}_j,

with the factor of ``known_cells.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, logsumexp

from shafer._typing import BoolArray, FloatArray
from shafer.asking.inputs import AskedModel, AskedRows, LinearInputs, with_index_column
from shafer.asking.known_cells import CellDistances, KnownCells
from shafer.asking.next_inputs import check_top
from shafer.decision.policy import answers
from shafer.explain.calibration import moderating_factor
from shafer.explain.missing import patterns
from shafer.rows.blocks import column_values

_RARE = 0.02  # odds of a wrong value before it is seen


ORDERS = ("surprise", "stake")


def check_cells(asked: AskedModel, X: Any, top: int | None, by_what: Any) -> dict[str, Any]:
    """Return the columns of the table of ``explainer.ask.check_cells``."""
    limit = check_top(top)
    if by_what not in ORDERS:
        raise ValueError(
            "order must be 'surprise' (one suspect after the other, to find wrong values) or "
            f"'stake' (each value alone, to find those that decide); got {by_what!r}."
        )
    table = CellTable(asked.inputs)
    for rows in asked.chunks(X):
        if by_what == "surprise":
            _add_suspects(table, rows, asked, limit)
            continue
        for where, gaps in patterns(rows.gaps, complete=True):
            far = KnownCells.of(asked.inputs, gaps).measured(rows.features[where])
            add_ranked_cells(table, rows, where, far, limit)
    columns = table.columns()
    columns["answer"] = asked.classes[columns["answer"]]
    order = np.lexsort((columns["rank"], columns["row"]))
    if by_what == "surprise":
        order = _most_suspicious_first(columns["row"], columns["rank"], columns["surprise"])
    found = {name: values[order] for name, values in columns.items()}
    # An array has no labels: then these are the positions.
    return with_index_column(found | {"index": found["row"].copy()}, X)


def _most_suspicious_first(
    row: NDArray[np.intp], rank: NDArray[np.intp], surprise: FloatArray
) -> NDArray[np.intp]:
    """Return the order by surprise in which each row keeps the order of its ranks."""
    by_row = np.lexsort((rank, row))
    least = np.full(int(row.max(initial=-1)) + 1, np.inf)
    bound = np.empty(len(row))
    for place in by_row.tolist():
        least[row[place]] = min(least[row[place]], surprise[place])
        bound[place] = least[row[place]]
    return np.lexsort((rank, row, -bound))


def _add_suspects(table: CellTable, rows: AskedRows, asked: AskedModel, top: int | None) -> None:
    """Add the most suspicious input of each row, take it for missing, and go on.

    A wrong value makes its neighbours surprising too. Once it counts as missing, they are not.
    """
    none = np.zeros(0, dtype=np.intp)
    empty = {"surprise": np.zeros(0), "stake": np.zeros(0), "answer": none}
    table.add(rows, none, none, none, rows.features[none], **empty)
    gaps, left, rank = rows.gaps.copy(), np.arange(len(rows)), 0
    blocks = asked.inputs.blocks.features
    while len(left) and (top is None or rank < top):
        rank += 1
        again = [none]
        for part, missing in patterns(gaps[left], complete=True):
            where = left[part]
            cells = KnownCells.of(asked.inputs, missing)
            if not len(cells.which):
                continue
            far = cells.measured(rows.features[where])
            factor = rows.factor[where] if rank == 1 else _factor_without(rows, where, cells, asked)
            suspect = np.argmax(far.log_factor, axis=1)
            one = np.arange(len(where)), suspect
            table.add(
                rows,
                where,
                cells.which[suspect],
                np.full(len(where), rank),
                far.expected(),
                surprise=far.surprise[one],
                stake=stakes(far, rows.level, factor)[one],
                answer=repaired_answers(far, rows, factor)[one],
            )
            for i in np.unique(cells.which[suspect]):
                gaps[np.ix_(where[cells.which[suspect] == i], list(blocks[i]))] = True
            again.append(where)
        left = np.sort(np.concatenate(again))


def _factor_without(
    rows: AskedRows, where: NDArray[np.intp], cells: KnownCells, asked: AskedModel
) -> FloatArray:
    """Return the factor on the weights of rows in which more inputs count as missing, (n,)."""
    known = np.full((len(where), rows.features.shape[1]), np.nan)
    known[:, cells.features] = rows.features[np.ix_(where, cells.features)]
    completed = asked.inputs.gaussian.completed(known, asked.inputs.beta)[0]
    return np.asarray(asked.own_factor(completed) * _shrinkage(cells.variance[None, :]))


def add_ranked_cells(
    table: CellTable,
    rows: AskedRows,
    where: NDArray[np.intp],
    far: CellDistances,
    top: int | None,
) -> None:
    """Add the known inputs of rows of one pattern, ranked by stake."""
    stake, surprise = stakes(far, rows.level, rows.factor[where]), far.surprise
    answer = repaired_answers(far, rows, rows.factor[where])
    order = np.lexsort((-surprise, -stake), axis=1)[:, :top]
    n, width = order.shape
    owner, cell = np.repeat(np.arange(n), width), order.reshape(-1)
    table.add(
        rows,
        where[owner],
        far.cells.which[cell],
        np.tile(np.arange(1, width + 1), n),
        far.expected()[owner],
        surprise=surprise[owner, cell],
        stake=stake[owner, cell],
        answer=answer[owner, cell],
    )


def repaired_answers(far: CellDistances, rows: AskedRows, factor: FloatArray) -> NDArray[np.intp]:
    """Return the answer with the expectation of each known input in its place, (n, inputs)."""
    result = np.empty(far.square.shape, dtype=np.intp)
    for part, logits in far.repaired(rows.level):
        scaled = factor[part, None, None] * logits
        flat = answers(scaled.reshape(-1, scaled.shape[2]), rows.rule)
        result[part] = flat.reshape(scaled.shape[:2])
    return result


def stakes(far: CellDistances, level: FloatArray, factor: FloatArray) -> FloatArray:
    """Return the stake of each known input, (n, inputs), in nats.

    Parameters
    ----------
    far : CellDistances
    level : array of shape (K,)
        The logits at the feature means.
    factor : array of shape (n,)
        The factor on the weights.
    """
    now = log_softmax(factor[:, None] * far.logits(level), axis=1)[:, None, :]
    wrong = expit(np.log(_RARE) + far.log_factor)
    result = np.empty_like(wrong)
    for rows, logits in far.repaired(level):
        repaired = log_softmax(factor[rows, None, None] * logits, axis=2)
        divergence = (np.exp(repaired) * (repaired - now[rows])).sum(axis=2)
        result[rows] = wrong[rows] * np.maximum(divergence, 0.0)
    return np.asarray(result)


# Tables about cells, with the value and the expected one in the same units.


@final
class CellTable:
    """Collects cells: row, input, value, expected value, and columns of the caller's choice.

    Values are numbers if all inputs are numbers, otherwise text; or each as it is if ``mixed``.
    """

    def __init__(self, inputs: LinearInputs, *, mixed: bool = False) -> None:
        self._inputs = inputs
        self._mixed = mixed
        self._parts: list[dict[str, NDArray[Any]]] = []
        self._numbers = inputs.are_numbers

    def add(
        self,
        rows: AskedRows,
        where: NDArray[np.intp],
        which: NDArray[np.intp],
        rank: NDArray[np.intp],
        expected: FloatArray,
        **more: NDArray[Any],
    ) -> None:
        """Add m cells.

        Parameters
        ----------
        rows : AskedRows
        where, which : arrays of m positions
            The row among ``rows`` and the input of each cell.
        rank : array of m numbers
            The place of each cell among those of its row.
        expected : array of shape (m, J)
            The expected features.
        **more : arrays of shape (m,)
            More columns.
        """
        kind = np.float64 if self._numbers else object
        value, usual = np.empty(len(where), dtype=kind), np.empty(len(where), dtype=kind)
        for i in np.unique(which):
            lines = np.flatnonzero(which == i)
            value[lines] = self._shown(self._given(rows, int(i))[where[lines]])
            usual[lines] = self._shown(self._decoded(int(i), expected[lines]))
        self._parts.append(
            {
                "row": rows.start + where,
                "rank": rank,
                "input": np.asarray(self._inputs.blocks.names, dtype=object)[which],
                "value": value,
                "expected": usual,
                **more,
            }
        )

    def columns(self) -> dict[str, Any]:
        """Return all columns."""
        names = self._parts[0]
        return {name: np.concatenate([part[name] for part in self._parts]) for name in names}

    def _given(self, rows: AskedRows, i: int) -> NDArray[Any]:
        """Return the user's values of one input."""
        blocks = self._inputs.blocks
        if self._inputs.values[i] is None:
            return rows.features[:, blocks.features[i][0]]
        return np.asarray(column_values(rows.given, blocks.places_in(rows.given)[i]))

    def _decoded(self, i: int, expected: FloatArray) -> NDArray[Any]:
        """Return expected features of one input as the user would write them."""
        part = expected[:, list(self._inputs.blocks.features[i])]
        scale = self._inputs.values[i]
        return part[:, 0] if scale is None else scale.decoded(part)

    def _shown(self, values: NDArray[Any]) -> NDArray[Any]:
        if self._numbers:
            return values.astype(np.float64)
        if self._mixed:
            return values.astype(object)
        return np.array([_text(value) for value in values.tolist()], dtype=object)


def _text(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.6g}" if number else str(value)


# The hypotheses "no value is wrong" and "the value of input j is wrong".

_ANY_WRONG = 0.2  # ε: how often a row has a wrong value, before it is seen
_SURE = 0.9


@final
@dataclass(frozen=True, eq=False)
class Suspicion:
    """Rows of one pattern of gaps, and the probability of each hypothesis.

    Attributes
    ----------
    far : CellDistances
    log_fine : array of shape (n,)
        ln P_0.
    log_wrong : array of shape (n, inputs)
        ln P_j of the known inputs.
    """

    far: CellDistances
    log_fine: FloatArray
    log_wrong: FloatArray

    @classmethod
    def of(cls, far: CellDistances, n_inputs: int) -> Suspicion:
        """Weigh the hypotheses, given the number of inputs of the model."""
        odds = far.log_factor + np.log(_ANY_WRONG / n_inputs / (1.0 - _ANY_WRONG))
        fine = np.zeros((len(odds), 1))
        everything = logsumexp(np.concatenate([fine, odds], axis=1), axis=1)
        return cls(far, -everything, odds - everything[:, None])

    @property
    def alarm(self) -> FloatArray:
        """The probability that some value is wrong, (n,)."""
        return np.asarray(0.0 - np.expm1(self.log_fine))

    @property
    def sure(self) -> BoolArray:
        """The rows in which one value is almost certainly wrong, (n,)."""
        return np.asarray((self.log_wrong > np.log(_SURE)).any(axis=1))

    @property
    def suspect(self) -> NDArray[np.intp]:
        """The input that is most probably wrong, (n,)."""
        return np.asarray(self.far.cells.which[np.argmax(self.log_wrong, axis=1)])

    def log_mixture(self, level: FloatArray, own_factor: FloatArray) -> FloatArray:
        """Return ln of the probabilities over all hypotheses, (n, K).

        Parameters
        ----------
        level : array of shape (K,)
            The logits at the feature means.
        own_factor : array of shape (n,)
            The factor of tempering and moderation on the weights.
        """
        cells, logits = self.far.cells, self.far.logits(level)
        as_given = own_factor * _shrinkage(cells.variance[None, :])
        result = log_softmax(as_given[:, None] * logits, axis=1) + self.log_fine[:, None]
        without = _shrinkage(cells.variance + cells.more_variance)
        for rows, changed in self.far.repaired(level):
            factor = own_factor[rows, None] * without
            repaired = log_softmax(factor[:, :, None] * changed, axis=2)
            repaired += self.log_wrong[rows, :, None]
            every = np.concatenate([result[rows, None, :], repaired], axis=1)
            result[rows] = logsumexp(every, axis=1)
        return np.asarray(result)


def _shrinkage(variance: FloatArray) -> FloatArray:
    """Return κ for variances of the logits (..., K)."""
    return moderating_factor(2.0 / (variance.shape[-1] - 1) * variance.sum(axis=-1))
