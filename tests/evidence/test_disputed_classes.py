from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shafer.evidence.disputed_classes import disputed_classes


@given(st.integers(2, 8), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_the_pair_with_most_weight_in_dispute(classes: int, components: int, seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=(components, classes))
    found = disputed_classes(weights)
    disputes = {}
    for a, b in combinations(range(classes), 2):
        contrast = weights[:, a] - weights[:, b]
        disputes[a, b] = min(np.maximum(contrast, 0).sum(), np.maximum(-contrast, 0).sum())
    largest = max(disputes.values())
    if largest == 0.0:
        assert found is None
        return
    assert found is not None
    assert disputes[tuple(sorted(found))] == largest
    assert weights[:, found[0]].sum() >= weights[:, found[1]].sum()


def test_one_component_has_no_dispute() -> None:
    assert disputed_classes(np.array([[3.0, -1.0, -2.0]])) is None
    assert disputed_classes(np.zeros((4, 3))) is None


def test_many_classes() -> None:
    """Of a thousand classes only a few are compared; those with evidence on both sides are kept."""
    weights = np.zeros((2, 1000))
    weights[:, 300], weights[0, 600], weights[1, 900] = 2.0, 1.0, 1.0
    weights[0, 900], weights[1, 600] = -1.0, -1.5
    assert disputed_classes(weights) == (900, 600)
