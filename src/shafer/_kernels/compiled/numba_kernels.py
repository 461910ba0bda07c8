"""All kernels that numba compiles, for ``dispatch``.

Same signatures as the references, same numbers up to rounding. Only ``dispatch`` imports this file,
when there is enough work to pay for loading the compiler. ``NUMBA_NUM_THREADS`` sets the number of
threads. Compiled code is kept on disk.
"""

from __future__ import annotations

from shafer._kernels.compiled.numba_forms import closed_forms
from shafer._kernels.compiled.numba_pooling import (
    additive_weights,
    pool,
    pool_linear,
    pool_linear_sparse,
)

__all__ = ["additive_weights", "closed_forms", "pool", "pool_linear", "pool_linear_sparse"]
