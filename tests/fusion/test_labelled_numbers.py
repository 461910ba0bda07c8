"""Priors and reliabilities with labels are read by label, never by position."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from shafer import Evidence, combine

RNG = np.random.default_rng(0)
A, B = (Evidence.from_weights(RNG.normal(size=(6, 2, 3)), classes=["x", "y", "z"]) for _ in "ab")
SOURCES = {"a": A, "b": B}


@pytest.mark.parametrize(
    "prior",
    [
        {"z": 0.5, "x": 0.2, "y": 0.3},
        pd.Series({"z": 0.5, "x": 0.2, "y": 0.3}),
        pd.Series(list("zzzzzxxyyy")).value_counts(normalize=True),
        pd.Series([0.2, 0.3, 0.5]),  # only numbered
    ],
)
def test_priors(prior: Any) -> None:
    wanted = combine(SOURCES, prior=[0.2, 0.3, 0.5]).probability
    assert_allclose(combine(SOURCES, prior=prior).probability, wanted)


def test_numbers_that_are_labels() -> None:
    sources = [Evidence.from_weights(A.weights, classes=[2, 1, 0])]
    wanted = combine(sources, prior=[0.5, 0.3, 0.2]).probability
    assert_allclose(combine(sources, prior=pd.Series([0.2, 0.3, 0.5])).probability, wanted)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (pd.Series({"x": 0.5, "y": 0.5}), r"none for \['z'\]"),
        ({"x": 0.2, "y": 0.3, "z": 0.4, "q": 0.1}, r"unknown classes \['q'\].*\['x', 'y', 'z'\]"),
        (pd.Series([0.2, 0.3, 0.5], index=["x", "x", "y"]), "labels of a Series must differ"),
    ],
)
def test_wrong_labels(prior: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        combine(SOURCES, prior=prior)


@pytest.mark.parametrize("option", ["reliability", "tempering"])
@pytest.mark.parametrize(
    "numbers",
    [
        {"b": 0.3, "a": 0.9},
        pd.Series({"b": 0.3, "a": 0.9}),
        pd.Series([0.9, 0.3]),
        pd.DataFrame({"b": [0.3] * 6, "a": [0.9] * 6}),
        pl.DataFrame({"b": [0.3] * 6, "a": [0.9] * 6}),
        pd.DataFrame([[0.9, 0.3]] * 6),
    ],
)
def test_numbers_by_source(option: str, numbers: Any) -> None:
    wanted = combine(SOURCES, **{option: [0.9, 0.3]}).belief
    assert_allclose(combine(SOURCES, **{option: numbers}).belief, wanted)
