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
from torch.utils.weak import WeakIdKeyDictionary

from shafer._kernels import pooling
from shafer._kernels.pooling import Pooled

# Tiles: locations × channels of a map; locations × classes of the weights of one row.
_PLACES, _CHANNELS = 64, 64
_STEP, _RUN = 16, 128
_HALF = (torch.bfloat16, torch.float16)
_SPLITS = WeakIdKeyDictionary()
_BLOCK = 2**28  # elements of the weights of one block of rows


@triton.jit
def _split_features(
    features, centre, out, n_locations, width, row_stride, place_stride, channel_stride,
    PLACES: tl.constexpr, CHANNELS: tl.constexpr, BY_PLACE: tl.constexpr,
):  # fmt: skip
    """Write a₁, a₁, a₂ of a − centre side by side: (n · L, 3 C) from maps with any strides."""
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
    values -= tl.load(centre + channels, mask=there, other=0.0)[None, :]
    first = values.to(tl.bfloat16)
    second = (values - first.to(tl.float32)).to(tl.bfloat16)
    inside = here[:, None] & there[None, :]
    where = out + (row * n_locations + places[:, None]) * (3 * width) + channels[None, :]
    tl.store(where, first, mask=inside)
    tl.store(where + width, first, mask=inside)
    tl.store(where + 2 * width, second, mask=inside)


@triton.jit
def _both_sides(
    products, second, unit, shift, shares, positive, negative, n_locations, n_classes, stride,
    shift_stride, TWO: tl.constexpr, SHARED: tl.constexpr, STEP: tl.constexpr, RUN: tl.constexpr,
):  # fmt: skip
    """Add up the positive and the negative weights of all locations, in double precision."""
    row = tl.program_id(0).to(tl.int64)
    classes = tl.program_id(1) * RUN + tl.arange(0, RUN)
    inside = classes < n_classes
    up = tl.zeros((RUN,), dtype=tl.float64)
    down = tl.zeros((RUN,), dtype=tl.float64)
    for start in range(0, n_locations, STEP):
        places = start + tl.arange(0, STEP)
        here = places < n_locations
        cells = here[:, None] & inside[None, :]
        where = (row * n_locations + places[:, None]) * stride + classes[None, :]
        weight = tl.load(products + where, mask=cells, other=0.0)
        if TWO:
            weight += tl.load(second + where, mask=cells, other=0.0)
            weight *= tl.load(unit)
        moved = shift + places[:, None] * shift_stride + classes[None, :]
        constant = tl.load(moved, mask=cells, other=0.0)
        if SHARED:
            each = tl.load(shares + row * n_locations + places, mask=here, other=0.0)
            constant *= each[:, None]
        weight += constant
        up += tl.sum(tl.maximum(weight, 0.0), 0).to(tl.float64)
        down += tl.sum(tl.maximum(-weight, 0.0), 0).to(tl.float64)
    cell = row * n_classes + classes
    tl.store(positive + cell, up.to(tl.float32), mask=inside)
    tl.store(negative + cell, down.to(tl.float32), mask=inside)


