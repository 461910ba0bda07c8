"""Check the documentation without running the gallery or writing pages; part of ``make test``.

Sphinx reads every page, docstring and script, and resolves every link; a warning is an error. It
works on a copy, because what it generates without pictures must not replace the pages of a full
build.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
GENERATED = shutil.ignore_patterns("auto_examples", "generated")


def copy_of_docs(folder: Path) -> Path:
    """Copy the sources into a folder, beside what they include and point to."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=GENERATED)
    for page in (*ROOT.glob("*.md"), ROOT / "CITATION.cff"):
        shutil.copyfile(page, folder / page.name)
    for name in ("benchmarks", "src", "tests", "tools"):
        (folder / name).symlink_to(ROOT / name)
    return folder / "docs"


def check(folder: Path) -> int:
    """Return the exit status of Sphinx, which prints what is wrong."""
    options = ["-W", "--keep-going", "-q", "-j", "2", "-D", "plot_gallery=0", "-b", "dummy"]
    command = [sys.executable, "-m", "sphinx", *options, copy_of_docs(folder), folder / "read"]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[1]).resolve()))
