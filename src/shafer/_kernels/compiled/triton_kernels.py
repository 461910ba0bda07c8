"""Kernels for CUDA tensors, in Triton: the sums over components, and the closed forms.

The work is n · J · K terms |β c + o|: one fused multiply-add and one addition each; the absolute
value is free in the addition. Tiles of rows × classes are summed in registers. Both arrays are
padded to whole tiles, so that loads need no mask and are four numbers wide. Where there are too few
tiles to fill the chip, the features are split among blocks as well. Only ``dispatch`` imports this
file, for CUDA tensors that need no gradient.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

from functools import cache, partial
from typing import Any

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from shafer._checks.arrays import check_later
from shafer._kernels.forms import Forms
from shafer._kernels.forms import closed_forms as reference_closed_forms
from shafer._kernels.pooling import Pooled, one_sided

# Tile sizes, the fastest of those measured on an H200. One block sums a tile of _ROWS × _CLASSES
# in _WARPS warps and takes _UNROLL features in each step of its loop.
_ROWS, _CLASSES, _WARPS, _UNROLL = 128, 64, 4, 16
# The same for w⁺ and w⁻: rows, classes, warps, features. Large tiles where they fill the chip.
_SMALL_SPLIT, _LARGE_SPLIT = (8, 64, 1, 16), (64, 64, 2, 8)
_MOST_CELLS = 2**30  # of an array in one call: its positions are 32-bit numbers


@triton.jit
def _absolute_sums(
    columns, beta, offset, out, n, n_features, n_classes, row_stride, class_stride, per_block,
    ROWS: tl.constexpr, CLASSES: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """Write Σ_j |β_jk c_ji + o_k| over the features of this block; columns is c, (J, padded n)."""
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
            c = tl.load(columns + j * row_stride + rows)
            b = tl.load(beta + j * class_stride + classes)
            total += tl.abs(c[:, None] * b[None, :] + share[None, :])
    for j in range(whole, last):
        c = tl.load(columns + j * row_stride + rows)
        b = tl.load(beta + j * class_stride + classes)
        total += tl.abs(c[:, None] * b[None, :] + share[None, :])
    where = out + part * n * n_classes + rows[:, None] * n_classes + classes[None, :]
    tl.store(where, total, mask=here[:, None] & there[None, :])


@triton.jit
def _split(
    partial, logits, columns, beta, offset, positive, negative,
    n, n_features, n_classes, row_stride, class_stride, parts, one_sided,
    ROWS: tl.constexpr, CLASSES: tl.constexpr, UNROLL: tl.constexpr,
):  # fmt: skip
    """Add up the parts and take (Σ|w| ± z) / 2; where one side is small, sum that side again."""
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
    if tl.max(tl.max(small.to(tl.int32), 1), 0) > 0:
        share = tl.load(offset + classes, mask=there, other=0.0)
        side = tl.where(z > 0, -1.0, 1.0).to(z.dtype)  # w⁻ is the small one where z > 0
        exact = tl.zeros((ROWS, CLASSES), dtype=z.dtype)
        whole = n_features // UNROLL * UNROLL
        for start in range(0, whole, UNROLL):
            for step in tl.static_range(UNROLL):
                j = start + step
                c = tl.load(columns + j * row_stride + rows)
                b = tl.load(beta + j * class_stride + classes)
                w = c[:, None] * b[None, :] + share[None, :]
                exact += tl.abs(w) + side * w  # exactly 0 or 2 |w|
        for j in range(whole, n_features):
            c = tl.load(columns + j * row_stride + rows)
            b = tl.load(beta + j * class_stride + classes)
            w = c[:, None] * b[None, :] + share[None, :]
            exact += tl.abs(w) + side * w
        exact *= 0.5
        large = tl.maximum(size - exact, 0.0)
        up = tl.where(small, tl.where(z > 0, large, exact), up)
        down = tl.where(small, tl.where(z > 0, exact, large), down)
        tl.store(logits + cell, tl.where(small, up - down, z), mask=inside)
    tl.store(positive + cell, tl.maximum(up, 0.0), mask=inside)
    tl.store(negative + cell, tl.maximum(down, 0.0), mask=inside)


@cache
def _processors(device: torch.device) -> int:
    count: int = torch.cuda.get_device_properties(device).multi_processor_count
    return count


def _parts(tiles: int, n_features: int, device: torch.device) -> int:
    """Return the number of blocks to split the features among, so that the chip is filled."""
    return max(1, min(4 * _processors(device) // tiles, n_features // 64))


def _padded(array: Any, multiple: int) -> Any:
    """Copy an array to one with more columns, a multiple; what the others hold is not used."""
    n_rows, n_columns = array.shape
    width = triton.cdiv(n_columns, multiple) * multiple
    result = torch.empty((n_rows, width), dtype=array.dtype, device=array.device)
    result[:, :n_columns] = array
    return result


def pool_linear(features: Any, centre: Any, beta: Any, offset: Any) -> Pooled:
    """Pool the weights of a linear model; see :func:`shafer._kernels.pooling.pool_linear`."""
    n, n_features = features.shape
    most = max(1, _MOST_CELLS // max(n_features, beta.shape[1]))
    if n <= most:
        return _pooled_rows(features, centre, beta, offset)
    pieces = [_pooled_rows(rows, centre, beta, offset) for rows in features.split(most)]
    return Pooled(*(torch.cat(arrays) for arrays in zip(*pieces, strict=True)))


def _pooled_rows(features: Any, centre: Any, beta: Any, offset: Any) -> Pooled:
    centred = features - centre
    n, n_features = centred.shape
    n_classes = beta.shape[1]
    logits = torch.addmm(n_features * offset, centred, beta)
    positive, negative = torch.empty_like(logits), torch.empty_like(logits)
    if n == 0:
        return Pooled(logits, positive, negative)
    columns, coefficients = _padded(centred.T, _ROWS), _padded(beta, _CLASSES)
    strides = columns.shape[1], coefficients.shape[1]
    tiles = triton.cdiv(n, _ROWS), triton.cdiv(n_classes, _CLASSES)
    parts = _parts(tiles[0] * tiles[1], n_features, centred.device)
    per_block = triton.cdiv(n_features, parts)
    parts = triton.cdiv(n_features, per_block)
    partial = torch.empty((parts, n, n_classes), dtype=centred.dtype, device=centred.device)
    fills = tiles[0] * tiles[1] >= 2 * _processors(centred.device)
    rows, classes, warps, unroll = _LARGE_SPLIT if fills else _SMALL_SPLIT
    with torch.cuda.device(centred.device):
        _absolute_sums[(*tiles, parts)](
            columns, coefficients, offset, partial, n, n_features, n_classes, *strides, per_block,
            ROWS=_ROWS, CLASSES=_CLASSES, UNROLL=_UNROLL, num_warps=_WARPS,
        )  # fmt: skip
        _split[triton.cdiv(n, rows), triton.cdiv(n_classes, classes)](
            partial, logits, columns, coefficients, offset, positive, negative,
            n, n_features, n_classes, *strides, parts, one_sided(torch.finfo(centred.dtype).bits),
            ROWS=rows, CLASSES=classes, UNROLL=unroll, num_warps=warps,
        )  # fmt: skip
    return Pooled(logits, positive, negative)


@triton.jit
def _join(p1, q1, p2, q2):
    """Join two runs of classes: the chance that all are ruled out, and that not all are."""
    return p1 * p2, q1 + p1 * q2


@triton.jit
def _count(none1, one1, more1, wrong1, none2, one2, more2, wrong2):
    """Join two runs of classes: chances of evidence for none, one, more, or one ruled out."""
    return (
        none1 * none2,
        one1 * none2 + none1 * one2,
        more1 + one1 * (one2 + more2) + none1 * more2,
        wrong1 * none2 + none1 * wrong2,
    )


@triton.jit
def _row_forms(
    logits, w_for, w_against, probability, plausibility, belief, scalars, hard,
    n, n_classes, smallest, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute the closed forms of one row: sums of products of nonnegative numbers."""
    row = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    inside = k < n_classes
    cell = row * n_classes + k
    z = tl.load(logits + cell, mask=inside, other=float("-inf"))
    plus = tl.load(w_for + cell, mask=inside, other=0.0)
    minus = tl.load(w_against + cell, mask=inside, other=0.0)
    shift = tl.max(z)
    odds = tl.exp(z - shift)
    silent, fires = tl.exp(-plus), -libdevice.expm1(-plus)
    u = tl.where(inside, tl.exp(-minus), 0.0)
    denied = tl.where(inside, -libdevice.expm1(-minus), 1.0)
    all_denied, some_open = tl.reduce((denied, u), 0, _join)
    none, _, more, wrong = tl.reduce(
        (silent, fires, tl.zeros_like(fires), fires * denied), 0, _count
    )
    d = tl.sum(odds * fires) + some_open * tl.exp(-shift)
    # −ln v; it stands for infinity where there is no evidence against the class: logspace.NEVER.
    neg_log = tl.where(denied > 0, -tl.log(tl.where(denied > 0, denied, 1.0)), 4000.0)
    top = k == tl.argmax(neg_log, 0)
    rest = tl.where(top, tl.sum(tl.where(top, 0.0, neg_log)), tl.sum(neg_log) - neg_log)
    pl = tl.minimum(odds / d, 1.0)
    ratio = tl.minimum(fires + silent * tl.exp(-rest), 1.0)
    tl.store(probability + cell, odds / tl.sum(odds), mask=inside)
    tl.store(plausibility + cell, pl, mask=inside)
    tl.store(belief + cell, pl * ratio, mask=inside)
    kappa = tl.minimum(more + wrong + none * all_denied, 1.0)
    open_part = tl.exp(-tl.sum(minus) - shift) / d
    tl.store(scalars + row, tl.minimum(open_part, 1.0))
    tl.store(scalars + n + row, kappa)
    tl.store(hard + row, ((shift <= -30.0) | (d <= smallest) | (d != d)).to(tl.int8))


