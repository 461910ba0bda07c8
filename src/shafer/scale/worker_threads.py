"""One thread for each task: the workers of an engine run side by side already."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

_IN_TURN = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let compiled kernels use one thread, in this thread of the process."""
    if importlib.util.find_spec("numba") is None:
        yield
        return
    import numba

    before = numba.get_num_threads()
    with _turns():
        numba.set_num_threads(1)
        try:
            yield
        finally:
            numba.set_num_threads(before)


@cache
def _takes_threads() -> bool:
    """Return whether numba may be called from several threads at once."""
    pools = ("numba.np.ufunc.tbbpool", "numba.np.ufunc.omppool")
    return any(_loads(name) for name in pools)


def _loads(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _turns() -> Any:
    # Without OpenMP and TBB, two calls at the same time would end the process.
    return nullcontext() if _takes_threads() else _IN_TURN
