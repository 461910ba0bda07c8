"""Column names that a scikit-learn model was trained with."""

from __future__ import annotations

from typing import Any

from shafer._validation import numbered


def feature_names(model: Any) -> list[str] | None:
    """Return the column names that a model was trained with, equal ones numbered; else None."""
    known = getattr(model, "feature_names_in_", None)
    return None if known is None else numbered([str(name) for name in known])
