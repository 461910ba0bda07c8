"""``rows_left_out``: whether what is written meanwhile may hold rows of the data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LEFT_OUT: ContextVar[bool] = ContextVar("rows are left out", default=False)


@contextmanager
def rows_left_out(left_out: bool) -> Iterator[None]:
    """Keep no rows in what is written meanwhile, if so asked."""
    token = _LEFT_OUT.set(left_out)
    try:
        yield
    finally:
        _LEFT_OUT.reset(token)


def rows_are_left_out() -> bool:
    """Return whether no rows are to be kept."""
    return _LEFT_OUT.get()
