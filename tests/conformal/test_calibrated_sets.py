"""Conformal sets of a classifier and of an explainer: fit, temper, conformalize, predict_set."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import shafer
from shafer.decision import conformal_scores, split_conformal

X, Y = load_digits(return_X_y=True)
X = X / 16
TRAIN, REST, Y_TRAIN, Y_REST = train_test_split(X, Y, train_size=0.2, random_state=0, stratify=Y)
CAL, TEST, Y_CAL, Y_TEST = train_test_split(REST, Y_REST, train_size=0.5, random_state=0)


def _covered(sets: np.ndarray, y: np.ndarray) -> float:
    return float(sets[np.arange(len(y)), y].mean())


@pytest.fixture
def clf() -> shafer.EvidentialClassifier:
    inner = LogisticRegression(C=0.01, max_iter=1000)
    return shafer.EvidentialClassifier(inner, groups="one", temper="cv").fit(TRAIN, Y_TRAIN)


@pytest.mark.parametrize("score", ["plausibility", "dominance"])
@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_sets_cover_as_promised(clf, score: str, coverage: float) -> None:
    sets = clf.conformalize(CAL, Y_CAL, coverage, score=score).predict_set(TEST)
    assert sets.dtype == bool
    assert sets.shape == (len(TEST), 10)
    assert _covered(sets, Y_TEST) == pytest.approx(coverage, abs=0.04)
    scores = conformal_scores(clf.evidence(CAL).pooled, score)
    by_hand = split_conformal(scores, Y_CAL, coverage=coverage, score=score)
    assert clf.conformal_.threshold == by_hand.threshold


def test_a_rule_still_means_that_rule(clf) -> None:
    before = clf.predict_set(TEST, rule="interval_dominance")
    default = clf.predict_set(TEST, clf.policy.rule_of_sets({}))
    clf.conformalize(CAL, Y_CAL)
    assert (clf.predict_set(TEST, rule="interval_dominance") == before).all()
    assert (clf.predict_set(TEST) != default).any()
    utility = clf.evidence(TEST).decide("utility_set")
    assert (default == utility).all()
    cautious, bold = (
        clf.predict_set(TEST, rule="utility_set", tolerance=utility).sum(axis=1)
        for utility in ("u80", "u65")
    )
    assert (cautious >= bold).all()
    assert (cautious > bold).any()


@pytest.mark.parametrize("kind", ["explainer", "classifier", "voting"])
def test_sets_are_calibrated_sets(kind: str) -> None:
    model = LogisticRegression(max_iter=1000)
    if kind == "voting":
        sources = [("a", model, slice(0, 30)), ("b", model, slice(30, 64))]
        made = shafer.EvidentialVotingClassifier(sources, tempering=None)
    else:
        made = shafer.EvidentialClassifier(model)
    made = made.fit(TRAIN, Y_TRAIN)
    made = made.explainer_ if kind == "explainer" else made
    with pytest.raises(ValueError, match=r"Call conformalize\(X, y\).*decide\(X, rule="):
        made.predict_set(TEST)
    by_rule = made.predict_set(TEST[:5], "interval_dominance")
    assert made.decide(TEST[:5], rule="interval_dominance").tolist() == [
        tuple(made.classes[row].tolist()) for row in by_rule
    ]
    assert made.conformalize(CAL, Y_CAL).predict_set(TEST).shape == (len(TEST), 10)
    if kind == "explainer":
        made.temper(CAL, Y_CAL)
        with pytest.raises(ValueError, match="again, after temper or fit"):
            made.predict_set(TEST)


def test_each_class_is_covered_when_asked(clf) -> None:
    clf.conformalize(CAL, Y_CAL, 0.9, class_conditional=True)
    sets = clf.predict_set(TEST)
    assert clf.conformal_.threshold.shape == (10,)
    assert min(_covered(sets[k == Y_TEST], Y_TEST[k == Y_TEST]) for k in range(10)) > 0.8


def test_every_row_calibrates_with_folds() -> None:
    clf = shafer.EvidentialClassifier(LogisticRegression(C=0.01, max_iter=1000), groups="one")
    clf.fit(TRAIN, Y_TRAIN).conformalize(TRAIN, Y_TRAIN, 0.9, cv=4)
    sets = clf.predict_set(TEST)
    assert len(clf.promises.folds) == 4
    assert 0.87 < _covered(sets, Y_TEST) < 0.97
    with pytest.raises(ValueError, match="cv must be a whole number of folds ≥ 2; got 1"):
        clf.conformalize(TRAIN, Y_TRAIN, cv=1)


def test_fitting_again_forgets_the_calibration(clf) -> None:
    clf.conformalize(CAL, Y_CAL)
    clf.fit(TRAIN, Y_TRAIN)
    assert clf.conformal_ is None
    with pytest.raises(ValueError, match="Call conformalize"):
        clf.predict_set(TEST)


def test_on_a_model_trained_elsewhere() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HistGradientBoostingClassifier(max_iter=10).fit(TRAIN, Y_TRAIN)
    explainer = shafer.Explainer(model, TRAIN, "one")
    half = len(CAL) // 2
    explainer.temper(CAL[:half], Y_CAL[:half]).conformalize(CAL[half:], Y_CAL[half:])
    assert _covered(explainer.predict_set(TEST), Y_TEST) == pytest.approx(0.9, abs=0.05)
    explainer.temper(CAL, Y_CAL)
    assert explainer.conformal is None  # it belonged to other weights


def test_discounted_evidence_is_calibrated_by_what_is_bet_on() -> None:
    inner = LogisticRegression(C=0.01, max_iter=1000)
    both = []
    for moderate in ("laplace", "laplace+discount"):
        clf = shafer.EvidentialClassifier(inner, "one", temper=2.0, moderate=moderate)
        both.append(clf.fit(TRAIN, Y_TRAIN).conformalize(CAL, Y_CAL).predict_set(TEST))
    assert (both[0] == both[1]).all()


def test_wrong_calibration_rows_are_refused(clf) -> None:
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \[11\] in y; the classes are"):
        clf.conformalize(CAL, np.where(Y_CAL == 3, 11, Y_CAL))
    with pytest.raises(ValueError, match="one label for each of"):
        clf.conformalize(CAL, Y_CAL[:-1])
    with pytest.raises(ValueError, match="coverage must be a number between 0 and 1"):
        clf.conformalize(CAL, Y_CAL, 90)
    with pytest.raises(ValueError, match="Unknown class label"):
        clf.explainer_.temper(CAL, np.full(len(CAL), "a"))


def test_folds_without_one_of_the_classes(clf) -> None:
    few = Y_TRAIN != 7
    clf.conformalize(TRAIN[few], Y_TRAIN[few], 0.9, cv=4)
    assert all(len(explainer.classes) == 9 for explainer in clf.promises.folds)
    others = Y_TEST != 7
    sets = clf.predict_set(TEST)
    assert sets.shape == (len(TEST), 10)
    assert not sets[:, 7].any()
    assert 0.87 < _covered(sets[others], Y_TEST[others]) < 0.98
    with pytest.warns(UserWarning, match="7"):  # too few rows of this class
        clf.conformalize(TRAIN[few], Y_TRAIN[few], 0.9, cv=4, class_conditional=True)
    assert clf.predict_set(TEST)[:, 7].all()


def test_folds_name_what_needs_them(clf) -> None:
    with pytest.raises(ValueError, match=r"conformalize\(cv=\) needs at least 2 rows of every"):
        clf.conformalize(TRAIN[:3], [0, 1, 2], cv=2)
    with pytest.raises(ValueError, match="Unknown class label.*11.* in y"):
        clf.conformalize(TRAIN, np.where(Y_TRAIN == 3, 11, Y_TRAIN), cv=2)
