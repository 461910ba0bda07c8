"""Hypothesis over small cases: it shrinks a failure to the smallest one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

import shafer
from shafer.belief import Frame, MassFunction, dempster

from .commands import check_table
from .invariants import check_mass_evidence, close, rounding

EXAMPLES = 50
WEIGHT = st.one_of(
    st.sampled_from([0.0, 1e-300, -1e-300, 1e-12, 1.0, -1.0, 40.0, -40.0]), st.floats(-30, 30)
)
WEIGHTS = st.tuples(st.integers(1, 3), st.integers(2, 4)).flatmap(
    lambda size: arrays(float, (1, *size), elements=WEIGHT)
)
CELL = st.one_of(st.floats().map(repr), st.integers(-3, 3).map(str), st.text(max_size=5))
ROWS = st.lists(st.lists(CELL, min_size=1, max_size=4), max_size=6)


def oracle(number: int) -> int:
    """Compare evidence with Dempster's rule over all subsets, written to be read."""
    return _examples(number, _check_dempster, WEIGHTS)


def tables(number: int) -> int:
    """Give the command line tables of any text."""
    return _examples(number, _check_text, ROWS, st.sampled_from(",;\t"))


def _examples(number: int, check: Callable[..., None], *strategies: st.SearchStrategy[Any]) -> int:
    """Try random examples that depend on the number alone."""
    run = settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=False,
        database=None,
        suppress_health_check=list(HealthCheck),
    )(seed(number)(given(*strategies)(check)))
    run()
    return EXAMPLES


def _check_dempster(weights: NDArray[Any]) -> None:
    evidence = shafer.Evidence.from_weights(weights)
    check_mass_evidence(evidence, rounding(evidence))
    if evidence.weight_of_conflict[0] > 20:
        return  # normalising by 1 − κ costs the enumeration its digits
    frame = Frame(list(range(weights.shape[-1])))
    whole = (1 << weights.shape[-1]) - 1
    pooled = MassFunction.vacuous(frame)
    for k, weight in enumerate(weights[0].T):
        for value in weight:
            focus = 1 << k if value > 0 else whole ^ (1 << k)
            masses = np.zeros(whole + 1)
            masses[focus], masses[whole] = -np.expm1(-abs(value)), np.exp(-abs(value))
            pooled = dempster(pooled, MassFunction(frame, masses))
    close(evidence.masses()[0], pooled.masses, 1e-7, "masses by Dempster's rule")


def _check_text(rows: list[list[str]], separator: str) -> None:
    lines = ["x" + separator + "y", *(separator.join(row) for row in rows)]
    check_table("\n".join(lines).encode("utf-8", "replace"))
