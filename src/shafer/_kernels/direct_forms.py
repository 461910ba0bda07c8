r"""The closed forms of NumPy rows without logarithms: sums of products of nonnegative numbers.

The twin of ``compiled/numba_forms.py``, operation by operation: equal bits. Rows where something
may underflow go to the logarithms of ``forms.py``; logits that are centred over the classes, as
those of models, never have such rows.
"""

from __future__ import annotations

import numpy as np

from shafer._kernels.arithmetic import (
    BITS_OF_ONE,
    LEAST_EXPONENT,
    ROUND,
    SMALLEST_POWER,
    exponent_and_rest,
    joined_chances,
    with_one_more,
)
from shafer._kernels.forms import Forms
from shafer._kernels.forms import closed_forms as closed_forms_in_logarithms
from shafer._kernels.pooling import Pooled
from shafer._typing import BoolArray, FloatArray

# The order in which classes are added up; changing it changes last digits.
FEW_CLASSES = 128
"""Up to here one class after the other; beyond, every 64th class in the same lane."""
LANES = 64
# Where products are used instead of logarithms, they must stay far from underflow.
SMALLEST_PRODUCT = 1e-290
SMALLEST_D = 1e-200
SMALLEST_SHIFT = -30.0
LARGEST_EXPONENT = 600.0
# A class that changes nothing, to fill the last lanes: logit, w⁺, w⁻.
NOTHING = (-1e4, 0.0, 1e4)

_IN_CACHE = 2**14  # elements of a temporary array


def _power_of_two(rounded: FloatArray) -> FloatArray:
    return ((rounded.view(np.int64) << 52) + BITS_OF_ONE).view(np.float64)


