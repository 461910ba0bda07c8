"""Small worlds for the tests of monitors: a linear model and rows of correlated features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import shafer
from shafer._typing import FloatArray

Draw = Callable[[int], FloatArray]


def linear_world(
    n_features: int, seed: int, n_classes: int = 2, correlation: float = 0.3
) -> tuple[shafer.Explainer, Draw]:
    """A model with known coefficients, and a function that draws rows."""
    random = np.random.default_rng(seed)
    factor = np.linalg.cholesky(
        (1.0 - correlation) * np.eye(n_features) + correlation * np.ones((n_features, n_features))
    )

    def draw(n: int) -> FloatArray:
        return random.normal(size=(n, n_features)) @ factor.T

    rows = 1 if n_classes == 2 else n_classes
    coef = random.normal(scale=0.5, size=(rows, n_features))
    names = [f"feature {g}" for g in range(n_features)]
    return shafer.Explainer((coef, np.zeros(rows)), draw(500), names=names), draw
