"""A guard against wrong inputs: rows are answered as if an incredible value were missing.

The answer is the mixture of the probabilities over the hypotheses of ``Suspicion``. While one
input is almost certainly wrong (P_j > 0.9), it is repaired: it counts as missing for good, and the
others are looked at again, at most four times. The alarm is 1 − P_0 of the row as it was given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from shafer._checks.arrays import frozen
from shafer._typing import BoolArray, FloatArray
from shafer.asking.check_cells import CellTable, Suspicion
from shafer.asking.inputs import AskedModel, AskedRows, LinearInputs, with_index_column
from shafer.asking.known_cells import KnownCells
from shafer.decision.policy import AnswerRule, answers
from shafer.evidence.evidence import Evidence
from shafer.evidence.table import native_frame
from shafer.explain.missing import patterns
from shafer.models.read_model import ModelRows

_MOST_REPAIRS = 4


def guard(asked: AskedModel, X: Any, passed: ModelRows | None = None) -> GuardedPrediction:
    """Return the guarded probabilities, the alarm and the repaired cells of each row of X.

    ``passed`` is X after an earlier pass through the model, which is then not repeated.
    """
    table, parts = CellTable(asked.inputs), []
    for rows in asked.chunks(X, passed):
        found = _Answers.empty(rows, len(asked.names))
        found.fill(rows, asked)
        _list_repairs(table, rows, found.repaired, asked.inputs)
        parts.append(found)
    cells = table.columns()
    del cells["rank"]
    return GuardedPrediction(
        frozen(np.concatenate([part.log_probability for part in parts])),
        frozen(np.concatenate([part.alarm for part in parts])),
        frozen(np.concatenate([part.repaired for part in parts])),
        asked.names,
        asked.classes,
        with_index_column(cells, X),
        X.index if hasattr(X, "iloc") else None,
        asked.cutoff,
    )


@final
@dataclass(frozen=True, eq=False)
class _Answers:
    """What is found out about some rows, filled in step by step."""

    log_probability: FloatArray  # (n, K)
    alarm: FloatArray  # (n,)
    repaired: BoolArray  # (n, inputs)

    @classmethod
    def empty(cls, rows: AskedRows, n_inputs: int) -> _Answers:
        repaired = np.zeros((len(rows), n_inputs), dtype=bool)
        return cls(np.empty_like(rows.logits), np.empty(len(rows)), repaired)

    def fill(self, rows: AskedRows, asked: AskedModel) -> None:
        """Answer all rows; those with an incredible value again, without it."""
        gaps, own, left = rows.gaps.copy(), rows.own_factor.copy(), np.arange(len(rows))
        for step in range(_MOST_REPAIRS + 1):
            again = [
                self._answer(rows, left[part], missing, own, asked, step)
                for part, missing in patterns(gaps[left], complete=True)
            ]
            left = np.sort(np.concatenate(again))
            if not len(left):
                return
            for i, block in enumerate(asked.inputs.blocks.features):
                gaps[np.ix_(left[self.repaired[left, i]], list(block))] = True
            own[left] = asked.own_factor(_completed(rows, left, gaps[left], asked.inputs))

    def _answer(
        self,
        rows: AskedRows,
        where: NDArray[np.intp],
        missing: BoolArray,
        own_factor: FloatArray,
        asked: AskedModel,
        step: int,
    ) -> NDArray[np.intp]:
        """Answer the rows of one pattern, and return those with a value to repair."""
        cells = KnownCells.of(asked.inputs, missing)
        found = Suspicion.of(cells.measured(rows.features[where]), len(asked.names))
        if step == 0:
            self.alarm[where] = found.alarm
        sure = found.sure & (step < _MOST_REPAIRS)
        if sure.any():
            self.repaired[where[sure], found.suspect[sure]] = True
            rest = cells.measured(rows.features[where[~sure]])
            found = Suspicion.of(rest, len(asked.names))
        stay = where[~sure]
        level = asked.inputs.level(asked.weighed.model)
        self.log_probability[stay] = found.log_mixture(level, own_factor[stay])
        return where[sure]


def _completed(
    rows: AskedRows, where: NDArray[np.intp], gaps: BoolArray, inputs: LinearInputs
) -> FloatArray:
    """Return the features of some rows, with expectations in place of what is missing."""
    known = np.where(gaps, np.nan, rows.features[where])
    return inputs.gaussian.completed(known, inputs.beta)[0]


def _list_repairs(
    table: CellTable, rows: AskedRows, repaired: BoolArray, inputs: LinearInputs
) -> None:
    """Add the repaired cells, with the values that all others let one expect."""
    changed = np.flatnonzero(repaired.any(axis=1))
    gaps = rows.gaps[changed] | inputs.blocks.feature_gaps(
        repaired[changed], rows.features.shape[1]
    )
    filled = _completed(rows, changed, gaps, inputs)
    owner, which = np.nonzero(repaired[changed])
    table.add(rows, changed[owner], which, np.ones_like(which), filled[owner])


# The answer: probabilities that wrong inputs change little.


@final
@dataclass(frozen=True, eq=False, repr=False)
class GuardedPrediction:
    """Answers that are guarded against wrong inputs; made by ``explainer.ask.guard``.

    Attributes
    ----------
    log_probability : array of shape (n, K)
    alarm : array of shape (n,)
        The probability that some input of the row is wrong.
    repaired : boolean array of shape (n, number of inputs)
        The inputs that were almost certainly wrong and count as missing.
    input_names : tuple of strings
        The inputs: columns of the data that the model uses.
    classes : array of shape (K,)
    cells : mapping from column name to array
        The repaired cells, as in :meth:`to_frame`.
    index : pandas index or None
        The labels of the rows.
    cutoff : Cutoff, LeastLoss or None
        What answers, if it is not the most probable class.

    See Also
    --------
    shafer.asking.InputQuestions.guard : Makes one.
    shafer.asking.InputQuestions.check_cells : Lists suspicious values.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:, 1] += X[:, 0]
    >>> explainer = shafer.Explainer(([1.0, 1.0], 0.0), X, missing="conditional")
    >>> found = explainer.ask.guard([[1.0, 90.0]])
    >>> found.repaired, found.alarm.round(3)
    (array([[False,  True]]), array([1.]))
    """

    log_probability: FloatArray
    alarm: FloatArray
    repaired: BoolArray
    input_names: tuple[str, ...]
    classes: NDArray[Any]
    cells: Mapping[str, Any]
    index: Any = None
    cutoff: AnswerRule | None = None

    @cached_property
    def probability(self) -> FloatArray:
        """The guarded probabilities, (n, K)."""
        # Rounding can make the sum of a mixture differ from 1.
        return np.asarray(frozen(softmax(self.log_probability, axis=1)))

    @cached_property
    def evidence(self) -> Evidence:
        """Evidence of one component, whose probabilities are the guarded ones: for decisions."""
        weights = self.log_probability - self.log_probability.mean(axis=1, keepdims=True)
        ev = Evidence.from_weights(weights[:, None, :], classes=self.classes, names=["all"])
        ev = replace(ev, cutoff=self.cutoff)
        return ev if self.index is None else ev.with_index(self.index)

    @property
    def labels(self) -> NDArray[Any]:
        """The answer of each row by the guarded probabilities, (n,)."""
        return np.asarray(self.classes[answers(self.log_probability, self.cutoff)])

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the repaired cells as a data frame: ``row, input, value, expected``.

        The expected value is that given all inputs of the row that were not repaired. If the rows
        came from a pandas frame, ``index`` holds their labels.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame.

        Returns
        -------
        data frame
            One row for each repaired cell.
        """
        return native_frame(dict(self.cells), None, backend)

    def __len__(self) -> int:
        return len(self.alarm)

    def __repr__(self) -> str:
        cells, rows = int(self.repaired.sum()), int(self.repaired.any(axis=1).sum())
        return f"<GuardedPrediction: {len(self)} rows, {cells} cells repaired in {rows} rows>"
