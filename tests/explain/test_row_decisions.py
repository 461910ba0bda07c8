"""Deciding with costs: explainers and both classifiers, by label, in any library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

import shafer

HEART = shafer.datasets.load_heart()
FRAME = pd.DataFrame(HEART.data, columns=HEART.feature_names)[["ldl", "tobacco", "age"]]
Y = HEART.target_names[HEART.target]
COSTS = {"treat": {"chd": 0, "no": 1}, "send home": {"chd": 5, "no": 0}}
MATRIX = np.array([[0.0, 1.0], [5.0, 0.0]])  # columns chd, no
MODEL = LogisticRegression(max_iter=500)


def deciders() -> dict[str, Any]:
    """Explainers and classifiers that can decide, trained on the same rows."""
    model = LogisticRegression(max_iter=500).fit(FRAME, Y)
    voters = [("blood", MODEL, ["ldl"]), ("life", MODEL, ["tobacco", "age"])]
    return {
        "explainer": shafer.Explainer(model, FRAME),
        "tempered explainer": shafer.Explainer(model, FRAME, temper=0.9),
        "discounted explainer": shafer.Explainer(model, FRAME, moderate="laplace+discount"),
        "classifier": shafer.EvidentialClassifier(MODEL).fit(FRAME, Y),
        "moderated": shafer.EvidentialClassifier(MODEL, moderate="laplace").fit(FRAME, Y),
        "guarded": shafer.EvidentialClassifier(MODEL, guard=True).fit(FRAME, Y),
        "voting": shafer.EvidentialVotingClassifier(voters).fit(FRAME, Y),
        "plain voting": shafer.EvidentialVotingClassifier(voters, tempering=None).fit(FRAME, Y),
    }


DECIDERS = deciders()
every_decider = pytest.mark.parametrize("name", DECIDERS)


def probabilities(name: str) -> Any:
    decider = DECIDERS[name]
    if isinstance(decider, shafer.Explainer):
        return decider.observe(FRAME).bet.probability
    return decider.predict_proba(FRAME)


@every_decider
def test_the_least_expected_loss_by_name(name: str) -> None:
    chosen = DECIDERS[name].decide(FRAME, COSTS)
    best = (probabilities(name) @ MATRIX.T).argmin(axis=1)
    assert chosen.shape == (len(FRAME),)
    assert_array_equal(chosen, np.array(["treat", "send home"])[best])
    assert set(chosen) == {"treat", "send home"}


@every_decider
def test_refer(name: str) -> None:
    chosen = DECIDERS[name].decide(FRAME, COSTS, reject=0.5)
    risk = np.column_stack([probabilities(name) @ MATRIX.T, np.full(len(FRAME), 0.5)])
    assert_array_equal(chosen, np.array(["treat", "send home", "reject"])[risk.argmin(axis=1)])
    assert set(chosen) == {"treat", "send home", "reject"}


@every_decider
def test_without_costs_it_predicts(name: str) -> None:
    decider, p = DECIDERS[name], probabilities(name)
    assert_array_equal(decider.decide(FRAME), np.array(["chd", "no"])[p.argmax(axis=1)])
    with_reject = decider.decide(FRAME, reject=0.3)
    assert_array_equal(with_reject == "reject", p.max(axis=1) < 0.7)
    assert set(with_reject) == {"chd", "no", "reject"}


@every_decider
def test_other_rules(name: str) -> None:
    decider = DECIDERS[name]
    ev = decider.observe(FRAME).decided_by("belief")
    assert_array_equal(
        decider.decide(FRAME, COSTS, "belief"), [a for (a,) in ev.acts("belief", loss=COSTS)]
    )
    kept = decider.decide(FRAME, COSTS, "maximality", reject=0.5)
    assert kept.shape == (len(FRAME),)
    assert kept.tolist() == ev.acts("maximality", loss=COSTS, reject=0.5)
    assert_array_equal(
        decider.decide(FRAME, utility=-MATRIX, rule="hurwicz", alpha=0.9),
        ev.classes[[a for (a,) in ev.acts("hurwicz", loss=MATRIX, alpha=0.9)]],
    )


@every_decider
def test_the_default_of_predict_set(name: str) -> None:
    decider = DECIDERS[name]
    plain = name in ("explainer", "classifier", "plain voting")
    rule = "interval_dominance" if plain else "expected_loss"
    by_rule = decider.predict_set(FRAME, rule, loss=COSTS)
    assert_array_equal(decider.predict_set(FRAME, loss=COSTS), by_rule)
    assert_array_equal(decider.predict_set(FRAME, utility=-MATRIX), by_rule)
    other = decider.predict_set(
        FRAME, "expected_loss" if plain else "interval_dominance", loss=COSTS
    )
    assert (np.asarray(by_rule) != np.asarray(other)).any()
    if plain:
        with pytest.raises(ValueError, match="needs a rule that chooses one class"):
            decider.predict_set(FRAME, reject=0.3)
    else:
        rejected = decider.predict_set(FRAME, "expected_loss", reject=0.3)
        assert_array_equal(decider.predict_set(FRAME, reject=0.3), rejected)


@pytest.mark.parametrize("name", ["tempered explainer", "moderated", "guarded"])
def test_an_option_of_utility_sets_keeps_them(name: str) -> None:
    by_rule = DECIDERS[name].predict_set(FRAME, "utility_set", loss=COSTS, tolerance=0.8)
    assert_array_equal(DECIDERS[name].predict_set(FRAME, loss=COSTS, tolerance=0.8), by_rule)


@pytest.mark.parametrize("name", ["tempered explainer", "discounted explainer"])
def test_the_evidence_of_a_tempered_explainer_has_the_same_default(name: str) -> None:
    explainer = DECIDERS[name]
    chosen = explainer(FRAME).acts(loss=COSTS)
    assert [act for (act,) in chosen] == explainer.decide(FRAME, COSTS).tolist()


def test_gaps_alone_are_no_reason_to_bet() -> None:
    model = LogisticRegression(max_iter=500).fit(FRAME, Y)
    explainer = shafer.Explainer(model, FRAME, missing="conditional")
    gappy = FRAME.mask(np.arange(FRAME.size).reshape(FRAME.shape) % 5 == 0)
    by_rule = explainer(gappy).decide("interval_dominance", loss=COSTS)
    assert_array_equal(explainer(gappy).decide(loss=COSTS), by_rule)
    assert_array_equal(explainer.predict_set(gappy, loss=COSTS), by_rule)


LOSSES = {
    "mapping": COSTS,
    "columns turned": {"treat": {"no": 1, "chd": 0}, "send home": {"no": 0, "chd": 5}},
    "pandas": pd.DataFrame({"no": [1, 0], "chd": [0, 5]}, index=["treat", "send home"]),
    "polars": pl.DataFrame({"no": [1, 0], "act": ["treat", "send home"], "chd": [0, 5]}),
}


@every_decider
@pytest.mark.parametrize("kind", LOSSES)
def test_costs_are_read_by_label(name: str, kind: str) -> None:
    chosen = DECIDERS[name].decide(FRAME, LOSSES[kind])
    assert_array_equal(chosen, DECIDERS[name].decide(FRAME, COSTS))


@pytest.mark.parametrize("name", ["explainer", "classifier", "moderated"])
def test_frames_of_any_library_and_order(name: str) -> None:
    expected = DECIDERS[name].decide(FRAME, COSTS)
    turned = FRAME[["age", "ldl", "tobacco"]]
    for X in (turned, pl.from_pandas(FRAME), pl.from_pandas(turned)):
        assert_array_equal(DECIDERS[name].decide(X, COSTS), expected)


def test_names_keep_their_type() -> None:
    explainer = DECIDERS["explainer"]
    labels = explainer.decide(FRAME, MATRIX)
    assert set(labels.tolist()) == {"chd", "no"}
    mixed = explainer.decide(FRAME, MATRIX, reject=0.5)
    assert set(mixed.tolist()) == {"chd", "no", "reject"}
    three = explainer.decide(FRAME, [*np.asarray(MATRIX).tolist(), [0.5, 0.5]])
    assert set(three.tolist()) == {"act 0", "act 1", "act 2"}
    for y in (Y == "chd", np.where(Y == "chd", 7, 3)):
        clf = shafer.EvidentialClassifier(MODEL).fit(FRAME, y)
        assert_array_equal(clf.decide(FRAME), clf.predict(FRAME))
        assert_array_equal(clf.decide(FRAME, 1.0 - np.eye(2)), clf.predict(FRAME))
        assert clf.decide(FRAME).dtype == y.dtype
        found = clf.decide(FRAME, reject=0.3).tolist()
        assert {type(label) for label in found if label != "reject"} == {type(y[0].item())}


def test_errors() -> None:
    explainer = DECIDERS["explainer"]
    with pytest.raises(ValueError, match="rule must be one of"):
        explainer.decide(FRAME, COSTS, "cheapest")
    with pytest.raises(ValueError, match=r"unknown labels \['ill'\]"):
        explainer.decide(FRAME, {"treat": {"ill": 0, "no": 1}})
    with pytest.raises(ValueError, match="'expected_loss' does not take alpha"):
        explainer.decide(FRAME, COSTS, alpha=0.3)
    with pytest.raises(ValueError, match="Give loss or utility, not both"):
        explainer.decide(FRAME, COSTS, utility=COSTS)
    with pytest.raises(ValueError, match="reject must be a number from 0 to 1"):
        explainer.decide(FRAME, reject=5.0)
    named = shafer.EvidentialClassifier(MODEL).fit(FRAME, np.where(Y == "chd", "reject", "no"))
    with pytest.raises(ValueError, match="a class has that name. Give a loss"):
        named.decide(FRAME, reject=0.3)
    assert set(named.decide(FRAME)) == {"reject", "no"}
    with pytest.raises(Exception, match="not fitted"):
        shafer.EvidentialClassifier(MODEL).decide(FRAME, COSTS)
    with pytest.raises(Exception, match="not fitted"):
        shafer.EvidentialVotingClassifier([("a", MODEL)]).decide(FRAME, COSTS)


def test_a_saved_explainer_decides_alike() -> None:
    import pickle

    for name in ("tempered explainer", "discounted explainer"):
        again = pickle.loads(pickle.dumps(DECIDERS[name]))
        expected = DECIDERS[name].decide(FRAME, COSTS, reject=0.5)
        assert_array_equal(again.decide(FRAME, COSTS, reject=0.5), expected)
