"""Pooling on CUDA tensors: a Triton kernel for the reduction over components.

The work is n · J · K terms |β c + o|: one fused multiply-add and one addition each, the absolute
value being free in the addition. Tiles of rows × classes are accumulated in registers; where there
are too few tiles to fill the chip, the sum over the features is split among blocks as well.
Imported by ``dispatch`` alone, for CUDA tensors that need no gradient.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code say nothing.

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from shafer.kernels.pooling import Pooled

_ROWS, _CLASSES, _WARPS = 64, 128, 4  # the tile of one block, found by measuring on an H200
_FEW = 16  # rows and classes of the tile in which small sides are summed afresh
_ONE_SIDED = 1e-3  # as in ``compiled``: below this part the half-difference is not good enough


@triton.jit
def _absolute_sums(
    centred, beta, offset, out, n, n_features, n_classes, per_block,
    ROWS: tl.constexpr, CLASSES: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """Write Σ_j |β_jk c_ji + o_k| over the features of this block; centred is (J, n)."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    classes = tl.program_id(1) * CLASSES + tl.arange(0, CLASSES)
    part = tl.program_id(2)
    here, there = rows < n, classes < n_classes
    share = tl.load(offset + classes, mask=there, other=0.0)
    total = tl.zeros((ROWS, CLASSES), dtype=share.dtype)
    first = part * per_block
    last = min(n_features, first + per_block)
    whole = first + (last - first) // UNROLL * UNROLL
    for start in range(first, whole, UNROLL):
        for step in tl.static_range(UNROLL):
            j = start + step
            c = tl.load(centred + j * n + rows, mask=here, other=0.0)
            b = tl.load(beta + j * n_classes + classes, mask=there, other=0.0)
            total += tl.abs(c[:, None] * b[None, :] + share[None, :])
    for j in range(whole, last):
        c = tl.load(centred + j * n + rows, mask=here, other=0.0)
        b = tl.load(beta + j * n_classes + classes, mask=there, other=0.0)
        total += tl.abs(c[:, None] * b[None, :] + share[None, :])
    where = out + part * n * n_classes + rows[:, None] * n_classes + classes[None, :]
    tl.store(where, total, mask=here[:, None] & there[None, :])


@triton.jit
def _split(
    partial, logits, centred, beta, offset, positive, negative,
    n, n_features, n_classes, parts, one_sided,
    ROWS: tl.constexpr, CLASSES: tl.constexpr,
):  # fmt: skip
    """Add up the parts and halve Σ|w| ± z; where one side is small, sum the two sides afresh."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    classes = tl.program_id(1) * CLASSES + tl.arange(0, CLASSES)
    here, there = rows < n, classes < n_classes
    inside = here[:, None] & there[None, :]
    cell = rows[:, None] * n_classes + classes[None, :]
    z = tl.load(logits + cell, mask=inside, other=0.0)
    size = tl.zeros((ROWS, CLASSES), dtype=z.dtype)
    for part in range(parts):
        size += tl.load(partial + part * n * n_classes + cell, mask=inside, other=0.0)
    up, down = 0.5 * (size + z), 0.5 * (size - z)
    small = (size - tl.abs(z) <= one_sided * size) & (size > 0)
    if tl.max(small.to(tl.int32)) > 0:
        share = tl.load(offset + classes, mask=there, other=0.0)
        exact_up = tl.zeros((ROWS, CLASSES), dtype=z.dtype)
        exact_down = tl.zeros((ROWS, CLASSES), dtype=z.dtype)
        for j in range(n_features):
            c = tl.load(centred + j * n + rows, mask=here, other=0.0)
            b = tl.load(beta + j * n_classes + classes, mask=there, other=0.0)
            w = c[:, None] * b[None, :] + share[None, :]
            exact_up += tl.maximum(w, 0.0)
            exact_down += tl.maximum(-w, 0.0)
        up, down = tl.where(small, exact_up, up), tl.where(small, exact_down, down)
        tl.store(logits + cell, tl.where(small, up - down, z), mask=inside)
    tl.store(positive + cell, tl.maximum(up, 0.0), mask=inside)
    tl.store(negative + cell, tl.maximum(down, 0.0), mask=inside)


def _parts(tiles: int, n_features: int, device: torch.device) -> int:
    """Return among how many blocks the features are split, so that the chip is filled."""
    processors = torch.cuda.get_device_properties(device).multi_processor_count
    return max(1, min(4 * processors // tiles, n_features // 64))


def pool_linear(centred: Any, beta: Any, offset: Any) -> Pooled:
    """Pool the weights of a linear head; see :func:`shafer.kernels.pooling.pool_linear`."""
    n, n_features = centred.shape
    n_classes = beta.shape[1]
    logits = torch.addmm(n_features * offset, centred, beta)
    positive, negative = torch.empty_like(logits), torch.empty_like(logits)
    if n == 0:
        return Pooled(logits, positive, negative)
    columns, rows = centred.T.contiguous(), beta.contiguous()
    tiles = triton.cdiv(n, _ROWS), triton.cdiv(n_classes, _CLASSES)
    parts = _parts(tiles[0] * tiles[1], n_features, centred.device)
    per_block = triton.cdiv(n_features, parts)
    parts = triton.cdiv(n_features, per_block)
    partial = torch.empty((parts, n, n_classes), dtype=centred.dtype, device=centred.device)
    with torch.cuda.device(centred.device):
        _absolute_sums[(*tiles, parts)](
            columns, rows, offset, partial, n, n_features, n_classes, per_block,
            ROWS=_ROWS, CLASSES=_CLASSES, UNROLL=8, num_warps=_WARPS,
        )  # fmt: skip
        _split[(triton.cdiv(n, _FEW), triton.cdiv(n_classes, _FEW))](
            partial, logits, columns, rows, offset, positive, negative,
            n, n_features, n_classes, parts, _ONE_SIDED, ROWS=_FEW, CLASSES=_FEW, num_warps=1,
        )  # fmt: skip
    return Pooled(logits, positive, negative)