def power_and_rest(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return :math:`2^n` and :math:`e^r - 1` with :math:`x = n \ln 2 + r`; finite x up to 700."""
    n, rest = exponent_and_rest(np.maximum(x, LEAST_EXPONENT))
    first = np.maximum(n, SMALLEST_POWER)
    return _power_of_two(first + ROUND) * _power_of_two((n - first) + ROUND), rest


def exponential(x: FloatArray) -> FloatArray:
    """Return e^x for finite x up to 700."""
    power, rest = power_and_rest(x)
    return power + power * rest


def chances(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return e^−w and 1 − e^−w for w ≥ 0, each with relative accuracy, from one exponential."""
    power, rest = power_and_rest(-weight)
    change = power * rest
    return power + change, (1.0 - power) - change


def closed_forms(pooled: Pooled) -> Forms:
    """Return probability, plausibility, belief, ignorance and conflict of every row.

    Parameters
    ----------
    pooled : Pooled
        NumPy arrays of shape (n, K).

    Returns
    -------
    Forms
    """
    n, n_classes = pooled.logits.shape
    dtype = pooled.logits.dtype
    by_class, scalars = np.empty((3, n, n_classes), dtype=dtype), np.empty((2, n), dtype=dtype)
    hard = np.zeros(n, dtype=np.bool_)
    rows = max(2, _IN_CACHE // n_classes)
    for start in range(0, n, rows):
        block = slice(start, start + rows)
        count = min(rows, n - start)
        # Classes first, and two rows at least: NumPy would add up in another order otherwise.
        given = np.empty((3, n_classes, max(count, 2)))
        for place, array in zip(given, pooled, strict=True):
            place[:] = array[block].T
        found, ignorance, conflict, failed = _some_rows(given)
        by_class[:, block] = found[:, :, :count].transpose(0, 2, 1)
        scalars[:, block] = ignorance[:count], conflict[:count]
        hard[block] = failed[:count]
    result = Forms(*by_class, *scalars)
    if hard.any():
        rest = Pooled(*(array[hard] for array in pooled))
        for values, those in zip(result, closed_forms_in_logarithms(rest), strict=True):
            values[hard] = those
    return result


_Found = tuple[FloatArray, FloatArray, FloatArray, BoolArray]


def _some_rows(given: FloatArray) -> _Found:
    """Return the forms (3, K, n), ignorance, conflict, and where something may underflow."""
    n_classes = given.shape[1]
    if n_classes == 2:
        _, w_for, w_against = given
        opposite = ((w_for[0] == w_against[1]) & (w_for[1] == w_against[0])) != 0
        if opposite.all():
            return _opposite(w_for, w_against)
        general = _in_turn(given)
        if not opposite.any():
            return general
        special = _opposite(w_for, w_against)
        mixed = [
            np.where(opposite, one, other) for one, other in zip(special, general, strict=True)
        ]
        return mixed[0], mixed[1], mixed[2], mixed[3]
    return _in_turn(given) if n_classes <= FEW_CLASSES else _in_lanes(given)


def _opposite(w_for: FloatArray, w_against: FloatArray) -> _Found:
    """Return the forms of two classes with opposite weights; see ``numba_forms.py``."""
    first, second = w_for[0] + w_against[1], w_for[1] + w_against[0]
    larger, smaller = np.maximum(first, second), np.minimum(first, second)
    (a, _), (not_a, not_b) = chances(np.stack([larger, smaller]))
    r = exponential(smaller - larger)
    over = 1.0 / (1.0 + (r - a))
    p_one, pl_one, pl_two = 1.0 / (1.0 + r), np.minimum(1.0, over), np.minimum(1.0, r * over)
    bel_one = np.minimum(pl_one, not_a * over)
    bel_two = np.minimum(pl_two, not_b * (r * over))
    leads = first >= second
    pairs = ((p_one, r * p_one), (pl_one, pl_two), (bel_one, bel_two))
    found = [[np.where(leads, x, y), np.where(leads, y, x)] for x, y in pairs]
    nowhere = np.zeros(first.shape, dtype=np.bool_)
    return np.array(found), np.minimum(1.0, a * over), not_a * not_b, nowhere


def _terms(given: FloatArray) -> tuple[FloatArray, ...]:
    """Return e^{−w⁺}, 1 − e^{−w⁺}, u, v and the odds of each class; the first two axes are kept."""
    z, w_for, w_against = given
    power, rest = power_and_rest(np.stack([-w_for, -w_against, z]))
    change = power * rest
    (silent, u, odds), (fires, denied, _) = power + change, (1.0 - power) - change
    return silent, fires, u, denied, odds


def _before(factors: FloatArray) -> FloatArray:
    """Return the product of the factors before each class, along the first axis."""
    product = np.ones(factors.shape)
    np.multiply.accumulate(factors[:-1], axis=0, out=product[1:])
    return product


def _after(factors: FloatArray) -> FloatArray:
    return _before(factors[::-1])[::-1]


def _sum(x: FloatArray) -> FloatArray:
    """Add up along the first axis, in order, from zero."""
    terms = np.zeros((len(x) + 1, *x.shape[1:]))
    terms[1:] = x
    total: FloatArray = np.add.reduce(terms, axis=0)
    return total


class _State:
    """What is summed over the classes, which are along the first axis; one sum for each lane."""

    def __init__(
        self,
        silent: FloatArray,
        fires: FloatArray,
        u: FloatArray,
        denied: FloatArray,
        odds: FloatArray,
    ) -> None:
        none, product = _before(silent), _before(denied)
        one, contradicted = np.zeros_like(fires), np.zeros_like(fires[0])
        here = one[0]
        for k in range(len(fires)):
            one[k] = here
            here, contradicted = with_one_more(
                here, contradicted, none[k], silent[k], fires[k], denied[k]
            )
        self.one, self.contradicted, self.two = here, contradicted, _sum(one * fires)
        self.none, self.product = none[-1] * silent[-1], product[-1] * denied[-1]
        self.open = _sum(u * product)
        self.odds, self.s = _sum(odds), _sum(odds * fires)

    def join(self) -> None:
        """Join the lanes of each row, along the first axis, half of them at a time."""
        half = len(self.none) // 2
        while half:
            more = (self.none[half:], self.one[half:], self.two[half:], self.contradicted[half:])
            self.open = self.open[:half] + self.product[:half] * self.open[half:]
            self.none, self.one, self.two, self.contradicted = joined_chances(
                self.none[:half], self.one[:half], self.two[:half], self.contradicted[:half], more
            )
            self.product = self.product[:half] * self.product[half:]
            self.odds = self.odds[:half] + self.odds[half:]
            self.s = self.s[:half] + self.s[half:]
            half //= 2
        for name, value in vars(self).items():
            setattr(self, name, value[0])

    def row_numbers(
        self, shift: FloatArray, against: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Return D, ignorance, conflict, and where something may underflow."""
        d = self.s + self.open * exponential(-np.maximum(shift, SMALLEST_SHIFT))
        safe = (d > SMALLEST_D) & (shift > SMALLEST_SHIFT)
        d = np.where(safe, d, 1.0)
        open_ = exponential(np.minimum(-against - shift, LARGEST_EXPONENT))
        kappa = (self.two + self.contradicted) + self.none * self.product
        return d, np.minimum(1.0, open_ / d), np.minimum(1.0, kappa), ~safe


def _class_forms(
    odds: FloatArray, fires: FloatArray, others: FloatArray, d: FloatArray, total: FloatArray
) -> FloatArray:
    plausibility = np.minimum(1.0, odds / d)
    ratio = np.minimum(1.0, fires + (1.0 - fires) * others)
    return np.stack([odds / total, plausibility, plausibility * ratio])


def _in_turn(given: FloatArray) -> _Found:
    """Return the forms of rows, one class after the other."""
    shift, against = given[0].max(axis=0), _sum(given[2])
    silent, fires, u, denied, odds = _terms(np.stack([given[0] - shift, given[1], given[2]]))
    state = _State(silent, fires, u, denied, odds)
    d, ignorance, conflict, hard = state.row_numbers(shift, against)
    others = _before(denied) * _after(denied)
    return _class_forms(odds, fires, others, d, state.odds), ignorance, conflict, hard


def _in_lanes(given: FloatArray) -> _Found:
    """Return the forms of rows, with every 64th class in the same lane."""
    _, n_classes, n = given.shape
    shift, against = given[0].max(axis=0), _sum(given[2])
    groups = -(-n_classes // LANES)
    filled = np.empty((3, groups * LANES, n))
    filled[:, :n_classes] = given
    filled[0, :n_classes] -= shift
    filled[:, n_classes:] = np.array(NOTHING)[:, None, None]
    lanes = filled.reshape(3, groups, LANES, n)
    silent, fires, u, denied, odds = _terms(lanes)
    state = _State(silent, fires, u, denied, odds)
    state.join()
    d, ignorance, conflict, hard = state.row_numbers(shift, against)
    classes = denied.reshape(-1, n)
    divides = state.product > SMALLEST_PRODUCT
    others = np.divide(state.product, classes, out=np.empty_like(classes), where=divides)
    if not divides.all():
        rest = np.ascontiguousarray(classes[:, ~divides])
        if rest.shape[1] == 1:
            rest = np.repeat(rest, 2, axis=1)
        others[:, ~divides] = (_before(rest) * _after(rest))[:, : int((~divides).sum())]
    odds, fires = (array.reshape(-1, n)[:n_classes] for array in (odds, fires))
    forms = _class_forms(odds, fires, others[:n_classes], d, state.odds)
    return forms, ignorance, conflict, hard
