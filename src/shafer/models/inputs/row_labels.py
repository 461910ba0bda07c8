"""The row labels of the user's X: the index of a pandas frame."""

from __future__ import annotations

from typing import Any, TypeVar

import narwhals as nw

from shafer.evidence import MassEvidence

_Evidence = TypeVar("_Evidence", bound=MassEvidence)


def with_row_labels(ev: _Evidence, X: Any) -> _Evidence:
    """Give evidence the index of the pandas frame or series that it was computed from."""
    native = nw.from_native(X, pass_through=True, eager_only=True, allow_series=True)
    if not isinstance(native, nw.DataFrame | nw.Series):
        return ev
    index = nw.maybe_get_index(native)
    return ev if index is None else ev.with_index(index)
