"""One trained estimator as a source of evidence, whatever kind it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from shafer._errors import UnsupportedModelError
from shafer._typing import BoolArray, FloatArray
from shafer.evidence import DiscountedEvidence, Evidence
from shafer.fusion import without_prior
from shafer.models.ensemble.source_views import take
from shafer.models.ensemble.training_prior import training_prior
from shafer.models.explainer import Explainer

Said: TypeAlias = Evidence | DiscountedEvidence


@final
@dataclass(frozen=True, eq=False)
class FittedSource:
    """A trained estimator and how its evidence is read.

    Attributes
    ----------
    estimator : fitted estimator
    explainer : Explainer or None
        None if the estimator gives its evidence by itself, or none but its probabilities.
    prior : array of shape (K,) or None
        Class frequencies that its logits hold, if they do.
    floor : float
        The smallest probability that is believed of an estimator which gives probabilities only:
        a share of zero of n votes is no proof.
    example : one training row
        So that a source that is missing everywhere still has its components, all zero.
    """

    estimator: Any
    explainer: Explainer | None
    prior: FloatArray | None
    floor: float
    example: Any

    def evidence(self, view: Any, *, whole: bool = False, with_prior: bool = True) -> Said:
        """Return the evidence of each row, as one component if ``whole``."""
        said = self._evidence(view)
        evidence = said.evidence if isinstance(said, DiscountedEvidence) else said
        if whole and evidence.n_components > 1:
            evidence = evidence.grouped("one")
        if not with_prior and self.prior is not None:
            evidence = without_prior(evidence, self.prior)
        if isinstance(said, DiscountedEvidence):
            return evidence.discounted(said.reliability)
        return evidence

    def _evidence(self, view: Any) -> Said:
        if self.explainer is not None:
            return self.explainer(view)
        if _shows_evidence(_last(self.estimator)):
            return _own_evidence(self.estimator, view)
        chances = np.clip(np.asarray(self.estimator.predict_proba(view)), self.floor, None)
        logs = np.log(chances)
        weights = logs - logs.mean(axis=1, keepdims=True)
        return Evidence.from_weights(
            weights[:, None, :], classes=self.estimator.classes_, names=["output"]
        )


def fit_present(
    estimator: Any,
    view: Any,
    y: NDArray[Any],
    rows: BoolArray,
    *,
    whole: bool,
    weight: FloatArray | None = None,
) -> FittedSource | None:
    """Train on the rows where the source is present; None if they show one class."""
    there = np.flatnonzero(rows if weight is None else rows & (weight > 0))
    if len(np.unique(y[there])) < 2:
        return None
    part = view if len(there) == len(y) else take(view, there)
    own = None if weight is None else weight[there]
    return fit_source(estimator, part, y[there], whole=whole, weight=own)


def fit_source(
    estimator: Any, view: Any, y: NDArray[Any], *, whole: bool, weight: FloatArray | None = None
) -> FittedSource:
    """Train a copy of an estimator, and find out how to read its evidence."""
    fitted = clone(estimator)
    fitted.fit(view, y, **_fit_weights(fitted, weight))
    prior = training_prior(fitted, y, weight)
    floor = 1.0 / (len(y) + len(np.unique(y)))
    explainer = _explainer(fitted, view, whole, weight)
    return FittedSource(fitted, explainer, prior, floor, take(view, [0]))


def _fit_weights(estimator: Any, weight: FloatArray | None) -> dict[str, Any]:
    """Name the weights as ``fit`` takes them; a pipeline hands them to its last step."""
    if weight is None:
        return {}
    if not has_fit_parameter(_last(estimator), "sample_weight"):
        raise TypeError(
            f"sample_weight is given, and {type(_last(estimator)).__name__} cannot be trained "
            "with weights. Leave it out of the estimators, or the weights."
        )
    if isinstance(estimator, Pipeline):
        return {f"{estimator.steps[-1][0]}__sample_weight": weight}
    return {"sample_weight": weight}


def _explainer(fitted: Any, view: Any, whole: bool, weight: FloatArray | None) -> Explainer | None:
    if _shows_evidence(_last(fitted)):
        return None
    try:
        return Explainer(fitted, view, "one" if whole else None, sample_weight=weight)
    except UnsupportedModelError:
        if not hasattr(fitted, "predict_proba"):
            raise
        return None


def _last(estimator: Any) -> Any:
    return estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator


def _shows_evidence(estimator: Any) -> bool:
    return callable(getattr(estimator, "evidence", None))


def _own_evidence(estimator: Any, view: Any) -> Said:
    if isinstance(estimator, Pipeline):
        view = estimator[:-1].transform(view) if len(estimator.steps) > 1 else view
        estimator = estimator.steps[-1][1]
    evidence: Said = estimator.evidence(view)
    return evidence
