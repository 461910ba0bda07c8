"""Decisions where numbers are large, small or equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import shafer
from evidence_types import every_type, made
from shafer._checks import to_numpy
from shafer.decision import PRECISE_RULES, RULES
from shafer.decision.set_utility import _mean_rank

ZERO_ONE = [[0, 1], [1, 0]]


@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
@pytest.mark.parametrize("size", [1e3, 1e4, 1e5, 1e6, 1e9])
def test_large_weights_in_single_precision(library: Any, size: float) -> None:
    weights = library(np.array([[[-size, size]], [[size, -size]]], dtype=np.float32))
    ev = shafer.Evidence.from_weights(weights)
    for rule in RULES:
        for options in ({}, {"loss": ZERO_ONE}):
            chosen = to_numpy(ev.decide(rule, **options))
            assert chosen.tolist() == [[False, True], [True, False]], rule


@pytest.mark.parametrize("size", [1e9, 1e12, 1e15])
def test_no_tolerance_decides_against_certainty(size: float) -> None:
    ev = shafer.Evidence.from_weights([[[-size, size]]])
    for rule in RULES:
        assert ev.decide(rule, loss=ZERO_ONE).tolist() == [[False, True]]


@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1), [2, 0, 1]])
def test_exact_ties_go_to_the_first(library: Any, dtype: Any, order: Any) -> None:
    rows = np.array(
        [[[2.0, 0.0], [-2.0, 0.0]], [[0.7, 0.0], [-0.7, 0.0]], [[30.0, 0.0], [-30.0, 0.0]]], dtype
    )
    ev = shafer.Evidence.from_weights(library(rows))[order]
    for rule in PRECISE_RULES:
        assert to_numpy(ev.decide(rule)).tolist() == [[True, False]] * 3, rule
        assert to_numpy(ev.decide(rule, loss=ZERO_ONE)).tolist() == [[True, False]] * 3, rule


def test_small_differences_between_losses_still_count() -> None:
    """An act that is never best is dropped, also where it is worse by a billionth."""
    ev = shafer.Evidence.from_weights(np.zeros((1, 1, 2)))  # any probability is compatible
    shape = np.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.6]])
    for scale in (1.0, 1e-3, 1e-9):
        loss = np.array([-1.0, 1.0]) + scale * shape
        assert ev.decide("maximality", loss=loss).tolist() == [[True, True, True]]
        assert ev.decide("e_admissible", loss=loss).tolist() == [[True, True, False]]


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("rate", [1e-4, 1e-3, 1.4e-3, 2e-2, 0.5])
def test_mean_rank_of_nearly_equal_weights(size: int, rate: float) -> None:
    q = np.exp(-rate * np.arange(size))
    expected = (np.arange(size) * q).sum() / q.sum()
    found = _mean_rank(np.array([float(size)]), np.array([rate]))
    assert found[0] == pytest.approx(expected, abs=2e-13 / rate**0.5)


@every_type
def test_hurwicz_lies_between_plausibility_and_belief(kind: str) -> None:
    ev = made(kind, n_classes=4, n=60).evidence
    for alpha, rule in ((0.0, "plausibility"), (1.0, "belief")):
        found = to_numpy(ev.decide("hurwicz", alpha=alpha))
        assert found.tolist() == ev.decide(rule).tolist()
        assert found.any(axis=0).all()  # no class is chosen by default


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9, 1.0])
def test_sums_that_differ_by_rounding_are_tied(alpha: float) -> None:
    assert 0.1 + 0.2 > 0.3
    ev = shafer.Evidence.from_weights([[[0.3, 0.1, -1.0], [0.0, 0.2, 0.0], [-0.1, -0.1, 0.0]]])
    assert ev.weights_for[0, 0] < ev.weights_for[0, 1]
    assert ev.decide("hurwicz", alpha=alpha).tolist() == [[True, False, False]]
