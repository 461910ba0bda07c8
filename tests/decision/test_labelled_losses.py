"""Losses are read by class label wherever they have labels; arrays in the order of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import shafer

CLASSES = ["no", "ill", "dead"]
COSTS = {
    "treat": {"no": 1.0, "ill": 0.0, "dead": 0.2},
    "send home": {"no": 0.0, "ill": 5.0, "dead": 9.0},
}
ARRAY = np.array([[1.0, 0.0, 0.2], [0.0, 5.0, 9.0]])
FRAME = pd.DataFrame(COSTS).T


@pytest.fixture
def ev() -> shafer.Evidence:
    return shafer.Evidence.from_weights([[[0.1, 0.4, -0.5]], [[3.0, -1.0, -2.0]]], classes=CLASSES)


@pytest.mark.parametrize(
    "loss",
    [
        COSTS,
        {act: {c: row[c] for c in ("dead", "no", "ill")} for act, row in COSTS.items()},
        {"treat": [1.0, 0.0, 0.2], "send home": [0.0, 5.0, 9.0]},
        {"treat": FRAME[["dead", "ill", "no"]].loc["treat"], "send home": [0.0, 5.0, 9.0]},
        FRAME,
        FRAME[["dead", "no", "ill"]],
        FRAME[["ill", "dead", "no"]].rename_axis("act").reset_index(),
        pl.DataFrame({"dead": [0.2, 9.0], "act": list(COSTS), "no": [1.0, 0.0], "ill": [0.0, 5.0]}),
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
