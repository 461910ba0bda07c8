"""The columns of evidence and reasons, and their names before there is any row."""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.evidence.io.frame_table import evidence_columns
from shafer.evidence.reason_table import reason_column_names, reason_columns
from shafer.models.explainer import Explainer
from shafer.models.set_decisions import SetDecisions
from shafer.models.uncertainty.moderation import Calibration


def score_columns(
    explainer: Explainer, X: Any, reasons: int, decisions: SetDecisions, groups: Any = None
) -> dict[str, Any]:
    """Return the columns of evidence, and of so many reasons. Texts are lists, numbers arrays.

    Parameters
    ----------
    explainer : Explainer
    X : as the model takes it
    reasons : int
    decisions : SetDecisions
        What the column ``decision`` holds.
    groups : array of shape (n,), optional
        The column of the groups, if ``decisions`` names one.
    """
    evidence = explainer(X)
    columns = evidence_columns(evidence) | decisions.of_rows(X, evidence, groups)
    return columns | (reason_columns(with_weights(evidence), reasons) if reasons else {})


def score_column_names(explainer: Explainer, reasons: int) -> dict[str, bool]:
    """Return the names of these columns, and whether each one holds numbers rather than texts."""
    weights = np.zeros((1, 1, len(explainer.classes)))
    nothing: MassEvidence = Evidence.from_weights(weights, classes=explainer.classes)
    if _discounts(explainer.calibration):
        nothing = with_weights(nothing).discounted(np.ones(1))
    numbers = {name: not isinstance(x, list) for name, x in evidence_columns(nothing).items()}
    if reasons:
        bars = explainer._errors is not None
        numbers |= reason_column_names(reasons, errors=bars, codes=False)
    return numbers


def _discounts(calibration: Any) -> bool:
    """Return whether the evidence is discounted, by the explainer or by the model inside."""
    while isinstance(calibration, Calibration):
        if calibration.moderation is not None and calibration.moderation.familiarity is not None:
            return True
        calibration = calibration.inner
    return False
