"""Fail the build if a page loads a script, a style sheet or a picture from the network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

_LOADS = re.compile(
    r'<(?:script|img|iframe|source)\b[^>]*\bsrc="(https?:[^"]+)"'
    r'|<link\b(?=[^>]*\brel="(?:stylesheet|preload|icon)")[^>]*\bhref="(https?:[^"]+)"'
    r'|url\(["\']?(https?:[^)"\']+)'
)


def _check(app: Any, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    pages = [*folder.rglob("*.html"), *folder.rglob("*.css")]
    found = {
        f"{page.relative_to(folder)} loads {next(filter(None, addresses))}"
        for page in pages
        for addresses in _LOADS.findall(page.read_text("utf-8"))
    }
    if found:
        listed = "\n".join(sorted(found)[:10])
        raise ExtensionError(f"{len(found)} files come from the network:\n{listed}")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", _check, priority=900)  # after the theme has written its files
    return {"parallel_read_safe": True, "parallel_write_safe": True}
