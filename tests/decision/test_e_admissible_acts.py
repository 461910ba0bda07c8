"""The matrix game behind E-admissible acts, and the units of its differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.decision.act_rules import _game, _nonzero, _reaches_zero


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


class LastClass:
    """Stands for masses whose expectations are lowest where the last class is certain."""

    asked = 0

    def extreme_points(self, loss: FloatArray, rows: NDArray[np.intp]) -> FloatArray:
        self.asked += 1
        return np.eye(len(loss))[-1:]


@pytest.mark.parametrize(
    ("difference", "reached"),
    [
        ([1.0, 2.0, 0.5], False),
        ([1.0, 2.0, -0.5], True),
        # Lower by less than a tenth of the tolerance: as good as no progress.
        ([1.02e-9, 5e-9, 0.98e-9], False),
    ],
)
def test_one_question_is_enough(difference: list[float], reached: bool) -> None:
    masses: Any = LastClass()
    start, row = np.eye(3)[:2], np.array([0])
    assert _reaches_zero(masses, row, np.array([difference]), start) is reached
    assert masses.asked == 1