def closed_forms(pooled: Pooled) -> Forms:
    """Return the closed forms of every row; the reference is in ``forms.py``."""
    n, n_classes = pooled.logits.shape
    given = [array.contiguous() for array in pooled]
    by_class = [torch.empty_like(given[0]) for _ in range(3)]
    scalars = torch.empty((2, n), dtype=given[0].dtype, device=given[0].device)
    hard = torch.zeros(n, dtype=torch.int8, device=given[0].device)
    if n == 0:
        return Forms(*by_class, *scalars)
    block = triton.next_power_of_2(n_classes)
    smallest = torch.finfo(given[0].dtype).tiny ** 0.65  # far from underflow
    with torch.cuda.device(given[0].device):
        _row_forms[(n,)](
            *given, *by_class, scalars, hard, n, n_classes, smallest,
            BLOCK=block, num_warps=max(1, min(16, block // 256)),
        )  # fmt: skip
    result = Forms(*by_class, *scalars)
    # Whether there are hard rows is read with other results of the device, if any wait.
    check_later(~hard.any(), partial(_repair, result, given, hard))
    return result


def _repair(result: Forms, given: list[Any], hard: Any) -> None:
    """Compute the hard rows again by the reference."""
    rows = torch.nonzero(hard).ravel()
    those = reference_closed_forms(Pooled(*(array[rows] for array in given)))
    for values, exact in zip(result, those, strict=True):
        values[rows] = exact
