"""A network with the layers and sizes of ResNet-50, with random weights, for timing."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Bottleneck(nn.Module):
    """Three convolutions, and a way around them."""

    def __init__(self, n_inputs: int, width: int, stride: int) -> None:
        super().__init__()
        n_outputs = 4 * width
        self.layers = nn.Sequential(
            nn.Conv2d(n_inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
            nn.Conv2d(width, n_outputs, 1, bias=False), nn.BatchNorm2d(n_outputs),
        )  # fmt: skip
        self.around: nn.Module = nn.Identity()
        if stride != 1 or n_inputs != n_outputs:
            self.around = nn.Sequential(
                nn.Conv2d(n_inputs, n_outputs, 1, stride, bias=False), nn.BatchNorm2d(n_outputs)
            )
        self.last = nn.ReLU(True)

    def forward(self, x: Tensor) -> Any:
        """Add both ways."""
        return self.last(self.layers(x) + self.around(x))


class ResNet50(nn.Module):
    """Four stages of 3, 4, 6 and 3 blocks, a global mean, and 1000 classes."""

    def __init__(self, n_classes: int = 1000) -> None:
        super().__init__()
        stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True)]
        blocks: list[nn.Module] = []
        n_inputs = 64
        for stage, n_blocks in enumerate((3, 4, 6, 3)):
            width = 64 * 2**stage
            for block in range(n_blocks):
                stride = 2 if stage > 0 and block == 0 else 1
                blocks.append(Bottleneck(n_inputs, width, stride))
                n_inputs = 4 * width
        self.body = nn.Sequential(*stem, nn.MaxPool2d(3, 2, 1), *blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(n_inputs, n_classes)

    def forward(self, x: Tensor) -> Any:
        """Return the logits."""
        return self.head(torch.flatten(self.pool(self.body(x)), 1))
