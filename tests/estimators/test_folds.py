"""Folds and splits, the same for both classifiers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold

from shafer.estimators.fitting import check_fold_count, read_splits, stratified_folds

Y = np.repeat(["a", "b", "c"], [50, 48, 2])


def test_two_rows_of_a_class_are_in_different_folds() -> None:
    where = stratified_folds(Y, 5, "this", "do that")
    assert set(where) == set(range(5))
    assert len(set(where[-2:])) == 2
    for fold in range(5):
        assert set(Y[where != fold]) == {"a", "b", "c"}
    assert np.bincount(where).min() >= 18


def test_fewer_folds_if_no_class_has_that_many_rows() -> None:
    assert set(stratified_folds([0, 0, 0, 1, 1], 10, "this", "do that")) == {0, 1, 2}


def test_a_class_of_one_row() -> None:
    with pytest.raises(
        ValueError, match="this needs at least 2 rows of every class; class 'c' has 1 .* or do that"
    ):
        stratified_folds(Y[:-1], 5, "this", "do that")


def test_splits_are_the_folds() -> None:
    where = stratified_folds(Y, 4, "this", "do that", random_state=3)
    splits = read_splits(4, Y, "this", "do that", 3)
    for fold, (train, held_out) in enumerate(splits):
        np.testing.assert_array_equal(held_out, np.flatnonzero(where == fold))
        np.testing.assert_array_equal(train, np.flatnonzero(where != fold))


def test_splits_of_the_users_own() -> None:
    given = [(np.arange(50), np.arange(50, 100))]
    for cv in (given, iter(given)):
        ((train, held_out),) = read_splits(cv, Y, "this", "do that", None)
        assert train.tolist() == list(range(50))
        assert held_out.tolist() == list(range(50, 100))
    assert len(read_splits(KFold(3), Y, "this", "do that", None)) == 3


@pytest.mark.parametrize("cv", [True, 1, 0, -3, 2.0, "5", None])
def test_wrong_numbers_of_folds(cv: Any) -> None:
    with pytest.raises(ValueError, match="cv must be a whole number of folds ≥ 2"):
        check_fold_count(cv)
    with pytest.raises(ValueError, match="cv must be a whole number of folds ≥ 2"):
        read_splits(cv, Y, "this", "do that", None)
