"""The compiled kernels against the reference: every shape, both precisions, hostile weights."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy import sparse as scipy_sparse

from shafer._kernels import dispatch, pooling
from shafer._kernels.compiled import numba_kernels
from shafer._kernels.compiled.numba_lanes import (
    aligned,
    chances,
    exponential,
    read_only,
    use_full_width,
)
from shafer._kernels.forms import closed_forms as reference_closed_forms
from shafer._kernels.pooling import Pooled

SHAPES = [
    (1, 1, 2),
    (0, 3, 2),
    (1, 5, 3),
    (2, 1, 4),
    (3, 2, 5),
    (5, 7, 6),
    (4, 1023, 7),
    (3, 1024, 8),
    (7, 1025, 9),
    (67, 33, 2),
    (129, 600, 4),
    (5, 7, 32),
    (5, 7, 33),
    (66, 40, 45),
    (2, 70_000, 3),
]


def head(n: int, J: int, K: int, dtype: str) -> tuple[NDArray[Any], ...]:
    rng = np.random.default_rng([n, J, K])
    beta = rng.normal(size=(J, K)) / np.sqrt(J)
    beta -= beta.mean(axis=1, keepdims=True)
    arrays = rng.normal(size=(n, J)), rng.normal(size=J), beta, rng.normal(size=K) / J
    return tuple(array.astype(dtype) for array in arrays)


def close(actual: Any, expected: Any, dtype: str, scale: float = 1.0) -> None:
    rtol = (2e-6 if dtype == "float32" else 1e-12) * scale
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == dtype
        assert one.shape == other.shape
        assert_allclose(one, other, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_pool_linear(shape: tuple[int, int, int], dtype: str) -> None:
    arrays = head(*shape, dtype)
    close(numba_kernels.pool_linear(*arrays), pooling.pool_linear(*arrays), dtype, scale=5)


@pytest.mark.parametrize("shape", SHAPES)
def test_small_sides_keep_relative_accuracy(shape: tuple[int, int, int]) -> None:
    centred, _, beta, offset = (np.abs(array) for array in head(*shape, "float64"))
    nowhere = np.zeros(shape[1])
    if len(centred):
        centred[:, 0] = -1e-9  # one tiny weight against
    for_, against = numba_kernels.pool_linear(centred, nowhere, beta, offset * 1e-12)[1:]
    expected = pooling.pool_linear(centred, nowhere, beta, offset * 1e-12)
    assert_allclose(for_, expected.weights_for, rtol=1e-12)
    assert_allclose(against, expected.weights_against, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("J", "K"), [(30, 2), (31, 9), (130, 40), (70, 300)])
def test_a_row_gets_the_same_numbers_in_any_batch(J: int, K: int, dtype: str) -> None:
    features, *rest = head(150, J, K, dtype)
    features[:, ::2] = 0.0  # many weights of one sign, which are summed again
    rest[1][:, 1] = np.abs(rest[1][:, 1])
    whole = numba_kernels.pool_linear(features, *rest)
    forms = numba_kernels.closed_forms(whole)
    for rows in (slice(0, 1), slice(3, 20), slice(64, 150)):
        part = numba_kernels.pool_linear(features[rows], *rest)
        for some, every in zip(part, whole, strict=True):
            assert_array_equal(some, every[rows])
        for some, every in zip(numba_kernels.closed_forms(part), forms, strict=True):
            assert_array_equal(some, every[rows])


@pytest.mark.parametrize("shape", [(60, 40, 2500), (1, 6000, 200), (200_000, 9, 3)])
def test_on_several_threads(shape: tuple[int, int, int]) -> None:
    arrays = head(*shape, "float64")
    found = numba_kernels.pool_linear(*arrays)
    close(found, pooling.pool_linear(*arrays), "float64", scale=5)
    close(numba_kernels.closed_forms(found), reference_closed_forms(found), "float64", scale=100)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(0, 2, 3), (3, 1, 2), (4, 6, 5, 3), (900, 30, 40)])
def test_weights_in_full(shape: tuple[int, ...], dtype: str) -> None:
    weights = np.random.default_rng(0).normal(size=shape).astype(dtype)
    close(numba_kernels.pool(weights), pooling.pool(weights), dtype)
    given, constant = weights.reshape(-1, *shape[-2:]), weights.reshape(-1, *shape[-2:])[:1].sum(0)
    found = numba_kernels.additive_weights(given, constant)
    close([found], [pooling.additive_weights(given, constant)], dtype)


def test_opposite_classes_take_half_the_work() -> None:
    features, centre, beta, offset = head(20, 9, 2, "float64")
    beta[:, 0], offset[0] = -beta[:, 1], -offset[1]
    found = numba_kernels.pool_linear(features, centre, beta, offset)
    close(found, pooling.pool_linear(features, centre, beta, offset), "float64")
    assert (found.weights_for[:, 0] == found.weights_against[:, 1]).all()
    for scale in (1e-9, 1.0, 800.0, 1e5):
        given = Pooled(*(array * scale for array in found))
        close(
            numba_kernels.closed_forms(given), reference_closed_forms(given), "float64", scale=1000
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_opposite_classes_of_almost_equal_large_weights(dtype: str) -> None:
    # e^-w of the totals is almost zero in single precision, their ratio is not.
    size = np.linspace(20.0, 800.0, 400)
    weights_for = np.stack([size, size + 0.5], axis=1).astype(dtype)
    against = weights_for[:, ::-1].copy()
    given = Pooled(weights_for - against, weights_for, against)
    expected = reference_closed_forms(Pooled(*(array.astype("float64") for array in given)))
    close(
        numba_kernels.closed_forms(given),
        [array.astype(dtype) for array in expected],
        dtype,
        scale=1000,
    )


def test_any_layout() -> None:
    features, centre, beta, offset = head(9, 12, 5, "float64")
    expected = pooling.pool_linear(features, centre, beta, offset)
    for rows in (np.asfortranarray(features), np.repeat(features, 2, axis=0)[::2]):
        coefficients = np.asfortranarray(beta)
        close(numba_kernels.pool_linear(rows, centre, coefficients, offset), expected, "float64")
    backwards = features[:, ::-1], centre[::-1], beta[::-1], offset
    close(numba_kernels.pool_linear(*backwards), expected, "float64")


def pooled(rng: np.random.Generator, n: int, K: int, scale: float, dtype: str) -> Pooled:
    weights = rng.normal(size=(n, 6, K)) * scale
    weights[rng.random(weights.shape) < 0.3] = 0.0
    return pooling.pool(weights.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("scale", [1e-12, 1e-3, 1.0, 30.0, 1e3, 1e5])
@pytest.mark.parametrize("K", [2, 3, 4, 17, 128, 129, 1000])
def test_closed_forms(K: int, scale: float, dtype: str) -> None:
    given = pooled(np.random.default_rng(K), 11, K, scale, dtype)
    actual, expected = numba_kernels.closed_forms(given), reference_closed_forms(given)
    close(actual, expected, dtype, scale=100)
    assert (actual.belief <= actual.plausibility).all()
    for values in actual:
        assert ((values >= 0) & (values <= 1)).all()


def test_rows_out_of_range() -> None:
    # Nothing but evidence against, and all of it overwhelming: the pooled chances underflow.
    against = np.array([[900.0, 900.0, 901.0], [1e4, 2e4, 3e4], [1.0, 2.0, 3.0]])
    given = Pooled(-against, np.zeros_like(against), against)
    close(numba_kernels.closed_forms(given), reference_closed_forms(given), "float64", scale=100)


def test_no_rows() -> None:
    empty = Pooled(*(np.empty((0, 3)) for _ in range(3)))
    assert numba_kernels.closed_forms(empty).belief.shape == (0, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sparse(dtype: str) -> None:
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(60, 90)) * (rng.random((60, 90)) < 0.1)).astype(dtype)
    X[[0, 17, 59]] = 0.0
    _, _, beta, offset = head(1, 90, 6, dtype)
    arrays = scipy_sparse.csr_array(X), X.mean(axis=0), beta, offset
    expected = pooling.pool_linear_sparse(*arrays)
    close(numba_kernels.pool_linear_sparse(*arrays), expected, dtype, scale=10)
    close(expected, pooling.pool_linear(X, X.mean(axis=0), beta, offset), dtype, scale=10)


def test_cuda_tensors_without_gradient_go_to_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    # Without a CUDA device: tests the choice alone, on tensors that claim to be on one.
    seen: list[str] = []
    stand_in = SimpleNamespace(
        pool_linear=lambda *a: seen.append("pool") or pooling.pool_linear(*a),
        closed_forms=lambda pooled: seen.append("forms") or reference_closed_forms(pooled),
    )
    monkeypatch.setattr(dispatch, "_cuda", lambda: stand_in)
    arrays = [torch.asarray(array) for array in head(4, 3, 5, "float64")]
    dispatch.closed_forms(dispatch.pool_linear(*arrays))
    assert seen == []
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    dispatch.closed_forms(dispatch.pool_linear(*arrays))
    assert seen == ["pool", "forms"]
    arrays[2].requires_grad_()
    pooled = dispatch.pool_linear(*arrays)
    dispatch.closed_forms(pooled).belief.sum().backward()
    assert torch.isfinite(arrays[2].grad).all()
    assert seen == ["pool", "forms"]
    with torch.inference_mode():
        dispatch.pool_linear(*arrays)
    assert seen == ["pool", "forms", "pool"]


def test_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    dispatch._cuda.cache_clear()
    assert dispatch._cuda() is None
    dispatch._cuda.cache_clear()


def test_dispatch(monkeypatch: pytest.MonkeyPatch) -> None:
    features, centre, beta, offset = head(30, 20, 3, "float64")
    rows = scipy_sparse.csr_array(features)
    calls: list[str] = []
    for name in ("pool_linear", "pool_linear_sparse", "closed_forms"):
        real = getattr(numba_kernels, name)
        monkeypatch.setattr(
            numba_kernels, name, lambda *a, real=real, name=name: (calls.append(name), real(*a))[1]
        )

    def run() -> Pooled:
        found = dispatch.pool_linear(features, centre, beta, offset)
        dispatch.pool_linear_sparse(rows, np.zeros(20), beta, offset)
        dispatch.closed_forms(found)
        return found

    monkeypatch.setattr(dispatch, "_is_loaded", lambda: False)
    monkeypatch.setattr(dispatch, "_done", Counter())
    small = run()
    assert calls == []
    monkeypatch.setattr(dispatch, "_COMPILING", Counter())  # nothing costs anything
    close(run(), small, "float64")
    assert calls == ["pool_linear", "pool_linear_sparse", "closed_forms"]
    cube = Pooled(*(array.reshape(5, 6, 3) for array in small))
    assert dispatch.closed_forms(cube).belief.shape == (5, 6, 3)
    assert calls[3:] == ["closed_forms"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    dispatch._compiled.cache_clear()
    close(run(), small, "float64")
    assert len(calls) == 4
    dispatch._compiled.cache_clear()


def test_weights_of_no_component() -> None:
    assert not np.any(numba_kernels.pool(np.empty((7, 0, 4))))


def test_once_loaded_they_serve_every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real = numba_kernels.pool_linear
    monkeypatch.setattr(
        numba_kernels, "pool_linear", lambda *a: (seen.append(len(a[0])), real(*a))[1]
    )
    dispatch.pool_linear(*head(1, 2, 3, "float64"))
    assert seen == [1]


@pytest.mark.parametrize("J", [40, 1000])
def test_one_sided_sums_are_in_double_precision(J: int) -> None:
    # With so many classes logits are a matrix product, in the precision of the features.
    rng = np.random.default_rng(J)
    arrays = np.abs(rng.normal(size=(6, J))), np.zeros(J), np.abs(rng.normal(size=(J, 33)))
    given = [array.astype("float32") for array in (*arrays, np.zeros(33))]
    found = numba_kernels.pool_linear(*given)
    exact = pooling.pool_linear(*(array.astype("float64") for array in given))
    assert_allclose(found.logits, exact.logits, rtol=1.2e-7)


def test_three_classes_whose_weights_cancel_exactly() -> None:
    # Only two such classes are opposite; whole numbers sum to zero without rounding.
    rng = np.random.default_rng(0)
    beta = rng.integers(-5, 6, size=(9, 3)).astype(float)
    beta[:, 2] = -beta[:, 0] - beta[:, 1]
    arrays = rng.normal(size=(20, 9)), rng.normal(size=9), beta, np.array([1.0, 2.0, -3.0])
    close(numba_kernels.pool_linear(*arrays), pooling.pool_linear(*arrays), "float64", scale=10)


# The exponential of the compiled kernels, and the width of their registers.


@numba.njit
def _all(x: Any, power: Any, silent: Any, fires: Any) -> None:
    use_full_width()
    for i in range(len(x)):
        power[i] = exponential(x[i])
        silent[i], fires[i] = chances(abs(x[i]))


def _computed(x: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.empty((3, len(x)))
    _all(x, *found)
    return found


def _units(found: NDArray[np.float64], exact: NDArray[np.longdouble]) -> float:
    """Return the largest error, in units of the last place."""
    spacing = np.spacing(np.abs(exact).astype(np.float64))
    return float(np.max(np.abs(found - exact) / spacing))


def test_errors_are_below_two_units() -> None:
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-18, 2.85, 50_000)
    x = np.concatenate([-sizes, -rng.exponential(1.0, 50_000), [0.0, -5e-324, -707.0]])
    power, silent, fires = _computed(x)
    wide = x.astype(np.longdouble)
    assert _units(power, np.exp(wide)) < 1.5
    assert _units(silent, np.exp(wide)) < 1.5
    assert _units(fires, -np.expm1(wide)) < 1.5


def test_positive_numbers() -> None:
    x = np.linspace(0.0, 700.0, 10_001)
    assert _units(_computed(x)[0], np.exp(x.astype(np.longdouble))) < 1.5


def test_the_smallest_doubles_and_below() -> None:
    x = np.array([-708.5, -720.0, -740.0, -745.0, -746.0, -800.0, -1e4, -1e300])
    power, silent, fires = _computed(x)
    np.testing.assert_allclose(power, np.exp(x), rtol=0, atol=5e-324)
    assert_array_equal(silent, power)
    assert (fires == 1.0).all()
    assert power[-1] == 0.0


def test_the_compiler_is_told_to_use_full_registers() -> None:
    _computed(np.zeros(1))
    (code,) = _all.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in code


def test_scratch_starts_at_a_cache_line() -> None:
    for size in (1, 9, 64, 1000):
        scratch = aligned(size)
        assert scratch.shape == (size,)
        assert scratch.ctypes.data % 64 == 0
        assert not scratch.any()


def test_read_only_leaves_the_array_alone() -> None:
    given = np.zeros((3, 4))
    constant = read_only(given.T)
    assert constant.flags.c_contiguous
    assert not constant.flags.writeable
    assert not read_only(given).flags.writeable
    assert given.flags.writeable
