"""Metrics of prediction sets: functions of arrays, and scikit-learn scorers that use them.

Sets are boolean (n, K), as ``ev.decide(rule)`` and ``clf.predict_set(X)`` return them. True classes
are labels; pass the classes in the order of the columns as ``labels=``. Models and Evidence are
unknown here. May import ``decision``, ``_checks``, ``_text`` and ``_typing``;
scikit-learn only when a scorer is asked for its metadata.
"""

from shafer.metrics.confusion import confusion_sets, set_confusion_matrix
from shafer.metrics.error_imprecision import error_imprecision_area, error_imprecision_curve
from shafer.metrics.group_coverage import GroupCoverage, coverage_by_group
from shafer.metrics.intervals import IntervalCalibration, interval_calibration
from shafer.metrics.rates import (
    coverage_score,
    mean_imprecision,
    mean_set_size,
    rejection_rate,
    set_error_rate,
    singleton_error_rate,
    singleton_rate,
)
from shafer.metrics.risk_coverage import (
    excess_risk_coverage_area,
    risk_coverage_area,
    risk_coverage_curve,
)
from shafer.metrics.scorers import SetScorer, set_scorer
from shafer.metrics.strata import (
    StratifiedCoverage,
    coverage_by_class,
    coverage_by_size,
    size_stratified_coverage_score,
    worst_class_coverage_score,
)
from shafer.metrics.utility import discounted_utility_score, u65_score, u80_score

__all__ = [
    "GroupCoverage",
    "IntervalCalibration",
    "SetScorer",
    "StratifiedCoverage",
    "confusion_sets",
    "coverage_by_class",
    "coverage_by_group",
    "coverage_by_size",
    "coverage_score",
    "discounted_utility_score",
    "error_imprecision_area",
    "error_imprecision_curve",
    "excess_risk_coverage_area",
    "interval_calibration",
    "mean_imprecision",
    "mean_set_size",
    "rejection_rate",
    "risk_coverage_area",
    "risk_coverage_curve",
    "set_confusion_matrix",
    "set_error_rate",
    "set_scorer",
    "singleton_error_rate",
    "singleton_rate",
    "size_stratified_coverage_score",
    "u65_score",
    "u80_score",
    "worst_class_coverage_score",
]
