from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shafer.paper import printed_numbers
from shafer.paper.set_tables import (
    missed,
    random_choice_error,
    set_table,
    share_of_size,
    wrong_singletons,
)


def test_set_table() -> None:
    chosen = np.array([[True, False], [True, True], [False, True], [False, True]])
    table = set_table(chosen, np.array([0, 1, 1, 0]))
    assert_allclose(table, [[0, 0], [25, 0], [25, 25], [0, 25]])
    assert wrong_singletons(table) == missed(table) == 25.0
    assert share_of_size(table, 2) == 25.0
    assert random_choice_error(table) == 25.0 + 12.5


def test_figures_the_paper_derives_from_its_tables() -> None:
    heart = np.zeros((4, 2))
    heart[1:] = printed_numbers.HEART_ID
    assert wrong_singletons(heart) == pytest.approx(printed_numbers.HEART_DERIVED["id_error"])
    assert share_of_size(heart, 2) == pytest.approx(printed_numbers.HEART_DERIVED["rejection"])
    assert random_choice_error(heart) == pytest.approx(33.1)
    gaussian = np.zeros((8, 3))
    gaussian[[1, 2, 4, 3, 6, 7]] = printed_numbers.GAUSSIAN_ID
    assert wrong_singletons(gaussian) == pytest.approx(printed_numbers.GAUSSIAN["id_error"])
    # Slips E2 and E20 of docs/background/errata.md: what the table itself says.
    assert missed(gaussian) == pytest.approx(18.8)
    assert share_of_size(gaussian, 2) == pytest.approx(16.0)
    assert random_choice_error(gaussian) == pytest.approx(28.0, abs=0.1)
