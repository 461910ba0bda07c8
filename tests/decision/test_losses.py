"""Expected loss, with exact arithmetic as the judge; losses are read by class label."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import shafer
from shafer._checks import to_numpy

# Expected loss: the least probability @ loss, with exact arithmetic as the judge.


TIED = 1e-12  # of the expected regret: closer acts may be taken for equal

SIZES = st.sampled_from([0.0, 1e-300, 1e-9, 0.5, 3.0, 40.0, 700.0, 1e4, 1e8])
ELEMENT = st.builds(lambda size, sign: size * sign, SIZES, st.sampled_from([-1.0, 1.0, 0.3]))
COST = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 5.0, 1e9, -1e9, 1e150, 1e305, -1e305, 1e-12]),
    st.floats(-1e3, 1e3),
)


def expected_regrets(probability: NDArray[Any], loss: NDArray[Any]) -> list[Fraction]:
    """Sum p_k (L_fk − min_g L_gk) without rounding."""
    least = [min(Fraction(x) for x in column) for column in loss.T.tolist()]
    p = [Fraction(x) for x in probability.tolist()]
    rows = loss.tolist()
    regrets = [[Fraction(x) - low for x, low in zip(row, least, strict=True)] for row in rows]
    return [sum((pk * r for pk, r in zip(p, row, strict=True)), Fraction()) for row in regrets]


def check(probability: NDArray[Any], loss: NDArray[Any], chosen: NDArray[Any]) -> None:
    """Check that the chosen act is the first of the best, where ties are closer than TIED."""
    assert chosen.sum() == 1
    act = int(chosen.argmax())
    risk = expected_regrets(probability, loss)
    assert risk[act] <= min(risk) * (1 + Fraction(TIED))
    assert all(r > min(risk) for r in risk[:act]), "ties go to the first"


@st.composite
def problems(draw: Any, n_classes: int) -> tuple[NDArray[Any], NDArray[Any]]:
    components, acts = draw(st.integers(1, 3)), draw(st.integers(1, 5))
    weights = draw(arrays(float, (2, components, n_classes), elements=ELEMENT))
    return weights, draw(arrays(float, (acts, n_classes), elements=COST))


@pytest.mark.parametrize("n_classes", [2, 3, 50])
@given(data=st.data())
@settings(max_examples=60)
def test_any_weights_and_losses(n_classes: int, data: st.DataObject) -> None:
    weights, loss = data.draw(problems(n_classes))
    ev = shafer.Evidence.from_weights(weights)
    for one in (ev, ev.discounted(0.3)):
        chosen = one.decide("expected_loss", loss=loss)
        for probability, row in zip(one.betting_probability, chosen, strict=True):
            check(probability, loss, row)


@pytest.mark.parametrize("n_classes", [2, 50])
def test_it_is_the_argmin_of_the_expected_loss(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    ev = shafer.Evidence.from_weights(rng.normal(size=(500, 4, n_classes)))
    loss = rng.random((7, n_classes))
    best = (ev.probability @ loss.T).argmin(axis=1)
    assert_array_equal(ev.decide("expected_loss", loss=loss).argmax(axis=1), best)
    assert_array_equal(ev.decide("expected_loss", utility=-loss).argmax(axis=1), best)
    assert len(set(best)) > 1


def test_without_a_loss_it_is_the_most_probable_class() -> None:
    rng = np.random.default_rng(0)
    ev = shafer.Evidence.from_weights(rng.normal(size=(300, 3, 4)))
    chosen = ev.decide("expected_loss")
    assert_array_equal(chosen.argmax(axis=1), ev.probability.argmax(axis=1))
    assert_array_equal(chosen, ev.decide("expected_loss", loss=1 - np.eye(4)))
    rejected = ev.probability.max(axis=1) < 0.7
    kept = ev.decide("expected_loss", reject=0.3)
    assert_array_equal(kept.all(axis=1), rejected)
    assert 0 < rejected.sum() < 300


def test_a_discount_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    ev = shafer.Evidence.from_weights(rng.normal(size=(200, 3, 3)))
    loss = rng.random((4, 3))
    for r in (0.0, 1e-9, 0.4):
        for options in ({}, {"loss": loss}, {"reject": 0.3}, {"loss": loss, "reject": 0.4}):
            here = ev.discounted(r).decide("expected_loss", **options)
            assert_array_equal(here, ev.decide("expected_loss", **options))


def test_a_huge_loss_does_not_hide_the_small_ones() -> None:
    ev = shafer.Evidence.from_weights([[[20.0, -20.0, -30.0]]], classes=["a", "b", "c"])
    p = ev.probability[0]
    for never in (1e9, 1e100, 1e300):
        # The two acts differ in b by a billionth of the loss in c, which neither can avoid.
        loss = {"first": [0, 1.0, never], "second": [0, 0.5, never]}
        assert ev.acts("expected_loss", loss=loss) == [("second",)]
    # A cost that is just worth its probability, and just not.
    for factor, act in ((0.99, "risk it"), (1.01, "insure")):
        loss = {"risk it": {"a": 0, "b": 0, "c": factor / p[2]}, "insure": {"a": 1, "b": 1, "c": 1}}
        assert ev.acts("expected_loss", loss=loss) == [(act,)]


@pytest.mark.parametrize("ratio", [2.0, 3.0, 5.0, 7.0, 10.0, 1e3, 1e6])
@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
def test_ties_up_to_rounding_go_to_the_first_act(ratio: float, library: Any) -> None:
    # p = 1 : ratio and costs ratio : 1 are a tie, whatever the rounding of the logarithm.
    half = 0.5 * np.log(ratio)
    ev = shafer.Evidence.from_weights(library(np.array([[[-half, half]], [[-half, half]]])))
    for loss in ([[ratio, 0.0], [0.0, 1.0]], [[0.0, 1.0], [ratio, 0.0]]):
        assert to_numpy(ev.decide("expected_loss", loss=loss)).tolist() == [[True, False]] * 2
    clear = [[ratio * (1 + 1e-9), 0.0], [0.0, 1.0]]
    assert to_numpy(ev.decide("expected_loss", loss=clear)).tolist() == [[False, True]] * 2


# Where costs are given and no rule is named.

COSTS = {"treat": [1.0, 0.0], "send home": [0.0, 5.0], "refer": [0.5, 0.5]}


def test_the_default_of_plain_evidence_stays_interval_dominance() -> None:
    ev = shafer.Evidence.from_weights(np.random.default_rng(0).normal(size=(50, 3, 2)))
    plain = ev.decide("interval_dominance", loss=COSTS)
    for one in (ev, ev.tempered(1.0)):
        assert_array_equal(one.decide(loss=COSTS), plain)
        assert one.acts(loss=COSTS) == ev.acts("interval_dominance", loss=COSTS)
    with pytest.raises(ValueError, match="needs a rule that chooses one class"):
        ev.decide(reject=0.3)


def test_costs_of_tempered_evidence_are_decided_by_expected_loss() -> None:
    ev = shafer.Evidence.from_weights(np.random.default_rng(0).normal(size=(50, 3, 2)))
    for factor in (0.7, np.full(50, 0.7)):
        tempered = ev.tempered(factor)
        assert tempered.calibrated
        for one in (
            tempered,
            tempered[:10],
            tempered.grouped("one"),
            tempered.without("x1"),
            tempered.tempered(1.0),
            tempered.discounted(0.5),
            tempered.components,
        ):
            by_name = one.decide("expected_loss", loss=COSTS)
            assert_array_equal(one.decide(loss=COSTS), by_name)
            assert one.acts(loss=COSTS) == one.acts("expected_loss", loss=COSTS)
            utility = -np.array(list(COSTS.values()))
            assert_array_equal(one.decide(utility=utility), by_name)
            assert_array_equal(one.decide(reject=0.3), one.decide("expected_loss", reject=0.3))
            # Without costs the default is the paper's, and an option names its own rule.
            assert_array_equal(one.decide(), one.decide("interval_dominance"))
            with pytest.raises(ValueError, match="'interval_dominance' does not take tolerance"):
                one.decide(loss=COSTS, tolerance=0.8)


def test_a_file_keeps_the_default(tmp_path: Any) -> None:
    ev = shafer.Evidence.from_weights(np.random.default_rng(0).normal(size=(50, 3, 2)))
    for one in (ev, ev.tempered(0.5)):
        one.save(tmp_path / "evidence.npz")
        again = shafer.Evidence.load(tmp_path / "evidence.npz")
        assert again.calibrated == one.calibrated
        assert_array_equal(again.decide(loss=COSTS), one.decide(loss=COSTS))


# Losses are read by class label wherever they have labels; arrays in the order of the classes.


CLASSES = ["no", "ill", "dead"]
LABELLED_COSTS = {
    "treat": {"no": 1.0, "ill": 0.0, "dead": 0.2},
    "send home": {"no": 0.0, "ill": 5.0, "dead": 9.0},
}
ARRAY = np.array([[1.0, 0.0, 0.2], [0.0, 5.0, 9.0]])
FRAME = pd.DataFrame(LABELLED_COSTS).T


@pytest.fixture
def ev() -> shafer.Evidence:
    return shafer.Evidence.from_weights([[[0.1, 0.4, -0.5]], [[3.0, -1.0, -2.0]]], classes=CLASSES)


@pytest.mark.parametrize(
    "loss",
    [
        LABELLED_COSTS,
        {act: {c: row[c] for c in ("dead", "no", "ill")} for act, row in LABELLED_COSTS.items()},
        {"treat": [1.0, 0.0, 0.2], "send home": [0.0, 5.0, 9.0]},
        {"treat": FRAME[["dead", "ill", "no"]].loc["treat"], "send home": [0.0, 5.0, 9.0]},
        FRAME,
        FRAME[["dead", "no", "ill"]],
        FRAME[["ill", "dead", "no"]].rename_axis("act").reset_index(),
        pl.DataFrame(
            {"dead": [0.2, 9.0], "act": list(LABELLED_COSTS), "no": [1.0, 0.0], "ill": [0.0, 5.0]}
        ),
    ],
)
def test_any_order_of_labels(ev: shafer.Evidence, loss: Any) -> None:
    assert ev.acts("belief", loss=loss) == [("treat",), ("send home",)]
    assert_allclose(ev.lower_risk(loss), ev.lower_risk(ARRAY))
    assert_allclose(ev.upper_risk(loss), ev.upper_risk(ARRAY))
    named = ev.acts("belief", loss=loss, reject=0.05)
    assert named == [("reject",), ("reject",)]


def test_utilities_have_labels_too(ev: shafer.Evidence) -> None:
    assert ev.acts("belief", utility=-FRAME[["dead", "no", "ill"]]) == [("treat",), ("send home",)]


def test_acts_without_names_are_numbered(ev: shafer.Evidence) -> None:
    frame = pl.DataFrame({"dead": [0.2, 9.0], "no": [1.0, 0.0], "ill": [0.0, 5.0]})
    assert ev.acts("belief", loss=frame) == [(0,), (1,)]


@pytest.mark.parametrize("classes", [[2, 0, 1], [True, False], [0.5, 1.5]])
def test_labels_from_a_file_are_text(classes: list[Any]) -> None:
    n = len(classes)
    ev = shafer.Evidence.from_weights(np.eye(n)[None] * 2 - 1, classes=classes)
    loss = np.arange(2.0 * n).reshape(2, n)
    exact = pd.DataFrame(loss, columns=classes).iloc[:, ::-1]
    text = pd.DataFrame(loss, columns=[str(c) for c in classes]).iloc[:, ::-1]
    for frame in (exact, text):
        assert_allclose(ev.upper_risk(frame), ev.upper_risk(loss))


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (FRAME.rename(columns={"ill": "sick"}), r"unknown labels \['sick'\] and no value for \['i"),
        (FRAME[["no", "ill"]], r"no value for \['dead'\]. The classes are \['no', 'ill', 'dead'\]"),
        (FRAME.assign(well=0.0), r"unknown labels \['well'\]"),
        ({"treat": {"no": 1.0, "ill": 0.0}}, r"loss\['treat'\] must have one value for each class"),
        ({"treat": [1.0, 0.0]}, r"loss\['treat'\] must hold one number for each of the 3 classes"),
        (FRAME.iloc[[0, 0]], "must name each act once; got acts 'treat', 'treat'"),
        (FRAME.iloc[:0], "empty data frame"),
        ({}, "empty mapping"),
        (ARRAY.T, "one column for each of the 3 classes"),
        (pd.DataFrame(ARRAY), r"unknown labels \[0, 1, 2\]"),
    ],
)
def test_wrong_labels_are_refused(ev: shafer.Evidence, loss: Any, message: str) -> None:
    for call in (ev.lower_risk, ev.upper_risk, lambda value: ev.decide("belief", loss=value)):
        with pytest.raises(ValueError, match=message):
            call(loss)


def test_text_that_fits_two_classes_is_refused() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 3)), classes=[1, "1", 2])
    with pytest.raises(ValueError, match="one value for each class, by label"):
        ev.upper_risk(pd.DataFrame([[1.0, 2.0, 3.0]], columns=["1", "2", "3"]))


def test_each_class_once_in_a_frame(ev: shafer.Evidence) -> None:
    with pytest.raises(ValueError, match="loss must have each class once"):
        ev.decide("belief", loss=pd.concat([FRAME, FRAME[["no"]]], axis=1))


def test_a_series_with_numbers_as_labels() -> None:
    ev = shafer.Evidence.from_weights([[[0.1, 0.4, -0.5]]], classes=[2, 1, 0])
    loss = {"a": pd.Series([3.0, 2.0, 1.0]), "b": [2.0, 2.0, 2.0]}
    assert_allclose(ev.upper_risk(loss), ev.upper_risk([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]]))
