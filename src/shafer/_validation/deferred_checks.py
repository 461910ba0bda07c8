"""Checks of arrays on a device, read together: reading one waits for all work before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

import array_api_compat

from shafer._typing import Array

_Check: TypeAlias = tuple[Array, Callable[[], object]]
_WAITING: ContextVar[list[_Check] | None] = ContextVar("waiting", default=None)


def check_later(holds: Array, failure: Callable[[], object]) -> None:
    """Call ``failure`` unless a boolean array of one element is true.

    It raises an error, or repairs what was computed.

    Inside :func:`deferred_checks`, arrays on a CUDA device are read at its end.
    """
    waiting = _WAITING.get()
    on_device = array_api_compat.is_torch_array(holds) and holds.is_cuda
    if waiting is not None and on_device:
        waiting.append((holds, failure))
    elif not bool(holds):
        failure()


@contextmanager
def deferred_checks() -> Iterator[None]:
    """Read all checks at the end, at once; the first that fails raises its error.

    It comes before an error of the code inside, which it may have caused.
    """
    if _WAITING.get() is not None:  # the outer one reads them
        yield
        return
    waiting: list[_Check] = []
    token = _WAITING.set(waiting)
    try:
        yield
    finally:
        _WAITING.reset(token)
        _settle(waiting)


def _settle(waiting: list[_Check]) -> None:
    if not waiting:
        return
    flags = [holds.reshape(()) for holds, _ in waiting]
    together = array_api_compat.array_namespace(*flags).stack(flags)
    for held, (_, failure) in zip(together.tolist(), waiting, strict=True):
        if not held:
            failure()
