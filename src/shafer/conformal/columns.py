"""The column ``set`` of a table of scores: the calibrated set of each row."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from shafer._checks.arrays import to_numpy
from shafer._column import Column
from shafer.conformal.cross import CrossConformalSets
from shafer.conformal.scores import class_scores
from shafer.conformal.split import ConformalSets
from shafer.evidence.table import set_names
from shafer.rows.groups import KEEPS_ALL, rows_of_known_groups, warn_of_unknown_groups

if TYPE_CHECKING:
    from shafer.explain.predictor import Predictor
    from shafer.scale.scorer import ScoredRows


def set_column(
    predictor: Predictor | None, present: Collection[str] | None
) -> tuple[Column | None, str]:
    """Return the column, and what the user should know about it.

    Parameters
    ----------
    predictor : Explainer or classifier of shafer, or None
    present : collection of strings or None
        The columns of the table; the groups of the calibration may be one of them. None for a
        table that has what is needed.

    Returns
    -------
    column : Column or None
        None without ``conformalize``, or if the table cannot have the groups.
    sentence : str
        Empty without ``conformalize``.
    """
    sets = None if predictor is None else _calibrated_sets(predictor)
    if predictor is None or sets is None:
        return None, ""
    grouped = isinstance(sets, ConformalSets) and sets.by is not None
    column = sets.column if isinstance(sets, ConformalSets) else None
    if grouped and (column is None or (present is not None and column not in present)):
        where = "were given beside the rows" if column is None else f"are in column {column!r}"
        return None, (
            "The column set is not written: the prediction sets were calibrated by group, the "
            f"groups {where}, and the table does not have them. Call conformalize with by= the "
            "name of a column, and keep this column in the table."
        )
    return (
        Column("set", "text", _Sets(predictor, sets), column if grouped else None),
        f"Promise: {sets.text}.",
    )


def _calibrated_sets(predictor: Predictor) -> ConformalSets | CrossConformalSets | None:
    """Return the calibration that ``conformalize`` left in a model, if there is one."""
    # The folds belong to a classifier; the explainer inside it cannot predict with them.
    sets: ConformalSets | CrossConformalSets | None = predictor.promises.conformal
    return getattr(predictor, "conformal_", sets)


@final
@dataclass(frozen=True, eq=False)
class _Sets:
    predictor: Predictor
    sets: ConformalSets | CrossConformalSets

    def __call__(self, rows: ScoredRows) -> list[str]:
        chosen: Any
        if isinstance(self.sets, CrossConformalSets):  # the models of all folds are needed
            chosen = self.predictor.predict_set(rows.as_trained)
        else:
            by = rows.beside(self.sets.column if self.sets.by is not None else None)
            labels = rows_of_known_groups(rows.X, by, self.sets, self.predictor.columns).by
            warn_of_unknown_groups(labels, self.sets.by, "conformalize", KEEPS_ALL)
            chosen = self.sets.sets(class_scores(rows.seen.bet, self.sets.score), labels)
        return set_names(to_numpy(chosen), self.predictor.classes)
