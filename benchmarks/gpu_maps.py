"""What evidence maps of a ResNet-50-shaped network cost beside its forward pass, on CUDA.

256 images of 224 × 224, 1000 classes: belief, plausibility and ignorance of each image, and the
weights of each location for its top 5 classes. Part of ``gpu.py``; alone: ``python gpu_maps.py``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from machine import table
from resnet import ResNet50

import shafer
from shafer._kernels import pooling
from shafer._kernels.compiled import triton_located

BATCH, SIZE = 256, 224
REPEATS = 30


def seconds(function: Callable[[], Any]) -> float:
    """Return the median time of a call, device work included."""
    for _ in range(5):
        function()
    times = []
    for _ in range(REPEATS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def interleaved(
    first: Callable[[], Any], second: Callable[[], Any], repeats: int = REPEATS
) -> tuple[float, float]:
    """Return the median times of two calls, taken in turns, so that the clock is the same."""
    both: tuple[list[float], list[float]] = ([], [])
    for repeat in range(repeats + 5):
        for function, times in zip((first, second), both, strict=True):
            torch.cuda.synchronize()
            start = time.perf_counter()
            function()
            torch.cuda.synchronize()
            if repeat >= 5:
                times.append(time.perf_counter() - start)
    return statistics.median(both[0]), statistics.median(both[1])


def maps(explainer: Any, X: Any) -> tuple[Any, ...]:
    """Return everything that the issue asks for."""
    ev = explainer(X)
    return ev.belief, ev.plausibility, ev.ignorance, *ev.top_weights(5)


def exactness(ev: Any, network: Any, X: Any) -> dict[str, str]:
    """Compare with the module's own logits, and with double precision."""
    with torch.no_grad():
        logits = network(X).double()
    logits -= logits.mean(1, keepdim=True)
    source = ev.source
    features = source.features.double()
    exact = pooling.pool_located(
        features, source.beta.double(), (source.shift + source.offset).double(), None
    )
    size = (exact.weights_for + exact.weights_against).amax()
    worst = max(
        float((found.double() - wanted).abs().amax() / size)
        for found, wanted in zip(ev.pooled, exact, strict=True)
    )
    labels, weights = ev.top_weights(5)
    total = weights.sum(1).double() - logits.gather(1, torch.as_tensor(labels).cuda())
    return {
        "logits − module's": f"{float((ev.logits.double() - logits).abs().amax()):.1e}",
        "Σ top weights − logits": f"{float(total.abs().amax()):.1e}",
        "w± relative to largest": f"{worst:.1e}",
    }


def stages(explainer: Any, X: Any) -> list[dict[str, str]]:
    """Time the parts one after the other; each waits for the device, so the sum is more."""
    model = explainer.weighed_model.model
    ev = explainer(X)
    source, pooled = ev.source, ev.pooled
    parts = {
        "live parameters": model.check_current,
        "forward pass and its checks": lambda: model.terms(X),
        "pooling": source.pooled,
        "pooling, float32 matrix product": lambda: pooling.pool_located(
            source.features, source.beta, source.shift + source.offset, None
        ),
        "closed forms": lambda: shafer._kernels.forms(pooled),
        "weights of the top 5": lambda: ev.top_weights(5),
    }
    rows = []
    for name, function in parts.items():
        rows.append({"stage": name, "ms": f"{1e3 * seconds(function):.3f}"})
    return rows


def measure(dtype: torch.dtype, channels_last: bool) -> tuple[dict[str, str], Any, Any]:
    """Time the forward pass alone and with evidence maps."""
    torch.manual_seed(0)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    network = ResNet50().cuda().to(dtype).to(memory_format=layout).eval()
    X = torch.randn(BATCH, 3, SIZE, SIZE, device="cuda", dtype=dtype).to(memory_format=layout)
    explainer = shafer.Explainer(network, X[:64], components="locations", check=False)

    def forward() -> Any:
        with torch.no_grad():
            return network(X)

    alone, full = interleaved(forward, lambda: maps(explainer, X))
    name = str(dtype).removeprefix("torch.") + (", channels last" if channels_last else "")
    row = {
        "module": name,
        "forward ms": f"{1e3 * alone:.2f}",
        "with maps ms": f"{1e3 * full:.2f}",
        "cost ms": f"{1e3 * (full - alone):.2f}",
        "cost %": f"{100 * (full - alone) / alone:.1f}",
        **exactness(explainer(X), network, X),
    }
    return row, explainer, X


def report() -> list[dict[str, str]]:
    """Print the tables, with a profile of the single-precision network."""
    rows = []
    for dtype, channels_last in (
        (torch.float32, False),
        (torch.float32, True),
        (torch.bfloat16, True),
        (torch.float16, True),
    ):
        row, explainer, X = measure(dtype, channels_last)
        rows.append(row)
        print(f"\n{row['module']}\n")
        print(table(stages(explainer, X)))
    print(f"\n{BATCH} images of {SIZE} × {SIZE}, 1000 classes, ResNet-50-shaped\n")
    print(table(rows))
    return rows


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__, triton_located.triton.__version__)
    report()
