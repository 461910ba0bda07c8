"""Matrix products: a row has the same bits in any batch, and no digits are lost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from shafer._kernels import Factor, grouped_products, product

SHAPES = [(3, 1, 2), (40, 7, 3), (70, 30, 31), (9, 5000, 2), (3, 0, 2), (0, 4, 2)]


def sizes(shape: tuple[int, int, int], kind: str) -> tuple[np.ndarray, np.ndarray]:
    n, J, K = shape
    rng = np.random.default_rng(shape)
    rows, matrix = rng.normal(size=(n, J)), rng.normal(size=(J, K))
    if kind == "scales":
        scale = 10.0 ** rng.integers(-100, 100, size=J)
        return rows * scale, matrix / scale[:, None] * 10.0 ** rng.integers(-40, 40, size=K)
    if kind == "gaps":  # what is large in a column meets zeros
        matrix *= 10.0 ** rng.integers(-200, 200, size=(J, K))
        rows[rng.random((n, J)) < 0.5] = 0.0
        return rows, matrix
    if kind == "zeros":
        rows[:, ::2], matrix[:, :1] = 0.0, 0.0
    return (rows * 1e-290, matrix) if kind == "tiny" else (rows, matrix)


@pytest.mark.parametrize("kind", ["plain", "scales", "gaps", "zeros", "tiny"])
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_by_themselves_with_all_digits(shape: tuple[int, int, int], kind: str) -> None:
    rows, matrix = sizes(shape, kind)
    found = product(rows, matrix)
    exact = rows.astype(np.longdouble) @ matrix.astype(np.longdouble)
    most = 2.3e-16 * (shape[1] if kind == "gaps" or shape[1] <= 8 else 1)
    assert (np.abs(found - exact) <= most * (np.abs(rows) @ np.abs(matrix))).all()
    assert product(np.asfortranarray(rows), np.asfortranarray(matrix)).tobytes() == found.tobytes()
    for part in (slice(0, 1), slice(1, 3), slice(0, 9, 2)):
        assert product(rows[part], matrix).tobytes() == found[part].tobytes()


def test_rows_of_any_shape_and_precision() -> None:
    rng = np.random.default_rng(0)
    rows, matrix = rng.normal(size=(2, 3, 20)), rng.normal(size=(20, 4))
    found = product(rows, matrix)
    assert_array_equal(found, product(rows.reshape(6, 20), matrix).reshape(2, 3, 4))
    narrow = product(rows.astype(np.float32), matrix.astype(np.float32))
    assert narrow.dtype == np.float32
    assert_array_equal(Factor(matrix).times(rows[0]), found[0])


def test_numbers_near_the_largest() -> None:
    rows = np.full((3, 20), 1e300)
    rows[1, 3], rows[2] = 1.7e308, 1.0
    found = product(rows, np.full((20, 1), 0.1))
    np.testing.assert_allclose(found[:, 0], [2e300, 0.17e308, 2.0], rtol=1e-6)


def test_groups() -> None:
    rng = np.random.default_rng(0)
    rows, matrix = rng.normal(size=(5, 30)), rng.normal(size=(30, 4))
    groups = [[0], [3, 1], list(range(4, 30))]
    found = grouped_products(rows, matrix, groups)
    assert found.shape == (5, 3, 4)
    for h, group in enumerate(groups):
        np.testing.assert_allclose(found[:, h], rows[:, group] @ matrix[group], rtol=1e-13)
    assert grouped_products(rows[2:3], matrix, groups).tobytes() == found[2:3].tobytes()
