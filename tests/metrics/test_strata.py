from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from shafer.metrics import (
    coverage_by_class,
    coverage_by_size,
    coverage_score,
    size_stratified_coverage_score,
    worst_class_coverage_score,
)

from .strategies import columns, decisions, repeated


@given(decisions())
def test_strata_are_restricted_coverages(case: tuple[np.ndarray, ...]) -> None:
    y_true, y_set, weight = case
    labels = columns(y_set)
    size = np.maximum(y_set.sum(axis=1), 1)
    for result, of_row in (
        (coverage_by_size(y_true, y_set, labels=labels, sample_weight=weight), size),
        (coverage_by_class(y_true, y_set, labels=labels, sample_weight=weight), y_true),
    ):
        rows, truth, sets = repeated(weight, of_row, y_true, y_set)
        assert_array_equal(result.strata, np.unique(rows))
        assert_allclose(
            result.coverage,
            [
                coverage_score(truth[rows == s], sets[rows == s], labels=labels)
                for s in result.strata
            ],
        )
        assert_allclose(result.share, [np.mean(rows == s) for s in result.strata])
        overall = coverage_score(y_true, y_set, labels=labels, sample_weight=weight)
        assert result.coverage @ result.share == pytest.approx(overall, abs=1e-12)
        assert result.worst == result.coverage.min()


def test_bins() -> None:
    y_set = np.tril(np.ones((6, 6), dtype=bool))
    y_set = np.concatenate([y_set, np.zeros((1, 6), dtype=bool)])  # sizes 1 to 6 and 0
    y_true = np.array([0, 5, 0, 0, 5, 0, 0])
    by_size = coverage_by_size(y_true, y_set, bins=[2, 4], labels=range(6))
    assert by_size.strata.tolist() == [2, 4, 6]
    assert_allclose(by_size.coverage, [1 / 3, 1, 1 / 2])
    by_size = coverage_by_size(y_true, y_set, bins=[0, 6], labels=range(6))
    assert by_size.coverage.tolist() == [0.0, 4 / 6]
    worst = partial(size_stratified_coverage_score, labels=range(6))
    assert worst(y_true, y_set, bins=[2, 4]) == pytest.approx(1 / 3)
    assert worst(y_true, y_set) == 0.0
    assert worst(y_true[:-1], y_set[:-1], bins=[6]) == 4 / 6


def test_worst_class() -> None:
    labels = ["b", "a", "c"]
    y_set = [[1, 0, 0], [1, 1, 0], [1, 0, 0]]
    assert worst_class_coverage_score(["b", "a", "a"], y_set, labels=labels) == 0.5
    by_class = coverage_by_class(["b", "a", "a"], y_set, labels=labels)
    assert by_class.strata.tolist() == ["b", "a"]  # in the order of the columns


@pytest.mark.parametrize("bins", [[2, 1], [1, 1], [], [0.5]])
def test_wrong_bins(bins: list[float]) -> None:
    with pytest.raises(ValueError, match="bins must be one or more increasing whole numbers"):
        coverage_by_size([0, 1], [[1, 0], [1, 0]], bins=bins)
