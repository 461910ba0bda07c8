"""Running commands, in this process and in another."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from click.testing import CliRunner, Result

from shafer.cli import main


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def refused(message: str, *arguments: Any) -> None:
    """Assert one clear line and exit code 2, and no traceback."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)
    line = result.output[result.output.index("Error:") :]
    assert line.count("\n") == 1, line


def shell(*arguments: Any, **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "shafer", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, check=False, env={**os.environ, **environment}
    )
