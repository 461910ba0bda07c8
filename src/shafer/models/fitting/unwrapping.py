"""The classifier inside pipelines, searches and other wrappers, and the evidence that it gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.pipeline import Pipeline

from shafer.evidence import MassEvidence
from shafer.models.readers.sklearn.wrappers import held, is_wrapper


def innermost(fitted: Any) -> Any:
    """Return the trained classifier inside pipelines, searches and evidential classifiers."""
    *_, last = _from_outside_in(fitted)
    return last


def gives_evidence(fitted: Any) -> bool:
    """Say whether a trained classifier, or the one inside it, has a method ``evidence``."""
    return any(map(_has_evidence, _from_outside_in(fitted)))


def own_evidence(fitted: Any, X: Any) -> MassEvidence:
    """Return the evidence of a classifier that gives its own, behind the steps of pipelines."""
    for part in _from_outside_in(fitted):
        if _has_evidence(part):
            break
        if isinstance(part, Pipeline) and len(part.steps) > 1:
            X = part[:-1].transform(X)
    evidence: MassEvidence = part.evidence(X)
    return evidence


def _from_outside_in(fitted: Any) -> Iterator[Any]:
    """Yield a trained classifier, then the one inside it, and so on to the innermost."""
    yield fitted
    while (is_pipeline := isinstance(fitted, Pipeline)) or is_wrapper(fitted):
        fitted = fitted.steps[-1][1] if is_pipeline else held(fitted)
        yield fitted


def _has_evidence(fitted: Any) -> bool:
    return callable(getattr(fitted, "evidence", None))
