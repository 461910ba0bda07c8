from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import confusion_matrix

from shafer.metrics import confusion_sets, coverage_score, rejection_rate, set_confusion_matrix

from .strategies import columns, decisions, repeated


@given(decisions())
def test_counts_every_row_once(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    sets = confusion_sets(y_set)
    labels = columns(y_set)
    counts = set_confusion_matrix(y_true, y_set, labels=labels, normalize=None)
    assert counts.dtype == np.int64
    expected = [
        [np.sum((y_true == k) & (y_set == members).all(axis=1)) for members in sets]
        for k in range(y_set.shape[1])
    ]
    assert_array_equal(counts, expected)
    weighted = set_confusion_matrix(y_true, y_set, labels=labels, sets=sets, sample_weight=weight)
    assert weighted.sum() == pytest.approx(100.0)
    again = set_confusion_matrix(*repeated(weight, y_true, y_set), labels=labels, sets=sets)
    assert_allclose(weighted, again, atol=1e-12)
    assert weighted[sets.T].sum() == pytest.approx(
        100 * coverage_score(y_true, y_set, labels=labels, sample_weight=weight)
    )


@given(decisions())
def test_columns(case: tuple[np.ndarray, ...]) -> None:
    y_set = case[1]
    n_classes = y_set.shape[1]
    sets = confusion_sets(y_set)
    assert_array_equal(sets[:n_classes], np.eye(n_classes))
    others = [frozenset(np.flatnonzero(row).tolist()) for row in sets[n_classes:]]
    decided = {frozenset(np.flatnonzero(row).tolist()) for row in y_set}
    assert len(set(others)) == len(others)
    assert set(others) == {members for members in decided if len(members) != 1}
    assert others == sorted(others, key=lambda s: (len(s) or n_classes + 1, sorted(s)))
    assert_array_equal(confusion_sets(y_set[::-1]), sets)


def test_precise_decisions_give_the_ordinary_matrix() -> None:
    random = np.random.default_rng(3)
    y_true, y_pred = random.integers(4, size=(2, 60))
    y_pred[y_pred == 2] = 0  # one class is never decided, and keeps its column
    y_set = np.eye(4)[y_pred]
    assert_array_equal(
        set_confusion_matrix(y_true, y_set, normalize=None), confusion_matrix(y_true, y_pred)
    )
    for normalize in ("all", "true", "pred"):
        assert_allclose(
            set_confusion_matrix(y_true, y_set, normalize=normalize),
            100 * confusion_matrix(y_true, y_pred, normalize=normalize),
        )


def test_names_and_the_papers_layout() -> None:
    y_set = np.array([[1, 0], [1, 1], [0, 1], [0, 1]], dtype=bool)
    y_true = ["yes", "no", "no", "yes"]
    table = set_confusion_matrix(y_true, y_set, labels=["yes", "no"])
    assert_allclose(table.T, [[25, 0], [25, 25], [0, 25]])
    assert table[:, 2].sum() == 100 * rejection_rate(y_set)
    weights = set_confusion_matrix(
        y_true, y_set, labels=["yes", "no"], normalize=None, sample_weight=[1.5, 2, 3, 4]
    )
    assert_array_equal(weights, [[1.5, 4, 0], [0, 3, 2]])


def test_wrong_use() -> None:
    y_set = [[1, 0, 0], [1, 1, 0]]
    matrix = partial(set_confusion_matrix, labels=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"normalize must be one of 'all'.* got 'rows'"):
        matrix(["a", "b"], y_set, normalize="rows")
    with pytest.raises(ValueError, match=r"every predicted set; 1 are missing.*\['a', 'b'\]"):
        matrix(["a", "b"], y_set, sets=np.eye(3))
    with pytest.raises(ValueError, match="sets must be distinct; got 2 of which 1 are different"):
        matrix(["a"], y_set[:1], sets=[[1, 0, 0]] * 2)
    with pytest.raises(ValueError, match=r"one column for each of the 3 classes; got shape \(2, 2"):
        matrix(["a", "b"], y_set, sets=np.eye(2))
