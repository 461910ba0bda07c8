"""Who contradicts whom, and who matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from shafer import Evidence, belief, combine
from shafer.fusion import FiniteEvidence, conflict_between, influence


@given(
    st.integers(2, 6), st.integers(2, 4), st.integers(0, 10**6), st.sampled_from([0.0, 1.0, 4.0])
)
@settings(max_examples=40)
def test_against_brute_force(n_classes: int, n_sources: int, seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    evidences = [
        Evidence.from_weights(random.normal(size=(2, 2, n_classes)) * size)
        for _ in range(n_sources)
    ]
    found = conflict_between(evidences)
    frame = belief.Frame(range(n_classes))
    for i in range(2):
        masses = [belief.MassFunction(frame, e.masses()[i]) for e in evidences]
        for s in range(n_sources):
            assert found.weights[i, s, s] == 0.0
            for t in range(s):
                expected = belief.degree_of_conflict(masses[s], masses[t])
                assert_allclose(found.degrees[i, s, t], expected, atol=1e-12)
                assert found.degrees[i, t, s] == found.degrees[i, s, t]
        assert_allclose(found.total[i], belief.degree_of_conflict(*masses), atol=1e-12)
        assert found.total_weight[i] >= found.weights[i].max() - 1e-12


def test_conflict_inside_a_source_is_its_own_affair() -> None:
    torn = Evidence.from_weights([[[3.0, 0.0], [0.0, 3.0]]])
    silent = Evidence.from_weights([[[0.0, 0.0]]])
    assert torn.conflict[0] > 0.9
    assert_allclose(conflict_between([torn, silent]).degrees, 0.0, atol=1e-12)


def test_huge_conflict_does_not_saturate() -> None:
    a = Evidence.from_weights([[[2000.0, 0.0, 0.0]]])
    b = Evidence.from_weights([[[0.0, 1000.0, 0.0]]])
    found = conflict_between({"a": a, "b": b})
    assert_allclose(found.weights[0, 0, 1], 1000.0)
    assert found.degrees[0, 0, 1] == 1.0


def test_tempering_and_frames() -> None:
    a = Evidence.from_weights([[[2.0, 0.0]]], classes=["x", "y"])
    b = Evidence.from_weights([[[2.0, 0.0]]], classes=["z", "x"])
    assert conflict_between([a, b]).total[0] > 0.5
    assert_allclose(conflict_between([a, b], tempering=[0.0, 1.0]).total, 0.0, atol=1e-12)
    with pytest.raises(ValueError, match="match one to one"):
        conflict_between([a, Evidence.from_weights([[[1.0, 0.0]]], classes=[("x", "y"), "w"])])
    with pytest.raises(ValueError, match="neither discounted nor combined"):
        conflict_between([a, a.discounted(0.5)])
    with pytest.raises(ValueError, match="neither discounted nor combined"):
        conflict_between([a, FiniteEvidence.from_masses([[0, 0.5, 0, 0.5]], classes=["x", "y"])])


@pytest.mark.parametrize(
    "options",
    [
        dict(),
        dict(rule="cautious"),
        dict(tempering=[0.5, 1.0, 2.0]),
        dict(reliability=[0.5, 1.0, 0.9]),
        dict(rule="disjunctive"),
    ],
)
def test_leaving_a_source_out(options: dict[str, Any]) -> None:
    random = np.random.default_rng(0)
    evidences = {name: Evidence.from_weights(random.normal(size=(5, 2, 3))) for name in "abc"}
    found = influence(evidences, **options)
    together = combine(evidences, **options)
    assert_allclose(found.combined.probability, together.probability)
    for s, name in enumerate("abc"):
        fewer = {other: evidence for other, evidence in evidences.items() if other != name}
        left = {
            key: np.delete(value, s) if isinstance(value, list) else value
            for key, value in options.items()
        }
        rest = combine(fewer, **left)
        change = np.abs(together.probability - rest.probability).sum(axis=1) / 2
        assert_allclose(found.probability_change[:, s], change, atol=1e-12)
        other = (rest.decide() != together.decide()).any(axis=1)
        assert_array_equal(found.decision_changes[:, s], other)
    assert found.names == ("a", "b", "c")


def test_a_class_that_only_one_source_knows() -> None:
    a = Evidence.from_weights([[[1.0, 0.0]]], classes=["x", "y"])
    b = Evidence.from_weights([[[1.0, 0.0, 2.0]]], classes=["x", "y", "z"])
    found = influence([a, b], decision="plausibility")
    assert found.decision_changes.tolist() == [[True, False]]  # z without a, x without b
    assert_allclose(found.without[1].logits, [[1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="at least two"):
        influence([a])
