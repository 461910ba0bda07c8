"""Who contradicts whom, and who matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from oracle import pooled_by_dempster
from shafer import Evidence, belief
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
    with pytest.raises(ValueError, match="stands for several classes of another"):
        conflict_between([a, Evidence.from_weights([[[1.0, 0.0]]], classes=[("x", "y"), "w"])])
    with pytest.raises(ValueError, match="needs sources of type Evidence"):
        conflict_between([a, a.discounted(0.5)])
    with pytest.raises(ValueError, match="needs sources of type Evidence"):
        conflict_between([a, FiniteEvidence.from_masses([[0, 0.5, 0, 0.5]], classes=["x", "y"])])


def _by_brute_force(
    weights: list[Any], combination: str, factors: list[float], reliability: list[float]
) -> tuple[Any, Any]:
    """Combine one row of each source over all sets; return probabilities and the kept classes."""
    rows = [
        pooled_by_dempster(factor * w).discounted(1.0 - r)
        for w, factor, r in zip(weights, factors, reliability, strict=True)
    ]
    m = getattr(belief, combination)(*rows) if len(rows) > 1 else rows[0]
    kept = np.asarray(m.contour) >= max(m.belief_of([k]) for k in m.frame)
    return np.asarray(m.probability), kept


@pytest.mark.parametrize(
    ("combination", "factors", "reliability"),
    [
        ("dempster", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ("cautious", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ("disjunctive", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]),
        ("dempster", [0.5, 1.0, 2.0], [1.0, 1.0, 1.0]),
        ("dempster", [1.0, 1.0, 1.0], [0.5, 1.0, 0.9]),
    ],
)
def test_leaving_a_source_out(
    combination: str, factors: list[float], reliability: list[float]
) -> None:
    weights = np.random.default_rng(0).normal(size=(3, 5, 2, 3))
    evidences = dict(zip("abc", map(Evidence.from_weights, weights), strict=True))
    found = influence(evidences, combination, tempering=factors, reliability=reliability)
    assert found.names == ("a", "b", "c")
    changed = np.zeros((5, 3), dtype=bool)
    for i in range(5):
        everyone = _by_brute_force(list(weights[:, i]), combination, factors, reliability)
        assert_allclose(found.combined.probability[i], everyone[0], atol=1e-12)
        for s in range(3):
            rest = [t for t in range(3) if t != s]
            without = _by_brute_force(
                [weights[t, i] for t in rest],
                combination,
                [factors[t] for t in rest],
                [reliability[t] for t in rest],
            )
            assert_allclose(found.without[s].probability[i], without[0], atol=1e-12)
            moved = 0.5 * np.abs(everyone[0] - without[0]).sum()
            assert_allclose(found.probability_change[i, s], moved, atol=1e-12)
            changed[i, s] = (everyone[1] != without[1]).any()
    assert_array_equal(found.decision_changes, changed)
    assert changed.any()
    assert not changed.all()


def test_a_class_that_only_one_source_knows() -> None:
    a = Evidence.from_weights([[[1.0, 0.0]]], classes=["x", "y"])
    b = Evidence.from_weights([[[1.0, 0.0, 2.0]]], classes=["x", "y", "z"])
    found = influence([a, b], rule="plausibility")
    assert found.decision_changes.tolist() == [[True, False]]  # z without a, x without b
    assert_allclose(found.without[1].logits, [[1.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="at least two"):
        influence([a])
