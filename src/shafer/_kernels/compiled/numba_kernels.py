"""All kernels that numba compiles, for ``dispatch``.

Same signatures as the references, same bits. Only ``dispatch`` imports this file, when there is
enough work to pay for loading the compiler. ``NUMBA_NUM_THREADS`` sets the number of threads.
Compiled code is kept on disk (``kernel.py``).
"""

from __future__ import annotations

from shafer._kernels.compiled.numba_forms import closed_forms
from shafer._kernels.compiled.numba_pooling import (
    additive_weights,
    pool,
    pool_linear,
    pool_linear_sparse,
)
from shafer._kernels.compiled.numba_tree_tables import looked_up
from shafer._kernels.compiled.numba_trees import tree_shap

__all__ = [
    "additive_weights",
    "closed_forms",
    "looked_up",
    "pool",
    "pool_linear",
    "pool_linear_sparse",
    "tree_shap",
]
