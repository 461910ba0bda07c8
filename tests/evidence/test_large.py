"""Many classes, many components, weights up to 10^5: finite, ordered, in range, no warnings."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import torch

import shafer
from shafer._checks import to_numpy

K, J, N = 1000, 2000, 4


@pytest.fixture(scope="module", params=["float32", "float64", "torch float32"])
def large(request: pytest.FixtureRequest) -> shafer.Evidence:
    rng = np.random.default_rng(0)
    dtype = request.param.rpartition(" ")[2]
    coef = rng.normal(size=(K, J)) * 2e4  # the largest of 8 million weights is about 10^5
    arrays = coef, rng.normal(size=K), rng.normal(size=J), rng.normal(size=(N, J))
    coef, intercept, means, features = (array.astype(dtype) for array in arrays)
    if request.param.startswith("torch"):
        made: Any = [torch.asarray(array) for array in (coef, intercept, means, features)]
        return shafer.least_commitment(*made[:3])(made[3])
    return shafer.least_commitment(coef, intercept, means)(features)


def test_weights_are_as_large_as_meant(large: shafer.Evidence) -> None:
    assert np.abs(to_numpy(large[0].weights)).max() > 1e5


@pytest.mark.parametrize(
    "name",
    [
        "probability",
        "belief",
        "plausibility",
        "pignistic",
        "ignorance",
        "conflict",
        "conflict_for_against",
    ],
)
def test_in_range(large: shafer.Evidence, name: str) -> None:
    values = getattr(large, name)
    assert values.dtype == large.pooled.logits.dtype
    values = to_numpy(values)
    assert np.isfinite(values).all()
    assert ((values >= 0) & (values <= 1)).all()


def test_order_and_decisions(large: shafer.Evidence) -> None:
    assert bool((large.belief <= large.plausibility).all())
    assert np.isfinite(to_numpy(large.weight_of_conflict)).all()
    for rule in ("interval_dominance", "plausibility", "belief", "pignistic"):
        assert to_numpy(large.decide(rule)).any(axis=1).all()


def test_sets_of_many_classes(large: shafer.Evidence) -> None:
    half = range(0, K, 2)
    other = range(1, K, 2)
    assert np.all(to_numpy(large.belief_of(half)) <= to_numpy(large.plausibility_of(half)))
    np.testing.assert_allclose(
        to_numpy(large.belief_of(half)) + to_numpy(large.plausibility_of(other)), 1.0, rtol=1e-5
    )


def test_focal_sets_of_a_thousand_classes() -> None:
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(2, 5, K))
    weights[1] *= 1e-3
    ev = shafer.Evidence.from_weights(weights - weights.mean(axis=2, keepdims=True))
    for row, found in enumerate(ev.focal_sets(top=20)):
        masses = [mass for _, mass in found]
        assert len(found) == 20
        assert masses == sorted(masses, reverse=True)
        for classes, mass in found:
            np.testing.assert_allclose(mass, ev[row].mass_of(classes)[0], rtol=1e-9)


def test_evidence_does_not_hold_all_weights() -> None:
    coef, features = np.ones((100, 1000)), np.ones((1000, 1000))
    coef[0] = 2.0
    pool = shafer.least_commitment(coef, np.zeros(100))
    tracemalloc.start()
    ev = pool(features)
    assert ev.belief.shape == (1000, 100)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 128e6  # all weights would take 800 MB


def test_the_limit_of_masses_counts_the_rows() -> None:
    ev = shafer.Evidence.from_weights(np.zeros((100, 1, 20)))
    with pytest.raises(shafer.FrameTooLargeError, match=r"100 × 2\^20 values"):
        ev.masses()
    assert ev[:2].masses().shape == (2, 2**20)
