"""The pointing game: of two garments side by side, the map of a class should point to its own.

A composite has a garment of class A on the left and one of class B on the right, or the other way
round. The networks average over the feature map, so they take the wider image as it is. The map of
A wins if its largest value lies on A's half; chance wins half of the games. Only garments that the
network gets right by themselves take part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from maps.image_methods import Maps, Positions


@dataclass(frozen=True, eq=False)
class Games:
    """Composites (n, 1, H, 2W), and the classes of their left and right half, (n,) each."""

    images: Tensor
    left: Positions
    right: Positions

    def first(self, count: int) -> Games:
        """Return the first games."""
        return Games(self.images[:count], self.left[:count], self.right[:count])


def make_games(images: Tensor, y: NDArray[np.int64], count: int, rng: np.random.Generator) -> Games:
    """Pair images of different classes at random."""
    pairs = rng.permutation(len(y))[: 2 * (len(y) // 2)].reshape(-1, 2)
    pairs = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]][:count]
    both = torch.cat([images[pairs[:, 0]], images[pairs[:, 1]]], dim=3)
    return Games(both, y[pairs[:, 0]].astype(np.intp), y[pairs[:, 1]].astype(np.intp))


def right_answers(network: nn.Module, images: Tensor, y: NDArray[np.int64]) -> Positions:
    """Return the rows that the network gets right."""
    with torch.no_grad():
        return np.flatnonzero(network(images).argmax(1).numpy() == y)


def wins(maps: Maps, on_left: bool) -> NDArray[np.float64]:
    """Return 1 where the largest value lies on the half of the class, 0 elsewhere, (n,)."""
    columns = maps.shape[2]
    best = maps.reshape(len(maps), -1).argmax(axis=1) % columns
    return ((best < columns // 2) == on_left).astype(np.float64)


def positive_share(maps: Maps, on_left: bool) -> NDArray[np.float64]:
    """Return the share of the positive values that lies on the half of the class, (n,)."""
    positive = np.maximum(maps, 0.0)
    half = maps.shape[2] // 2
    part = positive[:, :, :half] if on_left else positive[:, :, half:]
    total = positive.sum(axis=(1, 2))
    return np.where(total > 0, part.sum(axis=(1, 2)) / np.where(total > 0, total, 1.0), 0.5)
