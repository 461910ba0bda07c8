"""A model with a threshold: every answer is the one that its users act on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.decision.policy import Cutoff, answers
from shafer.errors import UnsupportedModelError

THRESHOLDS = (0.05, 0.2, 0.5, 0.7, 0.95)
HEART = shafer.datasets.load_heart()
X = pd.DataFrame(HEART.data, columns=HEART.feature_names)
Y = HEART.target_names[HEART.target]
FIT, CAL, NEW = slice(0, 200), slice(200, 331), slice(331, None)


def logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression())


def fixed(threshold: float, inner: Any = None, **options: Any) -> Any:
    inner = logistic() if inner is None else inner
    options = {"pos_label": HEART.target_names[1], **options}
    return FixedThresholdClassifier(inner, threshold=threshold, **options).fit(X[FIT], Y[FIT])


@pytest.mark.parametrize("inner", [logistic(), GaussianNB(), HistGradientBoostingClassifier()])
@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_answers_are_those_of_the_model(threshold: float, inner: Any) -> None:
    for pos_label in HEART.target_names:
        model = fixed(threshold, inner, pos_label=pos_label)
        explainer = shafer.Explainer(model, X[FIT])
        explainer.control_error(X[CAL], Y[CAL], error=0.45)
        own = model.predict(X[NEW])
        assert_array_equal(explainer.predict(X[NEW]), own)
        assert_array_equal(explainer.decide(X[NEW]), own)
        assert_array_equal(explainer.predict_or_defer(X[NEW]).labels, own)
        stated = shafer.Explainer(model.estimator_, X[FIT], threshold={pos_label: threshold})
        assert_array_equal(stated.predict(X[NEW]), own)


def test_a_threshold_on_log_odds_and_a_tuned_one() -> None:
    model = fixed(-1.2, response_method="decision_function")
    assert_array_equal(shafer.Explainer(model, X[FIT]).predict(X[NEW]), model.predict(X[NEW]))
    tuned = TunedThresholdClassifierCV(logistic(), scoring="balanced_accuracy").fit(X[FIT], Y[FIT])
    explainer = shafer.Explainer(tuned, X[FIT])
    assert_array_equal(explainer.predict(X[NEW]), tuned.predict(X[NEW]))
    assert explainer.policy.cutoff == Cutoff(float(tuned.best_threshold_), 1)


@pytest.mark.parametrize("options", [{}, {"temper": 0.7}, {"moderate": "laplace"}, {"guard": True}])
def test_classifiers_answer_by_the_threshold(options: dict[str, Any]) -> None:
    clf = shafer.EvidentialClassifier(logistic(), threshold={"chd": 0.2}, **options).fit(
        X[FIT], Y[FIT]
    )
    clf.control_error(X[CAL], Y[CAL], error=0.45)
    positive = clf.predict_proba(X[NEW])[:, list(clf.classes_).index("chd")] >= 0.2
    assert_array_equal(clf.predict(X[NEW]), np.where(positive, "chd", "no"))
    assert_array_equal(clf.predict_or_defer(X[NEW]).labels, clf.predict(X[NEW]))
    assert (clf.predict(X[NEW], "plausibility") != clf.predict(X[NEW])).any()
    wrapped = shafer.EvidentialClassifier(fixed(0.2), **options).fit(X[FIT], Y[FIT])
    assert_array_equal(wrapped.predict(X[NEW]), clf.predict(X[NEW]))


def test_the_promise_is_about_the_answers_of_the_model() -> None:
    """Over many calibration sets, the error of decided answers keeps the promise."""
    data, truth = make_classification(12000, n_informative=4, class_sep=1.5, random_state=3)
    inner = LogisticRegression(max_iter=1000)
    model = FixedThresholdClassifier(inner, threshold=0.2, pos_label=1).fit(
        data[:1000], truth[:1000]
    )
    explainer = shafer.Explainer(model, data[:1000])
    pool, fresh = np.arange(1000, 6000), slice(6000, None)
    own = model.predict(data[fresh])
    random, kept = np.random.default_rng(0), []
    for _ in range(200):
        rows = random.choice(pool, 400, replace=False)
        explainer.control_error(data[rows], truth[rows], error=0.15)
        found = explainer.predict_or_defer(data[fresh])
        assert_array_equal(found.labels, own)
        wrong = (own != truth[fresh])[~found.deferred]
        kept.append(not len(wrong) or wrong.mean() <= 0.15)
    assert np.mean(kept) >= 0.87  # 90 % promised; 200 sets from one pool of 5,000 rows


def test_overturn_is_about_the_answer() -> None:
    """Against simulation: draw the missing inputs, and answer by the threshold."""
    random = np.random.default_rng(0)
    mixing = random.normal(size=(4, 4))
    data = random.normal(size=(4000, 4)) @ mixing
    coef, intercept, threshold = np.array([0.8, -0.6, 0.5, 0.3]), -0.4, 0.2
    explainer = shafer.Explainer((coef, intercept), data, threshold=threshold)
    rows = data[:40].copy()
    rows[:, 1:3] = np.nan
    found = explainer.ask.overturn(rows)
    mean, covariance = data.mean(axis=0), np.cov(data.T)
    known, gone = [0, 3], [1, 2]
    gain = covariance[np.ix_(gone, known)] @ np.linalg.inv(covariance[np.ix_(known, known)])
    rest = covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(known, gone)]
    cut = np.log(threshold / (1 - threshold))
    for row, chance in zip(data[:40], found, strict=True):
        centre = mean[gone] + gain @ (row[known] - mean[known])
        expected = row[known] @ coef[known] + centre @ coef[gone] + intercept
        drawn = random.multivariate_normal(centre, rest, 20000) @ coef[gone]
        drawn = drawn + row[known] @ coef[known] + intercept
        simulated = np.mean((drawn >= cut) != (expected >= cut))
        assert_allclose(chance, simulated, atol=0.02)


def test_fragility_is_about_the_answer() -> None:
    weights = np.array([[[-0.9, 0.9], [0.4, -0.4], [-0.1, 0.1]]])
    ev = shafer.Evidence.from_weights(weights, classes=["no", "yes"])
    for threshold in THRESHOLDS:
        cut = np.log(threshold / (1 - threshold))
        odds, q, expected = (weights[0, :, 1] - weights[0, :, 0]), 0.3, 0.0
        answer = odds.sum() >= cut
        for kept in np.ndindex(2, 2, 2):
            chance = np.prod([1 - q if k else q for k in kept])
            expected += chance * ((odds @ np.array(kept) >= cut) != answer)
        found = replace(ev, cutoff=Cutoff(threshold)).fragility(q)
        assert_allclose(found, [expected], atol=1e-12)


def test_reasons_are_for_the_answer() -> None:
    explainer = shafer.Explainer(fixed(0.2).estimator_, X[FIT], threshold={"chd": 0.2})
    ev, answered = explainer(X[NEW]), explainer.predict(X[NEW])
    plain = shafer.Explainer(fixed(0.2).estimator_, X[FIT])(X[NEW])
    moved = np.flatnonzero(answered != plain.classes[plain.probability.argmax(axis=1)])
    assert len(moved) > 5
    for row in moved[:5].tolist():
        ours = ev[row].reasons(top=2)
        theirs = plain[row].reasons(class_=answered[row], top=2)
        pd.testing.assert_frame_equal(ours, theirs)


def test_a_monitor_counts_the_answers_that_moved() -> None:
    shifted = X[NEW].assign(ldl=X[NEW]["ldl"] + 4.0)
    counts = {}
    for threshold in (None, 0.2):
        stated = None if threshold is None else {"chd": threshold}
        explainer = shafer.Explainer(fixed(0.2).estimator_, X[FIT], threshold=stated)
        report = shafer.Monitor.fit(explainer, X[CAL]).check(shifted)
        counts[threshold] = report.decisions_moved
    assert 0 < counts[0.2] != counts[None]


def test_a_monitor_counts_as_by_hand() -> None:
    """Columns moved by a constant: ``model.predict`` shows what putting them back changes."""
    usual, moves = X[CAL], {"ldl": 3.0, "age": 12.0}
    batch = usual.assign(**{name: usual[name] + by for name, by in moves.items()})
    for label in HEART.target_names:
        model = fixed(0.3, pos_label=label)
        report = shafer.Monitor.fit(shafer.Explainer(model, X[FIT]), usual).check(batch)
        assert set(report.moved) == set(moves)
        now = model.predict(batch)
        for name, count in report.component_decisions.items():
            assert count == (model.predict(batch.assign(**{name: usual[name]})) != now).sum() > 0
        assert report.decisions_moved == (model.predict(usual) != now).sum() > 0
        # The numbers are about the class of the threshold.
        assert {check.class_ for check in report.checks if check.kind == "component"} == {label}
        assert any(check.name == f"probability of {label}" for check in report.checks)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_monitor_counts_as_for_a_model_with_a_shifted_intercept(threshold: float) -> None:
    """The same answers without a threshold: every decision that moved is counted, no other."""
    random = np.random.default_rng(5)
    data, coef = random.normal(size=(600, 3)), np.array([1.0, -0.7, 0.4])
    cut = np.log(threshold / (1 - threshold))
    counts = []
    for intercept, stated in ((0.2, threshold), (0.2 - cut, None)):
        explainer = shafer.Explainer((coef, intercept), data, threshold=stated, prior="own")
        report = shafer.Monitor.fit(explainer, data[:300]).check(data[300:] + np.array([0.9, 0, 0]))
        counts.append((report.moved, report.decisions_moved))
    assert counts[0] == counts[1]
    assert counts[0][0]


def test_overturn_is_about_the_answer_of_predict() -> None:
    """Far from one half a gap may decide: most values of the input then change the answer."""
    random = np.random.default_rng(1)
    data = random.normal(size=(2000, 2))
    explainer = shafer.Explainer(
        ([1.0, 6.0], -1.6), data, threshold=0.2, missing="conditional", prior="own"
    )
    rows = np.column_stack([np.linspace(-2.5, 2.5, 11), np.full(11, np.nan)])
    now = explainer.predict(rows)
    drawn = random.normal(size=20000)
    simulated = [
        np.mean(explainer.predict(np.column_stack([np.full(20000, u), drawn])) != answer)
        for u, answer in zip(rows[:, 0], now, strict=True)
    ]
    found = explainer.ask.overturn(rows)
    assert_allclose(found, simulated, atol=0.03)  # the background's mean and spread are estimates
    assert (found > 0.5).any()
    table = explainer.ask.next_inputs(rows)
    assert_allclose(table["overturn"], found, atol=1e-9)


def test_files_keep_a_threshold_that_was_searched(tmp_path: Path) -> None:
    """Without the function of the search; also of a positive class that is the first."""
    for label in HEART.target_names:
        score = make_scorer(f1_score, pos_label=label)
        tuned = TunedThresholdClassifierCV(logistic(), scoring=score, cv=2, thresholds=20)
        shafer.Explainer(tuned.fit(X[FIT], Y[FIT]), X[FIT]).save(tmp_path / "tuned.shafer")
        again = shafer.Explainer.load(tmp_path / "tuned.shafer")
        assert again.policy.cutoff == shafer.Explainer(tuned, X[FIT]).policy.cutoff
        assert_array_equal(again.predict(X[NEW]), tuned.predict(X[NEW]))
        assert type(again.model).__name__ == "FixedThresholdClassifier"


@pytest.mark.parametrize("frozen", [False, True])
def test_a_threshold_around_a_trained_model(frozen: bool) -> None:
    """scikit-learn lets such a wrapper predict without a call of ``fit``."""
    inside = logistic().fit(X[FIT], Y[FIT])
    model = FixedThresholdClassifier(FrozenEstimator(inside) if frozen else inside, threshold=0.2)
    assert_array_equal(shafer.Explainer(model, X[FIT]).predict(X[NEW]), model.predict(X[NEW]))


def test_files_keep_the_threshold(tmp_path: Path) -> None:
    inner = fixed(0.2)
    for number, made in enumerate(
        [
            shafer.Explainer(inner.estimator_, X[FIT], threshold={"chd": 0.2}),
            shafer.Explainer(inner, X[FIT]),
            shafer.EvidentialClassifier(logistic(), threshold={"chd": 0.2}).fit(X[FIT], Y[FIT]),
        ]
    ):
        made.save(tmp_path / f"{number}.shafer")
        again = type(made).load(tmp_path / f"{number}.shafer")
        assert again.policy == made.policy
        assert_array_equal(again.predict(X[NEW]), inner.predict(X[NEW]))


def test_ties_give_the_positive_class() -> None:
    """As in scikit-learn: a probability equal to the threshold is enough, up to rounding."""
    for threshold in np.linspace(0.01, 0.99, 99):
        half = 0.5 * np.log(threshold / (1 - threshold))
        for position, logits in ((1, [-half, half]), (0, [half, -half])):
            noisy = np.array([logits]) * (1 + np.array([[3e-16], [-3e-16]]))
            assert (answers(noisy, Cutoff(threshold, position)) == position).all()
    grades = pd.DataFrame({"grade": list("ababab" * 10)})
    model = make_pipeline(OneHotEncoder(), LogisticRegression())
    model.fit(grades, (np.arange(60) % 4 == 0).astype(int))
    at = float(model.predict_proba(grades[:1])[0, 1])
    tied = FixedThresholdClassifier(model, threshold=at, pos_label=1).fit(
        grades, (np.arange(60) % 4 == 0).astype(int)
    )
    explainer = shafer.Explainer(tied, grades)
    for rows in (grades, grades[:1], grades[:7]):
        assert_array_equal(explainer.predict(rows), tied.predict(rows))


@pytest.mark.parametrize("threshold", [0.0, 1.0, -0.1, 1.5, np.nan, "half", True, {0: 0.2, 1: 1}])
def test_wrong_thresholds(threshold: Any) -> None:
    with pytest.raises(ValueError, match="threshold must"):
        shafer.Explainer(([1.0, 2.0], 0.0), np.eye(2), threshold=threshold)


def test_thresholds_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="threshold needs two classes; the model has 3"):
        shafer.Explainer((np.eye(3), np.zeros(3)), np.eye(3), threshold=0.2)
    with pytest.raises(ValueError, match="Unknown class label"):
        shafer.Explainer(([1.0, 2.0], 0.0), np.eye(2), threshold={"ill": 0.2})
    with pytest.raises(UnsupportedModelError, match="gives all rows one answer"):
        shafer.Explainer(fixed(1.5), X[FIT])


def test_predictions_that_are_no_threshold_are_refused() -> None:
    class Moody(FixedThresholdClassifier):
        def predict(self, X: Any) -> Any:
            return super().predict(X)[::-1]

    data, truth = load_breast_cancer(return_X_y=True)
    model = Moody(make_pipeline(StandardScaler(), LogisticRegression()), threshold=0.3)
    model.fit(data, truth)
    with pytest.raises(UnsupportedModelError, match="threshold|overrid|predict"):
        shafer.Explainer(model, data)
