"""The quadrature: enough nodes for any number of classes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shafer._kernels.forms import gauss_legendre, quadrature_size


@pytest.mark.parametrize("n_classes", [2, 3, 8, 20, 64, 100, 300, 1000, 3000, 10_000])
def test_every_monomial_is_integrated_to_rounding(n_classes: int) -> None:
    # The integrand has nonnegative coefficients, so this bounds its relative error.
    one_minus_t, weight = gauss_legendre(quadrature_size(n_classes))
    degree = np.unique(np.geomspace(1, n_classes, 200).astype(int)) - 1
    integral = np.exp(degree[:, None] * np.log1p(-one_minus_t)) @ weight
    assert_allclose(integral, 1 / (degree + 1.0), rtol=5e-15)


def test_the_number_of_nodes_grows_as_the_root() -> None:
    assert quadrature_size(3) == 2
    assert quadrature_size(10_000) < 400
