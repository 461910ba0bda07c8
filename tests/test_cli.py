from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import shafer
from shafer.cli import main


def test_report(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, ["report", "--out", str(tmp_path)])
    assert result.exit_code == 0
    for word in (
        "p(chd)",
        "[bel, pl]",
        "ignorance",
        "conflict",
        "decided",
        "for chd: ",
        "against: ",
    ):
        assert word in result.output
    assert (tmp_path / "evidence.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "a,b"], "expected numbers such as 0,17,42; got 'a,b'"),
        (["--rows", "9999"], "rows must lie between 0 and 461; got [9999]"),
        (["--out", __file__], "is a file"),
        (["--nonsense"], "No such option"),
    ],
)
def test_wrong_use(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["report", *arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_module_and_version() -> None:
    command = [sys.executable, "-m", "shafer", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"shafer, version {shafer.__version__}\n"
