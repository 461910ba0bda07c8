"""The set of classes of largest expected utility under pooled evidence, without 2^K sets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.kernels import LogTerms, Shares, one_minus_exp_ratio
from shafer.opinion.best_set_search import TIE, Gain, SetSearch

_SLACK = 1e-12  # by which orders may disagree without moving a value by more than a tie


def pooled_best_sets(
    shares: Shares, terms: LogTerms, utility: FloatArray, alpha: float
) -> BoolArray:
    r"""Choose the best set by α · belief + (1 − α) · plausibility; boolean (..., K), NumPy.

    Where the orders of the classes by s and by −ln v agree, the best sets are the first ones of
    that order. Other rows are searched one by one.
    """
    shape = terms.logits.shape
    parts = Shares(*(to_numpy(x).astype(np.float64).reshape(-1, shape[-1]) for x in shares))
    log_d = to_numpy(terms.shift + terms.log_d).reshape(-1)
    order = np.argsort(-(parts.s + parts.t_share), axis=1, kind="stable")
    ordered = Shares(*(np.take_along_axis(x, order, axis=1) for x in parts))
    value = utility * _expectation(ordered, alpha)
    # No set of b classes has a larger expectation than this, as f(τ) ≤ τ and nothing is above one.
    bound = utility * np.clip(np.cumsum(ordered.s + ordered.t_share, axis=1), None, 1.0)
    size = np.argmax(value >= value.max(axis=1, keepdims=True) - TIE, axis=1)
    chosen = np.argsort(order, axis=1) <= size[:, None]
    # A smaller set that is tied with the best one is preferred to it.
    gap = np.where(np.arange(len(utility)) < size[:, None], -TIE, TIE)
    hopeful = bound > value.max(axis=1, keepdims=True) + gap
    for row in np.flatnonzero((hopeful & ~_in_order(ordered)).any(axis=1)):
        d = float(np.exp(np.clip(log_d[row], -690.0, 690.0)))
        gain = Gain(d, float(parts.t[row].sum()), alpha)
        search = SetSearch(parts.s[row], parts.t_share[row], gain)
        found = _search(search, utility, hopeful[row], size[row], value[row, size[row]])
        if found is not None:
            chosen[row] = False
            chosen[row, found] = True
    result: BoolArray = chosen.reshape(shape)
    return result


def _search(
    search: SetSearch, utility: FloatArray, hopeful: BoolArray, size: int, best: float
) -> NDArray[np.intp] | None:
    """Look for a better set, or a smaller one that is tied, in the sizes that may have one.

    ``size`` is that of the best set so far, less one.
    """
    found = None
    for b in np.flatnonzero(hopeful):
        gap = -TIE if b < size else TIE
        better = search.beats(int(b) + 1, (best + gap) / utility[b])
        if better is not None:
            size, best, found = int(b), utility[b] * better[0], better[1]
    return found


def _expectation(ordered: Shares, alpha: float) -> FloatArray:
    """Return the expectation of the first b classes for every b, (n, K)."""
    upper = np.cumsum(ordered.t_share, axis=1) * one_minus_exp_ratio(np.cumsum(ordered.t, axis=1))
    rest = np.cumsum(ordered.t[:, ::-1], axis=1)[:, ::-1] - ordered.t
    value: FloatArray = np.cumsum(ordered.s, axis=1) + upper * (
        alpha * np.exp(-np.clip(rest, 0, None)) + (1.0 - alpha)
    )
    return value


def _in_order(ordered: Shares) -> BoolArray:
    """Mark every b for which the first b classes are no worse than the rest in both sums."""
    agrees = np.ones(ordered.s.shape, dtype=np.bool_)
    for x in (ordered.s, ordered.t_share):
        worst_inside = np.minimum.accumulate(x, axis=1)[:, :-1]
        best_outside = np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1][:, 1:]
        agrees[:, :-1] &= worst_inside >= best_outside - _SLACK
    return agrees
