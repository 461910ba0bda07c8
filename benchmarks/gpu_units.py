"""What the whole evidence of a ResNet-50-shaped network costs beside its forward pass, on CUDA.

Components are the 2048 units before the last layer, for 1000 classes. Part of ``gpu.py``; alone:
``python gpu_units.py``.
"""

from __future__ import annotations

from typing import Any

import torch
from gpu_maps import SIZE, interleaved
from machine import table
from resnet import ResNet50

import shafer

BATCH = 1024  # as Explainer passes rows through a module by default


def measure(n: int) -> dict[str, str]:
    """Time the forward pass alone, and with everything that users read."""
    torch.manual_seed(0)
    network = ResNet50().cuda().eval()
    X = torch.randn(n, 3, SIZE, SIZE, device="cuda")
    explainer = shafer.Explainer(network, X[:64], check=False)

    def forward() -> Any:
        with torch.no_grad():
            return torch.cat([network(rows) for rows in X.split(BATCH)])

    def evidence() -> Any:
        ev = explainer(X)
        return ev.weights_for, ev.belief, ev.plausibility, ev.ignorance, ev.conflict

    repeats = 30 if n <= BATCH else 8
    alone, full = interleaved(forward, evidence, repeats)
    return {
        "images": f"{n:,}",
        "forward ms": f"{1e3 * alone:.2f}",
        "with evidence ms": f"{1e3 * full:.2f}",
        "cost ms": f"{1e3 * (full - alone):.2f}",
        "cost %": f"{100 * (full - alone) / alone:.2f}",
    }


def report() -> list[dict[str, str]]:
    """Print the table."""
    rows = [measure(n) for n in (256, 4096)]
    print(f"\nUnits as components, images of {SIZE} × {SIZE}, 1000 classes, float32\n")
    print(table(rows))
    return rows


if __name__ == "__main__":
    report()
