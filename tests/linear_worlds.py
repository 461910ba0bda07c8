"""Random linear models with correlated inputs, and the Gaussian that an explainer fits to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import shafer

N_DRAWS = 100_000


def linear_world(
    seed: int, n_classes: int, n_inputs: int = 6, slope: float = 1.0, **options: Any
) -> tuple[shafer.Explainer, NDArray[Any], Any]:
    """Return an explainer of random coefficients, its background, and a random generator."""
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(n_inputs, n_inputs)) / np.sqrt(n_inputs) + 0.5 * np.eye(n_inputs)
    X = rng.normal(size=(800, n_inputs)) @ mixing * rng.uniform(0.5, 3.0, n_inputs)
    X = X + rng.normal(size=n_inputs)
    shape = (1, n_inputs) if n_classes == 2 else (n_classes, n_inputs)
    coef = slope * rng.normal(size=shape) / X.std(axis=0)
    intercept = 0.3 * rng.normal(size=shape[0])
    return shafer.Explainer((coef, intercept), X, **options), X, rng


def moments(explainer: shafer.Explainer) -> tuple[Any, Any]:
    """Return mean and covariance of the inputs, as the explainer estimates them."""
    gaussian = explainer.ask.model().inputs.gaussian
    spread = np.outer(gaussian.spread, gaussian.spread)
    return gaussian.mean, gaussian.correlation * spread


def conditional(explainer: shafer.Explainer, row: Any) -> tuple[Any, Any, Any]:
    """Return the missing inputs of a row, their expectation and their covariance."""
    mean, covariance = moments(explainer)
    out, there = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
    if not len(there):
        return out, mean, covariance
    gain = np.linalg.solve(covariance[np.ix_(there, there)], covariance[np.ix_(there, out)]).T
    left = covariance[np.ix_(out, out)] - gain @ covariance[np.ix_(there, out)]
    return out, mean[out] + gain @ (row[there] - mean[there]), left


def draws(explainer: shafer.Explainer, row: Any, rng: Any, n: int = N_DRAWS) -> Any:
    """Draw what a row lacks, n times."""
    out, expected, left = conditional(explainer, row)
    complete = np.repeat(row[None, :], n, axis=0)
    complete[:, out] = rng.multivariate_normal(expected, left, size=n, method="cholesky")
    return complete


def with_gaps(row: Any, out: Any) -> Any:
    """Return a copy of a row, or of rows, with some inputs missing."""
    gappy = np.array(row, dtype=np.float64)
    gappy[..., list(out)] = np.nan
    return gappy


def logits_of(explainer: shafer.Explainer, rows: Any) -> Any:
    """Return the centred logits of complete rows; faster than evidence for many draws."""
    pool = explainer.pool
    at_means = pool.base_rate if pool.base_rate is not None else len(pool.beta) * pool.offset
    return (rows - pool.means) @ pool.beta + at_means
