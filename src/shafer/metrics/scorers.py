"""scikit-learn scorers of prediction sets, for ``cross_val_score`` and ``GridSearchCV``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, Self, final

import numpy as np

from shafer._checks.frames import in_row_order
from shafer.metrics.error_imprecision import error_imprecision_area
from shafer.metrics.rates import (
    coverage_score,
    mean_imprecision,
    mean_set_size,
    rejection_rate,
    set_error_rate,
    singleton_error_rate,
    singleton_rate,
)
from shafer.metrics.risk_coverage import excess_risk_coverage_area, risk_coverage_area
from shafer.metrics.strata import size_stratified_coverage_score, worst_class_coverage_score
from shafer.metrics.utility import discounted_utility_score, u65_score, u80_score


def _of_size(function: Callable[..., float]) -> Callable[..., float]:
    """Return a metric of the sets alone, with the arguments of the other metrics."""

    # Every metric is called with labels. The size of a set does not depend on them.
    def score(_y_true: Any, y_set: Any, *, labels: Any, sample_weight: Any) -> float:  # noqa: ARG001
        return function(y_set, sample_weight=sample_weight)

    return score


def _selective(function: Callable[..., float]) -> Callable[..., float]:
    """Return a metric of the most probable class, with its probability as the confidence."""

    def score(y_true: Any, y_score: Any, *, labels: Any, sample_weight: Any) -> float:
        predicted = np.asarray(labels)[np.argmax(y_score, axis=1)]
        confidence = np.max(y_score, axis=1)
        return function(y_true, predicted, confidence, labels=labels, sample_weight=sample_weight)

    return score


class _Metric(NamedTuple):
    """A function of true classes and predictions, its sign, and the names of its options."""

    function: Callable[..., float]
    sign: int  # −1 where smaller is better
    options: tuple[str, ...] = ()
    of_sets: bool = True  # else of probabilities


_METRICS: MappingProxyType[str, _Metric] = MappingProxyType(
    {
        "u65": _Metric(u65_score, 1),
        "u80": _Metric(u80_score, 1),
        "discounted_utility": _Metric(discounted_utility_score, 1, ("utility",)),
        "coverage": _Metric(coverage_score, 1),
        "size_stratified_coverage": _Metric(size_stratified_coverage_score, 1, ("bins",)),
        "worst_class_coverage": _Metric(worst_class_coverage_score, 1),
        "set_error": _Metric(set_error_rate, -1),
        "singleton_error": _Metric(singleton_error_rate, -1),
        "mean_set_size": _Metric(_of_size(mean_set_size), -1),
        "mean_imprecision": _Metric(_of_size(mean_imprecision), -1),
        "singleton_rate": _Metric(_of_size(singleton_rate), 1),
        "rejection_rate": _Metric(_of_size(rejection_rate), -1),
        "error_imprecision_area": _Metric(error_imprecision_area, -1, (), False),
        "risk_coverage_area": _Metric(_selective(risk_coverage_area), -1, (), False),
        "excess_risk_coverage_area": _Metric(_selective(excess_risk_coverage_area), -1, (), False),
    }
)


@final
@dataclass(frozen=True, repr=False)
class SetScorer:
    """A scorer made by :func:`set_scorer`: a function of estimator, X and y that can be pickled.

    Attributes
    ----------
    metric : str
    rule : str or None
    options : mapping of str to any
    weighted : bool or None
        Whether the scorer requests ``sample_weight`` from scikit-learn's metadata routing. With
        None, scikit-learn refuses sample weights.

    See Also
    --------
    set_scorer : Makes one.

    Examples
    --------
    >>> from shafer.metrics import set_scorer
    >>> scorer = set_scorer("coverage", "interval_dominance")
    >>> scorer.metric, scorer.rule
    ('coverage', 'interval_dominance')
    """

    metric: str
    rule: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    weighted: bool | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score. Greater is better, so sizes and errors have a minus sign.

        Parameters
        ----------
        estimator : fitted classifier
            With ``predict_set``, or ``predict_proba`` for a metric of probabilities.
        X : as the estimator takes it
            The rows.
        y : array of shape (n,)
            Their classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        y, sample_weight = in_row_order(y, X), in_row_order(sample_weight, X, "sample_weight")
        metric = _METRICS[self.metric]
        own = {name: self.options[name] for name in metric.options if name in self.options}
        predicted = self._sets(estimator, X) if metric.of_sets else estimator.predict_proba(X)
        value = metric.function(
            y, predicted, labels=estimator.classes_, sample_weight=sample_weight, **own
        )
        return metric.sign * value

    def _sets(self, estimator: Any, X: Any) -> Any:
        # GridSearchCV passes on scikit-learn's own methods only, so use the estimator it found.
        found = getattr(estimator, "best_estimator_", estimator)
        predict_set = getattr(found, "predict_set", None)
        if predict_set is None:
            raise TypeError(
                f"{self!r} needs an estimator with predict_set; got {type(estimator).__name__}. "
                "Wrap it: shafer.EvidentialClassifier(estimator), around a whole pipeline too."
            )
        known = _METRICS[self.metric].options
        passed = {name: value for name, value in self.options.items() if name not in known}
        if self.rule is not None:
            passed["rule"] = self.rule
        return predict_set(X, **passed)

    def set_score_request(self, *, sample_weight: bool | None = None) -> Self:
        """Return a scorer that requests sample weights from metadata routing, or does not.

        Parameters
        ----------
        sample_weight : bool, optional
            Whether to request them.

        Returns
        -------
        SetScorer
        """
        return replace(self, weighted=sample_weight)

    def get_metadata_routing(self) -> Any:
        """Return the metadata request of this scorer, for scikit-learn.

        Returns
        -------
        MetadataRequest
        """
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.weighted)
        return request

    def __repr__(self) -> str:
        parts = [repr(self.metric)]
        parts += [] if self.rule is None else [f"rule={self.rule!r}"]
        parts += [f"{name}={value!r}" for name, value in self.options.items()]
        weights = (
            "" if self.weighted is None else f".set_score_request(sample_weight={self.weighted})"
        )
        return f"set_scorer({', '.join(parts)}){weights}"


def set_scorer(metric: str, rule: str | None = None, **options: Any) -> SetScorer:
    """Return a scikit-learn scorer for a metric of prediction sets.

    The scorer calls ``estimator.predict_set(X)`` and compares the sets with ``y``; the labels are
    ``estimator.classes_``. As always in scikit-learn, greater is better: errors, sizes and areas
    have a minus sign.

    =============================  ==================================================
    metric                         function
    =============================  ==================================================
    "u65", "u80"                   :func:`u65_score`, :func:`u80_score`
    "discounted_utility"           :func:`discounted_utility_score`, with ``utility=``
    "coverage"                     :func:`coverage_score`
    "size_stratified_coverage"     :func:`size_stratified_coverage_score`, ``bins=``
    "worst_class_coverage"         :func:`worst_class_coverage_score`
    "set_error"                    minus :func:`set_error_rate`
    "singleton_error"              minus :func:`singleton_error_rate`
    "mean_set_size"                minus :func:`mean_set_size`
    "mean_imprecision"             minus :func:`mean_imprecision`
    "singleton_rate"               :func:`singleton_rate`
    "rejection_rate"               minus :func:`rejection_rate`
    "error_imprecision_area"       minus :func:`error_imprecision_area`
    "risk_coverage_area"           minus :func:`risk_coverage_area`
    "excess_risk_coverage_area"    minus :func:`excess_risk_coverage_area`
    =============================  ==================================================

    The areas are computed from ``predict_proba``, with the largest probability as the confidence.
    Coverage, sizes and rejection each measure only one side of a trade-off. To select a model, use
    a utility or an area.

    Parameters
    ----------
    metric : str
        One of the names above.
    rule : str, optional
        Decision rule, passed to ``predict_set``. Without it the sets are those of
        ``conformalize``.
    **options
        ``utility`` and ``bins`` are passed to the metric, all others to ``predict_set``.

    Returns
    -------
    SetScorer
        Called as ``scorer(estimator, X, y, sample_weight=None)``.

    See Also
    --------
    SetScorer : What it returns.
    coverage_score : One of the metrics.

    Examples
    --------
    >>> import shafer
    >>> from shafer.metrics import set_scorer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = shafer.EvidentialClassifier(groups="one")
    >>> scorer = set_scorer("u65", rule="interval_dominance")
    >>> scorer
    set_scorer('u65', rule='interval_dominance')
    >>> scores = cross_val_score(clf, X[:, :2], y, scoring=scorer, cv=3)
    >>> bool(scores.min() > 0.6)
    True
    """
    if metric not in _METRICS:
        raise ValueError(f"metric must be one of {', '.join(map(repr, _METRICS))}; got {metric!r}.")
    if not _METRICS[metric].of_sets and (rule is not None or options):
        raise ValueError(
            f"{metric!r} is computed from probabilities and takes no rule and no options; "
            f"got rule={rule!r} and options {sorted(options)}. Remove them."
        )
    return SetScorer(metric, rule, options)
