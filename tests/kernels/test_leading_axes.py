"""Every kernel takes arrays of any leading shape: (2, 3, K) gives what its rows give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shafer import _kernels as kernels
from shafer._kernels import logspace
from shafer._kernels.forms import closed_forms
from shafer._kernels.pooling import Pooled

K = 4
LOSS = np.array([[0.0, 1.0, 2.0, 5.0], [1.0, 1.0, 1.0, 1.0], [3.0, 0.0, -1.0, 0.5]])


def e_admissible(terms: Any) -> Any:
    threshold = np.exp(kernels.log_plausibility(terms))
    tolerance = np.full(threshold.shape[:-1], 1e-12)
    return kernels.e_admissible_classes(
        kernels.shares(terms), terms.logits, threshold, tolerance
    ).astype(float)


def excess(terms: Any) -> Any:
    position = np.full((*terms.logits.shape[:-1], 1), 2)
    return kernels.excess_belief(kernels.shares(terms), position, np.full(position.shape, 0.1))


FORMS: dict[str, Callable[[Any], Any]] = {
    "probability": kernels.probability,
    "log_plausibility": kernels.log_plausibility,
    "log_belief": kernels.log_belief,
    "log_ignorance": kernels.log_ignorance,
    "conflict": kernels.conflict,
    "weight_of_conflict": kernels.weight_of_conflict,
    "conflict_for_against": kernels.conflict_for_against,
    "pignistic": kernels.pignistic,
    "all_masses": kernels.all_masses,
    "belief_of": lambda terms: kernels.belief_of(terms, [0, 3], [1, 2]),
    "plausibility_of": lambda terms: kernels.plausibility_of(terms, [0, 2]),
    "commonality_of": lambda terms: kernels.commonality_of(terms, [1, 2]),
    "mass_of": lambda terms: kernels.mass_of(terms, [1, 2], [0, 3]),
    "lower_risk": lambda terms: kernels.lower_risk(terms, LOSS),
    "upper_risk": lambda terms: kernels.upper_risk(terms, LOSS),
    "e_admissible_classes": e_admissible,
    "excess_belief": excess,
    "focal_logarithms": lambda terms: np.concatenate(kernels.focal_logarithms(terms), axis=-1),
    "leave_one_out_logsumexp": lambda terms: logspace.leave_one_out_logsumexp(terms.logits),
}


@pytest.fixture
def pooled() -> Pooled:
    weights = np.random.default_rng(5).normal(size=(2, 3, 6, K))
    weights[0, 1] = np.abs(weights[0, 1])
    weights[1, 2] = -np.abs(weights[1, 2])
    weights[1, 1] = 0.0
    return kernels.pool(weights)


def flat(pooled: Pooled) -> Pooled:
    return Pooled(*(array.reshape(6, K) for array in pooled))


@pytest.mark.parametrize("name", FORMS)
def test_rows_of_a_cube(name: str, pooled: Pooled) -> None:
    found = FORMS[name](kernels.log_terms(pooled))
    expected = FORMS[name](kernels.log_terms(flat(pooled)))
    assert found.shape[:2] == (2, 3)
    assert_allclose(found.reshape(expected.shape), expected, rtol=1e-13, atol=1e-300)


def test_closed_forms(pooled: Pooled) -> None:
    for found, expected in zip(closed_forms(pooled), closed_forms(flat(pooled)), strict=True):
        assert_allclose(found.reshape(expected.shape), expected, rtol=1e-13)