def pool_located(
    features: Any, beta: Any, shift: Any, shares: Any = None, total: Any = None
) -> Pooled:
    """Pool the weights of locations; see :func:`shafer._kernels.pooling.pool_located`."""
    if beta.ndim != 2 or beta.dtype != torch.float32 or not features.numel():
        return pooling.pool_located(features, beta, shift, shares)
    n, n_locations, _ = features.shape
    n_classes = beta.shape[1]
    positive = torch.empty((n, n_classes), dtype=beta.dtype, device=beta.device)
    negative = torch.empty_like(positive)
    total = features.sum(dim=1, dtype=torch.float32) if total is None else total
    logits = _logits(total, beta, shift, shares, n_locations)
    centre = torch.zeros_like(total[0])
    if shares is None and features.dtype not in _HALF:
        # What all locations have in common would cost digits of what they differ in.
        centre = total.mean(dim=0) / n_locations
        shift = shift + centre @ beta
    head, shift = _kept_split(beta, features.dtype), shift.contiguous()
    size = max(1, _BLOCK // (n_locations * n_classes))
    with torch.cuda.device(beta.device):
        for start in range(0, n, size):
            rows = slice(start, start + size)
            some = None if shares is None else shares[rows].contiguous()
            sides = positive[rows], negative[rows]
            _pool_block(features[rows], centre, head, shift, some, *sides)
    return Pooled(logits, positive, negative)


def _logits(total: Any, beta: Any, shift: Any, shares: Any, n_locations: int) -> Any:
    """Return the sums over the locations, in full precision."""
    every = shift.expand(n_locations, -1)
    constant = every.sum(dim=0) if shares is None else shares @ every
    return torch.addmm(constant.expand(len(total), -1), total, beta)


def _kept_split(beta: Any, dtype: torch.dtype) -> tuple[Any, Any]:
    """Return the parts of coefficients, which are the same in the next call."""
    version = 0 if beta.is_inference() else beta._version
    kind = dtype if dtype in _HALF else torch.bfloat16
    stamp, known = (version, kind, dtype in _HALF), _SPLITS.get(beta)
    if known is None or known[0] != stamp:
        known = stamp, _split_coefficients(beta, dtype)
        _SPLITS[beta] = known
    parts: tuple[Any, Any] = known[1]
    return parts


def _split_coefficients(beta: Any, dtype: torch.dtype) -> tuple[Any, Any]:
    """Return b₁, b₂, b₁ below each other; for features in half precision b₁, b₂ side by side.

    The latter are multiplied by a power of two, because float16 has no small numbers; the second
    result takes it back.
    """
    if dtype in _HALF:
        _, exponent = torch.frexp(beta.abs().amax())
        unit = torch.ldexp(torch.ones_like(beta[0, 0]), exponent)
        larger = beta / unit
        first = larger.to(dtype)
        return torch.cat([first, (larger - first.float()).to(dtype)], dim=1), unit
    width = len(beta)
    parts = torch.empty((3 * width, beta.shape[1]), dtype=torch.bfloat16, device=beta.device)
    first = parts[:width].copy_(beta)
    parts[width : 2 * width].copy_(beta - first)  # in single precision, the wider of both
    parts[2 * width :].copy_(first)
    return parts, beta


def _pool_block(
    features: Any, centre: Any, head: tuple[Any, Any], shift: Any, shares: Any, *sides: Any
) -> None:
    n, n_locations, width = features.shape
    n_classes = shift.shape[1]
    coefficients, unit = head
    two = features.dtype in _HALF
    if two:
        factors = features.reshape(n * n_locations, width)
    else:
        factors = torch.empty(
            (n * n_locations, 3 * width), dtype=torch.bfloat16, device=features.device
        )
        tiles = triton.cdiv(n_locations, _PLACES), triton.cdiv(width, _CHANNELS)
        _split_features[(n, *tiles)](
            features, centre, factors, n_locations, width, *features.stride(),
            PLACES=_PLACES, CHANNELS=_CHANNELS,
            BY_PLACE=features.stride(2) <= features.stride(1), num_warps=4,
        )  # fmt: skip
    products = torch.mm(factors, coefficients, out_dtype=torch.float32)
    _both_sides[(n, triton.cdiv(n_classes, _RUN))](
        products, products[:, n_classes:] if two else products, unit, shift,
        shift if shares is None else shares, *sides,
        n_locations, n_classes, products.stride(0), shift.stride(0) if len(shift) > 1 else 0,
        TWO=two, SHARED=shares is not None, STEP=_STEP, RUN=_RUN, num_warps=4,
    )  # fmt: skip


def located_weights_of(features: Any, beta: Any, shift: Any, shares: Any, positions: Any) -> Any:
    """Return weights for a few classes of each row; the reference is in ``pooling.py``.

    The same in fewer steps: here the time to send each of them to the device counts.
    """
    n, most = positions.shape
    chosen = positions.reshape(-1)
    coefficients = beta.T.index_select(0, chosen).view(n, most, -1).mT
    constant = shift.T.index_select(0, chosen).view(n, most, -1).mT
    constant = constant if shares is None else shares[..., None] * constant
    return torch.baddbmm(constant, features.to(beta.dtype), coefficients)
