"""Faster versions of the kernels: numba on the processor, Triton on CUDA devices.

Same signatures as the references in ``kernels``. Only ``kernels.dispatch`` imports these files, and
only where numba or Triton is installed. May import ``kernels.closed_forms``, ``kernels.pooling``.
"""
