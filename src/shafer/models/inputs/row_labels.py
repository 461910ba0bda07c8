"""The row labels of the user's X: the index of a pandas frame or series."""

from __future__ import annotations

from typing import Any, TypeVar

from shafer.evidence import MassEvidence

_Evidence = TypeVar("_Evidence", bound=MassEvidence)


def with_row_labels(ev: _Evidence, X: Any) -> _Evidence:
    """Give evidence the index of the pandas frame that it was computed from."""
    return ev.with_index(X.index) if hasattr(X, "iloc") else ev
