"""The matrix game behind E-admissible acts, and the units of its differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from shafer.decision.rules.e_admissible_acts import _game, _nonzero


@pytest.mark.parametrize(
    ("gains", "mixture", "prices"),
    [
        ([[1.0, -1.0], [-1.0, 1.0]], [0.5, 0.5], [0.5, 0.5]),
        ([[2.0, 0.0], [0.0, 1.0]], [1 / 3, 2 / 3], [1 / 3, 2 / 3]),
        ([[-1.0]], [1.0], [1.0]),  # the value may be as low as −1
        ([[1.0, 0.5], [0.2, 0.1]], [0.0, 1.0], [1.0, 0.0]),
    ],
)
def test_a_game_is_solved_for_both_sides(
    gains: list[list[float]], mixture: list[float], prices: list[float]
) -> None:
    found = _game(np.array(gains))
    assert_allclose(found[0], mixture, atol=1e-9)
    assert_allclose(found[1], prices, atol=1e-9)


def test_differences_have_their_own_unit() -> None:
    # Small differences are divided by their size; only acts that are the same are left alone.
    assert_array_equal(_nonzero(np.array([0.0, 1e-9, 0.5, 2.0])), [1.0, 1e-9, 0.5, 2.0])
