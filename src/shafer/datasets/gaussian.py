"""The Gaussian data of the paper: three classes in the plane, and their exact Bayes rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from shafer._checks.arrays import float_array, to_numpy
from shafer._typing import FloatArray

MEANS = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, -1.0]])  # (K, 2)
COVARIANCES = np.array(  # (K, 2, 2)
    [
        [[0.1, 0.0], [0.0, 0.1]],
        [[0.5, 0.0], [0.0, 0.5]],
        [[0.3, -0.15], [-0.15, 0.3]],
    ]
)


def make_gaussian(
    n_samples: int = 900, random_state: Any = None
) -> tuple[FloatArray, NDArray[np.int64]]:
    r"""Return a sample of three Gaussian classes in the plane (Denœux 2019, §5.2).

    .. math:: \mu_1 = \mu_2 = (0, 0), \quad \mu_3 = (1, -1), \quad
              \Sigma_1 = 0.1 I, \quad \Sigma_2 = 0.5 I, \quad
              \Sigma_3 = \begin{pmatrix} 0.3 & -0.15 \\ -0.15 & 0.3 \end{pmatrix}

    The classes are equally frequent, as in the paper's tables: their sizes differ by at most one,
    if ``n_samples`` is not a multiple of three. The order is random.

    Parameters
    ----------
    n_samples : int
        Number of instances.
    random_state : int, ``numpy.random.RandomState`` or None
        As in scikit-learn.

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of shape (n_samples,)
        Class 0, 1 or 2 for the paper's θ₁, θ₂ and θ₃.

    See Also
    --------
    gaussian_posterior : The true probabilities of the classes.

    Examples
    --------
    >>> from shafer.datasets import gaussian_posterior, make_gaussian
    >>> X, y = make_gaussian(15_000, random_state=0)
    >>> error = (gaussian_posterior(X).argmax(axis=1) != y).mean()
    >>> bool(0.235 < error < 0.255)
    True
    """
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise ValueError(f"n_samples must be a positive integer; got {n_samples!r}.")
    random = check_random_state(random_state)
    y = random.permutation(np.arange(n_samples, dtype=np.int64) % len(MEANS))
    scale = np.linalg.cholesky(COVARIANCES)
    noise = random.standard_normal((n_samples, 2))
    X = MEANS[y] + (scale[y] @ noise[:, :, None])[:, :, 0]
    return X, y


def gaussian_posterior(X: Any) -> FloatArray:
    """Return the exact posterior probabilities of the three classes, (n, 3), with equal priors.

    The class with the largest probability is the decision of the Bayes rule for 0-1 loss.

    Parameters
    ----------
    X : array of shape (n, 2)
        Points of the plane, such as those of :func:`make_gaussian`.

    Returns
    -------
    array of shape (n, 3)
        Each row sums to 1.

    See Also
    --------
    make_gaussian : Points of the three classes.

    Examples
    --------
    >>> from shafer.datasets import gaussian_posterior
    >>> gaussian_posterior([[0.0, 0.0], [1.0, -1.0]]).round(3)
    array([[0.805, 0.161, 0.034],
           [0.   , 0.066, 0.934]])
    """
    points = to_numpy(float_array(X, "X", ndim=(2,)))
    if points.shape[1] != 2:
        raise ValueError(f"X must have 2 columns; got shape {points.shape}.")
    centred = points[:, None, :] - MEANS  # (n, K, 2)
    distance = np.einsum("nki,kij,nkj->nk", centred, np.linalg.inv(COVARIANCES), centred)
    log_density = -(distance + np.log(np.linalg.det(COVARIANCES))) / 2
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    posterior: FloatArray = density / density.sum(axis=1, keepdims=True)
    return posterior
