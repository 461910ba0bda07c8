from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from matplotlib.testing.compare import compare_images

DOCS = Path(__file__).parents[2] / "docs"
GALLERY = runpy.run_path(str(DOCS / "figures" / "gallery.py"))


def test_pictures_are_what_the_code_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """After a change that is meant: ``python docs/figures/gallery.py``, and look at each one."""
    drawn = GALLERY["draw"](tmp_path)
    committed = DOCS / "figures" / "gallery"
    assert sorted(drawn) == sorted(path.name for path in committed.glob("*.png"))
    for name in drawn:
        # Models are fitted here, and the last digits of a fit are another machine's own.
        different = compare_images(str(committed / name), str(tmp_path / name), tol=4)
        assert different is None, different
