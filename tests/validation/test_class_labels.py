"""Class labels: which are the same, what is refused, and never a position."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from numpy.testing import assert_array_equal

from shafer._checks import class_labels, label_positions, positions_of, true_classes
from shafer.decision import cross_conformal, split_conformal, tempering_factor

# Which labels are the same, and what is refused.


NUMBERS = np.array([0, 1, 2])
NAMES = np.array(["ant", "bee", "cow"])
FLAGS = np.array([False, True])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([2, 0, 1], NUMBERS),
        ([2.0, 0.0, 1.0], NUMBERS),  # a table from a file may hold floats
        ([2, 0, 1], NUMBERS.astype(float)),
        (np.array([2, 0, 1], dtype=np.uint8), NUMBERS),
        ([np.int32(2), np.float32(0.0), 1], NUMBERS),
        (torch.tensor([2, 0, 1]), NUMBERS),
        (pd.Series([2, 0, 1], dtype="Int64", index=[9, 8, 7]), NUMBERS),
        (pl.Series([2, 0, 1]), NUMBERS),
        (["cow", "ant", "bee"], NAMES),
        (np.array(["cow", "ant", "bee"], dtype=object), NAMES),
        (pd.Series(["cow", "ant", "bee"], dtype="category"), NAMES),
        (pd.Categorical(["cow", "ant", "bee"]), NAMES),
        (pd.Series(["cow", "ant", "bee"], dtype="string"), NAMES),
        (pd.Index(["cow", "ant", "bee"]), NAMES),
        (pl.Series(["cow", "ant", "bee"], dtype=pl.Categorical), NAMES),
        (["x", 1, ("a", "b")], class_labels([1, ("a", "b"), "x"], 3)),
    ],
)
def test_labels_are_compared_by_value(y: Any, classes: np.ndarray) -> None:
    assert label_positions(y, classes, 3).tolist() == [2, 0, 1]


def test_booleans() -> None:
    assert label_positions([True, False], FLAGS).tolist() == [1, 0]
    assert label_positions([1, 0], FLAGS).tolist() == [1, 0]  # nothing else can be meant
    for y in ([True, False], np.array([True, False]), pd.Series([True, False], dtype="boolean")):
        with pytest.raises(
            ValueError, match=r"Booleans are not the numbers 0 and 1.*astype\(int\)"
        ):
            label_positions(y, NUMBERS)
        with pytest.raises(ValueError, match="Pass labels, not a mask"):
            positions_of(y, NUMBERS)
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \[True\]"):
        positions_of(True, NUMBERS)
    assert positions_of(True, FLAGS) == [1]


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, None],
        [0, 1, np.nan],
        pd.Series([0, 1, pd.NA], dtype="Int64"),
        pd.array([0, 1, pd.NA], dtype="Int64"),
        pd.Series([0, 1, None]),
        pl.Series([0, 1, None]),
    ],
)
def test_missing_labels(y: Any) -> None:
    with pytest.raises(ValueError, match=r"Missing class label\(s\) .* in y, 1 in all. Remove"):
        label_positions(y, NUMBERS, 3)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([7, 7, 8], r"Unknown class label\(s\) \[7, 8\] in y; the classes are \[0, 1, 2\]. Pass"),
        (["0", "1", "2"], "A string is not a number"),
        ([[0], [1], [2]], r"one label for each of 3 rows; got shape \(3, 1\)"),
        ([0, 1], r"one label for each of 3 rows; got shape \(2,\)"),
        (pd.DataFrame({"y": [0, 1, 2]}), r"y must be one column of labels.*shape \(3, 1\)"),
        ([[0], [1, 2], 3], r"Unknown class label"),
        (np.ma.masked_array([0, 1, 2], mask=[0, 0, 1]), "must not be a masked array"),
        ("abc", "y must be a sequence of labels; got 'abc'"),
    ],
)
def test_other_labels_are_refused(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        label_positions(y, NUMBERS, 3)


def test_classes() -> None:
    assert class_labels(None, 3).tolist() == [0, 1, 2]
    assert class_labels(pd.Index(["b", "a"]), 2).tolist() == ["b", "a"]
    assert class_labels(pd.Categorical(["b", "a"]), 2).tolist() == ["b", "a"]
    for wrong in ([1, 1.0], [True, 1], ["a", "a"]):
        with pytest.raises(ValueError, match="classes must be distinct"):
            class_labels(wrong, 2)
    for wrong in ([1, np.nan], [1, pd.NA]):
        with pytest.raises(ValueError, match="classes must not hold NaN"):
            class_labels(wrong, 2)


def test_subsets() -> None:
    assert positions_of("bee", NAMES) == [1]
    assert positions_of(["cow", "ant", "cow"], NAMES) == [0, 2]
    assert positions_of(pd.Series(["cow", "ant"]), NAMES) == [0, 2]
    assert positions_of(np.float64(2.0), NUMBERS) == [2]
    assert positions_of([], NAMES) == []
    with pytest.raises(ValueError, match=r"Unknown class label\(s\) \['dog'\].*Use these labels"):
        positions_of(["ant", "dog"], NAMES)


@pytest.mark.parametrize("classes", [NUMBERS, NAMES, NUMBERS.astype(float)])
def test_a_million_labels_need_little_memory(classes: np.ndarray) -> None:
    expected = np.random.default_rng(0).integers(3, size=10**6)
    y = classes[expected]
    tracemalloc.start()
    found = label_positions(y, classes, len(y))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, expected)
    assert peak < 40e6  # of which the result takes 8 MB


# Labels of calibration rows are labels: never taken for positions.


SCORES = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize(
    "y",
    [
        np.arange(30) % 3 + 1,  # 1 and 2 are positions, of other classes
        np.arange(30) % 2,  # two of three classes: which ones?
        np.arange(30) % 2 + 1,
        np.array(["a", "b", "c"] * 10),
    ],
)
def test_labels_without_classes_are_refused(y: Any) -> None:
    for call in (
        lambda: split_conformal(SCORES, y),
        lambda: cross_conformal(SCORES, np.arange(30) % 2, y),
        lambda: tempering_factor(SCORES, y),
    ):
        with pytest.raises(
            ValueError, match=r"leave out classes= only if .* contains each of the numbers 0 to 2"
        ):
            call()


def test_labels_with_classes() -> None:
    found = true_classes(["no", "yes", "no"], ["yes", "no"], 2)
    assert_array_equal(found.positions, [1, 0, 1])
    assert_array_equal(true_classes([3, 1], [1, 2, 3], 3).positions, [2, 0])
    assert_array_equal(true_classes([1.0, 0.0], None, 2).positions, [1, 0])
    assert_array_equal(true_classes([True, False], [False, True], 2).positions, [1, 0])
    for classes in (None, [0, 1]):  # a mask is not a vector of labels
        with pytest.raises(ValueError, match=r"True"):
            true_classes([True, False], classes, 2)
