"""What every metric accepts and refuses, through the public functions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from shafer import metrics
from shafer.metrics import coverage_by_class, coverage_score, mean_set_size

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
        pd.DataFrame(Y_SET, columns=NAMES),
        pl.DataFrame(Y_SET),
    ],
    ids=["list", "int", "float", "object", "torch", "pandas", "polars"],
)
def test_sets_of_any_kind(y_set: object) -> None:
    assert coverage_score(Y_TRUE, y_set) == 0.5
    assert mean_set_size(y_set) == 1.25


@pytest.mark.parametrize(
    "y_true",
    [
        Y_TRUE.tolist(),
        Y_TRUE.astype(float),
        Y_TRUE.astype(object),
        torch.tensor(Y_TRUE),
        pd.Series(Y_TRUE, dtype="Int64"),
        NAMES[Y_TRUE],
        NAMES[Y_TRUE].astype(object),
        pd.Series(NAMES[Y_TRUE], dtype="category"),
        pl.Series(NAMES[Y_TRUE]),
    ],
)
def test_truth_of_any_kind(y_true: object) -> None:
    assert coverage_score(y_true, Y_SET) == 0.5


def test_labels_set_the_order_of_the_columns() -> None:
    order = [2, 0, 1]
    assert coverage_score(NAMES[Y_TRUE], Y_SET[:, order], labels=NAMES[order]) == 0.5
    assert coverage_score([1, 2, 1, 3], Y_SET, labels=[1, 2, 3]) == 0.5
    assert coverage_score([True, False], [[1, 0], [1, 0]]) == 0.5
    # With labels a class need not occur; 1, 0 and True are labels like any other.
    assert coverage_score(["bee"], [[0, 1, 0]], labels=NAMES.tolist()) == 1.0
    assert coverage_score([1], [[1, 0]], labels=[1, 0]) == 1.0
    by_class = coverage_by_class(["bee", "ant"], [[0, 1, 0], [1, 0, 0]], labels=NAMES)
    assert by_class.strata.tolist() == ["ant", "bee"]


def test_mixed_labels_with_their_order() -> None:
    y_true = np.array([None, "b", 3], dtype=object)
    assert coverage_score(y_true, np.eye(3), labels=[None, "b", 3]) == 1.0
    with pytest.raises(ValueError, match=r"can be sorted, none missing.*'None', 'b', '3'"):
        coverage_score(y_true, np.eye(3))


@pytest.mark.parametrize(
    ("y_true", "labels", "message"),
    [
        ([0, 1, 2, 3], None, r"positions of columns, 0 to 2; got \[3\]. If they are labels"),
        ([1, 2, 3, 1], None, r"positions of columns, 0 to 2; got \[3\]"),
        ([0, 1, -1, 0], None, r"got \[-1\]"),
        ([0, 1, 0.5, 0], None, r"got \[0.5\]"),
        ([0, 1, np.nan, 0], None, r"got \[nan\]"),
        (
            ["a", "b", "a", "b"],
            None,
            r"y_true holds 2 class\(es\), \['a', 'b'\], where there are 3",
        ),
        (["a", "b", "c", "d"], None, r"holds 4 class\(es\)"),
        (["a", "b", "c", "d"], ["a", "b", "c"], r"Unknown class label\(s\) \['d'\] in y_true"),
        ([0, 1, 2, 0], NAMES, r"Unknown class label\(s\) \[0, 1, 2\].*\['ant', 'bee', 'cow'\]"),
        (Y_TRUE, ["a", "b"], r"labels must name the 3 columns in order: .* got shape \(2,\)"),
        (Y_TRUE, ["a", "b", "b"], "must be distinct"),
        (Y_TRUE, "abc", "labels must name the 3 columns in order: .*'abc'"),
        (Y_TRUE[:, None], None, r"y_true must have one dimension; got shape \(4, 1\)"),
        (Y_TRUE[:3], None, "same number of rows; got y_true: 3, y_set: 4"),
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
        (Y_SET * 0.3, "got .*0.3.* Scores become sets by a rule or a threshold"),
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
    assert coverage_score(y_true, y_set) == hit.mean()
    labels = [f"class {k}" for k in range(1000)]
    assert coverage_score([labels[k] for k in y_true], y_set, labels=labels) == hit.mean()
    assert metrics.set_confusion_matrix(y_true, y_set).shape == (1000, 1500)
