"""The exponential of the compiled kernels, and the width of their registers."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from shafer._kernels.compiled.numba_lanes import (
    aligned,
    chances,
    exponential,
    read_only,
    use_full_width,
)


@numba.njit
def _all(x: Any, power: Any, silent: Any, fires: Any) -> None:
    use_full_width()
    for i in range(len(x)):
        power[i] = exponential(x[i])
        silent[i], fires[i] = chances(abs(x[i]))


def _computed(x: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.empty((3, len(x)))
    _all(x, *found)
    return found


def _units(found: NDArray[np.float64], exact: NDArray[np.longdouble]) -> float:
    """Return the largest error, in units of the last place."""
    spacing = np.spacing(np.abs(exact).astype(np.float64))
    return float(np.max(np.abs(found - exact) / spacing))


def test_errors_are_below_two_units() -> None:
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-18, 2.85, 50_000)
    x = np.concatenate([-sizes, -rng.exponential(1.0, 50_000), [0.0, -5e-324, -707.0]])
    power, silent, fires = _computed(x)
    wide = x.astype(np.longdouble)
    assert _units(power, np.exp(wide)) < 1.5
    assert _units(silent, np.exp(wide)) < 1.5
    assert _units(fires, -np.expm1(wide)) < 1.5


def test_positive_numbers() -> None:
    x = np.linspace(0.0, 700.0, 10_001)
    assert _units(_computed(x)[0], np.exp(x.astype(np.longdouble))) < 1.5


def test_the_smallest_doubles_and_below() -> None:
    x = np.array([-708.5, -720.0, -740.0, -745.0, -746.0, -800.0, -1e4, -1e300])
    power, silent, fires = _computed(x)
    np.testing.assert_allclose(power, np.exp(x), rtol=0, atol=5e-324)
    assert_array_equal(silent, power)
    assert (fires == 1.0).all()
    assert power[-1] == 0.0


def test_the_compiler_is_told_to_use_full_registers() -> None:
    _computed(np.zeros(1))
    (code,) = _all.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in code


def test_scratch_starts_at_a_cache_line() -> None:
    for size in (1, 9, 64, 1000):
        scratch = aligned(size)
        assert scratch.shape == (size,)
        assert scratch.ctypes.data % 64 == 0
        assert not scratch.any()


def test_read_only_leaves_the_array_alone() -> None:
    given = np.zeros((3, 4))
    constant = read_only(given.T)
    assert constant.flags.c_contiguous
    assert not constant.flags.writeable
    assert not read_only(given).flags.writeable
    assert given.flags.writeable
