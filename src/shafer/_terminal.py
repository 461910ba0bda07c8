"""Text for the terminal: every terminal can show it, and nothing in it controls the terminal."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from shafer._text import one_line, printable

# Replacements for terminals and pipes with few letters, as on Windows.
_PLAIN = str.maketrans(
    {
        "━": "=",
        "┈": ".",
        "◆": "*",
        "−": "-",
        "…": "~",
        "�": "?",
        "█": "#",
        "░": ":",
        "▉": "#",
        "▊": "#",
        "▋": "#",
        "▌": "#",
        "▍": "",
        "▎": "",
        "▏": "",
    }
)


def say(text: str) -> None:
    """Print a text; letters that the terminal lacks are replaced."""
    _print(printable(text))


def say_styled(text: str) -> None:
    """Print a text with colours of our own, whose other control characters are written out."""
    _print(text)


def wants_color() -> bool:
    """Tell whether the output may have colours: a terminal, and no wish against it (NO_COLOR)."""
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def _print(text: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_PLAIN)
        text = plain.encode(encoding, "replace").decode(encoding)
    click.echo(text)


def terminal_width() -> int:
    """Return the width of the terminal, or 0 if the output is not a terminal."""
    return shutil.get_terminal_size(fallback=(0, 0)).columns


def warn(text: str) -> None:
    """Print a warning to the error stream."""
    click.echo(f"Warning: {printable(text)}", err=True)


def note(text: str) -> None:
    """Print what takes long to the error stream, if a person is watching."""
    if sys.stderr.isatty():
        click.echo(printable(text), err=True)


# Errors as the user sees them: one clear line, exit code 2, no traceback.

_EXTRAS = {  # module -> the extra that installs it
    "jinja2": "'.[report]' in a copy of the repository",
    "markupsafe": "'.[report]' in a copy of the repository",
    "skops": "'.[cli]' in a copy of the repository",
    "tqdm": "'.[cli]' in a copy of the repository",
}


class Refused(click.ClickException):
    """One clear line, exit code 2."""

    exit_code = 2


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file in the error when it cannot be written."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(
            f"{path} cannot be written: a part of its path is a file, not a folder. Give another "
            "path."
        ) from error
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror or error}") from error


@contextmanager
def ended_cleanly() -> Iterator[None]:
    """On SIGTERM, end as after an error, so that half-written files are removed."""
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
    """Turn errors that a user can cause (a wrong file, value or model) into one line."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        package = _EXTRAS.get(missing, missing)
        raise Refused(f"This command needs {missing}; run: pip install {package}") from error
    except KeyboardInterrupt as error:  # click would give it the exit code 1
        raise SystemExit(130) from error
    except BrokenPipeError:  # the reader, such as head, has seen enough: click ends quietly
        raise
    except MemoryError as error:
        raise Refused("Not enough memory for this table. Use fewer rows or columns.") from error
    except (ValueError, OSError, TypeError, ImportError) as error:
        raise Refused(one_line(error)) from error
