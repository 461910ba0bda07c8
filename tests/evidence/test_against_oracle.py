"""Every closed form against ``belief/`` by brute force, on random and hostile weights."""

from __future__ import annotations

import functools
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

import shafer
from oracle import combined_pieces, pooled_by_dempster
from shafer import belief

# The oracle combines before it normalises, in double range: masses this small it rounds to zero.
UNDERFLOW = 1e-200
SIZES = st.sampled_from([0.0, 1e-12, -1e-12, 1e-6, -1e-6, 0.5, -0.5, 2.0, -3.0, 20.0, -20.0])


@st.composite
def weights(draw: Any, most_classes: int = 8, most_components: int = 6) -> NDArray[Any]:
    """Weights (G, K): ordinary, zero, tied, tiny; centred over the classes or not."""
    n_classes = draw(st.integers(2, most_classes))
    n_components = draw(st.integers(1, most_components))
    element = st.one_of(SIZES, st.floats(-5, 5))
    flat = draw(st.lists(element, min_size=n_classes, max_size=n_classes * n_components))
    w = np.resize(np.array(flat), (n_components, n_classes))
    if draw(st.booleans()):  # one dominant class
        w[:, draw(st.integers(0, n_classes - 1))] += 30.0
    return w - w.mean(axis=1, keepdims=True) if draw(st.booleans()) else w


def tolerance(w: NDArray[Any]) -> float:
    return 1e-12 * max(1.0, float(np.abs(w).sum()))


@given(weights())
@settings(max_examples=150)
def test_pooled_mass_function(w: NDArray[Any]) -> None:
    ev = shafer.Evidence.from_weights(w[None])
    together = combined_pieces(w)
    oracle, conflict = together.normalised(), together.mass_of([])
    close = {"rtol": tolerance(w), "atol": UNDERFLOW}
    assert_allclose(ev.masses()[0], oracle.masses, **close)
    assert_allclose(ev.plausibility[0], oracle.contour, **close)
    assert_allclose(ev.belief[0], [oracle.belief_of([k]) for k in oracle.frame], **close)
    assert_allclose(ev.pignistic[0], oracle.pignistic, **close)
    assert_allclose(ev.probability[0], oracle.probability, **close)
    assert_allclose(ev.ignorance[0], oracle.mass_of(list(oracle.frame)), **close)
    assert_allclose(ev.conflict[0], conflict, **close)


@given(weights(most_classes=6), st.integers(0, 63))
def test_sets(w: NDArray[Any], mask: int) -> None:
    ev = shafer.Evidence.from_weights(w[None])
    oracle = pooled_by_dempster(w)
    subset = [k for k in range(w.shape[1]) if mask >> k & 1]
    close = {"rtol": 4 * tolerance(w), "atol": UNDERFLOW}
    assert_allclose(ev.mass_of(subset)[0], oracle.mass_of(subset), **close)
    assert_allclose(ev.belief_of(subset)[0], oracle.belief_of(subset), **close)
    assert_allclose(ev.plausibility_of(subset)[0], oracle.plausibility_of(subset), **close)
    assert_allclose(ev.commonality_of(subset)[0], oracle.commonality_of(subset), **close)


@given(weights(most_classes=6))
def test_conflict_between_all_for_and_all_against(w: NDArray[Any]) -> None:
    ev = shafer.Evidence.from_weights(w[None])
    if w.shape[1] == 2:
        assert ev.conflict_for_against[0] == ev.conflict[0]
        return
    sides = [pooled_by_dempster(np.clip(w, 0, None)), pooled_by_dempster(np.clip(w, None, 0))]
    expected = belief.degree_of_conflict(*sides)
    assert_allclose(ev.conflict_for_against[0], expected, rtol=10 * tolerance(w), atol=UNDERFLOW)


def _pieces_with_unknown(w: NDArray[Any]) -> belief.MassFunction:
    """Combine the pieces of a row where evidence against a class leaves an unknown one possible."""
    frame = belief.Frame([*range(w.shape[1]), "new"])
    parts = [belief.MassFunction.vacuous(frame)]
    for row in w:
        for k, weight in enumerate(row):
            focus = [k] if weight >= 0 else [label for label in frame if label != k]
            parts.append(belief.MassFunction.simple(focus, frame, weight=abs(weight)))
    return belief.conjunctive(*parts).normalised()


