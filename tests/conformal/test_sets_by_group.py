"""conformalize and predict_set with groups, on explainers and classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.metrics import coverage_by_group

RANDOM = np.random.default_rng(0)
N = 3000
X = RANDOM.normal(size=(N, 3))
SITE = RANDOM.choice(["calm", "noisy"], N, p=[0.7, 0.3])
CHANCE = 1 / (1 + np.exp(-3.0 * X @ [1.0, -1.0, 0.5] * np.where(SITE == "noisy", 0.2, 1.0)))
Y = np.where(RANDOM.random(N) < CHANCE, "yes", "no")
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
SITED = FRAME.assign(site=SITE)
TRAIN, CAL, TEST = slice(0, 500), slice(500, 1500), slice(1500, None)


SOURCES = [("x", LogisticRegression(), ["a", "b"]), ("y", LogisticRegression(), ["c"])]
CLASSIFIERS: dict[str, Any] = {
    "classifier": shafer.EvidentialClassifier(),
    "guarded": shafer.EvidentialClassifier(guard=True),
    "voting": shafer.EvidentialVotingClassifier(SOURCES),
    "without weights": shafer.EvidentialVotingClassifier(
        SOURCES, tempering=None, reliability={"x": 1.0, "y": 0.9}
    ),
}


@pytest.fixture(params=["explainer", *CLASSIFIERS])
def model(request: pytest.FixtureRequest) -> Any:
    if request.param == "explainer":
        return shafer.Explainer(LogisticRegression().fit(FRAME[TRAIN], Y[TRAIN]), FRAME[TRAIN])
    return clone(CLASSIFIERS[request.param]).fit(FRAME[TRAIN], Y[TRAIN])


def test_each_group_is_covered(model: shafer.Explainer) -> None:
    """One threshold for all covers the noisy site too seldom; one for each covers both."""
    model.conformalize(FRAME[CAL], Y[CAL], 0.9)
    together = coverage_by_group(
        Y[TEST], model.predict_set(FRAME[TEST]), SITE[TEST], labels=["no", "yes"]
    )
    model.conformalize(SITED[CAL], Y[CAL], 0.9, by="site")
    sets = model.predict_set(SITED[TEST])
    apart = coverage_by_group(Y[TEST], sets, SITE[TEST], labels=["no", "yes"])
    assert together.by == apart.by == ("calm", "noisy")
    assert together.upper[1] < 0.9
    # The coverage varies with the calibration rows as well as with the test rows.
    n_calibration = np.array([(SITE[CAL] == name).sum() for name in apart.by])
    deviation = np.sqrt(0.9 * 0.1 * (1 / n_calibration + 1 / apart.n))
    assert (np.abs(apart.coverage - 0.9) < 3 * deviation).all()
    assert_array_equal(model.predict_set(pl.from_pandas(SITED[TEST])), sets)
    assert_array_equal(model.predict_set(FRAME[TEST], by=SITE[TEST]), sets)
    with pytest.warns(UserWarning, match="was not given: .'new'.*Their sets hold all classes"):
        assert model.predict_set(SITED[TEST].assign(site="new")).all()


def test_group_and_class(model: shafer.Explainer) -> None:
    model.conformalize(FRAME[CAL], Y[CAL], 0.9, by=SITE[CAL], class_conditional=True)
    sets = model.predict_set(FRAME[TEST], by=SITE[TEST])
    for label in ("no", "yes"):
        rows = Y[TEST] == label
        found = coverage_by_group(
            Y[TEST][rows], sets[rows], SITE[TEST][rows], labels=["no", "yes"], confidence=0.99
        )
        assert (found.upper > 0.9).all()
    with pytest.raises(ValueError, match="Pass by="):
        model.predict_set(FRAME[TEST])
    with pytest.raises(ValueError, match="no calibration by group"):
        model.predict_set(FRAME[TEST], "interval_dominance", by=SITE[TEST])


def test_small_groups_and_folds(model: shafer.Explainer) -> None:
    few = np.where(np.arange(1000) < 4, "few", "many")
    with pytest.warns(UserWarning, match=r"'few' \(4\); every set there will hold all classes"):
        model.conformalize(FRAME[CAL], Y[CAL], by=few)
    assert model.predict_set(FRAME[:5], by=["few"] * 5).all()
    if isinstance(model, shafer.EvidentialClassifier):
        with pytest.raises(ValueError, match="by needs held-out rows; got cv as well"):
            model.conformalize(FRAME[TRAIN], Y[TRAIN], cv=3, by=SITE[TRAIN])


def test_scores_of_combined_evidence() -> None:
    """Without weights, the plausibility score is the log-odds of the plausibility itself."""
    clf = clone(CLASSIFIERS["without weights"]).fit(FRAME[TRAIN], Y[TRAIN])
    with pytest.raises(ValueError, match="score='dominance' needs evidence with weights"):
        clf.conformalize(FRAME[CAL], Y[CAL], score="dominance")
    clf.conformalize(FRAME[CAL], Y[CAL], 0.9)
    plausibility = clf.evidence(FRAME[TEST]).plausibility
    floor = clf.conformal_.plausibility_floor
    assert_array_equal(clf.predict_set(FRAME[TEST]), plausibility >= floor)
    again = clone(clf).fit(FRAME[TRAIN], Y[TRAIN])
    assert again.conformal_ is None
    rule = again.predict_set(FRAME[TEST], "interval_dominance")
    assert_array_equal(clf.predict_set(FRAME[TEST], "interval_dominance"), rule)
