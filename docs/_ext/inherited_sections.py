"""Methods that override another one: their page shows the parameters and returns of the base class.

An abstract class describes each method once, in full. A class that overrides it says in one line
what differs. Readers of its page still see what the method takes and returns.
"""

from __future__ import annotations

import inspect
import pydoc
import re
from itertools import pairwise
from typing import Any

_INHERITED = ("Parameters", "Returns")
_TITLE = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def completed(cls: type, name: str) -> str:
    """Return the docstring of a method, with what only its base classes describe."""
    texts = [_docstring(vars(base)[name]) for base in cls.__mro__ if name in vars(base)]
    parts = [texts[0]]
    for title in _INHERITED:
        described = [found[title] for found in map(_sections, texts) if title in found]
        if described and title not in _sections(texts[0]):
            parts.append(described[0])
    return "\n\n".join(parts)


def _docstring(member: Any) -> str:
    """Return a docstring as it was written, not one that Python takes from a base class."""
    return inspect.cleandoc(member.__doc__ or "")


def _sections(text: str) -> dict[str, str]:
    """Return the sections of a docstring by their titles."""
    starts = [match.start() for match in _TITLE.finditer(text)]
    parts = [text[i:j].rstrip() for i, j in pairwise([*starts, len(text)])]
    return {part.split("\n", 1)[0]: part for part in parts}


def _complete(*event: Any) -> None:
    """Add the inherited sections to what Sphinx is about to show."""
    _, what, name, _, _, lines = event
    parent, _, member = name.rpartition(".")
    cls = pydoc.locate(parent) if what == "method" else None
    if isinstance(cls, type) and cls.__module__.startswith("shafer."):
        lines[:] = completed(cls, member).split("\n")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx, before the extensions that read the sections."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _complete, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
