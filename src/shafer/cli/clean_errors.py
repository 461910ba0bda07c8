"""What the user sees when something is wrong: one clear line, exit code 2, no traceback."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

_LONGEST = 600
_HOME = {  # module -> the extra that brings it
    "jinja2": "shafer[report]",
    "markupsafe": "shafer[report]",
    "plotly": "shafer[report]",
    "skops": "shafer[cli]",
    "tqdm": "shafer[cli]",
}


class Refused(click.ClickException):
    """One clear line, exit code 2."""

    exit_code = 2


def one_line(error: object) -> str:
    """Write an error's message on one line of bounded length."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say of what file it is that it cannot be written."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(
            f"{path} cannot be written: a part of its path is a file, not a folder."
        ) from error
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def ended_cleanly() -> Iterator[None]:
    """On SIGTERM, end as on an error: half-written files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what a user can cause (a wrong file, value, model) into one line."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        package = _HOME.get(missing, missing)
        raise Refused(f"This command needs {missing}; run: pip install '{package}'") from error
    except MemoryError as error:
        raise Refused("The memory does not suffice for this table.") from error
    except (ValueError, OSError, TypeError, ImportError) as error:
        raise Refused(one_line(error)) from error
