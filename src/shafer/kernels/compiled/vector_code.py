"""What numba kernels need to become vector code: full-width registers, and an exponential.

numba has no exponential that it can vectorise, so a loop that calls ``np.exp`` runs one number at a
time. The one here is plain arithmetic. Its error is below 1.3 units in the last place.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator, misc"
# The compiler infers types from the arguments; annotations inside compiled code have no effect.

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from shafer._typing import Array

# Multiplications and additions may be fused. Sums are not reordered: a row gets the same numbers
# in any batch.
FUSED: Any = {"contract"}

# Adding this to a small number rounds it to an integer, which is then in the lowest bits.
_ROUND = 6755399441055744.0  # 1.5 · 2^52
_PER_LN2 = 1.4426950408889634
# ln 2 in two parts; the first has zeros at its end, so that its product with n is exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SMALLEST_POWER = -1000.0  # of two, in one factor
_ONE = 1023 << 52  # the bits of 1.0: its exponent is 1023
_C2, _C3, _C4, _C5, _C6, _C7 = (1.0 / math.factorial(k) for k in range(2, 8))
_C8, _C9, _C10, _C11, _C12, _C13 = (1.0 / math.factorial(k) for k in range(8, 14))


@intrinsic
def use_full_width(_):  # pragma: no cover - runs in the compiler
    """Let the function that calls this use registers of 512 bits where the processor has them.

    LLVM prefers 256 bits on Intel processors. The attribute changes that for one function, and
    leaves the user's own numba code alone. Callers need it too: LLVM may move the code into them.
    """

    def generate(context, builder, _, __):
        # llvmlite checks names against a list that lacks this one; LLVM knows it.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def _bits(_, value):  # pragma: no cover - runs in the compiler
    del value

    def generate(_, builder, __, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def _from_bits(_, value):  # pragma: no cover - runs in the compiler
    del value

    def generate(_, builder, __, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), generate


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def _power_of_two(rounded):
    return _from_bits((_bits(rounded) << 52) + _ONE)


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def power_and_rest(x):
    r"""Return :math:`2^n` and :math:`e^r - 1` with :math:`x = n \ln 2 + r`, :math:`|r| \le 0.35`.

    Their product plus the power is e^x; below −745 it is zero. Takes finite x up to 700.
    """
    x = max(x, -800.0)
    n = (x * _PER_LN2 + _ROUND) - _ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (_C2 + _C3 * r) + (_C4 + _C5 * r) * r2
    middle = (_C6 + _C7 * r) + (_C8 + _C9 * r) * r2
    high = (_C10 + _C11 * r) + (_C12 + _C13 * r) * r2
    rest = r + r2 * (low + (middle + high * r4) * r4)
    # In two factors: the smallest doubles are below the smallest power that has full digits.
    first = max(n, _SMALLEST_POWER)
    power = _power_of_two(first + _ROUND) * _power_of_two((n - first) + _ROUND)
    return power, rest


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def exponential(x):
    """Return e^x for finite x up to 700."""
    power, rest = power_and_rest(x)
    return power + power * rest


@numba.njit(fastmath=FUSED, error_model="numpy", cache=True)
def chances(weight):
    """Return e^−w and 1 − e^−w for w ≥ 0, each with relative accuracy, from one exponential."""
    power, rest = power_and_rest(-weight)
    change = power * rest
    return power + change, (1.0 - power) - change


@numba.njit(cache=True)
def aligned(size):
    """Return zeros that start at a cache line: a register is then loaded from one line."""
    raw = np.zeros(size + 7)
    skip = (64 - raw.ctypes.data % 64) % 64 // 8
    return raw[skip : skip + size]


def read_only(array: Array) -> Array:
    """Return a contiguous array that cannot be written to.

    numba compiles a kernel again for each combination of arrays that can and that cannot.
    """
    constant = np.ascontiguousarray(array).view()
    constant.flags.writeable = False
    return constant


__all__ = [
    "FUSED",
    "aligned",
    "chances",
    "exponential",
    "power_and_rest",
    "read_only",
    "use_full_width",
]
