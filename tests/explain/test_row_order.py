"""What belongs to rows is paired with them by row label, or refused; never by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import shafer
from shafer._checks.frames import in_row_order
from shafer.metrics import coverage_by_group, coverage_score, set_scorer
from shafer.plots import DeferralDisplay
from shafer.report import make_study

N = 240
RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(N, 2)), columns=["u", "v"], index=[f"p{i}" for i in range(N)])
Y = pd.Series(np.where(X["u"] + RANDOM.normal(size=N) > 0, "yes", "no"), index=X.index)
WEIGHT = pd.Series(RANDOM.uniform(0.5, 2.0, N), index=X.index)
SITE = pd.Series(np.where(X["v"] > 0, "north", "south"), index=X.index)
MODEL = LogisticRegression().fit(X, Y)
SOURCES = [("a", LogisticRegression(), ["u"]), ("b", GaussianNB(), ["v"])]


def explainer() -> shafer.Explainer:
    return shafer.Explainer(MODEL, X)


def calibrated() -> shafer.Explainer:
    made = explainer().conformalize(X, Y, by=SITE)
    return made.control_error(X, Y, error=0.4, by=SITE)


def classifier() -> shafer.EvidentialClassifier:
    return shafer.EvidentialClassifier(prior="own").fit(X, Y)


CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "conformalize": lambda y, w, s: explainer().conformalize(X, y, by=s).conformal.threshold,
    "cross": lambda y, w, s: classifier().conformalize(X, y, cv=3).conformal_.fold_scores[0][0],
    "control": lambda y, w, s: list(explainer().control_error(X, y, 0.4, by=s).deferral.found),
    "sets": lambda y, w, s: calibrated().predict_set(X, by=s),
    "defer": lambda y, w, s: calibrated().predict_or_defer(X, by=s).deferred,
    "temper": lambda y, w, s: explainer().temper(X, y, sample_weight=w).factor,
    "background": lambda y, w, s: shafer.Explainer(MODEL, X, sample_weight=w)(X[:3]).weights,
    "fit": lambda y, w, s: shafer.EvidentialClassifier().fit(X, y, w).estimator_.coef_,
    "voting": lambda y, w, s: (
        shafer.EvidentialVotingClassifier(SOURCES, tempering=None).fit(X, y, w).predict_proba(X)
    ),
    "refits": lambda y, w, s: (
        shafer.models.bootstrap_refits(LogisticRegression(), X, y, 2, sample_weight=w)[0].coef_
    ),
    "monitor": lambda y, w, s: (
        shafer.Monitor.fit(shafer.Explainer(MODEL, X[:100]), X, y).check(X, y).columns()
    ),
    "scorer": lambda y, w, s: set_scorer("u65", "utility_set")(classifier(), X, y, w),
    "study": lambda y, w, s: make_study(explainer(), X, y).truth,
    "display": lambda y, w, s: (
        DeferralDisplay.from_explainer(calibrated(), X, y, by=s).curves[0].risk
    ),
    "metric": lambda y, w, s: coverage_score(y, _sets(), sample_weight=w),
    "by group": lambda y, w, s: coverage_by_group(y, _sets(), s).coverage,
}


def _sets() -> pd.DataFrame:
    return pd.DataFrame(MODEL.predict_proba(X) > 0.4, X.index, MODEL.classes_)


@pytest.mark.parametrize("name", CALLS)
def test_another_order_of_rows_changes_nothing(name: str) -> None:
    call = CALLS[name]
    order = RANDOM.permutation(N)
    expected = call(Y.to_numpy(), WEIGHT.to_numpy(), SITE.to_numpy())
    found = call(Y.iloc[order], WEIGHT.iloc[order], SITE.iloc[order])
    if isinstance(expected, dict):
        expected, found = pd.DataFrame(expected), pd.DataFrame(found)
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert_array_equal(found, expected)
    reset = [part.reset_index(drop=True) for part in (Y, WEIGHT, SITE)]
    with pytest.raises(ValueError, match="have different row labels: row 0 is 0 in .*to_numpy"):
        call(*reset)


def test_what_is_ambiguous_is_refused() -> None:
    order = RANDOM.permutation(N)
    counted = X.reset_index(drop=True)
    with pytest.raises(ValueError, match="labels of y are 0, 1, 2, .*have been shuffled"):
        explainer().conformalize(counted.iloc[order], Y.reset_index(drop=True))
    with pytest.raises(ValueError, match="labels of X are 0, 1, 2"):
        explainer().conformalize(counted, Y.reset_index(drop=True).iloc[order])
    twice = X.set_axis(["a", *X.index[1:-1], "a"])
    with pytest.raises(ValueError, match="different row labels: row 0 is 'p0' in y and 'a' in X"):
        explainer().conformalize(twice, Y)
    shifted = Y.set_axis([f"q{i}" for i in range(N)])
    with pytest.raises(ValueError, match="row 0 is 'q0' in y and 'p0' in X. Give both the same"):
        explainer().control_error(X, shifted, 0.4)


def test_what_has_no_labels_is_paired_by_position() -> None:
    for y in (Y.to_numpy(), Y.tolist(), pl.Series(Y.to_numpy()), Y, None):
        assert in_row_order(y, X) is y
    for rows in (X.to_numpy(), pl.from_pandas(X), None, {}):
        assert in_row_order(Y, rows) is Y
    assert in_row_order(Y[:3], X) is not None  # the number of rows has an error of its own
    backwards = in_row_order(Y[::-1], {"a": X, "b": None})
    assert_array_equal(backwards, Y)