@given(weights(most_classes=5), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_an_unknown_class(w: NDArray[Any], seed: int) -> None:
    ev = shafer.Evidence.from_weights(w[None], classes=list(range(w.shape[1])))
    wider, oracle = ev.with_unknown("new"), _pieces_with_unknown(w)
    close = {"rtol": 10 * tolerance(w), "atol": UNDERFLOW}
    assert list(wider.classes) == list(oracle.frame)
    assert_allclose(wider.masses()[0], oracle.masses, **close)
    assert_allclose(wider.betting_probability[0, :-1] / wider.betting_probability[0, :-1].sum(),
                    ev.probability[0], rtol=1e-9)  # fmt: skip
    loss = np.random.default_rng(seed).normal(size=(4, len(wider.classes)))
    sets = [
        [k for k in range(loss.shape[1]) if mask >> k & 1] for mask in range(2 ** loss.shape[1])
    ]
    for risk, worst in ((wider.upper_risk(loss), np.max), (wider.lower_risk(loss), np.min)):
        expected = [
            sum(m * worst(act[A]) for m, A in zip(oracle.masses, sets, strict=True) if A)
            for act in loss
        ]
        assert_allclose(risk[0], expected, rtol=0, atol=100 * tolerance(w))


def test_an_unknown_class_as_for_singletons_and_the_frame() -> None:
    # Evidence for classes only: masses on the classes, and the rest on all classes and the new one.
    ev = shafer.Evidence.from_weights([[[1.0, 0.3, 0.0]]], classes=["a", "b", "c"])
    loss = np.array([[0.0, 1, 1, 2], [1, 0, 1, 2], [0.4, 0.4, 0.4, 0.1]])
    single, rest = ev.belief[0], ev.ignorance[0]
    wider = ev.with_unknown()
    assert_allclose(wider.upper_risk(loss)[0], loss[:, :3] @ single + rest * loss.max(axis=1))
    assert_allclose(wider.lower_risk(loss)[0], loss[:, :3] @ single + rest * loss.min(axis=1))
    assert_allclose(wider.plausibility_of("unknown"), rest)


def test_the_unknown_class_keeps_what_is_known_of_the_rest() -> None:
    ev = shafer.Evidence.from_weights(np.ones((2, 3, 2)), classes=[0, 1], names=["p", "q", "r"])
    wider = ev.with_index(["x", "y"]).tempered(0.5).with_unknown(-1)
    assert wider.component_names == ("p", "q", "r")
    assert list(wider.index) == ["x", "y"]
    assert wider.calibrated
    assert wider.classes.tolist() == [0, 1, -1]
    assert wider.components.belief.shape == (2, 3, 3)
    with pytest.raises(ValueError, match=r"a new class; got 1, and the classes are \[0, 1\]"):
        ev.with_unknown(1)


@given(weights(most_classes=6))
@settings(max_examples=50)
def test_positive_and_negative_evidence(w: NDArray[Any]) -> None:
    ev = shafer.Evidence.from_weights(w[None])
    above, below = np.clip(w, 0, None), np.clip(w, None, 0)
    if w.shape[1] == 2:  # for the second class, and for the first
        above[:, 0], below[:, 0] = below[:, 0].copy(), above[:, 0].copy()
    oracles = [pooled_by_dempster(above), pooled_by_dempster(below)]
    close = {"rtol": 10 * tolerance(w), "atol": UNDERFLOW}
    for side, oracle in zip((ev.positive, ev.negative), oracles, strict=True):
        assert_allclose(side.masses()[0], oracle.masses, **close)
        assert_allclose(side.plausibility[0], oracle.contour, **close)
    conflict = belief.degree_of_conflict(*oracles)
    assert_allclose(ev.conflict_for_against[0], conflict, rtol=10 * tolerance(w), atol=1e-15)
    both = shafer.combine([ev.positive, ev.negative])
    assert_allclose(both.masses(), ev.masses(), **close)


@given(weights(most_components=3))
def test_components_are_their_own_mass_functions(w: NDArray[Any]) -> None:
    parts = shafer.Evidence.from_weights(w[None]).components
    assert parts.belief.shape == (1, *w.shape)
    assert parts.ignorance.shape == (1, w.shape[0])
    for g, row in enumerate(w):
        together = combined_pieces(row[None])
        oracle, conflict = together.normalised(), together.mass_of([])
        assert_allclose(parts.plausibility[0, g], oracle.contour, rtol=tolerance(w))
        assert_allclose(parts.conflict[0, g], conflict, rtol=tolerance(w), atol=UNDERFLOW)
        assert_allclose(parts.ignorance[0, g], oracle.masses[-1], rtol=tolerance(w))
        assert_allclose(parts.masses()[0, g], oracle.masses, rtol=tolerance(w), atol=UNDERFLOW)


@given(weights(most_classes=6), st.integers(1, 70))
def test_largest_focal_sets(w: NDArray[Any], top: int) -> None:
    found = shafer.Evidence.from_weights(w[None]).focal_sets(top)[0]
    oracle = pooled_by_dempster(w)
    best = np.sort(oracle.masses[oracle.masses > 0])[::-1][:top]
    assert_allclose(
        [mass for _, mass in found][: len(best)], best, rtol=4 * tolerance(w), atol=UNDERFLOW
    )
    assert len({classes for classes, _ in found}) == len(found)
    for classes, mass in found:
        assert_allclose(mass, oracle.mass_of(classes), rtol=4 * tolerance(w), atol=UNDERFLOW)


@given(weights(most_classes=5), weights(most_classes=5))
def test_dempsters_rule_adds_weights(first: NDArray[Any], second: NDArray[Any]) -> None:
    n_classes = min(first.shape[1], second.shape[1])
    first, second = first[:, :n_classes], second[:, :n_classes]
    together = shafer.Evidence.from_weights(np.vstack([first, second])[None])
    expected = belief.dempster(pooled_by_dempster(first), pooled_by_dempster(second))
    rtol = 10 * (tolerance(first) + tolerance(second))
    assert_allclose(together.masses()[0], expected.masses, rtol=rtol, atol=UNDERFLOW)


# Enough digits for the sum of all weights of the test below. An exponential takes most of a second.
MOST_DIGITS = 50 + 8 * 10_001 // 2


@functools.cache
def exponential(weight: float) -> Any:
    """Return e^{−|w|} with the most digits that a test needs."""
    with mpmath.workdps(MOST_DIGITS):
        return mpmath.exp(-abs(mpmath.mpf(weight)))


def exact_masses(w: NDArray[Any]) -> list[Any]:
    """Combine by brute force with enough digits that 1 − e^{−10^4} is not one."""
    n_classes = w.shape[1]
    everything = 2**n_classes - 1
    masses = [mpmath.mpf(0)] * everything + [mpmath.mpf(1)]
    for row in w:
        for k, weight in enumerate(row):
            focus = 1 << k if weight >= 0 else everything ^ (1 << k)
            left = +exponential(abs(float(weight)))  # "+" rounds to the digits in use
            right = 1 - left
            combined = [mass * left for mass in masses]
            for mask, mass in enumerate(masses):
                if mass:
                    combined[mask & focus] += mass * right
            masses = combined
    return masses


HUGE = st.sampled_from([0.0, 1e-12, 1.0, -1.0, 1e4, -1e4, 9999.5, -1e4 - 1e-3])


@given(st.data(), st.integers(2, 4), st.integers(1, 2))
@settings(max_examples=60)
def test_weights_of_ten_thousand(data: Any, n_classes: int, n_components: int) -> None:
    shape = (n_components, n_classes)
    size = n_classes * n_components
    w = np.array(data.draw(st.lists(HUGE, min_size=size, max_size=size))).reshape(shape)
    ev = shafer.Evidence.from_weights(w[None])
    with mpmath.workdps(50 + int(np.abs(w).sum() / 2)):
        empty, *rest = exact_masses(w)
        total = mpmath.fsum(rest)
        conflict = float(empty)
    with mpmath.workdps(50):  # nothing is subtracted any more
        masses = np.array([0.0] + [float(mass / total) for mass in rest])
        weight_of_conflict = float(-mpmath.log1p(-empty) if empty < 0.5 else -mpmath.log(total))
    close = {"rtol": tolerance(w), "atol": UNDERFLOW}
    bit = (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1
    assert_allclose(ev.masses()[0], masses, **close)
    assert_allclose(ev.belief[0], masses[2 ** np.arange(n_classes)], **close)
    assert_allclose(ev.plausibility[0], masses @ bit, **close)
    assert_allclose(ev.conflict[0], conflict, **close)
    assert_allclose(ev.weight_of_conflict[0], weight_of_conflict, **close)


@given(weights())
def test_invariants(w: NDArray[Any]) -> None:
    ev = shafer.Evidence.from_weights(np.stack([w, -w, 1e3 * w]))
    assert np.all(ev.belief <= ev.pignistic)
    assert np.all(ev.pignistic <= ev.plausibility)
    for name in ("probability", "belief", "plausibility", "pignistic", "ignorance", "conflict"):
        values = getattr(ev, name)
        assert np.all((values >= 0) & (values <= 1)), name
    assert_allclose(ev.masses().sum(axis=1), 1.0, rtol=1e-10)
    assert_allclose(ev.pignistic.sum(axis=1), 1.0, rtol=1e-10)
    assert_allclose(ev.probability, ev.plausibility / ev.plausibility.sum(1, keepdims=True))
    assert np.all(ev.weight_of_conflict >= 0)
    assert ev.decide("interval_dominance").any(axis=1).all()
    vacuous = shafer.Evidence.from_weights(np.zeros((3, 1, w.shape[1])))
    with_vacuous = np.concatenate([ev.weights, vacuous.weights], axis=1)
    again = shafer.Evidence.from_weights(with_vacuous)
    assert_allclose(again.belief, ev.belief, rtol=1e-13)
    assert_allclose(again.conflict, ev.conflict, rtol=1e-13)
    assert np.all(vacuous.ignorance == 1)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_exact_ties_keep_every_tied_class(n_classes: int) -> None:
    w = np.zeros((1, n_classes, n_classes))
    for g in range(n_classes):  # every component is certain of its own class
        w[0, g, g] = 1e3
    ev = shafer.Evidence.from_weights(w)
    assert_allclose(ev.belief, 1 / n_classes)
    assert ev.decide("interval_dominance").all()
    assert ev.decide("plausibility").tolist() == [[True] + [False] * (n_classes - 1)]
