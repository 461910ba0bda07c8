"""Random mass functions for property tests, and definitions written out naively."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from shafer.belief import Frame, MassFunction


@st.composite
def mass_functions(draw, count=1, *, empty=False, nondogmatic=False, max_labels=5):
    """Draw mass functions on one frame; ``empty`` puts mass on the empty set of each."""
    frame = Frame(list("abcde")[: draw(st.integers(2, max_labels))])
    return [draw(_one(frame, empty, nondogmatic)) for _ in range(count)]


@st.composite
def _one(draw, frame, empty, nondogmatic):
    n = frame.n_subsets
    parts = np.array(draw(st.lists(st.integers(0, 20), min_size=n, max_size=n)), dtype=float)
    parts[0] = parts[0] + 1 if empty else 0
    if nondogmatic or parts.sum() == 0:
        parts[-1] += 1
    return MassFunction(frame, parts / parts.sum())


@st.composite
def separable_weights(draw, max_labels=4, largest=30.0):
    """Draw a frame and non-negative weights for all its subsets, 0 for ∅ and the frame."""
    frame = Frame(list("abcde")[: draw(st.integers(2, max_labels))])
    n = frame.n_subsets - 2
    weight = st.one_of(st.just(0.0), st.floats(1e-6, largest))
    weights = [0.0, *draw(st.lists(weight, min_size=n, max_size=n)), 0.0]
    return frame, np.array(weights)


def naive_product(first, second, operation):
    """Combine by the definition, in exact arithmetic."""
    result = [Fraction(0)] * first.frame.n_subsets
    for b, mass_b in enumerate(first.masses):
        for c, mass_c in enumerate(second.masses):
            result[operation(b, c)] += Fraction(float(mass_b)) * Fraction(float(mass_c))
    return result
