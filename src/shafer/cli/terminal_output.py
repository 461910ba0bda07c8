"""Text for the terminal: every terminal can show it, and nothing in it controls the terminal."""

from __future__ import annotations

import os
import shutil
import sys

import click

from shafer._text import printable

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
