"""``SetDecisions``: what the column ``decision`` of a table of scores holds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from shafer._validation import to_numpy
from shafer.decision import ConformalSets, CrossConformalSets, conformal_scores
from shafer.evidence import Evidence, MassEvidence
from shafer.evidence.io.frame_table import set_names
from shafer.models.explainer import Explainer


@final
@dataclass(frozen=True, eq=False)
class SetDecisions:
    """The calibrated sets of a model, or the rule of ``to_frame`` where there are none.

    Attributes
    ----------
    model : Explainer or classifier of shafer, or None
        What predicts the sets; None for interval dominance.
    column : str or None
        The column that holds the groups of the calibration.
    sentence : str
        What the user should know about the column; empty without :meth:`conformalize`.
    """

    model: Any = None
    column: str | None = None
    sentence: str = ""

    @classmethod
    def of(cls, model: Any, present: Collection[str]) -> Self:
        """Choose how to decide.

        Parameters
        ----------
        model : fitted model
        present : collection of strings
            The columns of the table; the groups may be one of them.
        """
        sets = calibrated_sets(model)
        if sets is None:
            return cls()
        grouped = isinstance(sets, ConformalSets) and sets.groups is not None
        column = sets.column if isinstance(sets, ConformalSets) else None
        if grouped and (column is None or column not in present):
            where = "were given beside the rows" if column is None else f"are in column {column!r}"
            return cls(
                sentence="The column decision is interval dominance, without a guarantee: the "
                f"prediction sets were calibrated by group, the groups {where}, and the table does "
                "not have them. Call conformalize with groups= the name of a column, and keep this "
                "column in the table."
            )
        return cls(
            model,
            column if grouped else None,
            "The column decision is the prediction set of conformalize, with a coverage of "
            f"{sets.coverage:.0%}.",
        )

    def of_rows(self, X: Any, evidence: MassEvidence, groups: Any = None) -> dict[str, list[str]]:
        """Return the column, or nothing if the one of the evidence stays.

        Parameters
        ----------
        X : as the model takes it
        evidence : MassEvidence
            Of the same rows.
        groups : array of shape (n,), optional
            The column of the groups.
        """
        if self.model is None:
            return {}
        sets = calibrated_sets(self.model)
        if isinstance(self.model, Explainer) and groups is None and isinstance(evidence, Evidence):
            # The evidence is at hand, and it is not discounted: no second pass through the model.
            assert isinstance(sets, ConformalSets)
            chosen = sets.sets(conformal_scores(evidence.pooled, sets.score))
        else:
            by_name = isinstance(self.model, Explainer) or hasattr(self.model, "feature_names_in_")
            chosen = self.model.predict_set(X if by_name else np.asarray(X), groups=groups)
        return {"decision": set_names(to_numpy(chosen), evidence.classes)}


def calibrated_sets(model: Any) -> ConformalSets | CrossConformalSets | None:
    """Return the calibration that ``conformalize`` left in a model, if there is one."""
    name = "conformal" if isinstance(model, Explainer) else "conformal_"
    found = getattr(model, name, None)
    return found if isinstance(found, ConformalSets | CrossConformalSets) else None
