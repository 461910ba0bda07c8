"""Run the code of guide pages and stories, and write the pictures they show.

Run ``python docs/figures/gallery.py``. The picture of a line
``![...](../figures/gallery/name.png)`` is what the last ``display`` above it drew, so
code and picture cannot drift apart.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot

DOCS = Path(__file__).parent.parent
PAGES = (
    "start/tutorial_tabular.md",
    "stories/declined_applicant.md",
    "stories/undecided_patient.md",
    "guide/monitoring.md",
    "guide/deferring.md",
    "guide/images.md",
)
_PICTURE = re.compile(r"!\[[^\]]*\]\(\.\./figures/gallery/([\w-]+\.png)\)")


def draw(folder: Path) -> list[str]:
    """Draw every picture of all pages into a folder, and return their names."""
    return [name for page in PAGES for name in _draw_page(page, folder)]


def _draw_page(page: str, folder: Path) -> list[str]:
    names: dict[str, Any] = {}
    drawn = []
    # Between two pictures lies the code that makes the second one.
    text, *rest = _PICTURE.split((DOCS / page).read_text("utf-8"))
    for picture, following in zip(rest[::2], rest[1::2], strict=True):
        for example in doctest.DocTestParser().get_examples(text):
            exec(compile(example.source, page, "single"), names)
        display = names["display"]
        display.figure_.savefig(folder / picture, dpi=80, metadata={"Software": None})
        drawn.append(picture)
        text = following
    pyplot.close("all")
    return drawn


if __name__ == "__main__":
    matplotlib.use("agg")
    for name in draw(DOCS / "figures" / "gallery"):
        print(name)
