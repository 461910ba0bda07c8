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
        if isinstance(part, Pipeline):
            X = _transformed(part, X)
    evidence: MassEvidence = part.evidence(X)
    return evidence


def _transformed(pipeline: Pipeline, X: Any) -> Any:
    # Step by step: a pipeline of the first steps alone would ask the last of them whether it is
    # fitted, which transformers from outside scikit-learn may not know how to answer.
    for _, step in pipeline.steps[:-1]:
        if step is not None and step != "passthrough":
            X = step.transform(X)
    return X


def _from_outside_in(fitted: Any) -> Iterator[Any]:
    """Yield a trained classifier, then the one inside it, and so on to the innermost."""
    yield fitted
    while (is_pipeline := isinstance(fitted, Pipeline)) or is_wrapper(fitted):
        fitted = fitted.steps[-1][1] if is_pipeline else held(fitted)
        yield fitted


def _has_evidence(fitted: Any) -> bool:
    return callable(getattr(fitted, "evidence", None))
