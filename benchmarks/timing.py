"""How benchmarks take times, and what they take them of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import shafer
from shafer._kernels.warm_up import warm_up


def trained(n_features: int, n_classes: int) -> LogisticRegression:
    """Return a logistic regression with random coefficients, as if it had been trained."""
    rng = np.random.default_rng(n_classes)
    rows = 1 if n_classes == 2 else n_classes
    model = LogisticRegression()
    model.classes_ = np.arange(n_classes)
    model.n_features_in_ = n_features
    model.coef_ = rng.normal(size=(rows, n_features)) / np.sqrt(n_features)
    model.intercept_ = rng.normal(size=rows) / 10
    return model


def load_compiled() -> None:
    """Load the compiled kernels, and compile those that are not on disk."""
    warm_up()


def best(function: Callable[[], Any], seconds: float = 1.0, calls: int = 3) -> float:
    """Return the shortest time of a call in milliseconds, after one to warm up if several."""
    if calls > 1:
        function()
    times, start = [], time.perf_counter()
    while len(times) < calls or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def everything(evidence: shafer.Evidence) -> tuple[Any, ...]:
    """Compute every quantity that users read, for every row."""
    ev = evidence
    return (
        ev.weights_for,
        ev.weights_against,
        ev.belief,
        ev.plausibility,
        ev.ignorance,
        ev.conflict,
    )
