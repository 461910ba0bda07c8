"""Losses of any size are brought to one unit before they are compared."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from shafer.decision.act_rules import scaled


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e307])
def test_scaled_losses(unit: float) -> None:
    loss = np.array([[2.0, 4.0, 3.0], [7.0, 2.0, 12.0]])
    expected = [[-1.0, -0.6, -0.8], [0.0, -1.0, 1.0]]
    assert_allclose(scaled(unit * loss), expected, atol=1e-15)
    assert_allclose(scaled(-unit * loss), -np.array(expected), atol=1e-15)


def test_losses_that_are_all_the_same() -> None:
    assert_array_equal(scaled(np.full((2, 3), 5.0)), np.zeros((2, 3)))
