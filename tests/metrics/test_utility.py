from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from shafer.metrics import discounted_utility_score, u65_score, u80_score


def _worths(utility: object, n_classes: int) -> list[float]:
    """The utility of right sets of 1 to K classes."""
    sets = np.tril(np.ones((n_classes, n_classes)))
    labels = range(n_classes)
    return [discounted_utility_score([0], row[None], utility, labels=labels) for row in sets]


def test_named_utilities() -> None:
    size = np.arange(1, 7)
    assert_allclose(_worths("u50", 6), 1 / size)
    assert_allclose(_worths("u65", 6), 1.6 / size - 0.6 / size**2)
    assert_allclose(_worths("u80", 6), 2.2 / size - 1.2 / size**2)
    assert_allclose([_worths(name, 2)[1] for name in ("u50", "u65", "u80")], [0.5, 0.65, 0.8])
    assert _worths("u65", 3)[0] == _worths("u80", 3)[0] == 1.0


def test_any_utility() -> None:
    owa = [1.0, 0.8, 0.681867, 0.596482, 0.530673]
    assert_allclose(_worths(owa, 4), owa[:4])
    assert_allclose(_worths(np.array(owa), 5), owa)
    assert_allclose(_worths(lambda size: 1 / size**2, 4), [1, 1 / 4, 1 / 9, 1 / 16])


def test_shortcuts() -> None:
    random = np.random.default_rng(0)
    y_set, y_true = random.random((50, 4)) < 0.5, random.integers(4, size=50)
    labels, weight = list("dcba"), random.random(50)
    names = [labels[k] for k in y_true]
    for name, shortcut in (("u65", u65_score), ("u80", u80_score)):
        assert shortcut(names, y_set, labels=labels, sample_weight=weight) == (
            discounted_utility_score(y_true, y_set, name, sample_weight=weight)
        )
    assert discounted_utility_score(y_true, y_set) == u65_score(y_true, y_set)


@pytest.mark.parametrize(
    ("utility", "message"),
    [
        ("u70", "utility must be one of 'u50', 'u65', 'u80', .* got 'u70'"),
        ([1.0, 0.8], r"at least 3 numbers, for sets of 1 to 3 classes; got shape \(2,\)"),
        (0.8, r"got shape \(\)"),
        ([1.0, np.nan, 0.0], "utility must be finite"),
        (lambda size: "much", "utility must hold real numbers"),
    ],
)
def test_wrong_utility(utility: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        discounted_utility_score([0], [[1, 0, 0]], utility, labels=[0, 1, 2])
