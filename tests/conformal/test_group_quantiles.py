"""Conformal thresholds by group, and by group and class."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from shafer.decision import split_conformal

RANDOM = np.random.default_rng(0)
N = 600
SCORES = RANDOM.normal(size=(N, 3))
Y = RANDOM.integers(3, size=N)
GROUPS = RANDOM.choice(["a", "b"], N)


def test_each_group_is_calibrated_by_itself() -> None:
    found = split_conformal(SCORES, Y, coverage=0.8, by=GROUPS, column="site")
    assert found.by == ("a", "b")
    assert found.column == "site"
    assert found.threshold.shape == (2, 1)
    assert not found.class_conditional
    sets = found.sets(SCORES, GROUPS)
    for g, name in enumerate(found.by):
        own = name == GROUPS
        alone = split_conformal(SCORES[own], Y[own], coverage=0.8)
        assert alone.threshold == found.threshold[g, 0]
        assert_array_equal(sets[own], alone.sets(SCORES[own]))
        assert sets[own][np.arange(own.sum()), Y[own]].mean() >= 0.8


def test_each_class_in_each_group() -> None:
    found = split_conformal(SCORES, Y, coverage=0.8, class_conditional=True, by=GROUPS)
    assert found.threshold.shape == (2, 3)
    assert found.class_conditional
    own = GROUPS == "b"
    alone = split_conformal(SCORES[own], Y[own], coverage=0.8, class_conditional=True)
    assert_array_equal(found.threshold[1], alone.threshold)
    assert_array_equal(found.sets(SCORES[own], GROUPS[own]), alone.sets(SCORES[own]))
    floor = found.plausibility_floor
    assert floor.shape == (2, 3)


def test_unknown_groups_keep_every_class() -> None:
    found = split_conformal(SCORES, Y, coverage=0.8, by=GROUPS)
    assert found.sets(SCORES[:2], ["c", "d"]).all()


def test_small_groups_are_named() -> None:
    groups = np.where(np.arange(N) < 5, "few", "many")
    with pytest.warns(UserWarning, match=r"in group\(s\) 'few' \(5\); every .* at least 9 rows"):
        found = split_conformal(SCORES, Y, coverage=0.9, by=groups)
    assert found.threshold[0, 0] == np.inf
    classes = ["x", "y", "z"]
    labels = np.array(classes)[Y]
    with pytest.warns(UserWarning, match=r"'few', class 'x' \(\d\), 'few', class 'y' \(\d\)"):
        split_conformal(
            SCORES, labels, coverage=0.9, by=groups, class_conditional=True, classes=classes
        )


def test_bad_groups() -> None:
    with pytest.raises(ValueError, match=r"by must hold 600 labels; got shape \(3,\)"):
        split_conformal(SCORES, Y, by=["a", "b", "c"])
    found = split_conformal(SCORES, Y, coverage=0.8, by=GROUPS)
    with pytest.raises(ValueError, match="by must be given if .* got none"):
        found.sets(SCORES)
    with pytest.raises(ValueError, match=r"by must hold 2 labels; got shape \(1,\)"):
        found.sets(SCORES[:2], ["a"])
    with pytest.raises(ValueError, match="and only then; got some"):
        split_conformal(SCORES, Y).sets(SCORES, GROUPS)
