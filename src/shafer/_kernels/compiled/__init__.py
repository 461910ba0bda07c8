"""Faster versions of the kernels: numba on the processor, Triton on CUDA devices.

Same signatures as the references in ``_kernels``. Only ``dispatch`` imports these files, and only
where numba or Triton is installed. May import the references.
"""
