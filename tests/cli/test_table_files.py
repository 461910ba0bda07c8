"""Tables as users have them."""

from __future__ import annotations

from pathlib import Path

from .running import run


def test_cells_beyond_the_header_may_be_empty(tmp_path: Path) -> None:
    """A comma at the end of each line is a frequent slip, and does no harm."""
    (tmp_path / "t.csv").write_text("x,y\n" + "1,a,\n2,b,\n" * 5)
    result = run("explain", "--data", tmp_path / "t.csv", "--target", "y", "--row", 1)
    assert result.exit_code == 0, result.output
    assert "x 2" in result.output
