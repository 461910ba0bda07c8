r"""The threshold on a score such that decided rows keep a promise. Arrays only.

Learn then test (Angelopoulos, Bates, Candès, Jordan & Lei 2021): each threshold is a hypothesis
"the promise is broken", tested on held-out rows. A row is decided if its score is greater than the
threshold. Given the threshold and the number of rows above it, these rows are independent draws
from the decided rows, so the number of errors among them is binomial.

Scores that differ by rounding alone tie: a threshold never lies between them, so they are decided
together or deferred together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer.decision.ties import exceeds, tie_width
from shafer.metrics.bounds import (
    mean_p_value,
    rate_p_value,
    rows_without_error,
    upper_mean,
    upper_rate,
)


@final
@dataclass(frozen=True)
class SelectiveThreshold:
    """A threshold on scores that keeps a promise, and what was seen on the calibration rows.

    Attributes
    ----------
    threshold : float
        A row is decided if its score is greater, by more than rounding. +∞ decides nothing, −∞
        everything.
    n_calibration : int
        The rows that count: all, or those of the class for :func:`miss_threshold`.
    n_decided : int
        Those of them that are decided.
    risk : float
        The error rate, the share of misses or the mean loss among them; NaN if nothing is decided.
    upper_bound : float
        The upper confidence bound of the risk, for this threshold alone; 1 if nothing is decided.
    """

    threshold: float
    n_calibration: int
    n_decided: int
    risk: float
    upper_bound: float

    @property
    def decides_nothing(self) -> bool:
        """Whether every row is deferred, because no threshold keeps the promise."""
        return self.threshold == math.inf


def error_threshold(
    scores: FloatArray, wrong: BoolArray, error: float, confidence: float
) -> SelectiveThreshold:
    """Return the smallest threshold that keeps the error rate of decided rows at most ``error``.

    Parameters
    ----------
    scores : array of shape (n,)
        Of rows the model was not trained on; sure rows have large scores.
    wrong : boolean array of shape (n,)
        Whether the answer is wrong.
    error : float
        The largest error rate among decided rows, in (0, 1).
    confidence : float
        The probability, over calibration sets, that the promise is kept.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.arange(100.0)
    >>> found = error_threshold(scores, scores < 20, 0.05, 0.9)
    >>> found.threshold, found.n_decided, round(found.upper_bound, 3)
    (18.0, 81, 0.047)
    """
    order, tested = _ranked(scores)
    errors = np.concatenate([[0], np.cumsum(np.asarray(wrong, dtype=np.int64)[order])])
    n = np.arange(len(errors))
    rank = _largest_rank(rate_p_value(errors, n, error), tested, error, confidence)
    bound = float(upper_rate(errors[rank], rank, confidence)) if rank else 1.0
    return _found(np.asarray(scores)[order], rank, float(errors[rank]), bound)


def loss_threshold(
    scores: FloatArray, losses: FloatArray, mean: float, confidence: float, unit: float = 1.0
) -> SelectiveThreshold:
    """Return the smallest threshold that keeps the mean loss of decided rows at most ``mean``.

    Parameters
    ----------
    scores, confidence
        As in :func:`error_threshold`.
    losses : array of shape (n,)
        The loss of each answer, scaled to [0, 1]; 0 and 1 must be the smallest and largest
        possible ones.
    mean : float
        The largest mean loss, on the same scale.
    unit : float
        The size of the scores: the largest loss that they are expectations of.
    """
    order, tested = _ranked(scores, unit)
    total = np.concatenate([[0.0], np.cumsum(np.asarray(losses, dtype=np.float64)[order])])
    n = np.arange(len(total))
    rank = _largest_rank(mean_p_value(total, n, mean), tested, mean, confidence)
    bound = float(upper_mean(total[rank], rank, confidence)) if rank else 1.0
    return _found(np.asarray(scores)[order], rank, float(total[rank]), bound)


def miss_threshold(
    scores: FloatArray, missed: BoolArray, rate: float, confidence: float
) -> SelectiveThreshold:
    r"""Return the smallest threshold under which few rows of a class are decided as another.

    The rate of misses, :math:`P(\text{decided and wrong} \mid y = c)`, can only fall as the
    threshold rises, so one test is enough (Bates et al. 2021): the threshold may leave as many
    misses as the binomial test allows, and no more.

    Parameters
    ----------
    scores : array of shape (n,)
        Of the rows of the class.
    missed : boolean array of shape (n,)
        Whether the answer is another class.
    rate : float
        The largest share of the class's rows that may be decided as another class.
    confidence : float
    """
    scores, missed = np.asarray(scores), np.asarray(missed)
    n = len(scores)
    allowed = int(np.searchsorted(rate_p_value(np.arange(n + 1), n, rate), 1 - confidence, "right"))
    of_misses = np.sort(scores[missed])[::-1]
    if allowed == 0:  # not even a class without any miss would pass
        threshold = math.inf
    else:
        threshold = -math.inf if len(of_misses) < allowed else float(of_misses[allowed - 1])
    above = exceeds(scores, np.float64(threshold))
    misses = int((above & missed).sum())
    if threshold == math.inf:
        return SelectiveThreshold(threshold, n, 0, math.nan, 1.0)
    bound = float(upper_rate(misses, n, confidence))
    return SelectiveThreshold(threshold, n, int(above.sum()), misses / n, bound)


def budget_threshold(
    scores: FloatArray, wrong: BoolArray, share: float, confidence: float
) -> SelectiveThreshold:
    """Return the threshold that hands on a share of the rows, with a bound for the others.

    The threshold is a rank of the scores, whatever the answers are worth. Given it, the rows above
    are independent draws from the rows that will be decided. So the bound of one rate holds as it
    is, without a price for a choice among thresholds. Rows that tie with the threshold are handed
    on too.

    Parameters
    ----------
    scores, wrong, confidence
        As in :func:`error_threshold`.
    share : float
        The share of rows to hand on, in (0, 1); rounded down to whole rows.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.arange(100.0)
    >>> found = budget_threshold(scores, scores < 10, 0.04, 0.9)
    >>> found.threshold, found.n_decided, round(found.upper_bound, 3)
    (3.0, 96, 0.107)
    """
    order, tested = _ranked(scores)
    n = len(order)
    most = n - math.floor(share * n + 1e-9)
    rank = int(np.flatnonzero(tested[: most + 1]).max(initial=0))
    errors = int(np.asarray(wrong, dtype=bool)[order][:rank].sum())
    bound = float(upper_rate(errors, rank, confidence)) if rank else 1.0
    return _found(np.asarray(scores)[order], rank, float(errors), bound)


def _ranked(scores: FloatArray, unit: float = 1.0) -> tuple[NDArray[np.intp], BoolArray]:
    """Return the order from the surest row down, and which ranks 0..n lie between two scores.

    Between two that tie there is none: one may have been the other but for rounding.
    """
    scores = np.asarray(scores)
    order = np.argsort(-scores, kind="stable")
    tested = np.arange(len(scores) + 1) > 0
    ranked = scores[order]
    tested[1:-1] = ranked[:-1] > ranked[1:] + tie_width(ranked[1:], unit)
    return order, tested


def _largest_rank(p_values: FloatArray, tested: BoolArray, level: float, confidence: float) -> int:
    """Return how many of the surest rows may be decided, so that the promise holds; 0 if none."""
    delta = 1.0 - confidence
    needed = rows_without_error(level, confidence)
    needed_first = rows_without_error(level, 1.0 - FIRST_SHARE * delta)
    starts = fallback_starts(len(p_values) - 1, needed, needed_first, delta)
    return fallback_search(p_values, tested, starts)


def _found(ranked: FloatArray, rank: int, total: float, bound: float) -> SelectiveThreshold:
    """Return the threshold that decides the first ``rank`` rows; their losses sum to ``total``."""
    n = len(ranked)
    if rank == 0:
        return SelectiveThreshold(math.inf, n, 0, math.nan, 1.0)
    threshold = -math.inf if rank == n else float(ranked[rank])
    return SelectiveThreshold(threshold, n, rank, total / rank, bound)


# Which thresholds to test, in which order: a fixed sequence with a few fixed starts. From each,
# ranks are tested one by one until one fails. Where all pass, the next start gets the level too.

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
