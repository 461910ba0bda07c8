"""Deferral with a promise: ``control_error`` finds thresholds, ``predict_or_defer`` uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import in_row_order
from shafer._checks.labels import label_positions
from shafer._typing import FloatArray, Label
from shafer.deferral.control import (
    DeferralControl,
    found_thresholds,
    warn_if_unreachable,
)
from shafer.deferral.prediction import DeferringPrediction, SureAnswers, sure_answers
from shafer.deferral.promise import Promise
from shafer.deferral.reasons import ReasonScale, row_measures
from shafer.explain.row_pass import RowPass
from shafer.rows.access import n_rows
from shafer.rows.groups import grouped_rows, rows_of_known_groups, warn_of_unknown_groups

if TYPE_CHECKING:
    from shafer.explain.predictor import Predictor


def control_error(
    predictor: Predictor, X: Any, y: Any, promise: Promise, by: Any
) -> DeferralControl:
    """Find the thresholds that keep a promise, from held-out rows; warn if there are none."""
    classes = predictor.classes
    if n_rows(X) == 0:
        raise ValueError(f"{promise.method} needs calibration rows; got none.")
    y = in_row_order(y, X)
    X, groups, column = grouped_rows(X, by, predictor.columns)
    seen = predictor.observe(X)
    answers = sure_answers(seen.bet, promise.loss, predictor.policy.cutoff)
    truth = label_positions(y, classes, len(answers.positions))
    _check_truth(truth, answers.positions, classes, promise.class_)
    found, names = found_thresholds(promise, answers, truth, classes, groups)
    control = DeferralControl(promise, found, names, column, ReasonScale({}))  # no reasons yet
    limits = control.thresholds(control.places(groups, len(truth)))
    rows = ReasonScale.rows(answers.scores, control.deferred(answers.scores, limits))
    scale = ReasonScale.of(_measured(seen, rows))
    control = DeferralControl(promise, found, names, column, scale)
    warn_if_unreachable(control)
    return control


def predict_or_defer(predictor: Predictor, X: Any, by: Any) -> DeferringPrediction:
    """Answer the rows that the promise allows, and defer the others."""
    control = predictor.promises.deferral
    if control is None:
        raise ValueError(
            "predict_or_defer needs a promise. Call control_error(X, y) first, on rows that "
            "were not used in training, or control_budget(X, y, share). If you did, temper or fit "
            "came after it and made other probabilities: call it again."
        )
    X, groups, _ = rows_of_known_groups(X, by, control, predictor.columns)
    return deferred_answers(predictor, control, predictor.observe(X), groups)


def deferred_answers(
    predictor: Predictor,
    control: DeferralControl,
    seen: RowPass,
    groups: NDArray[Any] | None,
    answers: SureAnswers | None = None,
) -> DeferringPrediction:
    """Answer rows after their pass through the model; ``groups`` has the group of each row."""
    classes = predictor.classes
    if answers is None:
        answers = sure_answers(seen.bet, control.promise.loss, predictor.policy.cutoff)
    places = control.places(groups, len(answers.scores))
    done = "Every row of an unknown group is deferred"
    warn_of_unknown_groups(groups, control.by, control.promise.method, done)
    limits = control.thresholds(places)
    deferred = control.deferred(answers.scores, limits)
    reason = control.group_reasons(places)
    unexplained = np.flatnonzero(deferred & (reason == ""))
    if len(unexplained):
        measured = _measured(seen, [int(row) for row in unexplained])
        reason[unexplained] = control.scale.reasons(measured, len(unexplained))
    return DeferringPrediction(
        labels=classes[answers.positions],
        deferred=deferred,
        reason=reason,
        probability=answers.probability,
        scores=answers.scores,
        thresholds=limits,
        by=groups,
        classes=classes,
        control=control,
        index=seen.bet.index,
    )


def _measured(seen: RowPass, rows: list[int]) -> dict[str, FloatArray]:
    """Measure some rows for reasons."""
    return row_measures(seen.plain[rows], seen.bet[rows], lambda: seen.typicality(rows))


def _check_truth(
    truth: NDArray[np.intp],
    answers: NDArray[np.intp],
    classes: NDArray[Any],
    class_: Label | None,
) -> None:
    """Refuse calibration rows that cannot be right."""
    present = [classes.tolist()[k] for k in np.unique(truth)]
    if len(present) == 1:
        raise ValueError(
            f"y must hold at least two classes; got only {present[0]!r}. Pass calibration rows of "
            "all kinds that will be predicted."
        )
    if class_ is not None and class_ not in present:
        raise ValueError(
            f"y has no row of class {class_!r}, so nothing can be promised about it. Pass "
            "calibration rows of this class."
        )
    if np.all(truth != answers):
        raise ValueError(
            f"All {len(truth)} answers of the model are wrong. Check that y belongs to these rows, "
            "and holds the labels used in training."
        )
