"""Columns of ``shafer score --defer``: the answer, whether a person should decide, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from shafer._column import Column, ColumnKind, columns_of
from shafer.deferral.control import DeferralControl
from shafer.deferral.deferring import deferred_answers
from shafer.rows.groups import rows_of_known_groups

if TYPE_CHECKING:
    from shafer.explain.predictor import Predictor
    from shafer.scale.scorer import ScoredRows

# What a column of class labels holds, by the kind of their array; texts otherwise.
_KINDS_OF_LABELS: dict[str, ColumnKind] = {"b": "truth", "i": "whole", "u": "whole", "f": "number"}


def promise_of(predictor: Predictor | None) -> DeferralControl:
    """Return the promise of a model file.

    Raises
    ------
    ValueError
        If there is none, or it needs groups that no table can have.
    """
    control = None if predictor is None else predictor.promises.deferral
    if control is None:
        raise ValueError(
            "--defer needs a model file with a promise. Write one with shafer budget; or call "
            "control_error(X, y) on an Explainer or a classifier of shafer, and save it."
        )
    if control.by is not None and control.column is None:
        raise ValueError(
            "--defer cannot be used: the promise is by group, and the groups were given beside the "
            "rows. Call control_error with by= the name of a column."
        )
    return control


def defer_columns(predictor: Predictor) -> tuple[Column, ...]:
    """Return the columns ``answer``, ``deferred`` and ``reason``."""
    control = promise_of(predictor)
    answer = _KINDS_OF_LABELS.get(predictor.classes.dtype.kind, "text")
    kinds: dict[str, ColumnKind] = {"answer": answer, "deferred": "truth", "reason": "text"}
    return columns_of(_Deferred(predictor, control), kinds, control.column)


@final
@dataclass(frozen=True, eq=False)
class _Deferred:
    predictor: Predictor
    control: DeferralControl

    def __call__(self, rows: ScoredRows) -> dict[str, Any]:
        predictor, control = self.predictor, self.control
        by = rows.beside(control.column)
        labels = rows_of_known_groups(rows.X, by, control, predictor.columns).by
        found = deferred_answers(predictor, control, rows.seen, labels)
        return {
            "answer": found.labels,
            "deferred": found.deferred,
            "reason": [str(word) for word in found.reason],
        }
