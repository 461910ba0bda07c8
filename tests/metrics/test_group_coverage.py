"""Coverage by group, counted by hand and against exact intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from shafer.metrics import coverage_by_group, coverage_score


def test_against_scipy() -> None:
    random = np.random.default_rng(0)
    y, groups = random.integers(3, size=200), random.choice([2019, 2020, 2021], 200)
    sets = random.random((200, 3)) < 0.7
    found = coverage_by_group(y, sets, pd.Series(groups), confidence=0.9)
    assert found.groups == (2019, 2020, 2021)
    for g, name in enumerate(found.groups):
        own = groups == name
        hits = int(sets[own][np.arange(own.sum()), y[own]].sum())
        interval = binomtest(hits, int(own.sum())).proportion_ci(0.9, method="exact")
        assert found.n[g] == own.sum()
        assert_allclose([found.lower[g], found.upper[g]], interval, rtol=1e-9)
        assert found.coverage[g] == coverage_score(y[own], sets[own], labels=[0, 1, 2])
        assert_allclose(found.mean_size[g], sets[own].sum(axis=1).mean())
    assert found.worst == found.coverage.min()
    assert list(pd.DataFrame(found.to_dict())["group"]) == [2019, 2020, 2021]


def test_bad_groups() -> None:
    y, sets = [0, 1], [[1, 0], [1, 1]]
    for options, message in [
        ({"groups": ["a"]}, "one label for each of 2 rows"),
        ({"groups": ["a", None]}, "groups must not be missing"),
        ({"groups": ["a", "b"], "confidence": 2}, "confidence must be a number between 0 and 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            coverage_by_group(y, sets, **options)
