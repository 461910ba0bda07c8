"""Sums over the locations of feature maps for CUDA tensors, with tensor cores, in Triton.

Tensor cores multiply numbers of 8 or 11 bits. A float32 number is the sum of two bfloat16 numbers
up to 2^-17 of its size: a = a₁ + a₂. So a b ≈ a₁b₁ + a₁b₂ + a₂b₁, which is one product of matrices
three times as long, summed in single precision. Features in half precision need no splitting; the
coefficients are then split in two. The logits are computed in full precision beside it.

Only ``dispatch`` imports this file, for CUDA tensors that need no gradient.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from shafer.kernels import located_pooling
from shafer.kernels.pooling import Pooled

# Tiles: locations × channels of a map in one block; classes of one row in one block.
_PLACES, _CHANNELS, _RUN = 64, 64, 256
_HALF = (torch.bfloat16, torch.float16)
_BLOCK = 2**28  # elements of the weights of one block of rows


@triton.jit
def _split_features(
    features, out, n_locations, width, row_stride, place_stride, channel_stride,
    PLACES: tl.constexpr, CHANNELS: tl.constexpr, BY_PLACE: tl.constexpr,
):  # fmt: skip
    """Write a₁, a₁, a₂ side by side: (n · L, 3 C) from maps with any strides."""
    row = tl.program_id(0).to(tl.int64)
    places = tl.program_id(1) * PLACES + tl.arange(0, PLACES)
    channels = tl.program_id(2) * CHANNELS + tl.arange(0, CHANNELS)
    here, there = places < n_locations, channels < width
    start = features + row * row_stride
    if BY_PLACE:  # neighbours in memory are channels
        cells = places[:, None] * place_stride + channels[None, :] * channel_stride
        values = tl.load(start + cells, mask=here[:, None] & there[None, :], other=0.0)
    else:
        cells = channels[:, None] * channel_stride + places[None, :] * place_stride
        values = tl.load(start + cells, mask=there[:, None] & here[None, :], other=0.0)
        values = tl.trans(values)
    first = values.to(tl.bfloat16)
    second = (values - first.to(tl.float32)).to(tl.bfloat16)
    inside = here[:, None] & there[None, :]
    where = out + (row * n_locations + places[:, None]) * (3 * width) + channels[None, :]
    tl.store(where, first, mask=inside)
    tl.store(where + width, first, mask=inside)
    tl.store(where + 2 * width, second, mask=inside)


@triton.jit
def _both_sides(
    products, second, shift, shares, positive, negative, n_locations, n_classes, stride,
    shift_stride, TWO: tl.constexpr, SHARED: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    """Add up the positive and the negative weights of all locations, in double precision."""
    row = tl.program_id(0).to(tl.int64)
    classes = tl.program_id(1) * RUN + tl.arange(0, RUN)
    inside = classes < n_classes
    up = tl.zeros((RUN,), dtype=tl.float64)
    down = tl.zeros((RUN,), dtype=tl.float64)
    for place in range(n_locations):
        cell = (row * n_locations + place) * stride + classes
        weight = tl.load(products + cell, mask=inside, other=0.0)
        if TWO:
            weight += tl.load(second + cell, mask=inside, other=0.0)
        constant = tl.load(shift + place * shift_stride + classes, mask=inside, other=0.0)
        if SHARED:
            constant *= tl.load(shares + row * n_locations + place)
        weight += constant
        up += tl.maximum(weight, 0.0).to(tl.float64)
        down += tl.maximum(-weight, 0.0).to(tl.float64)
    where = row * n_classes + classes
    tl.store(positive + where, up.to(tl.float32), mask=inside)
    tl.store(negative + where, down.to(tl.float32), mask=inside)


def pool_located(features: Any, beta: Any, shift: Any, shares: Any) -> Pooled:
    """Pool the weights of locations; see :func:`shafer.kernels.located_pooling.pool_located`."""
    if beta.ndim != 2 or beta.dtype != torch.float32 or not features.numel():
        return located_pooling.pool_located(features, beta, shift, shares)
    n, n_locations, _ = features.shape
    n_classes = beta.shape[1]
    positive = torch.empty((n, n_classes), dtype=beta.dtype, device=beta.device)
    negative = torch.empty_like(positive)
    coefficients = _split_coefficients(beta, features.dtype)
    size = max(1, _BLOCK // (n_locations * n_classes))
    with torch.cuda.device(beta.device):
        for start in range(0, n, size):
            rows = slice(start, start + size)
            some = None if shares is None else shares[rows].contiguous()
            sides = positive[rows], negative[rows]
            _pool_block(features[rows], coefficients, shift.contiguous(), some, *sides)
    return Pooled(_logits(features, beta, shift, shares), positive, negative)


def _split_coefficients(beta: Any, dtype: torch.dtype) -> Any:
    """Return b₁, b₂, b₁ below each other; for features in half precision b₁, b₂ side by side."""
    if dtype in _HALF:
        first = beta.to(dtype)
        return torch.cat([first, (beta - first.float()).to(dtype)], dim=1)
    first = beta.to(torch.bfloat16)
    second = (beta - first.float()).to(torch.bfloat16)
    return torch.cat([first, second, first], dim=0)


def _pool_block(
    features: Any, coefficients: Any, shift: Any, shares: Any, positive: Any, negative: Any
) -> None:
    n, n_locations, width = features.shape
    n_classes = positive.shape[1]
    two = features.dtype in _HALF
    if two:
        factors = features.reshape(n * n_locations, width)
    else:
        factors = torch.empty(
            (n * n_locations, 3 * width), dtype=torch.bfloat16, device=features.device
        )
        tiles = triton.cdiv(n_locations, _PLACES), triton.cdiv(width, _CHANNELS)
        _split_features[(n, *tiles)](
            features, factors, n_locations, width, *features.stride(),
            PLACES=_PLACES, CHANNELS=_CHANNELS,
            BY_PLACE=features.stride(2) <= features.stride(1), num_warps=4,
        )  # fmt: skip
    products = torch.mm(factors, coefficients, out_dtype=torch.float32)
    _both_sides[(n, triton.cdiv(n_classes, _RUN))](
        products, products[:, n_classes:] if two else products, shift,
        shift if shares is None else shares, positive, negative,
        n_locations, n_classes, products.stride(0), shift.stride(0) if len(shift) > 1 else 0,
        TWO=two, SHARED=shares is not None, RUN=_RUN, num_warps=2,
    )  # fmt: skip


def _logits(features: Any, beta: Any, shift: Any, shares: Any) -> Any:
    """Return the sums over the locations, in full precision."""
    total = features.sum(dim=1, dtype=torch.float32)
    every = shift.expand(features.shape[1], -1)
    constant = every.sum(dim=0) if shares is None else shares @ every
    return torch.addmm(constant.expand(len(features), -1), total, beta)
