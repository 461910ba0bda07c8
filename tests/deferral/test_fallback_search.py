"""The fixed sequence with several starts, against a slow version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shafer.deferral.search import Starts, fallback_search, fallback_starts


def _slowly(p: np.ndarray, tested: np.ndarray, starts: Starts) -> int:
    """One rank after the other; a start inside a tie is at the end of it."""
    begins: dict[int, float] = {}
    for rank, level in zip(starts.ranks.tolist(), starts.levels.tolist(), strict=True):
        place = next((k for k in range(rank, len(p)) if tested[k]), None)
        if place is not None:  # otherwise there are fewer rows
            begins[place] = begins.get(place, 0.0) + level
    best, level = 0, 0.0
    for rank in range(len(p)):
        if not tested[rank]:
            continue
        level += begins.get(rank, 0.0)
        if level and p[rank] <= level:
            best = rank
        else:
            level = 0.0
    return best


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_it_is_the_slow_search(n: int, seed: int, n_starts: int) -> None:
    random = np.random.default_rng(seed)
    p = random.random(n + 1) ** 3
    tested = random.random(n + 1) < 0.7
    tested[0], tested[-1] = False, True
    ranks = np.sort(random.choice(np.arange(1, n + 1), size=min(n, n_starts), replace=False))
    shares = random.dirichlet(np.ones(len(ranks)))
    starts = Starts(ranks, 0.5 * shares)
    assert fallback_search(p, tested, starts) == _slowly(p, tested, starts)


@pytest.mark.parametrize("n", [1, 20, 44, 45, 100, 170, 200, 1000, 12345])
@pytest.mark.parametrize("delta", [0.01, 0.1, 0.4])
def test_the_starts_share_the_level(n: int, delta: float) -> None:
    starts = fallback_starts(n, 45, 50, delta)
    assert starts.levels.sum() == pytest.approx(delta, rel=1e-12)
    assert (starts.levels > 0).all()
    assert (np.diff(starts.ranks) > 0).all()
    assert starts.ranks[0] >= 45
    assert len(starts.ranks) == 1 or starts.ranks[-1] <= n


def test_errors_at_the_top_do_not_end_the_search() -> None:
    tested = np.ones(101, dtype=bool)
    p = np.full(101, 0.001)
    p[:40] = 0.5
    one = Starts(np.array([10]), np.array([0.1]))
    several = Starts(np.array([10, 50]), np.array([0.08, 0.02]))
    assert fallback_search(p, tested, one) == 0
    assert fallback_search(p, tested, several) == 100
