"""Lower and upper risks against their definition over all focal sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from shafer import _kernels as kernels

finite = st.floats(-4, 4)


@given(
    st.integers(2, 6).flatmap(
        lambda k: st.tuples(
            arrays(float, (2, 3, k), elements=finite), arrays(float, (4, k), elements=finite)
        )
    )
)
def test_definition(drawn: tuple[NDArray[Any], NDArray[Any]]) -> None:
    weights, loss = drawn
    n_classes = loss.shape[1]
    terms = kernels.log_terms(kernels.pool(weights))
    masses = kernels.all_masses(terms)
    lower, upper = np.zeros((2, 4)), np.zeros((2, 4))
    for mask in range(1, 2**n_classes):
        inside = [k for k in range(n_classes) if mask >> k & 1]
        lower += masses[:, [mask]] * loss[:, inside].min(axis=1)
        upper += masses[:, [mask]] * loss[:, inside].max(axis=1)
    assert_allclose(kernels.lower_risk(terms, loss), lower, rtol=1e-10, atol=1e-12)
    assert_allclose(kernels.upper_risk(terms, loss), upper, rtol=1e-10, atol=1e-12)


def test_zero_one_loss_gives_belief_and_plausibility() -> None:
    terms = kernels.log_terms(kernels.pool(np.array([[[1.0, -0.5, 0.2], [0.3, 0.4, -2.0]]])))
    loss = 1 - np.eye(3)
    assert_allclose(kernels.upper_risk(terms, loss), 1 - np.exp(kernels.log_belief(terms)))
    assert_allclose(kernels.lower_risk(terms, loss), 1 - np.exp(kernels.log_plausibility(terms)))
