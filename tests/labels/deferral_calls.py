"""Calls of deferral, and of conformal sets by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import shafer
from shafer import decision, metrics, plots

from .calls import covers
from .worlds import FEATURES, World

GROUPS = np.where(np.arange(len(FEATURES)) % 2, "left", "right")
FRAME = pd.DataFrame(FEATURES, columns=["p", "q", "r"]).assign(side=GROUPS)
PROMISE: dict[str, Any] = {"confidence": 0.7}


def _explainer(world: World) -> shafer.Explainer:
    inputs = FRAME.drop(columns="side")
    model = LogisticRegression(max_iter=500).fit(inputs, world.training_labels)
    return shafer.Explainer(model, inputs)


def _numbers(found: Any, world: World) -> list[Any]:
    place = {label: k for k, label in enumerate(world.classes)}
    return [found.deferred, found.scores, [place[label] for label in found.labels.tolist()]]


def _answered(found: Any, world: World) -> list[Any]:
    place = {label: k for k, label in enumerate(world.classes)}
    answers = [place[label] for label in found.classes[found.positions].tolist()]
    return [found.deferred, found.probability, answers]


@covers(
    "Explainer.answer",
    "Explainer.control_budget",
    "Explainer.control_error",
    "Explainer.predict_or_defer",
    "plots.DeferralDisplay.from_explainer",
    trains=True,
)
def deferring_explainer(world: World) -> list[Any]:
    explainer, y = _explainer(world), world.named(world.truth)
    n = world.n_classes
    table = 2.0 - np.eye(n) + np.arange(n)
    by_label = {
        a: dict(zip(world.given, row, strict=True))
        for a, row in zip(world.given, table, strict=True)
    }
    promises: list[dict[str, Any]] = [
        {"error": 0.3},
        {"false_negative_rate": 0.4, "class_": world.given[1]},
        {"mean_loss": float(table.mean()), "loss": table},
        {"mean_loss": float(table.mean()), "loss": by_label},
    ]
    found: list[Any] = []
    for promise in promises:
        explainer.control_error(FRAME, y, by="side", **promise, **PROMISE)
        found += _numbers(explainer.predict_or_defer(FRAME), world)
        display = plots.DeferralDisplay.from_explainer(explainer, FRAME, pd.Series(y))
        found += [curve.risk for curve in display.curves]
    np.testing.assert_array_equal(found[-10], found[-5])  # the same loss by label
    explainer.control_budget(FRAME, y, 0.3, by="side", **PROMISE)
    found += _numbers(explainer.predict_or_defer(FRAME), world)
    found += [list(explainer.promises.error_bound.values())]
    found += _answered(explainer.answer(FRAME, reasons=0), world)
    return found


@covers(
    "EvidentialClassifier.answer",
    "EvidentialClassifier.control_budget",
    "EvidentialClassifier.control_error",
    "EvidentialVotingClassifier.answer",
    "EvidentialVotingClassifier.control_budget",
    "EvidentialClassifier.predict_or_defer",
    "EvidentialVotingClassifier.control_error",
    "EvidentialVotingClassifier.predict_or_defer",
    trains=True,
)
def deferring_classifiers(world: World) -> list[Any]:
    y, found = world.named(world.truth), []
    voting = [("a", LogisticRegression(), [0, 1]), ("b", LogisticRegression(), [2])]
    for clf in (
        shafer.EvidentialClassifier(),
        shafer.EvidentialVotingClassifier(voting, tempering=None),
    ):
        clf.fit(FEATURES, world.training_labels)
        clf.control_error(FEATURES, y, 0.4, by=GROUPS, **PROMISE)
        found += _numbers(clf.predict_or_defer(FEATURES, by=GROUPS), world)
        found += _answered(clf.answer(FEATURES, reasons=0, by=GROUPS), world)
        clf.control_budget(FEATURES, y.tolist(), 0.2)
        found += _numbers(clf.predict_or_defer(FEATURES), world)
        clf.control_error(FEATURES, y.tolist(), recall=0.6, class_=world.given[0], **PROMISE)
        found += _numbers(clf.predict_or_defer(FEATURES), world)
    return found


@covers(
    "Explainer.predict_set",
    "EvidentialClassifier.predict_set",
    "EvidentialVotingClassifier.conformalize",
    "EvidentialVotingClassifier.predict_set",
    "decision.ConformalSets.sets",
    "decision.split_conformal",
    trains=True,
)
def sets_by_group(world: World) -> list[Any]:
    y, explainer = world.named(world.truth), _explainer(world)
    explainer.conformalize(FRAME, y, 0.6, by="side")
    clf = shafer.EvidentialClassifier().fit(FEATURES, world.training_labels)
    clf.conformalize(FEATURES, y, 0.6, by=GROUPS)
    scores = np.asarray(
        decision.conformal_scores(explainer.observe(FRAME[["p", "q", "r"]]).bet.pooled)
    )
    calibrated = decision.split_conformal(scores, y, coverage=0.6, classes=world.classes, by=GROUPS)
    voting = [("a", LogisticRegression(), [0, 1]), ("b", LogisticRegression(), [2])]
    both = shafer.EvidentialVotingClassifier(voting, tempering=None)
    both.fit(FEATURES, world.training_labels).conformalize(FEATURES, y, 0.6, by=GROUPS)
    found = [explainer.predict_set(FRAME), clf.predict_set(FEATURES, by=GROUPS)]
    found.append(both.predict_set(FEATURES, by=GROUPS))
    np.testing.assert_array_equal(calibrated.sets(scores, GROUPS), found[0])
    return found


@covers("metrics.coverage_by_group", "plots.DeferralDisplay.from_predictions")
def metrics_by_group(world: World) -> list[Any]:
    n = world.n_classes
    chosen = np.arange(len(FEATURES) * n).reshape(-1, n) % 3 > 0
    y = world.named(world.truth)
    found = metrics.coverage_by_group(y, chosen, GROUPS, labels=world.classes)
    answers = world.class_array[np.roll(world.truth, 5)]
    display = plots.DeferralDisplay.from_predictions(
        y, answers, FEATURES[:, 0], by=GROUPS, labels=world.classes
    )
    return [found.coverage, found.mean_size, *(curve.risk for curve in display.curves)]
