"""Discounted evidence: what it reads, what stays, rows, tables; the numbers are in decision/."""

from __future__ import annotations

from typing import Any

import array_api_strict
import narwhals as nw
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from shafer._checks import to_numpy
from shafer.evidence import DiscountedEvidence

N, G, K = 6, 3, 4
RELIABILITY = np.array([0.0, 0.1, 0.5, 0.9, 1.0, 0.7])


@pytest.fixture(params=[np.asarray, torch.asarray, array_api_strict.asarray])
def ev(request: pytest.FixtureRequest) -> shafer.Evidence:
    weights = np.random.default_rng(2).normal(size=(N, G, K))
    return shafer.Evidence.from_weights(request.param(weights), classes=list("abcd"))


def test_bets_stay_and_reports_move(ev: shafer.Evidence) -> None:
    less = ev.discounted(RELIABILITY)
    assert type(less.reliability) is type(ev.logits)
    assert less.evidence is ev
    assert_array_equal(to_numpy(less.betting_probability), to_numpy(ev.probability))
    for name in ("conflict", "weight_of_conflict"):
        assert_array_equal(to_numpy(getattr(less, name)), to_numpy(getattr(ev, name)))
    assert_array_equal(to_numpy(less.decide("utility_set")), to_numpy(ev.decide("utility_set")))
    assert_allclose(to_numpy(less.epistemic_ignorance), 1 - RELIABILITY)
    r = RELIABILITY[:, None]
    assert_allclose(to_numpy(less.belief), r * to_numpy(ev.belief))
    assert_allclose(to_numpy(less.plausibility), 1 - r + r * to_numpy(ev.plausibility))
    assert_allclose(
        to_numpy(less.ignorance), 1 - RELIABILITY + RELIABILITY * to_numpy(ev.ignorance)
    )
    assert (len(less), less.n_classes) == (N, K)
    total = to_numpy(less.plausibility).sum(axis=1, keepdims=True)
    assert_allclose(to_numpy(less.probability), to_numpy(less.plausibility) / total)
    assert_array_equal(less.classes, ev.classes)


def test_ends(ev: shafer.Evidence) -> None:
    same, nothing = ev.discounted(1), ev.discounted(0.0)
    for rule in shafer.decision.RULES:
        assert_array_equal(to_numpy(same.decide(rule)), to_numpy(ev.decide(rule)))
    for rule in ("interval_dominance", "maximality", "e_admissible", "weak_dominance"):
        assert to_numpy(nothing.decide(rule)).all()
    assert nothing.focal_sets() == [[(frozenset("abcd"), 1.0)]] * N
    # With nothing left to go by, the class that the evidence itself would name.
    assert_array_equal(to_numpy(nothing.decide("belief")), to_numpy(ev.decide("belief")))


@pytest.mark.parametrize("rows", [2, slice(1, 4), [0, 3], RELIABILITY > 0.4])
def test_rows(ev: shafer.Evidence, rows: Any) -> None:
    part = ev.discounted(RELIABILITY)[rows]
    assert isinstance(part, DiscountedEvidence)
    assert_allclose(to_numpy(part.reliability), np.atleast_1d(RELIABILITY[rows]))
    assert_allclose(to_numpy(part.belief), to_numpy(ev[rows].discounted(part.reliability).belief))


def test_rows_by_an_array_of_the_library() -> None:
    ev = shafer.Evidence.from_weights(torch.ones((3, 1, 2))).discounted(torch.tensor([0, 0.5, 1]))
    assert_allclose(ev[torch.tensor([True, False, True])].reliability, [0, 1])


def test_focal_sets_hold_the_most_mass(ev: shafer.Evidence) -> None:
    less = ev.discounted(RELIABILITY)
    masses = to_numpy(less.masses())
    for row, found in enumerate(less.focal_sets(3)):
        assert_allclose([mass for _, mass in found], np.sort(masses[row])[::-1][: len(found)])
        assert len(found) == (1 if row == 0 else 3)


def test_components_can_be_discounted(ev: shafer.Evidence) -> None:
    parts = ev.components.discounted(np.full((N, G), 0.5))
    assert parts.evidence.parts == ev.component_names
    frame = parts.to_frame("pandas")
    assert frame["component"].tolist() == list(ev.component_names) * N
    assert_allclose(to_numpy(parts.belief), 0.5 * to_numpy(ev.components.belief))
    assert "each on its own" in repr(parts)


def test_what_it_looks_like(ev: shafer.Evidence) -> None:
    less = ev.discounted(RELIABILITY)
    assert repr(less) == (
        "<DiscountedEvidence: 6 instances, 3 components, reliability 0 to 1, "
        "4 classes ('a', 'b', 'c', 'd')>"
    )
    page = less._repr_html_()
    assert page.count("<th>") == 8
    assert "epistemic ignorance" in page
    assert "epistemic ignorance" not in ev._repr_html_()
    frame = nw.from_native(less.to_frame("polars"), eager_only=True)
    assert frame.shape == (N, 4 * K + 7)
    assert_allclose(frame["epistemic_ignorance"].to_numpy(), 1 - RELIABILITY)
    assert_allclose(frame["belief_b"].to_numpy(), to_numpy(less.belief)[:, 1])


@pytest.mark.parametrize(
    ("reliability", "message"),
    [
        (1.5, "reliability must be from 0 to 1; got values from 1.5 to 1.5"),
        (-1e-9, "reliability must be from 0 to 1"),
        (np.nan, "reliability must be finite"),
        (RELIABILITY[:5], r"one for each instance \(6\); got shape \(5,\)"),
        (RELIABILITY - 1, "reliability must be from 0 to 1; got values from -1 to 0"),
        (None, "reliability must be an array of real numbers; got None"),
        ("high", "reliability must hold real numbers"),
    ],
)
def test_bad_reliability(ev: shafer.Evidence, reliability: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ev.discounted(reliability)


def test_no_rows_can_be_looked_at(ev: shafer.Evidence) -> None:
    none = ev.discounted(0.5)[:0]
    assert repr(none).startswith("<DiscountedEvidence: 0 instances")
    assert "DiscountedEvidence" in none._repr_html_()


def test_results_cannot_be_written_to() -> None:
    less = shafer.Evidence.from_weights(np.ones((2, 1, 3))).discounted(0.5)
    with pytest.raises(ValueError, match="read-only"):
        less.reliability[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        less.belief[0] = 1.0
