"""Sets of classes: what every metric accepts, coverage by group, utility."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from shafer import metrics
from shafer.metrics import (
    coverage_by_class,
    coverage_by_group,
    coverage_score,
    discounted_utility_score,
    mean_set_size,
    u65_score,
    u80_score,
)

# Arguments that every metric accepts or refuses, tested through the public functions.


Y_SET = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=bool)
Y_TRUE = np.array([0, 1, 0, 2])
NAMES = np.array(["ant", "bee", "cow"])


@pytest.mark.parametrize(
    "y_set",
    [
        Y_SET.tolist(),
        Y_SET.astype(int),
        Y_SET.astype(np.float32),
        Y_SET.astype(object),
        torch.tensor(Y_SET),
        pd.DataFrame(Y_SET),
        pl.DataFrame(Y_SET),
        pd.DataFrame(Y_SET, columns=[0, 1, 2])[[2, 0, 1]],
        pl.DataFrame(Y_SET, schema=["0", "1", "2"])[["2", "0", "1"]],
    ],
    ids=["list", "int", "float", "object", "torch", "pandas", "polars", "named", "by text"],
)
def test_sets_of_any_kind(y_set: object) -> None:
    assert coverage_score(Y_TRUE, y_set, labels=[0, 1, 2]) == 0.5
    assert mean_set_size(y_set) == 1.25


@pytest.mark.parametrize(
    "y_true",
    [
        Y_TRUE.tolist(),
        Y_TRUE.astype(float),
        Y_TRUE.astype(object),
        torch.tensor(Y_TRUE),
        pd.Series(Y_TRUE, dtype="Int64"),
        pd.Series(Y_TRUE, index=[3, 2, 1, 0]),  # rows count, not the index
    ],
)
def test_truth_of_complete_numbers(y_true: object) -> None:
    assert coverage_score(y_true, Y_SET) == 0.5
    assert coverage_score(y_true, Y_SET, labels=[0.0, 1.0, 2.0]) == 0.5


@pytest.mark.parametrize(
    "y_true",
    [
        NAMES[Y_TRUE],
        NAMES[Y_TRUE].tolist(),
        NAMES[Y_TRUE].astype(object),
        pd.Series(NAMES[Y_TRUE], dtype="category"),
        pd.Categorical(NAMES[Y_TRUE]),
        pd.Series(NAMES[Y_TRUE], dtype="string"),
        pl.Series(NAMES[Y_TRUE]),
    ],
)
def test_truth_of_any_kind(y_true: object) -> None:
    assert coverage_score(y_true, Y_SET, labels=NAMES) == 0.5


def test_integers_are_labels_not_positions() -> None:
    labels = np.array([1, 2, 3])
    y_true = np.array([1, 2, 1, 2])
    y_set = y_true[:, None] == labels  # every set is the true class
    assert coverage_score(y_true, y_set, labels=labels) == 1.0
    with pytest.raises(ValueError, match=r"labels \[1, 2\], and it is not known which of the 3 "):
        coverage_score(y_true, y_set)  # 0.1.0 read 1 and 2 as positions and returned 0


def test_frames_are_read_by_their_names() -> None:
    y_true = NAMES[Y_TRUE]
    frame = pd.DataFrame(Y_SET, columns=NAMES)
    for y_set in (frame, frame[["cow", "ant", "bee"]], pl.DataFrame(frame)[["bee", "cow", "ant"]]):
        assert coverage_score(y_true, y_set) == 0.5  # the columns name the classes
        assert coverage_score(y_true, y_set, labels=NAMES) == 0.5
        assert coverage_score(y_true, y_set, labels=NAMES[::-1]) == 0.5
        assert set(coverage_by_class(y_true, y_set).strata.tolist()) == set(NAMES)
    table = metrics.set_confusion_matrix(y_true, frame, labels=NAMES)
    permuted = frame[["cow", "ant", "bee"]]
    assert (metrics.set_confusion_matrix(y_true, permuted, labels=NAMES) == table).all()
    sets = metrics.confusion_sets(permuted, labels=NAMES)
    assert (sets == metrics.confusion_sets(Y_SET)).all()
    assert (metrics.set_confusion_matrix(y_true, frame, labels=NAMES, sets=sets) == table).all()


def test_wrong_frames() -> None:
    frame = pd.DataFrame(Y_SET, columns=["ant", "bee", "cat"])
    with pytest.raises(ValueError, match=r"y_set must have one column for each class.*'cat'.*'cow"):
        coverage_score(NAMES[Y_TRUE], frame, labels=NAMES)
    with pytest.raises(ValueError, match=r"numbered \[0, 1, 2\], but labels=\[2, 1, 0\]"):
        coverage_score(Y_TRUE, pd.DataFrame(Y_SET), labels=[2, 1, 0])
    with pytest.raises(ValueError, match="y_set has several columns with the same name"):
        coverage_score(NAMES[Y_TRUE], pd.DataFrame(Y_SET, columns=list("aab")), labels=NAMES)
    with pytest.raises(ValueError, match="y_true must be one column of labels"):
        coverage_score(pd.DataFrame({"y": Y_TRUE}), Y_SET)


def test_labels_set_the_order_of_the_columns() -> None:
    order = [2, 0, 1]
    assert coverage_score(NAMES[Y_TRUE], Y_SET[:, order], labels=NAMES[order]) == 0.5
    assert coverage_score([1, 2, 1, 3], Y_SET, labels=[1, 2, 3]) == 0.5
    assert coverage_score([True, False], [[1, 0], [1, 0]], labels=[False, True]) == 0.5
    # A class need not occur, and numbers are labels like any other.
    assert coverage_score(["bee"], [[0, 1, 0]], labels=NAMES.tolist()) == 1.0
    assert coverage_score([1], [[1, 0]], labels=[1, 0]) == 1.0
    by_class = coverage_by_class(["bee", "ant"], [[0, 1, 0], [1, 0, 0]], labels=NAMES)
    assert by_class.strata.tolist() == ["ant", "bee"]


def test_mixed_labels_with_their_order() -> None:
    y_true = np.array([None, "b", 3], dtype=object)
    assert coverage_score(y_true, np.eye(3), labels=[None, "b", 3]) == 1.0
    with pytest.raises(ValueError, match=r"holds the labels \[None, 'b', 3\], and it is not known"):
        coverage_score(y_true, np.eye(3))


@pytest.mark.parametrize(
    ("y_true", "labels", "message"),
    [
        (
            [0, 1, 2, 3],
            None,
            r"labels \[0, 1, 2, 3\], and it is not known which of the 3 columns.*Pass labels=",
        ),
        ([1, 2, 3, 1], None, r"labels \[1, 2, 3\], and it is not known"),
        ([0, 1, 1, 0], None, r"labels \[0, 1\], and it is not known.*each of the numbers 0 to 2"),
        ([0, 1, -1, 0], None, r"\[-1, 0, 1\], and it is not known"),
        ([0, 1, 0.5, 2], None, r"\[0, 0.5, 1, 2\], and it is not known"),
        ([0, 1, np.nan, 2], None, "nan.*and it is not known"),
        ([True, False, True, False], None, r"\[False, True\], and it is not known"),
        (NAMES[Y_TRUE], None, r"\['ant', 'bee', 'cow'\], and it is not known"),
        ([0, 1, np.nan, 0], [0, 1, 2], r"Missing class label\(s\) \[nan\] in y_true, 1 in all"),
        (pd.Series([0, 1, None, 0], dtype="Int64"), [0, 1, 2], "Missing class label.*Remove"),
        (pd.Series(["ant", None, None, "bee"]), NAMES, r"Missing class label.* 2 in all"),
        ([True, False, True, True], [0, 1, 2], "Booleans are not the numbers 0 and 1"),
        (["0", "1", "2", "2"], [0, 1, 2], r"Unknown class label.*A string is not a number"),
        (["a", "b", "c", "d"], ["a", "b", "c"], r"Unknown class label\(s\) \['d'\] in y_true"),
        ([0, 1, 2, 0], NAMES, r"Unknown class label\(s\) \[0, 1, 2\].*\['ant', 'bee', 'cow'\]"),
        (Y_TRUE, ["a", "b"], r"labels must name the 3 columns in order: .* got shape \(2,\)"),
        (Y_TRUE, ["a", "b", "b"], "must be distinct"),
        (Y_TRUE, "abc", "labels must name the 3 columns in order: .*'abc'"),
        (Y_TRUE[:, None], None, r"y_true must hold one label for each row; got shape \(4, 1\)"),
        (Y_TRUE[:3], [0, 1, 2], "same number of rows; got y_true: 3, y_set: 4"),
    ],
)
def test_wrong_truth(y_true: object, labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coverage_score(y_true, Y_SET, labels=labels)


@pytest.mark.parametrize(
    ("y_set", "message"),
    [
        ([0, 1, 1, 0], r"shape \(n, K\), one column for each class.*got shape \(4,\)"),
        (np.zeros((0, 3), dtype=bool), r"at least one row; got shape \(0, 3\)"),
        (np.ones((4, 1), dtype=bool), r"at least two classes; got shape \(4, 1\)"),
        (Y_SET * 2, r"booleans, or zeros and ones; got .*2.* in an array of int64"),
        (Y_SET * 0.3, "got .*0.3.* To make sets from scores, use a decision rule"),
        (np.where(Y_SET, np.nan, 0.0), "got .*nan"),
        (np.where(Y_SET, "1", "0"), "got .*'1'.* in an array of <U1"),
        (np.where(Y_SET, None, True), "got None in an array of object"),
        (np.ma.masked_array(Y_SET, mask=Y_SET), "must not be a masked array"),
    ],
)
def test_wrong_sets(y_set: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coverage_score(Y_TRUE, y_set)
    with pytest.raises(ValueError, match=message):
        mean_set_size(y_set)


@pytest.mark.parametrize(
    ("sample_weight", "message"),
    [
        ([1.0, 2.0], r"one weight for each of the 4 rows; got 2"),
        ([1.0, -1.0, 1.0, 1.0], "nonnegative and not all zero; got values from -1.0 to 1.0"),
        ([0, 0, 0, 0], "not all zero"),
        ([1, 1, 1, np.inf], "sample_weight must be finite"),
        ([[1, 1, 1, 1]], r"sample_weight must have 0 or 1 dimension"),
    ],
)
def test_wrong_weights(sample_weight: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        coverage_score(Y_TRUE, Y_SET, sample_weight=sample_weight)


@pytest.mark.parametrize("scale", [1e-308, 1e-3, 1e4, 1e308])
def test_weights_of_any_scale(scale: float) -> None:
    weight = np.array([1.0, 0.5, 0.5, 0.0]) * scale
    assert coverage_score(Y_TRUE, Y_SET, sample_weight=weight) == 0.75
    assert mean_set_size(Y_SET, sample_weight=torch.tensor(weight)) == 1.5
    table = metrics.set_confusion_matrix(Y_TRUE, Y_SET, sample_weight=weight)
    assert table.sum() == pytest.approx(100.0)


def test_many_rows_and_classes() -> None:
    random = np.random.default_rng(0)
    y_set = random.random((500, 1000)) < 0.5
    y_true = random.integers(1000, size=500)
    hit = y_set[np.arange(500), y_true]
    assert coverage_score(y_true, y_set, labels=np.arange(1000)) == hit.mean()
    labels = [f"class {k}" for k in range(1000)]
    assert coverage_score([labels[k] for k in y_true], y_set, labels=labels) == hit.mean()
    assert metrics.set_confusion_matrix(y_true, y_set, labels=range(1000)).shape == (1000, 1500)


@pytest.mark.parametrize("dtype", [complex, str, "datetime64[s]"])
def test_sets_of_other_types_are_refused(dtype: Any) -> None:
    with pytest.raises(ValueError, match="y_set must hold booleans, or zeros and ones"):
        mean_set_size(Y_SET.astype(int).astype(dtype))


# Coverage by group, counted by hand and against exact intervals.


def test_against_scipy() -> None:
    random = np.random.default_rng(0)
    y, groups = random.integers(3, size=200), random.choice([2019, 2020, 2021], 200)
    sets = random.random((200, 3)) < 0.7
    found = coverage_by_group(y, sets, pd.Series(groups), confidence=0.9)
    assert found.by == (2019, 2020, 2021)
    for g, name in enumerate(found.by):
        own = groups == name
        hits = int(sets[own][np.arange(own.sum()), y[own]].sum())
        interval = binomtest(hits, int(own.sum())).proportion_ci(0.9, method="exact")
        assert found.n[g] == own.sum()
        assert_allclose([found.lower[g], found.upper[g]], interval, rtol=1e-9)
        assert found.coverage[g] == coverage_score(y[own], sets[own], labels=[0, 1, 2])
        assert_allclose(found.mean_size[g], sets[own].sum(axis=1).mean())
    assert found.worst == found.coverage.min()
    assert list(pd.DataFrame(found.to_dict())["group"]) == [2019, 2020, 2021]


def test_bad_groups() -> None:
    y, sets = [0, 1], [[1, 0], [1, 1]]
    for options, message in [
        ({"by": ["a"]}, "one label for each of 2 rows"),
        ({"by": ["a", None]}, "by must not be missing"),
        ({"by": ["a", "b"], "confidence": 2}, "confidence must be a number between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            coverage_by_group(y, sets, **options)


# Utility.


def _worths(utility: object, n_classes: int) -> list[float]:
    """The utility of right sets of 1 to K classes."""
    sets = np.tril(np.ones((n_classes, n_classes)))
    labels = range(n_classes)
    return [discounted_utility_score([0], row[None], utility, labels=labels) for row in sets]


def test_named_utilities() -> None:
    size = np.arange(1, 7)
    assert_allclose(_worths("u50", 6), 1 / size)
    assert_allclose(_worths("u65", 6), 1.6 / size - 0.6 / size**2)
    assert_allclose(_worths("u80", 6), 2.2 / size - 1.2 / size**2)
    assert_allclose([_worths(name, 2)[1] for name in ("u50", "u65", "u80")], [0.5, 0.65, 0.8])
    assert _worths("u65", 3)[0] == _worths("u80", 3)[0] == 1.0


def test_any_utility() -> None:
    owa = [1.0, 0.8, 0.681867, 0.596482, 0.530673]
    assert_allclose(_worths(owa, 4), owa[:4])
    assert_allclose(_worths(np.array(owa), 5), owa)
    assert_allclose(_worths(lambda size: 1 / size**2, 4), [1, 1 / 4, 1 / 9, 1 / 16])


def test_shortcuts() -> None:
    random = np.random.default_rng(0)
    y_set, y_true = random.random((50, 4)) < 0.5, random.integers(4, size=50)
    labels, weight = list("dcba"), random.random(50)
    names = [labels[k] for k in y_true]
    for name, shortcut in (("u65", u65_score), ("u80", u80_score)):
        assert shortcut(names, y_set, labels=labels, sample_weight=weight) == (
            discounted_utility_score(y_true, y_set, name, sample_weight=weight)
        )
    assert discounted_utility_score(y_true, y_set) == u65_score(y_true, y_set)


@pytest.mark.parametrize(
    ("utility", "message"),
    [
        ("u70", "utility must be one of 'u50', 'u65', 'u80', .* got 'u70'"),
        ([1.0, 0.8], r"at least 3 numbers, for sets of 1 to 3 classes; got shape \(2,\)"),
        (0.8, r"got shape \(\)"),
        ([1.0, np.nan, 0.0], "utility must be finite"),
        (lambda size: "much", "utility must hold real numbers"),
    ],
)
def test_wrong_utility(utility: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        discounted_utility_score([0], [[1, 0, 0]], utility, labels=[0, 1, 2])
