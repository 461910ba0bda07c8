r"""Which thresholds to test, in which order: a fixed sequence with a few fixed starts.

The rows are sorted from the surest to the least sure. Hypothesis j is that too many errors are
made if the j surest rows, and rows like them, are decided. A fixed sequence tests j = s, s + 1, ...
and stops at the first that is not rejected: then no correction for the number of tests is needed.
One start would be fragile. A few errors among the surest rows would end the search at once, however
well the next hundred rows went. So there are several starts, at ranks that depend on n alone. They
share the level :math:`\delta`: a sequence that reaches the next start takes that start's share with
it, and one that fails loses its own (the fallback procedure of Wiens 2003).
``docs/background/deferral_proof.md`` has the proof.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray

FIRST_SHARE = 0.8
"""The share of the level that the first start gets; each later one gets as much of the rest."""

_FIRST_ROWS = 8  # the first start has one row in eight,
_ROOM = 1.7  # but at least so many times the rows that need be without error


class Starts(NamedTuple):
    """Ranks at which a sequence starts, and their levels, which sum to δ."""

    ranks: NDArray[np.intp]
    levels: FloatArray


def fallback_starts(n: int, needed: int, needed_first: int, delta: float) -> Starts:
    """Return the starts for n rows: a function of numbers known before any label is seen.

    Parameters
    ----------
    n : int
    needed, needed_first : int
        How many rows without error can pass at level δ, and at the first start's share of it.
    delta : float
    """
    first = max(-(-n // _FIRST_ROWS), int(np.ceil(_ROOM * needed_first)))
    if 2 * first > n:  # room for one start: the smallest that can pass
        return Starts(np.array([needed], dtype=np.intp), np.array([delta]))
    ranks = first * 2 ** np.arange(int(np.log2(n // first)) + 1)
    shares = FIRST_SHARE * (1.0 - FIRST_SHARE) ** np.arange(len(ranks))
    shares[-1] = (1.0 - FIRST_SHARE) ** (len(ranks) - 1)
    return Starts(ranks.astype(np.intp), delta * shares)


def fallback_search(p_values: FloatArray, tested: BoolArray, starts: Starts) -> int:
    """Return the largest rank that is rejected, 0 if none is.

    Parameters
    ----------
    p_values : array of shape (n + 1,)
        The p-value of deciding the j surest rows, j = 0..n.
    tested : boolean array of shape (n + 1,)
        Where rank j lies between two different scores. Ranks inside a tie are not tested; a start
        there moves to its end.
    starts : Starts
    """
    ranks = np.flatnonzero(tested)
    begins = np.searchsorted(ranks, starts.ranks)
    ends = np.append(begins[1:], len(ranks))
    best, level = 0, 0.0
    for begin, end, share in zip(begins, ends, starts.levels, strict=True):
        level += float(share)
        failed = np.flatnonzero(p_values[ranks[begin:end]] > level)
        passed = failed[0] if len(failed) else end - begin
        if passed:
            best = int(ranks[begin + passed - 1])
        level = 0.0 if len(failed) else level
    return best
