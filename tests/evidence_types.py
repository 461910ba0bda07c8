"""Every type of evidence, with the mass functions that it must have by brute force.

A new type is added to ``TYPES``: a function that makes it of two arrays of weights, together with
its mass functions. The contract tests of ``tests/evidence`` then run over it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from oracle import pooled_by_dempster
from shafer import Evidence, MassEvidence, belief, combine
from shafer.belief import MassFunction

Weights = NDArray[Any]
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


@dataclass
class Case:
    """Evidence of one type, and the mass function of each row by brute force."""

    evidence: MassEvidence
    rows: list[MassFunction]

    @property
    def bets(self) -> list[MassFunction]:
        """The mass functions one bets with: those before discounting."""
        plain = getattr(self.evidence, "evidence", None)
        if plain is None:
            return self.rows
        masses = plain.masses()
        return [MassFunction(self.rows[0].frame, row / row.sum()) for row in np.asarray(masses)]


def _plain(a: Weights, b: Weights) -> Case:
    del b
    return Case(Evidence.from_weights(a), [pooled_by_dempster(w) for w in a])


def _discounted(a: Weights, b: Weights) -> Case:
    reliability = np.linspace(0.3, 1.0, len(a))
    plain = _plain(a, b)
    rows = [m.discounted(1.0 - r) for m, r in zip(plain.rows, reliability, strict=True)]
    return Case(Evidence.from_weights(a).discounted(reliability), rows)


def _mixed(a: Weights, b: Weights) -> Case:
    evidence = combine([Evidence.from_weights(w) for w in (a, b)], reliability=[0.8, 0.6])
    rows = [
        belief.dempster(
            pooled_by_dempster(x).discounted(0.2), pooled_by_dempster(y).discounted(0.4)
        )
        for x, y in zip(a, b, strict=True)
    ]
    return Case(evidence, rows)


def _finite(a: Weights, b: Weights) -> Case:
    evidence = combine([Evidence.from_weights(w) for w in (a, b)], "disjunctive")
    rows = [
        belief.disjunctive(pooled_by_dempster(x), pooled_by_dempster(y))
        for x, y in zip(a, b, strict=True)
    ]
    return Case(evidence, rows)


TYPES: dict[str, Callable[[Weights, Weights], Case]] = {
    "Evidence": _plain,
    "DiscountedEvidence": _discounted,
    "MixedEvidence": _mixed,
    "FiniteEvidence": _finite,
}
every_type = pytest.mark.parametrize("kind", TYPES)

# Multiples of 1/1024: brute force sees no difference between weights of 0 and 1e-92, the rules do.
ELEMENT = st.one_of(
    st.sampled_from([0.0, 0.5, -0.5, 2.0, -3.0]), st.integers(-3072, 3072).map(lambda i: i / 1024)
)
PAIRS = st.integers(2, 4).flatmap(
    lambda k: st.tuples(*[arrays(float, (2, 2, k), elements=ELEMENT)] * 2)
)


def made(kind: str, n_classes: int = 3, n: int = 6) -> Case:
    random = np.random.default_rng(n_classes)
    a, b = random.normal(size=(2, n, 2, n_classes))
    case = TYPES[kind](a, b)
    assert type(case.evidence).__name__ == kind
    return case
