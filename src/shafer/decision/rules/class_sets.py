r"""Set-valued acts: answer with the set of classes whose expected utility is largest.

Under 0-1 utilities a set A of b classes is worth :math:`g_b` if it holds the truth, so its
expected utility is :math:`g_b` times the probability, belief or plausibility of A, or a mixture of
the last two (Ma and Denœux 2021). Ties go to fewer classes, then to earlier ones.
"""

from __future__ import annotations

import numpy as np
from array_api_compat import array_namespace

from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.decision.rules.best_set_search import TIE, Gain, SetSearch
from shafer.kernels import Shares, one_minus_exp_ratio
from shafer.opinion.pooled_opinion import Opinion

_SLACK = 1e-12  # by which orders may disagree without moving a value by more than a tie


def most_probable_set(probability: Array, worth: FloatArray) -> Array:
    """Choose the best set by probability: the first b classes, for the best b; boolean (..., K)."""
    xp = array_namespace(probability)
    order = xp.argsort(probability, axis=-1, descending=True)
    ordered = xp.take_along_axis(probability, order, axis=-1)
    gain = xp.asarray(np.array(worth), dtype=probability.dtype, device=probability.device)
    value = xp.cumulative_sum(ordered, axis=-1) * gain
    tie = max(TIE, 8.0 * float(xp.finfo(value.dtype).eps))
    tied = value >= xp.max(value, axis=-1, keepdims=True) - tie
    size = xp.argmax(xp.astype(tied, xp.int64), axis=-1, keepdims=True)
    return xp.argsort(order, axis=-1) <= size


def best_set(opinion: Opinion, worth: FloatArray, alpha: float) -> BoolArray:
    r"""Choose the best set by α · belief + (1 − α) · plausibility; boolean (..., K), NumPy.

    Where the orders of the classes by s and by −ln v agree, the best sets are the first ones of
    that order. Other rows are searched one by one.
    """
    shape = opinion.logits.shape
    parts = Shares(*(to_numpy(x).astype(np.float64).reshape(-1, shape[-1]) for x in opinion.shares))
    log_d = to_numpy(opinion.terms.shift + opinion.terms.log_d).reshape(-1)
    order = np.argsort(-(parts.s + parts.t_share), axis=1, kind="stable")
    ordered = Shares(*(np.take_along_axis(x, order, axis=1) for x in parts))
    value = worth * _expectation(ordered, alpha)
    # No set of b classes is worth more than this, as f(τ) ≤ τ and nothing is above one.
    bound = worth * np.clip(np.cumsum(ordered.s + ordered.t_share, axis=1), None, 1.0)
    size = np.argmax(value >= value.max(axis=1, keepdims=True) - TIE, axis=1)
    chosen = np.argsort(order, axis=1) <= size[:, None]
    hopeful = bound > value.max(axis=1, keepdims=True) + TIE
    for row in np.flatnonzero((hopeful & ~_in_order(ordered)).any(axis=1)):
        d = float(np.exp(np.clip(log_d[row], -690.0, 690.0)))
        gain = Gain(d, float(parts.t[row].sum()), alpha)
        search = SetSearch(parts.s[row], parts.t_share[row], gain)
        found = _search(search, worth, hopeful[row], value[row, size[row]])
        if found is not None:
            chosen[row] = False
            chosen[row, found] = True
    result: BoolArray = chosen.reshape(shape)
    return result


def _search(search: SetSearch, worth: FloatArray, hopeful: BoolArray, best: float) -> Array | None:
    """Look for a better set, smaller sizes first, in the sizes that may have one."""
    found = None
    for b in np.flatnonzero(hopeful):
        better = search.beats(int(b) + 1, (best + TIE) / worth[b])
        if better is not None:
            best, found = worth[b] * better[0], better[1]
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
    """Say for every b whether the first b classes are no worse than the rest in both sums."""
    agrees = np.ones(ordered.s.shape, dtype=np.bool_)
    for x in (ordered.s, ordered.t_share):
        worst_inside = np.minimum.accumulate(x, axis=1)[:, :-1]
        best_outside = np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1][:, 1:]
        agrees[:, :-1] &= worst_inside >= best_outside - _SLACK
    return agrees
