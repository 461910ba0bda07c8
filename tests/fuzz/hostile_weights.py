"""Random weights of evidence, whole arrays at a time, with the values that break formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAGNITUDES = np.array([0.0, 1e-300, 1e-30, 1e-12, 1e-4, 0.1, 1.0, 5.0, 40.0, 800.0, 1e4, 1e8])
MOST_CLASSES, MOST_COMPONENTS = 1000, 200
MOST_WEIGHTS = 2**20  # in one batch
MOST_ROWS = 2**16


@dataclass(frozen=True)
class Size:
    """Numbers of rows, components and classes."""

    n: int
    G: int
    K: int


def log_uniform(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number whose logarithm is uniform."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def any_size(rng: np.random.Generator) -> Size:
    """Draw a size: most of them small, so that there are many rows."""
    small = rng.random() < 0.75
    K = log_uniform(rng, 2, 6 if small else MOST_CLASSES)
    G = log_uniform(rng, 1, 6 if small else MOST_COMPONENTS)
    return Size(max(1, min(MOST_ROWS, MOST_WEIGHTS // (G * K))), G, K)


def any_precision(rng: np.random.Generator) -> type[np.floating[Any]]:
    """Draw float64, or every third time float32."""
    return np.float32 if rng.random() < 1 / 3 else np.float64


def hostile_array(
    rng: np.random.Generator, shape: tuple[int, ...], largest: float = 1e8
) -> NDArray[np.float64]:
    """Draw numbers of one sign or both, of one magnitude a row or any, with zeros and ties."""
    magnitudes = MAGNITUDES[largest >= MAGNITUDES]
    each = (shape[0],) + (1,) * (len(shape) - 1)
    mixed = rng.random(each) < 0.3
    scale = np.where(mixed, rng.choice(magnitudes, shape), rng.choice(magnitudes, each))
    values = rng.standard_normal(shape)
    tied = rng.random(each) < 0.2
    values = np.where(tied, np.sign(values), values) * scale
    one_sided = rng.random(each) < 0.2
    values = np.where(one_sided, np.abs(values) * rng.choice([-1.0, 1.0], each), values)
    values[rng.random(shape) < rng.choice([0.0, 0.3, 0.95])] = 0.0
    return np.clip(values, -largest, largest)


def hostile_weights(
    rng: np.random.Generator, size: Size, largest: float = 1e8
) -> NDArray[np.float64]:
    """Draw weights (n, G, K); in every third batch they sum to zero over the classes."""
    weights = hostile_array(rng, (size.n, size.G, size.K), largest)
    if rng.random() < 1 / 3:
        weights -= weights.mean(axis=-1, keepdims=True)
    return weights
