r"""The arithmetic of a row, written once: numba compiles it for numbers, NumPy runs it on arrays.

Only additions, subtractions, multiplications and divisions, each rounded by itself, in a fixed
order. So a row gets the same bits from compiled and from plain kernels, on every processor.
"""

from __future__ import annotations

import math

from shafer._typing import Array

# Adding this to a small number rounds it to an integer, which is then in the lowest bits.
ROUND = 6755399441055744.0  # 1.5 · 2^52
BITS_OF_ONE = 1023 << 52  # the bits of 1.0: its exponent is 1023
LEAST_EXPONENT = -800.0  # of e: below −745 the power is zero
SMALLEST_POWER = -1000.0  # of two, in one factor

_PER_LN2 = 1.4426950408889634
# ln 2 in two parts; the first has zeros at its end, so that its product with n is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C2, _C3, _C4, _C5, _C6, _C7 = (1.0 / math.factorial(k) for k in range(2, 8))
_C8, _C9, _C10, _C11, _C12, _C13 = (1.0 / math.factorial(k) for k in range(8, 14))


def exponent_and_rest(x: Array) -> tuple[Array, Array]:
    r"""Return n and :math:`e^r - 1` with :math:`x = n \ln 2 + r`, :math:`|r| \le 0.35`.

    Takes x from −800 to 700. The error of :math:`2^n + 2^n (e^r - 1)` is below 1.5 units in the
    last place.

    Parameters
    ----------
    x : number or array

    Returns
    -------
    tuple of two numbers or arrays
        n, which is whole, and the rest.
    """
    n = (x * _PER_LN2 + ROUND) - ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (_C2 + _C3 * r) + (_C4 + _C5 * r) * r2
    middle = (_C6 + _C7 * r) + (_C8 + _C9 * r) * r2
    high = (_C10 + _C11 * r) + (_C12 + _C13 * r) * r2
    return n, r + r2 * (low + (middle + high * r4) * r4)


def with_one_more(
    one: Array, contradicted: Array, none: Array, silent: Array, fires: Array, denied: Array
) -> tuple[Array, Array]:
    """Return the chance that evidence for exactly one class holds, and that it is denied as well.

    Parameters
    ----------
    one, contradicted, none : numbers or arrays
        The chances among the classes before: for one class, for one that is denied, for none.
    silent, fires, denied : numbers or arrays
        Of one class more: e^{−w⁺}, 1 − e^{−w⁺} and v.

    Returns
    -------
    tuple of two numbers or arrays
    """
    first = none * fires
    return one * silent + first, contradicted * silent + first * denied


def joined_chances(
    none: Array,
    one: Array,
    two: Array,
    contradicted: Array,
    more: tuple[Array, Array, Array, Array],
) -> tuple[Array, Array, Array, Array]:
    """Join the chances among two sets of classes: for none, one, two or more, one that is denied.

    Parameters
    ----------
    none, one, two, contradicted : numbers or arrays
        The chances in the first set.
    more : tuple of four
        The same in the second set.

    Returns
    -------
    tuple of four numbers or arrays
    """
    more_none, more_one, more_two, more_contradicted = more
    return (
        none * more_none,
        one * more_none + none * more_one,
        two + (one * (more_one + more_two) + none * more_two),
        contradicted * more_none + none * more_contradicted,
    )
