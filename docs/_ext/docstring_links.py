"""Links in docstrings: to pages of this site, and none to pages of other libraries."""

from __future__ import annotations

import re
from typing import Any

_PAGE = re.compile(r"(``)?docs/([\w/]+)\.md(?(1)``)")
_LABELLED = re.compile(r":ref:`([^`<]+?)\s*<[^`>]+>`")
_BARE = re.compile(r":ref:`([^`]+)`")


def _mend(*event: Any) -> None:
    """Turn the names of pages into links, and take out what inherited docstrings refer to."""
    obj, lines = event[3], event[-1]
    text = _PAGE.sub(r":doc:`/\2`", "\n".join(lines))
    module = getattr(obj, "__module__", None) or ""
    if module.startswith(("mlflow.", "sklearn.")):
        text = _BARE.sub(r"\1", _LABELLED.sub(r"\1", text))
    if module.startswith("mlflow."):  # its docstrings are not in this site's form
        text = text.strip().split("\n\n")[0]
    lines[:] = text.split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
