"""Pooling: rows in blocks, locations of feature maps, arrays of any leading shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from shafer import _kernels as kernels
from shafer._kernels import (
    located_weights,
    located_weights_of,
    logspace,
    pool_located,
    pooling,
)
from shafer._kernels.forms import closed_forms
from shafer._kernels.pooling import Pooled, _row_blocks, pool_linear_sparse

# How sparse rows are split into blocks.


def test_blocks_are_as_large_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pooling, "_BLOCK", 12)  # six entries of two classes
    indptr = np.array([0, 3, 6, 7, 16, 16, 22])
    blocks = [(block.start, block.stop) for block in _row_blocks(indptr, 2)]
    # The fourth row alone has more entries than fit: it is a block of its own.
    assert blocks == [(0, 2), (2, 3), (3, 4), (4, 6)]


def test_without_rows() -> None:
    assert _row_blocks(np.array([0]), 2) == []


def test_several_blocks_pool_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    features = sparse.random_array((40, 6), density=0.5, rng=rng, format="csr")
    centre, beta, offset = rng.normal(size=6), rng.normal(size=(6, 3)), rng.normal(size=3)
    whole = pool_linear_sparse(features, centre, beta, offset)
    monkeypatch.setattr(pooling, "_BLOCK", 30)
    for one, several in zip(whole, pool_linear_sparse(features, centre, beta, offset), strict=True):
        np.testing.assert_allclose(several, one, atol=1e-13)


# Weights of the locations of feature maps, against sums written out.


def _case(seed: int, n: int, places: int, width: int, classes: int, own: bool, shared: bool) -> Any:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, places, width)) * 10.0 ** rng.integers(-3, 3)
    beta = rng.normal(size=(places, width, classes) if own else (width, classes))
    shift = rng.normal(size=(1 if shared else rng.choice([1, places]), classes))
    shares = rng.uniform(size=(n, places)) if shared else None
    return features, beta, shift, shares


def _written_out(features: Any, beta: Any, shift: Any, shares: Any) -> Any:
    by_place = np.broadcast_to(beta, (features.shape[1], *beta.shape[-2:]))
    weights = np.einsum("ngc,gck->ngk", features, by_place)
    return weights + (shift if shares is None else shares[..., None] * shift)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.tuples(*[st.integers(1, 6)] * 4),
    own=st.booleans(),
    shared=st.booleans(),
)
def test_against_sums(seed: int, sizes: tuple[int, ...], own: bool, shared: bool) -> None:
    n, places, width, classes = sizes
    case = _case(seed, n, places, width, classes, own, shared)
    wanted = _written_out(*case)
    size = np.abs(wanted).sum() + 1.0
    for convert in (np.asarray, torch.tensor, array_api_strict.asarray):
        arrays = [None if array is None else convert(array) for array in case]
        assert_allclose(np.asarray(located_weights(*arrays)), wanted, atol=1e-13 * size)
        pooled = pool_located(*arrays)
        assert_allclose(np.asarray(pooled.weights_for), wanted.clip(0).sum(1), atol=1e-13 * size)
        assert_allclose(
            np.asarray(pooled.weights_against), (-wanted).clip(0).sum(1), atol=1e-13 * size
        )
        assert_allclose(np.asarray(pooled.logits), wanted.sum(1), atol=1e-13 * size)
        if not own:
            chosen = np.random.default_rng(seed).integers(0, classes, size=(n, 2))
            found = located_weights_of(*arrays, convert(chosen))
            taken = np.take_along_axis(wanted, chosen[:, None, :], axis=2)
            assert_allclose(np.asarray(found), taken, atol=1e-13 * size)


def test_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    case = _case(0, 7, 3, 4, 5, own=False, shared=True)
    whole = pool_located(*case)
    monkeypatch.setattr(pooling, "_LOCATED_BLOCK", 30)
    for part, all_at_once in zip(pool_located(*case), whole, strict=True):
        assert_allclose(part, all_at_once, rtol=1e-12)


def test_half_precision_is_summed_in_single() -> None:
    features, beta, shift, _ = _case(1, 3, 4, 5, 2, own=False, shared=False)
    half = torch.tensor(features).to(torch.bfloat16)
    arrays = [torch.tensor(array, dtype=torch.float32) for array in (beta, shift)]
    pooled = pool_located(half, *arrays)
    assert pooled.logits.dtype == torch.float32
    wanted = _written_out(half.double().numpy(), beta, shift, None).sum(1)
    assert_allclose(pooled.logits, wanted, rtol=1e-4, atol=1e-4)


# Every kernel takes arrays of any leading shape: (2, 3, K) gives what its rows give.


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
    "doubt": lambda terms: kernels.doubt(kernels.shares(terms)),
    "surplus": lambda terms: kernels.surplus(kernels.shares(terms)),
    "surprise": lambda terms: kernels.surprise(terms.logits),
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
