import operator

import numpy as np
import pytest
from hypothesis import given

from shafer.belief import products
from shafer.errors import TotalConflictError

from .strategies import mass_functions, naive_product


@given(mass_functions(2, max_labels=4))
def test_products_are_their_definitions(drawn):
    first, second = drawn
    for product, operation in [
        (products.intersection_product, operator.and_),
        (products.union_product, operator.or_),
    ]:
        expected = [float(x) for x in naive_product(first, second, operation)]
        result = product(first.masses, second.masses)
        np.testing.assert_allclose(result, expected, rtol=1e-14, atol=0)


def test_large_frames_recurse_to_the_same_result(monkeypatch):
    generator = np.random.default_rng(0)
    first, second = generator.random((2, 64))
    whole = products.intersection_product(first, second)
    monkeypatch.setattr(products, "_BLOCK_LABELS", 2)
    split = products.intersection_product(first, second)
    np.testing.assert_allclose(split, whole, rtol=1e-14)


def test_masses_of_any_size_keep_their_relative_accuracy():
    first = np.array([0, 1e-120, 1.0, 1e-150])
    second = np.array([0, 1e-130, 1.0, 1e-140])
    result = products.intersection_product(first, second)
    expected_a = 1e-250 + 1e-260 + 1e-280
    expected_empty = 1e-120 + 1e-130
    np.testing.assert_allclose(result[[0, 1, 3]], [expected_empty, expected_a, 1e-290], rtol=1e-13)


def test_orthogonal_sum_needs_a_source():
    with pytest.raises(ValueError, match="at least one array"):
        products.orthogonal_sum([])


def test_orthogonal_sum_says_which_source_contradicts():
    impossible = np.array([1.0, 0, 0, 0])
    with pytest.raises(TotalConflictError, match="at source 1: all its mass is on ∅"):
        products.orthogonal_sum([impossible])
    with pytest.raises(TotalConflictError, match="at source 2: it agrees with none"):
        products.orthogonal_sum([np.array([0, 1.0, 0, 0]), np.array([0, 0, 1.0, 0])])


def test_weight_of_conflict_of_one_array_neither_cancels_nor_saturates():
    _, weak = products.split_off_conflict(np.array([1e-30, 0.5, 0, 0.5]))
    assert weak == pytest.approx(1e-30, rel=1e-14)
    _, strong = products.split_off_conflict(np.array([1.0, 1e-200, 0, 0]))
    assert strong == pytest.approx(200 * np.log(10), rel=1e-14)
