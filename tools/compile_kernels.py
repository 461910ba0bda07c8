"""Compile the kernels of numba before the tests; the code stays on disk.

Part of ``make test``. Without it, the two workers of pytest would both compile them, while coverage
traces the compiler.
"""

from __future__ import annotations

from shafer._kernels.warm_up import warm_up

if __name__ == "__main__":
    done = warm_up()
    print(f"{done.compiled} kernels were compiled, {len(done.stored)} stored")
