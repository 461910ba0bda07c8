"""Every rule against ``belief/`` by brute force, on random and hostile evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from oracle import combined_pieces, pooled_by_dempster
from shafer import Evidence, belief, combine
from shafer.fusion import FiniteEvidence, MixedEvidence

SIZES = st.sampled_from([0.0, 0.0, 1e-12, -1e-6, 0.5, -0.5, 2.0, -3.0])


@st.composite
def sources(draw: Any, most: int = 4, most_classes: int = 6) -> list[NDArray[Any]]:
    """Weights (n, G, K) of several sources over the same classes and rows."""
    n_classes = draw(st.integers(2, most_classes))
    n_sources = draw(st.integers(1, most))
    result = []
    for _ in range(n_sources):
        n_components = draw(st.integers(1, 3))
        size = 2 * n_components * n_classes
        flat = draw(st.lists(st.one_of(SIZES, st.floats(-3, 3)), min_size=3, max_size=size))
        w = np.resize(np.array(flat), (2, n_components, n_classes))
        result.append(w - w.mean(axis=2, keepdims=True) if draw(st.booleans()) else w)
    return result


def check(result: Any, rows: list[belief.MassFunction]) -> None:
    """Compare all that can be read with the oracle's mass functions, to 1e-12."""
    close = {"rtol": 0, "atol": 1e-12}
    sets = [
        [k for k in rows[0].frame if mask >> k & 1] for mask in range(1, rows[0].frame.n_subsets)
    ]
    for i, expected in enumerate(rows):
        row = result[i]
        assert len(row) == 1
        assert_allclose(row.masses()[0], expected.masses, **close)
        assert_allclose(row.belief[0], [expected.belief_of([k]) for k in expected.frame], **close)
        assert_allclose(row.plausibility[0], expected.contour, **close)
        assert_allclose(row.probability[0], expected.probability, **close)
        assert_allclose(row.pignistic[0], expected.pignistic, **close)
        assert_allclose(row.ignorance[0], expected.masses[-1], **close)
        for subset in sets[:: max(1, len(sets) // 5)]:
            assert_allclose(row.mass_of(subset)[0], expected.mass_of(subset), **close)
            assert_allclose(row.belief_of(subset)[0], expected.belief_of(subset), **close)
            assert_allclose(
                row.plausibility_of(subset)[0], expected.plausibility_of(subset), **close
            )
            assert_allclose(row.commonality_of(subset)[0], expected.commonality_of(subset), **close)


def by_row(weights: list[NDArray[Any]]) -> list[list[belief.MassFunction]]:
    return [[pooled_by_dempster(w[i]) for w in weights] for i in range(2)]


@given(sources())
@settings(max_examples=60)
def test_dempster(weights: list[NDArray[Any]]) -> None:
    result = combine([Evidence.from_weights(w) for w in weights])
    assert isinstance(result, Evidence)
    check(result, [belief.dempster(*row) for row in by_row(weights)])
    assert_allclose(result.weights, np.concatenate(weights, axis=1), rtol=0, atol=0)


@given(sources())
@settings(max_examples=60)
def test_cautious(weights: list[NDArray[Any]]) -> None:
    result = combine([Evidence.from_weights(w) for w in weights], "cautious")
    assert isinstance(result, Evidence)
    check(result, [belief.cautious(*row) for row in by_row(weights)])
    again = Evidence.from_weights(result.weights)  # the components make up the pooled weights
    assert_allclose(again.weights_for, result.weights_for, atol=1e-12)
    assert_allclose(again.weights_against, result.weights_against, atol=1e-12)


@given(sources(most=1))
@settings(max_examples=40)
def test_cautious_is_idempotent(weights: list[NDArray[Any]]) -> None:
    evidence = Evidence.from_weights(weights[0])
    twice = combine({"a": evidence, "b": evidence}, "cautious")
    assert isinstance(twice, Evidence)
    assert_array_equal(twice.weights_for, evidence.weights_for)
    assert_array_equal(twice.weights_against, evidence.weights_against)
    assert_allclose(twice.masses(), evidence.masses(), rtol=1e-14)
    half = evidence.n_components
    assert_array_equal(twice.weights[:, :half], evidence.weights)
    assert not twice.weights[:, half:].any()


@given(sources(most=3, most_classes=4))
@settings(max_examples=40)
def test_yager(weights: list[NDArray[Any]]) -> None:
    result = combine([Evidence.from_weights(w) for w in weights], "yager")
    assert isinstance(result, MixedEvidence)
    rows = by_row(weights)
    check(result, [belief.yager(*row) for row in rows])
    expected = [belief.degree_of_conflict(*row) for row in rows]
    assert_allclose(result.conflict, expected, atol=1e-12)


@pytest.mark.parametrize("rule", ["disjunctive", "dubois_prade"])
@given(weights=sources(most=3, most_classes=4))
@settings(max_examples=25)
def test_rules_that_leave_the_family(rule: str, weights: list[NDArray[Any]]) -> None:
    result = combine([Evidence.from_weights(w) for w in weights], rule)
    assert isinstance(result, FiniteEvidence)
    check(result, [getattr(belief, rule)(*row) for row in by_row(weights)])


@given(weights=sources(most=3, most_classes=4))
@settings(max_examples=25)
def test_bold(weights: list[NDArray[Any]]) -> None:
    conflicting = [np.concatenate([w, w * 0 + 0.3], axis=1) for w in weights]
    result = combine([Evidence.from_weights(w) for w in conflicting], "bold")
    expected = [belief.bold(*(combined_pieces(w[i]) for w in conflicting)) for i in range(2)]
    check(result, [m.normalised() for m in expected])
    assert_allclose(result.conflict, [m.masses[0] for m in expected], atol=1e-12)


def test_bold_needs_conflict() -> None:
    calm = Evidence.from_weights([[[1.0, 0.0, 0.0]]])
    with pytest.raises(ValueError, match="combination='bold' needs conflict.*disjunctive"):
        combine([calm, calm], "bold")


@pytest.mark.parametrize("rule", ["dempster", "cautious", "yager", "disjunctive", "dubois_prade"])
@given(weights=sources(most=3, most_classes=4), data=st.data())
@settings(max_examples=20)
def test_reliability_is_shafers_discounting(
    rule: str, weights: list[NDArray[Any]], data: st.DataObject
) -> None:
    trust = np.array(
        data.draw(
            st.lists(
                st.lists(
                    st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)),
                    min_size=len(weights),
                    max_size=len(weights),
                ),
                min_size=2,
                max_size=2,
            )
        )
    )
    result = combine([Evidence.from_weights(w) for w in weights], rule, reliability=trust)
    rows = [
        [m.discounted(1.0 - r) for m, r in zip(row, trust[i], strict=True)]
        for i, row in enumerate(by_row(weights))
    ]
    check(result, [getattr(belief, rule)(*row) for row in rows])
    if not isinstance(result, Evidence) and rule != "disjunctive":
        expected = [belief.degree_of_conflict(*row) for row in rows]
        assert_allclose(result.conflict, expected, atol=1e-12)


@given(sources(most=3), st.lists(st.floats(0, 2), min_size=3, max_size=3))
@settings(max_examples=30)
def test_tempering_scales_weights(weights: list[NDArray[Any]], factors: list[float]) -> None:
    factors = factors[: len(weights)]
    evidences = [Evidence.from_weights(w) for w in weights]
    for rule in ("dempster", "cautious"):
        tempered = combine(evidences, rule, tempering=factors)
        pairs = zip(weights, factors, strict=True)
        by_hand = combine([Evidence.from_weights(w * f) for w, f in pairs], rule)
        assert_allclose(tempered.masses(), by_hand.masses(), rtol=0, atol=1e-12)
