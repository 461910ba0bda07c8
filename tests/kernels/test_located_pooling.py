"""Weights of the locations of feature maps, against sums written out."""

from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from shafer._kernels import (
    located_weights,
    located_weights_of,
    pool_located,
)
from shafer._kernels import (
    pooling as located_pooling,
)


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
    monkeypatch.setattr(located_pooling, "_BLOCK", 30)
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
