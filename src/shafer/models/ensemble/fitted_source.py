"""One trained estimator as a source of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shafer._errors import UnsupportedModelError
from shafer._typing import Array, BoolArray, FloatArray
from shafer.evidence import DiscountedEvidence, Evidence, MassEvidence
from shafer.fusion import without_prior
from shafer.models.ensemble.source_views import rows_of_view
from shafer.models.ensemble.training_prior import training_prior
from shafer.models.explainer import Explainer
from shafer.models.fitting.sample_weights import fit_weights
from shafer.models.fitting.unwrapping import gives_evidence, own_evidence


@final
@dataclass(frozen=True, eq=False)
class FittedSource:
    """A trained estimator, and how its evidence is computed.

    Attributes
    ----------
    estimator : fitted estimator
    explainer : Explainer or None
        None if the estimator computes its own evidence, or if only its probabilities are known.
    prior : array of shape (K,) or None
        The class prior in its logits; None if there is none.
    floor : float
        The smallest probability that is used, for an estimator of which only the probabilities
        are known. A probability of zero would be infinite evidence.
    component_names : tuple of strings
    """

    estimator: Any
    explainer: Explainer | None
    prior: FloatArray | None
    floor: float
    component_names: tuple[str, ...]

    def evidence(self, view: Any, *, whole: bool = False, with_prior: bool = True) -> MassEvidence:
        """Return the evidence of each row, as one component if ``whole``."""
        evidence, reliability = weighed(self._own(view))
        if whole and evidence.n_components > 1:
            evidence = evidence.grouped("one")
        if not with_prior and self.prior is not None:
            evidence = without_prior(evidence, self.prior)
        return evidence if reliability is None else evidence.discounted(reliability)

    def no_evidence(self, n: int, *, whole: bool = False) -> Evidence:
        """Return vacuous evidence for n rows where the inputs of this source are missing."""
        names = self.component_names
        names = ("all",) if whole and len(names) > 1 else names
        classes = self.estimator.classes_
        return Evidence.from_weights(
            np.zeros((n, len(names), len(classes))), classes=classes, names=names
        )

    def _own(self, view: Any) -> MassEvidence:
        if self.explainer is not None:
            return self.explainer(view)
        if gives_evidence(self.estimator):
            return own_evidence(self.estimator, view)
        return _log_probabilities(self.estimator, view, self.floor)


def check_labels(name: str, source: FittedSource, classes: NDArray[Any]) -> None:
    """Refuse a frozen source whose labels are not those of y."""
    known = classes.tolist()
    own = np.asarray(source.estimator.classes_).tolist()
    if not set(own).isdisjoint(known):
        return
    raise ValueError(
        f"Source {name!r} has the labels {own}, and y has {known}. Classes are matched by label. "
        "Train the models with the same labels. If you cannot, rename the labels of the evidence "
        "and fuse that: shafer.Explainer(model, X, classes=[...]), with the new labels in the "
        "order of the model's own, and shafer.combine."
    )


def weighed(ev: MassEvidence) -> tuple[Evidence, Array | None]:
    """Return the evidence before discounting, and its reliability if it is discounted."""
    if isinstance(ev, DiscountedEvidence):
        return ev.evidence, ev.reliability
    if isinstance(ev, Evidence):
        return ev, None
    raise UnsupportedModelError(
        f"A source must give Evidence or DiscountedEvidence; got {type(ev).__name__}, which has no "
        "weights. Combine the sources inside it by 'dempster' or 'cautious', without reliability."
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
    """Train on the rows where the source is present; None if they have only one class."""
    there = np.flatnonzero(rows if weight is None else rows & (weight > 0))
    if len(np.unique(y[there])) < 2:
        return None
    part = view if len(there) == len(y) else rows_of_view(view, there)
    own = None if weight is None else weight[there]
    return fit_source(estimator, part, y[there], whole=whole, weight=own)


def fit_source(
    estimator: Any, view: Any, y: NDArray[Any], *, whole: bool, weight: FloatArray | None = None
) -> FittedSource:
    """Train a copy of an estimator, and find out how its evidence is computed."""
    fitted = clone(estimator)
    fitted.fit(view, y, **fit_weights(fitted, weight))
    prior = training_prior(fitted, y, weight)
    floor = 1.0 / (len(y) + len(np.unique(y)))
    explainer = _explainer(fitted, view, whole, weight)
    if explainer is not None:
        names = explainer.component_names
    elif gives_evidence(fitted):
        names = weighed(own_evidence(fitted, rows_of_view(view, [0])))[0].component_names
    else:
        names = ("output",)
    return FittedSource(fitted, explainer, prior, floor, names)


def _explainer(fitted: Any, view: Any, whole: bool, weight: FloatArray | None) -> Explainer | None:
    if gives_evidence(fitted):
        return None
    try:
        return Explainer(fitted, view, "one" if whole else None, sample_weight=weight)
    except UnsupportedModelError:
        if not hasattr(fitted, "predict_proba"):
            raise
        return None


def _log_probabilities(estimator: Any, view: Any, floor: float) -> Evidence:
    """Return the logarithms of an estimator's probabilities as one component."""
    logs = np.log(np.clip(np.asarray(estimator.predict_proba(view)), floor, None))
    weights = logs - logs.mean(axis=1, keepdims=True)
    return Evidence.from_weights(weights[:, None, :], classes=estimator.classes_, names=["output"])
