from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from shafer.datasets import gaussian_posterior, make_gaussian

MEANS = [(0, 0), (0, 0), (1, -1)]
COVARIANCES = [np.eye(2) * 0.1, np.eye(2) * 0.5, np.array([[0.3, -0.15], [-0.15, 0.3]])]


def test_moments_are_the_papers() -> None:
    X, y = make_gaussian(300_000, random_state=0)
    assert_array_equal(np.bincount(y), [100_000] * 3)
    for k in range(3):
        assert_allclose(X[y == k].mean(axis=0), MEANS[k], atol=0.01)
        assert_allclose(np.cov(X[y == k].T), COVARIANCES[k], atol=0.01)


def test_posterior_and_bayes_error() -> None:
    X, y = make_gaussian(200_000, random_state=1)
    density = np.column_stack(
        [multivariate_normal(m, c).pdf(X) for m, c in zip(MEANS, COVARIANCES, strict=True)]
    )
    posterior = gaussian_posterior(X)
    assert_allclose(posterior, density / density.sum(axis=1, keepdims=True), atol=1e-12)
    # 24.5 % by simulation with six million points; the paper printed 24.6 from 15,000.
    assert 100 * np.mean(posterior.argmax(axis=1) != y) == pytest.approx(24.5, abs=0.3)


def test_far_away_stays_a_probability() -> None:
    assert_allclose(gaussian_posterior([[1e3, -1e3], [-1e3, 1e3]]).sum(axis=1), 1.0)


def test_random_state() -> None:
    first, again, other = (make_gaussian(7, random_state=s) for s in (3, 3, 4))
    assert_array_equal(first[0], again[0])
    assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])
    assert sorted(np.bincount(first[1])) == [2, 2, 3]


@pytest.mark.parametrize("n_samples", [0, -3, 2.5, True])
def test_wrong_size(n_samples: object) -> None:
    with pytest.raises(ValueError, match="n_samples must be a positive integer; got"):
        make_gaussian(n_samples)  # type: ignore[arg-type]


def test_wrong_shape() -> None:
    with pytest.raises(ValueError, match=r"X must have 2 columns; got shape \(1, 3\)"):
        gaussian_posterior(np.zeros((1, 3)))
