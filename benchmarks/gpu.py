"""Accuracy and speed of the kernels on a CUDA device. Needs torch, Triton and array-api-compat.

Prints the largest relative error against double precision over awkward shapes, then times the
sums over components at the size of an ImageNet classifier: the kernel alone, the whole pooling
(with its matrix product and the split into w⁺ and w⁻), and the closed forms, next to eager PyTorch.
Then it times the whole evidence (``gpu_units.py``) and evidence maps (``gpu_maps.py``) beside a
forward pass.
"""

from __future__ import annotations

import platform
from typing import Any

import gpu_maps
import gpu_units
import torch
import triton
from machine import record, table

from shafer._kernels import pooling
from shafer._kernels.compiled import triton_kernels
from shafer._kernels.forms import closed_forms as reference_closed_forms
from shafer._kernels.pooling import Pooled

SHAPES = [
    (1, 1, 2),
    (3, 5, 4),
    (257, 100, 10),
    (65, 129, 131),
    (1000, 30, 2),
    (7, 3000, 1000),
    (40, 33, 10_000),
    (0, 5, 3),
]
FEATURES, CLASSES = 2048, 1000


def head(n: int, n_features: int, n_classes: int, dtype: Any = torch.float32) -> list[Any]:
    """Return random features, means, coefficients and offsets on the device."""
    generator = torch.Generator("cuda").manual_seed(n + n_features + n_classes)

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, device="cuda", dtype=torch.float64, generator=generator)

    beta = normal(n_features, n_classes) / n_features**0.5
    beta -= beta.mean(1, keepdim=True)
    arrays = normal(n, n_features), normal(n_features), beta, normal(n_classes) / n_features
    return [array.to(dtype) for array in arrays]


def worst(actual: Any, expected: Any) -> float:
    """Return the largest relative error; absolute for values below 1e-30."""
    if not expected.numel():
        return 0.0
    return float(((actual.double() - expected).abs() / expected.abs().clamp_min(1e-30)).max())


def check(n: int, n_features: int, n_classes: int) -> dict[str, Any]:
    """Compare both kernels with the reference in double precision."""
    arrays = head(n, n_features, n_classes)
    exact = pooling.pool_linear(*(array.double() for array in arrays))
    pooled = triton_kernels.pool_linear(*arrays)
    given = Pooled(*(array.float() for array in exact))
    actual = triton_kernels.closed_forms(given)
    expected = reference_closed_forms(Pooled(*(array.double() for array in given)))
    absolute = [
        float((a.double() - b).abs().max()) if b.numel() else 0.0
        for a, b in zip(actual[:5], expected[:5], strict=True)
    ]
    assert bool((actual.belief <= actual.plausibility).all())
    return {
        "n × J × K": f"{n:,} × {n_features:,} × {n_classes:,}",
        "weights, relative": f"{max(map(worst, pooled[1:], exact[1:])):.1e}",
        "closed forms, absolute": f"{max(absolute):.1e}",
    }


def milliseconds(function: Any) -> float:
    """Return the median time of a call."""
    time: float = triton.testing.do_bench(function, warmup=100, rep=400, return_mode="median")
    return time


def kernel_alone(arrays: list[Any]) -> float:
    """Time the sums alone, without the matrix product and the split."""
    features, centre, beta, offset = arrays
    n = len(features)
    columns = triton_kernels._padded((features - centre).T, triton_kernels._ROWS)
    coefficients = triton_kernels._padded(beta, triton_kernels._CLASSES)
    strides = columns.shape[1], coefficients.shape[1]
    tiles = triton.cdiv(n, triton_kernels._ROWS), triton.cdiv(CLASSES, triton_kernels._CLASSES)
    per_block = triton.cdiv(
        FEATURES, triton_kernels._parts(tiles[0] * tiles[1], FEATURES, features.device)
    )
    parts = triton.cdiv(FEATURES, per_block)
    partial = torch.empty((parts, n, CLASSES), device="cuda")

    def reduce() -> None:
        triton_kernels._absolute_sums[(*tiles, parts)](
            columns, coefficients, offset, partial, n, FEATURES, CLASSES, *strides, per_block,
            ROWS=triton_kernels._ROWS, CLASSES=triton_kernels._CLASSES,
            UNROLL=triton_kernels._UNROLL, num_warps=triton_kernels._WARPS,
        )  # fmt: skip

    return milliseconds(reduce)


def measure(n: int) -> dict[str, Any]:
    """Time one batch size."""
    arrays = head(n, FEATURES, CLASSES)
    alone = kernel_alone(arrays)
    pooled = triton_kernels.pool_linear(*arrays)
    eager = milliseconds(lambda: pooling.pool_linear(*arrays)) if n <= 256 else None
    return {
        "n": n,
        "reduction ms": f"{alone:.4f}",
        "elements/s": f"{n * FEATURES * CLASSES / alone * 1e3:.2e}",
        "pooling ms": f"{milliseconds(lambda: triton_kernels.pool_linear(*arrays)):.4f}",
        "matmul ms": f"{milliseconds(lambda: arrays[0] @ arrays[2]):.4f}",
        "closed forms ms": f"{milliseconds(lambda: triton_kernels.closed_forms(pooled)):.4f}",
        "eager pooling ms": "-" if eager is None else f"{eager:.1f}",
        "eager closed forms ms": f"{milliseconds(lambda: reference_closed_forms(pooled)):.2f}",
    }


def main() -> None:
    """Check, time, and save the table."""
    torch.backends.cuda.matmul.allow_tf32 = False
    machine = {
        "device": torch.cuda.get_device_name(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
    }
    print(*(f"{key}: {value}" for key, value in machine.items()), sep=", ")
    checks = [check(*shape) for shape in SHAPES]
    print(table(checks))
    times = [measure(n) for n in (4096, 1024, 256, 16)]
    print(f"\nJ = {FEATURES}, K = {CLASSES}, float32\n")
    print(table(times))
    record("gpu", machine, [*checks, *times, *gpu_units.report(), *gpu_maps.report()])


if __name__ == "__main__":
    main()
