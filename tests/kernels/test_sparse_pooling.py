"""How sparse rows are split into blocks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from shafer._kernels import pooling as sparse_pooling
from shafer._kernels.pooling import _row_blocks, pool_linear_sparse


def test_blocks_are_as_large_as_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_pooling, "_BLOCK", 12)  # six entries of two classes
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
    monkeypatch.setattr(sparse_pooling, "_BLOCK", 30)
    for one, several in zip(whole, pool_linear_sparse(features, centre, beta, offset), strict=True):
        np.testing.assert_allclose(several, one, atol=1e-13)
