"""The classifier inside pipelines, searches and other wrappers, and the evidence that it gives."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from shafer.evidence import MassEvidence
from shafer.models.readers.sklearn.wrappers import held, is_wrapper


def innermost(fitted: Any) -> Any:
    """Return the trained classifier inside pipelines, searches and evidential classifiers."""
    while True:
        if isinstance(fitted, Pipeline):
            fitted = fitted.steps[-1][1]
        elif is_wrapper(fitted):
            fitted = held(fitted)
        else:
            return fitted


def gives_evidence(fitted: Any) -> bool:
    """Say whether a trained classifier, or the one inside it, has a method ``evidence``."""
    return _evidence_giver(fitted) is not None


def own_evidence(fitted: Any, X: Any) -> MassEvidence:
    """Return the evidence of a classifier that gives its own, behind the steps of pipelines."""
    while not callable(getattr(fitted, "evidence", None)):
        if isinstance(fitted, Pipeline):
            X = fitted[:-1].transform(X) if len(fitted.steps) > 1 else X
            fitted = fitted.steps[-1][1]
        else:
            fitted = held(fitted)
    evidence: MassEvidence = fitted.evidence(X)
    return evidence


def _evidence_giver(fitted: Any) -> Any:
    while not callable(getattr(fitted, "evidence", None)):
        if isinstance(fitted, Pipeline):
            fitted = fitted.steps[-1][1]
        elif is_wrapper(fitted):
            fitted = held(fitted)
        else:
            return None
    return fitted
