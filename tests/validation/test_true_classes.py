"""Labels of calibration rows are labels: never taken for positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from shafer._checks import true_classes
from shafer.decision import cross_conformal, split_conformal, tempering_factor

SCORES = np.random.default_rng(0).normal(size=(30, 3))


@pytest.mark.parametrize(
    "y",
    [
        np.arange(30) % 3 + 1,  # 1 and 2 are positions, of other classes
        np.arange(30) % 2,  # two of three classes: which ones?
        np.arange(30) % 2 + 1,
        np.array(["a", "b", "c"] * 10),
    ],
)
def test_labels_without_classes_are_refused(y: Any) -> None:
    for call in (
        lambda: split_conformal(SCORES, y),
        lambda: cross_conformal(SCORES, np.arange(30) % 2, y),
        lambda: tempering_factor(SCORES, y),
    ):
        with pytest.raises(
            ValueError, match=r"leave out classes= only if .* contains each of the numbers 0 to 2"
        ):
            call()


def test_labels_with_classes() -> None:
    found = true_classes(["no", "yes", "no"], ["yes", "no"], 2)
    assert_array_equal(found.positions, [1, 0, 1])
    assert_array_equal(true_classes([3, 1], [1, 2, 3], 3).positions, [2, 0])
    assert_array_equal(true_classes([1.0, 0.0], None, 2).positions, [1, 0])
    assert_array_equal(true_classes([True, False], [False, True], 2).positions, [1, 0])
    for classes in (None, [0, 1]):  # a mask is not a vector of labels
        with pytest.raises(ValueError, match=r"True"):
            true_classes([True, False], classes, 2)
