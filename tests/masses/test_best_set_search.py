"""The best set where the orders disagree, against all sets of a size; and many near-ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shafer
from shafer._masses.pooled import TIE, Gain, SetSearch
from shafer.decision import set_utility

NUMBER = st.one_of(st.sampled_from([0.0, 0.1, 0.2]), st.floats(0, 0.3))


@given(
    st.lists(st.tuples(NUMBER, NUMBER), min_size=2, max_size=8),
    st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9, 1.0]),
    st.sampled_from([1e-6, 0.3, 1.0, 5.0, 40.0]),
    st.data(),
)
@settings(max_examples=300)
def test_no_set_of_the_size_is_better(
    pairs: list[tuple[float, float]], alpha: float, d: float, data: st.DataObject
) -> None:
    s, tau = np.array(pairs).T
    size = data.draw(st.integers(1, len(s)))
    gain = Gain(d, float(d * tau.sum()), alpha)
    values = [
        s[list(c)].sum() + gain(float(tau[list(c)].sum()))
        for c in itertools.combinations(range(len(s)), size)
    ]
    value, inside = SetSearch(s, tau, gain).beats(size, -1.0) or (0.0, np.array([]))
    assert len(set(inside.tolist())) == size
    assert abs(s[inside].sum() + gain(float(tau[inside].sum())) - value) < 1e-12
    assert value >= max(values) - 2 * TIE
    assert SetSearch(s, tau, gain).beats(size, max(values) + TIE) is None


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_a_thousand_classes_whose_orders_disagree(alpha: float) -> None:
    # Evidence for and against in opposite orders: what s prefers, −ln v does not.
    rng = np.random.default_rng(1)
    weights = np.stack([np.linspace(0, 2, 1000), -np.linspace(0.1, 4, 1000)])
    weights = weights + rng.uniform(0, 1e-3, size=weights.shape) * [[1.0], [-1.0]]
    ev = shafer.Evidence.from_weights(weights[None])
    chosen = ev.decide("utility_set", expectation="hurwicz", alpha=alpha, tolerance=0.8)[0]
    worth = set_utility(1000, 0.8)

    def value(inside: np.ndarray) -> float:
        labels = np.flatnonzero(inside).tolist()
        mixed = alpha * ev.belief_of(labels)[0] + (1 - alpha) * ev.plausibility_of(labels)[0]
        return float(worth[len(labels) - 1] * mixed)

    best = value(chosen)
    for k in rng.choice(1000, size=30, replace=False):  # no single change makes it better
        other = chosen.copy()
        other[k] = ~other[k]
        if other.any():
            assert value(other) <= best + 1e-8
    inside = np.flatnonzero(chosen)
    for k in rng.choice(np.flatnonzero(~chosen), size=min(20, (~chosen).sum()), replace=False):
        other = chosen.copy()
        other[[k, rng.choice(inside)]] = [True, False]
        assert value(other) <= best + 1e-8


def test_a_smaller_set_that_is_tied_is_preferred() -> None:
    # {0, 2} is as plausible as the whole frame, and not the first two classes of the usual order.
    ev = shafer.Evidence.from_weights([[[-0.5, 0.0, 2.0], [2.0, 0.0, 0.0]]])
    assert ev.plausibility_of([0, 2])[0] == 1.0
    chosen = ev.decide("utility_set", expectation="upper", tolerance=1.0)
    assert chosen.tolist() == [[True, False, True]]


@given(
    st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9, 1.0]),
    st.sampled_from([0.3, 1.0, 5.0, 40.0]),
    st.floats(0, 1),
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
    st.floats(1, 3),
)
def test_the_largest_distance_above_a_line(
    alpha: float, d: float, slope: float, ends: list[float], frame: float
) -> None:
    low, high = ends
    gain = Gain(d, d * high * frame, alpha)
    seen = max(gain(tau) - slope * tau for tau in np.linspace(low, high, 2001))
    assert seen - 1e-12 <= gain.most(slope, low, high) <= seen + d * 1e-6
