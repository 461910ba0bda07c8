from __future__ import annotations

from typing import Any

import array_api_strict
import numpy as np
import pytest
import torch
from numpy.testing import assert_array_equal

from shafer._validation import to_numpy
from shafer.decision import PRECISE_RULES, RULES, choose_largest, interval_dominance


@pytest.mark.parametrize("asarray", [np.asarray, torch.asarray, array_api_strict.asarray])
def test_choose_largest_takes_the_first_on_a_tie(asarray: Any) -> None:
    score = asarray([[0.2, 0.5, 0.5], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    chosen = choose_largest(score)
    expected = [[False, True, False], [True, False, False], [True, False, False]]
    assert type(chosen) is type(score)
    assert_array_equal(to_numpy(chosen), expected)


@pytest.mark.parametrize("asarray", [np.asarray, torch.asarray, array_api_strict.asarray])
def test_interval_dominance(asarray: Any) -> None:
    belief = asarray([[0.5, 0.5, 0.0], [0.6, 0.1, 0.0], [0.0, 0.0, 0.0]])
    plausibility = asarray([[0.5, 0.5, 0.4], [0.8, 0.3, 0.6], [1.0, 1.0, 1.0]])
    expected = [[True, True, False], [True, False, True], [True, True, True]]
    assert_array_equal(to_numpy(interval_dominance(belief, plausibility)), expected)


def test_precise_rules_are_rules() -> None:
    assert set(PRECISE_RULES) < set(RULES)
