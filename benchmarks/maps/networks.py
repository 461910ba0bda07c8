"""The networks of the study: three convolutions, then a linear head on the last feature map."""

from __future__ import annotations

from torch import nn

ARCHITECTURES = ("gap7", "gap14", "flat7")
"""Global average of a 7×7 or a 14×14 map; a 7×7 map of few channels, flattened."""


def untrained(architecture: str) -> nn.Sequential:
    """Return a network for images (n, 1, 28, 28) with values from 0 to 1, and ten classes."""
    coarse, flat = architecture.endswith("7"), architecture.startswith("flat")
    channels = 16 if flat else 48
    layers: list[nn.Module] = [*_block(1, 16), nn.MaxPool2d(2), *_block(16, 32)]
    if coarse:
        layers.append(nn.MaxPool2d(2))
    layers += _block(32, channels)
    if not flat:
        layers.append(nn.AdaptiveAvgPool2d(1))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * 49 if flat else channels, 10))


def _block(before: int, after: int) -> list[nn.Module]:
    convolution = nn.Conv2d(before, after, 3, padding=1, bias=False)
    return [convolution, nn.BatchNorm2d(after), nn.ReLU()]
