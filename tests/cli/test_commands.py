"""Help texts and the version."""

from __future__ import annotations

import subprocess
import sys

import pytest

import shafer

from .running import run


@pytest.mark.parametrize("command", ["report", "explain", "score", "paper"])
def test_help_has_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"shafer {command} " in result.output
    assert "\\b" not in result.output


@pytest.mark.parametrize("command", ["report", "explain", "score"])
def test_examples_have_lines_of_their_own(command: str) -> None:
    lines = [line.strip() for line in run(command, "--help").output.splitlines()]
    after = lines[lines.index("Examples:") + 1 :]
    assert len(after) >= 2
    assert all(line.startswith(f"shafer {command}") for line in after)


def test_module_and_version() -> None:
    command = [sys.executable, "-m", "shafer", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"shafer, version {shafer.__version__}\n"
