"""The conformal quantile: the score threshold that promises a coverage, and the rows it needs."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray


def conformal_quantile(scores: FloatArray, coverage: Fraction) -> float:
    r"""Return the :math:`\lceil (n + 1) c \rceil`-th smallest of n scores, +∞ if there is none.

    The rank is found in whole numbers: in floating point :math:`(n + 1) \cdot 0.9` can come out
    just above the integer that it is.
    """
    rank = math.ceil((len(scores) + 1) * coverage)
    return math.inf if rank > len(scores) else float(np.sort(scores)[rank - 1])


def exact_coverage(coverage: Any) -> Fraction:
    """Read a coverage in (0, 1) as the decimal it is written as: 0.9 is 9/10."""
    if isinstance(coverage, bool) or not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise ValueError(
            f"coverage must be a number between 0 and 1, such as 0.9; got {coverage!r}."
        )
    return Fraction(str(coverage))


def rows_needed(coverage: Fraction) -> int:
    """Return the smallest number of calibration rows that can promise less than everything."""
    return math.ceil(1 / (1 - coverage)) - 1


def warn_if_too_few(
    counts: list[int], coverage: Fraction, labels: NDArray[Any] | None = None
) -> None:
    """Warn if there are too few rows, in all (one count) or of a class (one count each)."""
    needed = rows_needed(coverage)
    short = [k for k, count in enumerate(counts) if count < needed]
    if not short:
        return
    if labels is None:
        message = f"{counts[0]} calibration rows cannot promise a coverage of {float(coverage):g}: "
        message += f"every set will hold all classes. Give at least {needed} rows"
    else:
        named = ", ".join(f"{labels[k].item()!r} ({counts[k]})" for k in short[:8])
        more = f" and {len(short) - 8} more" if len(short) > 8 else ""
        message = f"Class(es) with too few calibration rows for a coverage of {float(coverage):g}: "
        message += f"{named}{more}; every set will hold them. Give at least {needed} rows of each"
    # From here to whoever called split_conformal or cross_conformal.
    warnings.warn(message + ", or lower the coverage.", UserWarning, stacklevel=3)
