"""control_error and predict_or_defer, on explainers and both classifiers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.deferral import DeferralControl, DeferringPrediction
from shafer.deferral.reasons import REASONS

COLUMNS = ["a", "b", "c", "d"]
RANDOM = np.random.default_rng(0)
N = 1500
X = RANDOM.normal(size=(N, 4))
SITE = RANDOM.choice(["north", "south", "tiny"], N, p=[0.6, 0.39, 0.01])
CHANCE = 1 / (1 + np.exp(-X @ [2.0, -1.5, 1.0, 0.0] * np.where(SITE == "south", 0.7, 1.5)))
Y = np.where(RANDOM.random(N) < CHANCE, "sick", "well")
FRAME = pd.DataFrame(X, columns=COLUMNS)
SITED = FRAME.assign(site=SITE)
TRAIN, CAL, TEST = slice(0, 300), slice(300, 1000), slice(1000, None)
MODEL = LogisticRegression().fit(FRAME[TRAIN], Y[TRAIN])
LOSS = {"sick": {"sick": 0.0, "well": 1.0}, "well": {"sick": 5.0, "well": 0.0}}


@pytest.fixture
def explainer() -> shafer.Explainer:
    return shafer.Explainer(MODEL, FRAME[TRAIN])


def _error(found: DeferringPrediction, y: np.ndarray) -> float:
    return float((found.labels != y)[~found.deferred].mean())


def test_answers_deferred_rows_and_reasons(explainer: shafer.Explainer) -> None:
    assert explainer.deferral is None
    assert explainer.control_error(FRAME[CAL], Y[CAL], error=0.1, confidence=0.9) is explainer
    found = explainer.predict_or_defer(FRAME[TEST])
    assert isinstance(explainer.deferral, DeferralControl)
    assert_array_equal(found.labels, MODEL.predict(FRAME[TEST]))
    assert found.deferred.dtype == bool
    assert 0.2 < found.share_decided < 0.9
    assert _error(found, Y[TEST]) < 0.13
    assert_array_equal(found.reason == "", ~found.deferred)
    probability = MODEL.predict_proba(FRAME[TEST]).max(axis=1)
    np.testing.assert_allclose(found.probability, probability, rtol=1e-9)
    assert_array_equal(found.deferred, probability <= explainer.deferral.threshold)
    assert sum(found.reason_counts.values()) == found.deferred.sum()
    assert found.promise == "at most 10 % of the decided rows are wrong, with 90 % confidence"
    assert f"{len(found)} rows" in repr(found)
    assert "deferred because" in found._repr_html_()
    frame = found.to_frame("pandas")
    assert list(frame) == ["answer", "deferred", "why", "probability"]
    assert_array_equal(frame.index, FRAME[TEST].index)


def test_other_inputs_give_the_same(explainer: shafer.Explainer) -> None:
    explainer.control_error(FRAME[CAL], Y[CAL], 0.1)
    found = explainer.predict_or_defer(FRAME[TEST])
    for rows in (FRAME[TEST][["d", "b", "a", "c"]], pl.from_pandas(FRAME[TEST])):
        again = explainer.predict_or_defer(rows)
        assert_array_equal(again.deferred, found.deferred)
        assert_array_equal(again.reason, found.reason)
    one = explainer.predict_or_defer(FRAME.iloc[[1003]])
    assert one.deferred[0] == found.deferred[3]
    assert one.reason[0] == found.reason[3]


def test_both_classifiers_defer() -> None:
    sources = [("x", LogisticRegression(), ["a", "b"]), ("y", LogisticRegression(), ["c", "d"])]
    for clf in (
        shafer.EvidentialClassifier(),
        shafer.EvidentialClassifier(moderate="laplace+discount"),
        shafer.EvidentialClassifier(guard=True),
        shafer.EvidentialVotingClassifier(sources),
        shafer.EvidentialVotingClassifier(sources, reliability=[0.9, 0.8], tempering=None),
    ):
        clf.fit(FRAME[TRAIN], Y[TRAIN])
        assert clf.deferral_ is None
        clf.control_error(FRAME[CAL], Y[CAL], 0.1)
        found = clf.predict_or_defer(FRAME[TEST])
        assert_array_equal(found.labels, clf.predict(FRAME[TEST]))
        assert 0.2 < found.share_decided < 0.9
        assert _error(found, Y[TEST]) < 0.13
        assert clf.deferral_.promise.level == 0.1
        clf.fit(FRAME[TRAIN], Y[TRAIN])
        assert clf.deferral_ is None


def test_tempering_again_asks_for_a_new_promise(explainer: shafer.Explainer) -> None:
    explainer.control_error(FRAME[CAL], Y[CAL], 0.1).temper(FRAME[CAL], Y[CAL])
    with pytest.raises(ValueError, match=r"Call control_error\(X, y\) first"):
        explainer.predict_or_defer(FRAME)


def test_a_class_that_must_not_be_missed(explainer: shafer.Explainer) -> None:
    found = explainer.control_error(
        FRAME[CAL], Y[CAL], false_negative_rate=0.04, class_="sick"
    ).predict_or_defer(FRAME[TEST])
    sick = Y[TEST] == "sick"
    assert (~found.deferred & (found.labels == "well"))[sick].mean() < 0.06
    assert found.promise == (
        "of the rows of class 'sick', at most 4 % are decided as another class, with 90 % "
        "confidence"
    )
    again = explainer.control_error(FRAME[CAL], Y[CAL], recall=0.96, class_="sick")
    assert_array_equal(again.predict_or_defer(FRAME[TEST]).deferred, found.deferred)


def test_a_mean_loss(explainer: shafer.Explainer) -> None:
    explainer.control_error(FRAME[CAL], Y[CAL], mean_loss=0.3, loss=LOSS)
    found = explainer.predict_or_defer(FRAME[TEST])
    loss = np.array([LOSS[a][k] for a, k in zip(found.labels, Y[TEST], strict=True)])
    assert loss[~found.deferred].mean() < 0.36
    assert 0.2 < found.share_decided < 1.0
    p_sick = MODEL.predict_proba(FRAME[TEST])[:, 0]
    assert_array_equal(found.labels, np.where(5 * p_sick > 1 - p_sick, "sick", "well"))
    control, answers = explainer.deferral, explainer.predict_or_defer(FRAME[CAL])
    assert control is not None
    row = control.to_frame("pandas").iloc[0]  # in units of the losses
    paid = np.array([LOSS[a][k] for a, k in zip(answers.labels, Y[CAL], strict=True)])
    assert row["risk"] == pytest.approx(paid[~answers.deferred].mean())
    assert row["risk"] < row["upper_bound"] <= 0.3
    for table in (
        [[0.0, 1.0], [5.0, 0.0]],
        pd.DataFrame([[0.0, 5.0], [1.0, 0.0]], ["well", "sick"], ["well", "sick"]),
    ):
        explainer.control_error(FRAME[CAL], Y[CAL], mean_loss=0.3, loss=table)
        assert_array_equal(explainer.predict_or_defer(FRAME[TEST]).deferred, found.deferred)
    plain = 1.0 - np.eye(2)
    explainer.control_error(FRAME[CAL], Y[CAL], mean_loss=0.1, loss=plain)
    assert_array_equal(explainer.predict_or_defer(FRAME[TEST]).labels, MODEL.predict(FRAME[TEST]))


def test_each_group_has_its_own_promise(explainer: shafer.Explainer) -> None:
    with pytest.warns(UserWarning, match=r"(?s)in group\(s\) 'tiny' \(12 rows\): at least 22 rows"):
        explainer.control_error(SITED[CAL], Y[CAL], 0.1, by="site")
    control = explainer.deferral
    assert control is not None
    assert control.by == ("north", "south", "tiny")
    assert control.too_small == ("tiny",)
    assert control.threshold["south"] > control.threshold["north"]
    assert control.threshold["tiny"] == np.inf
    found = explainer.predict_or_defer(SITED[TEST])
    site = SITE[TEST]
    assert (found.reason[site == "tiny"] == "group too small").all()
    for name in ("north", "south"):
        part = site == name
        own = explainer.control_error(FRAME[CAL][SITE[CAL] == name], Y[CAL][SITE[CAL] == name], 0.1)
        alone = own.predict_or_defer(FRAME[TEST][part])
        assert_array_equal(alone.deferred, found.deferred[part])
    assert found.promise.endswith("in each group of 'site'")
    assert list(found.to_frame("pandas")["group"]) == site.tolist()
    table = control.to_frame("pandas")
    assert table["rows"].sum() == 700
    assert list(table) == ["group", "rows", "decided", "risk", "upper_bound", "threshold"]


@pytest.mark.filterwarnings("ignore:Too few calibration rows")
def test_groups_given_beside_the_rows(explainer: shafer.Explainer) -> None:
    by_column = explainer.control_error(SITED[CAL], Y[CAL], 0.1, by="site")
    found = by_column.predict_or_defer(SITED[TEST])
    given = by_column.predict_or_defer(FRAME[TEST], by=SITE[TEST])
    assert_array_equal(given.deferred, found.deferred)
    with pytest.warns(
        UserWarning, match="rows are in group.s. that control_error was not given.*deferred"
    ):
        moved = by_column.predict_or_defer(SITED[TEST].assign(site="elsewhere"))
    assert moved.deferred.all()
    assert set(moved.reason) == {"unknown group"}
    by_array = explainer.control_error(
        FRAME[CAL], Y[CAL], 0.1, by=pd.Series(SITE[CAL], FRAME[CAL].index)
    )
    assert_array_equal(
        by_array.predict_or_defer(FRAME[TEST], by=SITE[TEST]).deferred, found.deferred
    )
    with pytest.raises(ValueError, match="made by group, from labels given beside the rows"):
        by_array.predict_or_defer(FRAME[TEST])
    years = np.where(SITE[CAL] == "north", 2020, 2021)
    explainer.control_error(FRAME[CAL], Y[CAL], 0.1, by=years)
    with pytest.warns(UserWarning, match=r"1 of 3 rows .*: \[1999\]; its groups are"):
        numbers = explainer.predict_or_defer(FRAME[:3], by=[2020, 2021, 1999])
    assert numbers.reason[2] == "unknown group"
    assert explainer.deferral is not None
    assert explainer.deferral.by == (2020, 2021)


def test_a_column_that_the_model_uses_may_be_the_group() -> None:
    rows = FRAME.assign(d=(SITE == "south").astype(float))
    clf = shafer.EvidentialClassifier().fit(rows[TRAIN], Y[TRAIN])
    clf.control_error(rows[CAL], Y[CAL], 0.1, by="d")
    assert clf.deferral_.by == (0.0, 1.0)
    assert 0.2 < clf.predict_or_defer(rows[TEST]).share_decided < 0.9


def test_a_model_that_is_often_wrong_decides_nothing() -> None:
    noise = LogisticRegression().fit(X[TRAIN], RANDOM.permutation(Y[TRAIN]))
    explainer = shafer.Explainer(noise, X[TRAIN])
    with pytest.warns(UserWarning, match="No threshold keeps the promise .700 rows.: even the"):
        explainer.control_error(X[CAL], RANDOM.permutation(Y[CAL]), 0.05)
    found = explainer.predict_or_defer(X[TEST])
    assert found.share_decided == 0.0
    assert set(found.reason) == {"promise not reachable"}
    with pytest.warns(UserWarning, match=r"Too few .* at least 45 rows without an error"):
        explainer.control_error(X[300:330], Y[300:330], 0.05)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"error": 0.0}, "error must be a number between 0 and 1"),
    ({"error": 1.0}, "error must be a number between 0 and 1"),
    ({"error": True}, "error must be a number between 0 and 1"),
    ({"error": float("nan")}, "error must be a number between 0 and 1"),
    ({"confidence": 1.5}, "confidence must be a number between 0 and 1"),
    ({"error": 0.1, "recall": 0.9, "class_": "sick"}, "one promise at a time; got error and rec"),
    ({"recall": 0.9}, "recall needs class_=, the class that must not be missed"),
    ({"class_": "sick"}, "class_ belongs to false_negative_rate or recall"),
    ({"loss": LOSS}, "loss belongs to mean_loss"),
    ({"mean_loss": 0.1}, "mean_loss needs loss=, a table of losses"),
    ({"mean_loss": 9.0, "loss": LOSS}, "between the smallest and the largest loss, 0 and 5"),
    ({"mean_loss": 0.1, "loss": {"a": [0, 1], "b": [1, 0]}}, "one row for each class, named by"),
    ({"mean_loss": 0.1, "loss": np.ones((2, 2))}, "loss must differ between answers"),
    ({"false_negative_rate": 0.1, "class_": "dead"}, "Unknown class label"),
    ({"by": "age"}, "by must be a column of X or one label for each row; got 'age'"),
    ({"by": 3}, "by must be a column of X or one label for each row; got 3"),
    ({"by": ["a", "b"]}, r"one label for each of 700 rows; got shape \(2,\)"),
    ({"by": np.where(X[CAL, 0] > 0, 1.0, np.nan)}, "by must not be missing; got"),
    ({"by": [("a", 1)] * 700}, "texts, numbers or booleans; got 'tuple'"),
]


@pytest.mark.parametrize(("options", "message"), BAD, ids=[message[:40] for _, message in BAD])
def test_bad_options(explainer: shafer.Explainer, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        explainer.control_error(FRAME[CAL], Y[CAL], **options)
    assert explainer.deferral is None


def test_bad_rows(explainer: shafer.Explainer) -> None:
    opposite = np.where(MODEL.predict(FRAME[CAL]) == "sick", "well", "sick")
    for rows, y, message in [
        (FRAME[:0], Y[:0], "needs calibration rows; got none"),
        (FRAME[CAL], ["sick"] * 700, "at least two classes; got only 'sick'"),
        (FRAME[CAL], ["ill", *Y[301:1000]], r"Unknown class label\(s\) \['ill'\] in y"),
        (FRAME[CAL], Y[:10], "y must hold one label for each of 700 rows"),
        (FRAME[CAL], opposite, "All 700 answers of the model are wrong"),
        (FRAME[CAL].rename(columns={"a": "z"}), Y[CAL], "without 'a'"),
    ]:
        with pytest.raises(ValueError, match=message):
            explainer.control_error(rows, y)
    three = shafer.Explainer(LogisticRegression().fit(X[:9], [0, 1, 2] * 3), X[:9])
    with pytest.raises(ValueError, match="y has no row of class 2"):
        three.control_error(X[:90], [0, 1] * 45, recall=0.9, class_=2)
    explainer.control_error(FRAME[CAL], Y[CAL], 0.1)
    with pytest.raises(ValueError, match="no calibration by group"):
        explainer.predict_or_defer(FRAME, by=SITE)
    explainer.control_error(
        SITED[CAL][SITE[CAL] != "tiny"], Y[CAL][SITE[CAL] != "tiny"], 0.1, by="site"
    )
    with pytest.raises(ValueError, match="from the column 'site', and X has no column names"):
        explainer.predict_or_defer(X)
    with pytest.raises(ValueError, match="from the column 'site', which X lacks"):
        explainer.predict_or_defer(FRAME)


# A budget: so many rows to a person, and a bound for the rest.


def test_a_budget(explainer: shafer.Explainer) -> None:
    assert explainer.promises.error_bound is None
    assert explainer.control_budget(FRAME[CAL], Y[CAL], share=28 / 700) is explainer
    bound = explainer.promises.error_bound
    assert isinstance(bound, float)
    assert explainer.predict_or_defer(FRAME[CAL]).deferred.sum() == 28
    found = explainer.predict_or_defer(FRAME[TEST])
    assert 0.01 < found.deferred.mean() < 0.08
    assert _error(found, Y[TEST]) < bound < 0.25
    assert set(found.reason[found.deferred]) <= set(REASONS)
    assert found.promise == (
        f"4 % of the rows are handed on; at most {100 * bound:.3g} % of the decided rows are "
        "wrong, with 90 % confidence"
    )
    frame = explainer.deferral.to_frame("pandas")
    assert frame[["rows", "decided", "upper_bound"]].to_numpy().tolist() == [[700, 672, bound]]
    again = pickle.loads(pickle.dumps(explainer))
    assert again.promises.error_bound == bound
    assert_array_equal(again.predict_or_defer(FRAME[TEST]).deferred, found.deferred)
    explainer.control_error(FRAME[CAL], Y[CAL], error=0.1)
    assert explainer.promises.error_bound == 0.1
    table = {a: {b: float(a != b) for b in LOSS} for a in LOSS}
    explainer.control_error(FRAME[CAL], Y[CAL], mean_loss=0.1, loss=table)
    assert explainer.promises.error_bound is None


DEFER_REASONS = (
    "nothing known",
    "unlike the training data",
    "components disagree",
    "fragile",
    "close call",
)


def test_a_budget_by_subpopulation(explainer: shafer.Explainer) -> None:
    explainer.control_budget(SITED[CAL], Y[CAL], share=0.2, confidence=0.8, by="site")
    bound = explainer.promises.error_bound
    assert list(bound) == ["north", "south", "tiny"]
    assert bound["north"] < bound["south"] < bound["tiny"]
    found = explainer.predict_or_defer(SITED[TEST])
    for site in ("north", "south"):
        assert 0.1 < found.deferred[SITE[TEST] == site].mean() < 0.3
    assert "in each group of 'site'; of the decided rows are wrong at most" in found.promise
    assert explainer.deferral.too_small == ()


def test_the_bounds_of_a_budget_hold_in_each_subpopulation() -> None:
    """Two groups whose chance of an error at every score is known, and one threshold for each."""
    random, slopes = np.random.default_rng(0), {"sure": 1.5, "unsure": 0.6}
    explainer = shafer.Explainer(([1.5], 0.0), np.zeros((1, 1)))
    sizes = np.sort(np.abs(random.normal(scale=2.0, size=20_000)))  # of the rows of both groups
    above = {
        name: (np.cumsum(expit(-slope * sizes)[::-1]) / np.arange(1, 20_001))[::-1]
        for name, slope in slopes.items()
    }
    held = []
    for _ in range(150):
        x, site = random.normal(scale=2.0, size=160), random.choice(list(slopes), 160)
        y = (random.random(160) < expit(np.where(site == "sure", 1.5, 0.6) * x)).astype(int)
        explainer.control_budget(x[:, None], y, share=0.2, confidence=0.8, by=site)
        bound, threshold = explainer.promises.error_bound, explainer.deferral.threshold
        for name in slopes:
            first = np.searchsorted(sizes, logit(threshold[name]) / 1.5, side="right")
            held.append(above[name][first] <= bound[name])
    assert np.mean(held) >= 0.8 - 2.33 * np.sqrt(0.16 / len(held))
    assert np.mean(held) <= 0.92  # not by being wide


def test_a_budget_that_cannot_be_kept(explainer: shafer.Explainer) -> None:
    for share in (0, 1, 20, None, "4 %"):
        with pytest.raises(ValueError, match="share must be the share of rows to hand on"):
            explainer.control_budget(FRAME[CAL], Y[CAL], share)
    with pytest.raises(ValueError, match="control_budget needs calibration rows; got none"):
        explainer.control_budget(FRAME[:0], Y[:0], 0.1)
    alike = FRAME[CAL] * 0.0
    with pytest.warns(UserWarning, match="All rows are handed on .700 rows.: .* tie"):
        explainer.control_budget(alike, Y[CAL], 0.1)
    assert explainer.promises.error_bound == 1.0
    assert explainer.predict_or_defer(FRAME[TEST]).deferred.all()
