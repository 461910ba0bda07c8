"""Serve MathJax from the site itself, so that formulas need no network."""

from __future__ import annotations

import shutil
from importlib.metadata import files
from pathlib import Path
from typing import Any

SCRIPT = "tex-svg.js"  # one file: the glyphs are drawings, so there are no fonts to load


def _script() -> Path:
    """Return where the installed package keeps the script."""
    for file in files("sphinx-mathjax-offline") or ():
        if file.name == SCRIPT:
            return Path(str(file.locate()))
    raise FileNotFoundError(
        f"The package sphinx-mathjax-offline does not contain {SCRIPT}. "
        "Install the version of constraints.txt."
    )


def _copy(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / "mathjax"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(_script(), folder / SCRIPT)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.config.mathjax_path = f"mathjax/{SCRIPT}"
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
