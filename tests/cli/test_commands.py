"""Help texts and the version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
import shafer.cli
from shafer import Explainer
from shafer.cli import main

from .running import run

NAMES = main.list_commands(click.Context(main))


def modules_after(*lines: str) -> set[str]:
    """Return what a new process has imported after some lines."""
    code = "\n".join(["import sys", *lines, "print(*sys.modules)"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_every_command_is_listed() -> None:
    folder = Path(shafer.cli.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "options"}
    assert files == set(NAMES)
    for name in NAMES:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        assert command.name == name
        assert f"  {name} " in run("--help").output
    assert main.get_command(click.Context(main), "options") is None
    assert "No such command 'scor'" in run("scor").output


def test_help_of_all_commands_loads_none() -> None:
    modules = modules_after(
        "from click.testing import CliRunner",
        "from shafer.cli import main",
        "assert CliRunner().invoke(main, ['--help']).exit_code == 0",
    )
    assert "click" in modules
    assert not modules & {"numpy", "sklearn", "shafer.cli.score"}


def test_reading_a_model_imports_no_library_of_arrays(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    Explainer(model, X).save(tmp_path / "m.shafer")
    modules = modules_after(
        "from shafer import Explainer",
        f"Explainer.load({str(tmp_path / 'm.shafer')!r})",
    )
    assert "skops.io" in modules
    assert not modules & {"torch", "dask"}


@pytest.mark.parametrize("command", sorted(set(NAMES) - {"paper"}))
def test_help_has_an_example(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.output
    assert f"shafer {command}" in result.output.partition("Examples:")[2]
    assert "\\b" not in result.output


@pytest.mark.parametrize("command", ["report", "explain", "score", "next", "monitor"])
def test_examples_have_lines_of_their_own(command: str) -> None:
    lines = [line.strip() for line in run(command, "--help").output.splitlines()]
    after = lines[lines.index("Examples:") + 1 :]
    assert len(after) >= 2
    assert all(line.startswith(f"shafer {command}") for line in after)


def test_module_and_version() -> None:
    command = [sys.executable, "-m", "shafer", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"shafer, version {shafer.__version__}\n"
