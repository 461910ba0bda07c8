"""Take references to scikit-learn's pages out of docstrings that are inherited from it."""

from __future__ import annotations

import re
from typing import Any

_LABELLED = re.compile(r":ref:`([^`<]+?)\s*<[^`>]+>`")
_BARE = re.compile(r":ref:`([^`]+)`")


def _without_references(*event: Any) -> None:
    obj, lines = event[3], event[-1]
    if (getattr(obj, "__module__", None) or "").startswith("sklearn."):
        text = _BARE.sub(r"\1", _LABELLED.sub(r"\1", "\n".join(lines)))
        lines[:] = text.split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _without_references)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
