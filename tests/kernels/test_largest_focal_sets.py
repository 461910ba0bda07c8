"""The largest focal sets against all 2^K masses, and their cost for many classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from shafer import _kernels as kernels
from shafer._kernels.sets import largest_focal_sets

WEIGHT = st.one_of(st.sampled_from([0.0, 1.0, -1.0, -40.0]), st.floats(-4, 4))


def find(weights: NDArray[Any], top: int) -> list[tuple[float, tuple[int, ...]]]:
    terms = kernels.log_terms(kernels.pool(weights))
    log_u, log_v, log_singleton, log_scale = (array[0] for array in kernels.focal_logarithms(terms))
    return largest_focal_sets(log_u, log_v, log_singleton, float(log_scale[0]), top)


@given(st.integers(2, 5).flatmap(lambda k: arrays(float, (1, 2, k), elements=WEIGHT)))
def test_all_focal_sets_in_order_of_mass(weights: NDArray[Any]) -> None:
    masses = kernels.all_masses(kernels.log_terms(kernels.pool(weights)))[0]
    found = find(weights, len(masses))
    logs = [log_mass for log_mass, _ in found]
    assert logs == sorted(logs, reverse=True)
    assert len({inside for _, inside in found}) == len(found)
    by_set = np.zeros_like(masses)
    for log_mass, inside in found:
        by_set[sum(1 << k for k in inside)] = np.exp(log_mass)
    assert_allclose(by_set, masses, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("top", [1, 2, 5])
def test_few_of_many(top: int) -> None:
    # 2^60 sets: only a search that stops at the wanted number ends.
    weights = np.random.default_rng(0).normal(size=(1, 3, 60))
    found = find(weights, top)
    assert len(found) == top
    assert found == find(weights, 8)[:top]


def test_rounding_does_not_lead_above_one() -> None:
    never = np.full(2, -np.inf)
    ((log_mass, inside),) = largest_focal_sets(np.zeros(2), never, never, 1e-16, 1)
    assert (log_mass, inside) == (0.0, (0, 1))
