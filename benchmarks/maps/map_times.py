"""The processor time that a map of one image takes, on one core."""

from __future__ import annotations

import time

import torch
from torch import Tensor

from maps.image_methods import METHODS, Positions, Subject

_REPEATS = 3


def milliseconds(
    subject: Subject, images: Tensor, classes: Positions, rivals: Positions
) -> dict[str, float]:
    """Return the milliseconds per image of each method, and of the forward pass, best of three."""
    found = {}
    for name, method in METHODS.items():
        found[name] = _best(lambda m=method: m(subject, images, classes, rivals))
    with torch.no_grad():
        found["forward pass"] = _best(lambda: subject.network(images))
    return {name: 1000.0 * seconds / len(images) for name, seconds in found.items()}


def _best(run: object) -> float:
    times = []
    for _ in range(_REPEATS):
        start = time.process_time()
        run()  # type: ignore[operator]
        times.append(time.process_time() - start)
    return min(times)
