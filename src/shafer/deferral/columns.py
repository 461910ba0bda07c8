"""Columns of a table of scores: the answer, whether a person should decide, and why."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from numpy.typing import NDArray

from shafer._column import Column, ColumnKind, columns_of
from shafer.decision.policy import AnswerRule
from shafer.deferral.control import DeferralControl
from shafer.deferral.deferring import deferred_answers
from shafer.deferral.prediction import sure_answers
from shafer.evidence.table import kind_of_labels, labels_at
from shafer.rows.groups import rows_of_known_groups

if TYPE_CHECKING:
    from shafer.explain.predictor import Predictor
    from shafer.scale.scorer import ScoredRows


def answer_column(predictor: Predictor | None, classes: NDArray[Any]) -> Column:
    """Return the column ``answer``: what ``predict`` answers, or what the promise is about."""
    control = None if predictor is None else predictor.promises.deferral
    loss = None if control is None else control.promise.loss
    rule = None if predictor is None else predictor.policy.cutoff
    return Column("answer", kind_of_labels(classes), _Answer(classes, loss, rule))


@final
@dataclass(frozen=True, eq=False)
class _Answer:
    classes: NDArray[Any]
    loss: NDArray[Any] | None
    rule: AnswerRule | None

    def __call__(self, rows: ScoredRows) -> Any:
        found = sure_answers(rows.seen.bet, self.loss, self.rule)
        return labels_at(found.positions, self.classes)


def defer_columns(
    predictor: Predictor | None, present: Collection[str] | None
) -> tuple[tuple[Column, ...], str]:
    """Return the columns ``deferred`` and ``why``, and what the user should know about them.

    Parameters
    ----------
    predictor : Explainer or classifier of shafer, or None
    present : collection of strings or None
        The columns of the table; the groups of the promise may be one of them. None for a table
        that has what is needed.

    Returns
    -------
    columns : tuple of Column
        None without ``control_error``, or if the table cannot have the groups.
    sentence : str
        Empty without ``control_error``.
    """
    control = None if predictor is None else predictor.promises.deferral
    if predictor is None or control is None:
        return (), ""
    column = control.column
    if control.by is not None and (
        column is None or (present is not None and column not in present)
    ):
        where = "were given beside the rows" if column is None else f"are in column {column!r}"
        return (), (
            "The columns deferred and why are not written: the promise is by group, the groups "
            f"{where}, and the table does not have them. Call control_error with by= the name of "
            "a column, and keep this column in the table."
        )
    kinds: dict[str, ColumnKind] = {"deferred": "truth", "why": "text"}
    return columns_of(_Deferred(predictor, control), kinds, column), f"Promise: {control.text}."


@final
@dataclass(frozen=True, eq=False)
class _Deferred:
    predictor: Predictor
    control: DeferralControl

    def __call__(self, rows: ScoredRows) -> dict[str, Any]:
        predictor, control = self.predictor, self.control
        by = rows.beside(control.column)
        groups = rows_of_known_groups(rows.X, by, control, predictor.columns).by
        found = deferred_answers(predictor, control, rows.seen, groups)
        return {"deferred": found.deferred, "why": [str(word) for word in found.reason]}
