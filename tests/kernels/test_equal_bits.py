"""Plain and compiled kernels give equal bits, for a row alone and in any batch and layout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse

from shafer._kernels import direct_forms, pooling
from shafer._kernels.compiled import numba_kernels
from shafer._kernels.pooling import Pooled

DTYPES = ["float32", "float64"]


def assert_equal_bits(found: Iterable[Any], expected: Iterable[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == np.ascontiguousarray(other).tobytes()


def heads(n: int, J: int, K: int, dtype: str) -> Iterable[list[NDArray[Any]]]:
    """Give features, means, coefficients and offset: ordinary, one-sided, and with many ties."""
    rng = np.random.default_rng([n, J, K])
    X, centre, beta = rng.normal(size=(n, J)), rng.normal(size=J), rng.normal(size=(J, K))
    offset = rng.normal(size=K) / J
    if K == 2:
        beta[:, 1], offset[1] = -beta[:, 0], -offset[0]
    some = np.where(np.arange(n)[:, None] % 2, np.abs(X), X)  # digits would be lost in these rows
    one_sided = [some, np.zeros(J), np.abs(beta) * np.sign(beta[:1]), np.zeros(K)]
    ties = [(X > 0.5).astype(float), np.zeros(J), beta.round(), np.zeros(K)]
    for head in ([X, centre, beta, offset], one_sided, ties):
        yield [array.astype(dtype) for array in head]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("J", "K"), [(1, 2), (15, 3), (17, 2), (70, 7), (3, 8), (31, 9), (32, 8), (601, 9), (129, 300)]
)
def test_linear_models(J: int, K: int, dtype: str) -> None:
    for features, *rest in heads(70, J, K, dtype):
        whole = pooling.pool_linear(features, *rest)
        assert_equal_bits(numba_kernels.pool_linear(features, *rest), whole)
        assert_equal_bits(pooling.pool_linear(np.asfortranarray(features), *rest), whole)
        for rows in (slice(0, 1), slice(3, 4), slice(5, 12), slice(1, 69, 3)):
            part = [array[rows] for array in whole]
            for kernels in (pooling, numba_kernels):
                assert_equal_bits(kernels.pool_linear(features[rows], *rest), part)


@pytest.mark.parametrize("offset", [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, -1.0), (0.0, 0.0)])
def test_opposite_coefficients_with_any_offset(offset: tuple[float, float]) -> None:
    features, centre, beta, _ = next(iter(heads(9, 20, 2, "float64")))
    assert_array_equal(beta[:, 1], -beta[:, 0])
    found = pooling.pool_linear(features, centre, beta, np.array(offset))
    weights = (features - centre)[:, :, None] * beta + offset
    assert_allclose(found.weights_for, np.maximum(weights, 0.0).sum(axis=1), rtol=1e-12)
    assert_allclose(found.weights_against, np.maximum(-weights, 0.0).sum(axis=1), rtol=1e-12)
    again = numba_kernels.pool_linear(features, centre, beta, np.array(offset))
    assert_equal_bits(again, found)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("K", [1, 2, 6, 40])
def test_sparse_features(K: int, dtype: str) -> None:
    rng = np.random.default_rng(K)
    X = (rng.normal(size=(40, 60)) * (rng.random((40, 60)) < 0.1)).astype(dtype)
    X[[0, 17]] = 0.0
    head = X.mean(axis=0), rng.normal(size=(60, K)).astype(dtype), rng.normal(size=K).astype(dtype)
    whole = pooling.pool_linear_sparse(sparse.csr_array(X), *head)
    turned = head[0], np.asfortranarray(head[1]), head[2]
    for kernels in (pooling, numba_kernels):
        assert_equal_bits(kernels.pool_linear_sparse(sparse.csr_array(X), *turned), whole)
        alone = kernels.pool_linear_sparse(sparse.csr_array(X[3:4]), *head)
        assert_equal_bits(alone, [array[3:4] for array in whole])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(9, 12, 1), (9, 30, 2), (90, 7, 9), (3, 5, 130), (2, 900, 3)])
def test_weights_in_full(shape: tuple[int, int, int], dtype: str) -> None:
    rng = np.random.default_rng(shape)
    weights, constant = rng.normal(size=shape).astype(dtype), rng.normal(size=shape[1:])
    weights[rng.random(shape) < 0.2] = -0.0
    constant = constant.astype(dtype)
    whole = pooling.pool(weights)
    centred = pooling.additive_weights(weights, constant)
    for kernels in (pooling, numba_kernels):
        for given in (weights, np.asfortranarray(weights)):
            assert_equal_bits(kernels.pool(given), whole)
            assert_equal_bits(kernels.pool(given[1:2]), [array[1:2] for array in whole])
            assert_equal_bits([kernels.additive_weights(given, constant)], [centred])
            assert_equal_bits([kernels.additive_weights(given[1:2], constant)], [centred[1:2]])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [0.0, 1e-12, 1.0, 1e3, 1e5])
@pytest.mark.parametrize("K", [2, 3, 17, 128, 129, 300])
def test_closed_forms(K: int, scale: float, dtype: str) -> None:
    rng = np.random.default_rng(K)
    weights = rng.normal(size=(70, 6, K)) * scale
    weights[rng.random(weights.shape) < 0.3] = 0.0
    weights[::3] = -np.abs(weights[::3])  # something may underflow
    if K == 2:
        weights[1::3, :, 1] = -weights[1::3, :, 0]  # opposite, among rows that are not
    given = pooling.pool(weights.astype(dtype))
    whole = direct_forms.closed_forms(given)
    assert_equal_bits(numba_kernels.closed_forms(given), whole)
    for rows in (slice(0, 1), slice(1, 2), slice(1, 70, 3), slice(5, 12)):
        some = Pooled(*(array[rows] for array in given))
        part = [array[rows] for array in whole]
        assert_equal_bits(direct_forms.closed_forms(some), part)
        assert_equal_bits(numba_kernels.closed_forms(some), part)


def test_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    features, *rest = next(iter(heads(70, 40, 9, "float64")))
    whole = pooling.pool_linear(features, *rest)
    forms = direct_forms.closed_forms(whole)
    weights = features[:, :, None] * rest[1]
    monkeypatch.setattr(pooling, "_IN_CACHE", 200)
    monkeypatch.setattr(direct_forms, "_IN_CACHE", 100)
    assert_equal_bits(pooling.pool_linear(features, *rest), whole)
    assert_equal_bits(direct_forms.closed_forms(whole), forms)
    assert_equal_bits(pooling.pool(weights), numba_kernels.pool(weights))
