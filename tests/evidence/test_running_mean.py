"""Means over a stream: the same however the rows are cut, in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from shafer.evidence import RunningMean


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.booleans(), st.integers(0, 6))
def test_any_cut_gives_the_mean(sizes: list[int], weighted: bool, workers: int) -> None:
    rng = np.random.default_rng(sum(sizes))
    n = sum(sizes) + 1
    X, weight = rng.normal(1e6, 1, size=(n, 3)), rng.random(n) if weighted else np.ones(n)
    parts = np.split(np.arange(n), np.cumsum(sizes))
    left, right = RunningMean(), RunningMean()
    for number, rows in enumerate(parts):
        worker = left if number < workers else right
        worker.partial_fit(X[rows], weight[rows] if weighted else None)
    merged = left.merge(right)
    assert_allclose(merged.mean, np.average(X, axis=0, weights=weight), rtol=1e-14)
    assert_allclose(merged.weight, weight.sum())


@pytest.mark.parametrize("form", [np.asarray, torch.asarray, sparse.csr_array])
def test_single_precision_does_not_drift(form: Any) -> None:
    X = np.full((2_000_000, 2), 100.1, dtype=np.float32)
    for weight in (None, np.ones(len(X))):
        mean = RunningMean().partial_fit(form(X), weight).mean
        assert mean.dtype in (np.float32, torch.float32)
        assert_allclose(np.asarray(mean), np.float32(100.1), rtol=1e-6)


def test_weights_of_any_kind() -> None:
    X = torch.arange(6.0).reshape(3, 2)
    for weight in ([1, 2, 1], np.array([1, 2, 1]), torch.tensor([1.0, 2.0, 1.0]), 5.0):
        assert_allclose(RunningMean().partial_fit(X, weight).mean.numpy(), [2.0, 3.0])


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match="at least one row with a positive weight"):
        _ = RunningMean().partial_fit(np.ones((2, 2)), [0.0, 0.0]).mean
    with pytest.raises(ValueError, match=r"same columns; got shape \(3,\) after \(2,\)"):
        RunningMean().partial_fit(np.ones((1, 2))).partial_fit(np.ones((1, 3)))
    with pytest.raises(ValueError, match="one weight for each of the 2 rows; got 3"):
        RunningMean().partial_fit(np.ones((2, 2)), np.ones(3))
    with pytest.raises(ValueError, match="background must be finite"):
        RunningMean().partial_fit([[np.nan]])
