"""Inputs hidden at random."""

from __future__ import annotations

from typing import Any

import numpy as np


def hide(shape: tuple[int, int], share: float, rng: Any) -> Any:
    """Hide the same number of inputs in every row; at least one stays and one is hidden."""
    count = min(max(1, round(shape[1] * share)), shape[1] - 1)
    order = rng.random(shape).argsort(axis=1).argsort(axis=1)
    return np.asarray(order < count)
