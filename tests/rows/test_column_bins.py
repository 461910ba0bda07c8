"""Bins of a column: labels that tell them apart, and a value inside each."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer.rows.bins import (
    category_bins,
    interval_bins,
    number_texts,
    threshold_bins,
    unseen_value,
    value_text,
)

NUMBERS = st.floats(-1e12, 1e12, allow_subnormal=False)


def test_labels_of_intervals() -> None:
    assert [one.label for one in interval_bins([8.5, 12])] == ["< 8.5", "[8.5, 12)", "≥ 12"]
    assert [one.label for one in interval_bins([0])] == ["< 0", "≥ 0"]
    assert [one.label for one in interval_bins([])] == ["any number"]
    close = interval_bins([1.00001, 1.00002])
    assert [one.label for one in close] == ["< 1.00001", "[1.00001, 1.00002)", "≥ 1.00002"]


@given(st.lists(NUMBERS, unique=True, max_size=6), st.lists(NUMBERS, max_size=4))
def test_values_are_inside(cuts: list[float], avoid: list[float]) -> None:
    cuts = sorted(cuts)
    bins = interval_bins(cuts, avoid)
    assert len(bins) == len(cuts) + 1
    values = np.array([one.value for one in bins])
    assert np.digitize(values, cuts).tolist() == list(range(len(bins)))
    assert np.isfinite(values).all()
    # Between neighbouring numbers there is only one value, which may be one to avoid.
    wide = [math.nextafter(low, math.inf) < high for low, high in pairwise(cuts)]
    assert not set(values[[True, *wide, True] if cuts else [True]].tolist()) & set(avoid)


def test_special_codes_are_avoided() -> None:
    middle = interval_bins([0.0, 2.0], avoid=[1.0])[1].value
    assert 0.0 <= middle < 2.0
    assert middle != 1.0
    assert interval_bins([-99.0], avoid=[-198.0])[0].value < -99.0
    assert interval_bins([], avoid=[0.0])[0].value != 0.0


def test_threshold() -> None:
    low, high = threshold_bins(0.5)
    assert (low.label, high.label) == ("≤ 0.5", "> 0.5")
    assert low.value <= 0.5 < high.value


def test_categories() -> None:
    bins = category_bins([["a", "b"], ["c"], [None], [np.nan], []])
    assert [one.label for one in bins] == ["a, b", "c", "missing", "missing"]
    assert [one.value for one in bins[:3]] == ["a", "c", None]
    many = category_bins([list(range(20))])
    assert many[0].label.endswith("11 and 8 more")


@pytest.mark.parametrize(
    ("known", "expected"),
    [(["a", "b"], "other"), (["other", "x"], "other_"), ([1, 2, 5], 6), ([], "other")],
)
def test_unseen_value(known: list[object], expected: object) -> None:
    assert unseen_value(known) == expected
    assert unseen_value([*known, np.nan, None]) == expected


def test_texts() -> None:
    assert number_texts([0.125, 2.0]) == ["0.125", "2"]
    assert number_texts([3972.25, 8.5]) == ["3972.25", "8.5"]
    assert number_texts([1234566.5]) == ["1234566.5"]
    assert number_texts([float(np.float32(-0.2715))]) == ["-0.2715"]
    assert number_texts([1e300, 2e300]) == ["1e+300", "2e+300"]
    assert number_texts([0.123456, 0.123457]) == ["0.123456", "0.123457"]
    assert value_text(None) == value_text(float("nan")) == "missing"
    assert value_text(3) == "3"
