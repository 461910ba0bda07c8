"""``answer``: one pass gives what ``predict``, sets, deferral and reasons give one by one."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer

RANDOM = np.random.default_rng(3)
N = 240
ROWS = pd.DataFrame(
    {
        "age": RANDOM.normal(50.0, 10.0, N),
        "size": RANDOM.normal(size=N),
        "colour": RANDOM.choice(["red", "green", "blue"], N),
        "site": np.where(np.arange(N) % 2, "north", "south"),
    }
)
ILL = np.where(
    ROWS["size"] + (ROWS["colour"] == "red") + RANDOM.normal(size=N) > 0.5, "ill", "well"
)
INPUTS = ["age", "size", "colour"]
TRAIN, HELD, NEW = slice(0, 120), slice(120, 220), slice(220, N)


class Counted(TransformerMixin, BaseEstimator):
    """Passes columns on, and counts the passes."""

    passes = 0

    def fit(self, X: Any, y: Any = None) -> Counted:
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        Counted.passes += 1
        return X

    def get_feature_names_out(self, names: Any = None) -> Any:
        return np.asarray(names)


def encode() -> Any:
    return make_column_transformer(
        (make_pipeline(Counted(), SimpleImputer(), StandardScaler()), ["age", "size"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    )


def promised(model: Any, rows: pd.DataFrame = ROWS, **groups: Any) -> Any:
    held = rows[HELD]
    model.conformalize(held, ILL[HELD], 0.8, **groups)
    return model.control_error(held, ILL[HELD], 0.4, **groups)


@pytest.fixture(scope="module")
def explainer() -> shafer.Explainer:
    model = make_pipeline(encode(), LogisticRegression()).fit(ROWS[INPUTS][TRAIN], ILL[TRAIN])
    found: shafer.Explainer = promised(shafer.Explainer(model, ROWS[INPUTS][TRAIN]))
    return found


def agrees(model: Any, rows: Any, given: Any = None, **by: Any) -> shafer.AnsweredRows:
    """Compare with each method by itself; a method that was not calibrated raises an error."""
    given = rows if given is None else given
    found: shafer.AnsweredRows = model.answer(rows, 2, **by)
    np.testing.assert_array_equal(found.labels, model.predict(given))
    np.testing.assert_allclose(found.probability, model.predict_proba(given), rtol=0, atol=1e-12)
    if found.sets is None:
        with pytest.raises(ValueError, match="conformalize"):
            model.predict_set(rows)
    else:
        np.testing.assert_array_equal(found.sets, model.predict_set(rows, **by))
    if found.deferred is not None:
        deferred = model.predict_or_defer(rows, **by)
        np.testing.assert_array_equal(found.deferred, deferred.deferred)
        assert found.why == tuple(deferred.reason)
    for row, record in enumerate(found.records()):
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert record["answer"] == found.labels.tolist()[row]
        assert list(record["probability"].values()) == found.probability[row].tolist()
        if found.sets is not None:
            assert record["set"] == model.classes[found.sets[row]].tolist()
    return found


def test_all_in_one_pass(explainer: shafer.Explainer) -> None:
    new = ROWS[INPUTS][NEW]
    found = agrees(explainer, new)
    Counted.passes = 0
    explainer.answer(new)
    assert Counted.passes == 1
    scored = shafer.scale.score(new, explainer, reasons=2)
    table = found.to_frame("pandas")
    pd.testing.assert_frame_equal(table.drop(columns="warnings"), scored, check_dtype=False)
    assert list(table.columns)[-1] == "warnings"
    reasons = explainer(new[:1]).reasons(top=2, keep="positive", backend="pandas")
    assert [one["words"] for one in found.records()[0]["reasons"]] == reasons["words"].tolist()


def test_one_row_is_a_row_of_many(explainer: shafer.Explainer) -> None:
    new = ROWS[INPUTS][NEW]
    many = explainer.answer(new).records()
    assert [explainer.answer(new[i : i + 1]).records()[0] for i in range(len(new))] == many
    assert explainer.answer(pl.from_pandas(new)).records() == many


def test_without_promises_and_reasons() -> None:
    found = shafer.Explainer(([1.0, -2.0], 0.5), np.eye(2)).answer([[1.0, 0.0]], reasons=0)
    assert found.sets is found.deferred is found.why is found.reasons is None
    assert list(found.records()[0]) == ["answer", "probability", "warnings"]
    assert list(found.to_frame("pandas")) == [
        "answer",
        "probability_0",
        "probability_1",
        "warnings",
    ]
    assert repr(found) == "<AnsweredRows: 1 rows>"


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "3"])
def test_wrong_number_of_reasons(explainer: shafer.Explainer, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"reasons must be a whole number of at least 0; got"):
        explainer.answer(ROWS[INPUTS][:1], wrong)


def test_classifiers() -> None:
    numbers = ROWS[["age", "size"]]
    for options in ({"guard": True}, {"moderate": "laplace+discount"}, {"errors": "laplace"}):
        model = make_pipeline(StandardScaler(), LogisticRegression())
        clf = shafer.EvidentialClassifier(model, **options).fit(numbers[TRAIN], ILL[TRAIN])
        found = agrees(promised(clf, numbers), numbers[NEW])
        scored = shafer.scale.score(numbers[NEW], clf, reasons=2)
        table = found.to_frame("pandas").drop(columns="warnings")
        pd.testing.assert_frame_equal(table, scored, check_dtype=False)
        assert found.reasons is not None
        assert ("lower" in found.records()[0]["reasons"][0]) == ("errors" in options)
    crossed = shafer.EvidentialClassifier(GaussianNB()).fit(numbers[TRAIN], ILL[TRAIN])
    crossed.conformalize(numbers[TRAIN], ILL[TRAIN], 0.8, cv=3)
    agrees(crossed, numbers[NEW])


def test_voting_has_no_weights_where_its_rule_leaves_none() -> None:
    sources = [("a", LogisticRegression()), ("b", GaussianNB())]
    numbers = ROWS[["age", "size"]]
    rules: list[tuple[dict[str, Any], bool]] = [
        ({}, True),
        ({"combination": "dubois_prade", "tempering": None}, False),
    ]
    for options, has in rules:
        clf = shafer.EvidentialVotingClassifier(sources, **options)
        clf.fit(numbers[TRAIN], ILL[TRAIN])
        found = agrees(promised(clf, numbers), numbers[NEW])
        assert (found.reasons is not None) == has


def test_losses_and_thresholds(explainer: shafer.Explainer) -> None:
    table = {"ill": {"ill": 0, "well": 1}, "well": {"ill": 5, "well": 0}}
    costly = shafer.Explainer(explainer.model, ROWS[INPUTS][TRAIN], loss=table)
    new = ROWS[INPUTS][NEW]
    assert (agrees(costly, new).labels == "ill").sum() > (explainer.predict(new) == "ill").sum()


def test_groups_are_found_in_the_frame_or_given_beside(explainer: shafer.Explainer) -> None:
    by_column = shafer.Explainer(explainer.model, ROWS[INPUTS][TRAIN])
    promised(by_column, ROWS[[*INPUTS, "site"]], by="site")
    new = ROWS[[*INPUTS, "site"]][NEW]
    agrees(by_column, new, new[INPUTS])
    beside = shafer.Explainer(explainer.model, ROWS[INPUTS][TRAIN])
    promised(beside, ROWS[INPUTS], by=ROWS["site"][HELD].to_numpy())
    labels = new["site"].to_numpy()
    agrees(beside, new[INPUTS], by=labels)
    with pytest.raises(ValueError, match="by group, from labels given beside the rows"):
        beside.answer(new[INPUTS])
    with pytest.raises(ValueError, match="no calibration by group"):
        explainer.answer(new[INPUTS], by=labels)
    odd = new[:2].assign(site=["north", "nowhere"])
    with pytest.warns(UserWarning, match="was not given: \\['nowhere'\\]"):
        found = by_column.answer(odd)
    assert found.warnings == ((), ("group 'nowhere' had no row in the calibration",))


def test_warnings_name_gaps_unknown_categories_and_unusual_rows(
    explainer: shafer.Explainer,
) -> None:
    odd = ROWS[INPUTS][:4].assign(note="x")
    odd.loc[1, "age"] = np.nan
    odd.loc[2, "colour"] = "mauve"
    odd.loc[3, ["age", "size"]] = [500.0, 90.0]
    plain, gap, unseen, far = explainer.answer(odd).warnings
    assert plain == ()
    assert gap == ("missing: age",)
    assert unseen[0] == "a category that training did not have"
    assert far[-1].startswith("unlike the training data: its typicality is ")
    typed = ROWS[INPUTS].assign(colour=pd.Categorical(ROWS["colour"]))
    booster = LGBMClassifier(n_estimators=3, verbose=-1, n_jobs=1).fit(typed[TRAIN], ILL[TRAIN])
    by_trees = shafer.Explainer(booster, typed[TRAIN])
    strange = odd.assign(
        colour=pd.Categorical(odd["colour"], [*typed["colour"].cat.categories, "mauve"])
    )
    _, gap, unseen, _ = by_trees.answer(strange).warnings
    assert "missing: age" in gap
    assert "colour = mauve is a category that training did not have" in unseen
    assert by_trees.answer(typed[NEW]).warnings == tuple(() for _ in range(N - 220))
