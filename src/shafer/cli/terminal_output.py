"""Words for the terminal, whatever its letters are."""

from __future__ import annotations

import shutil
import sys

import click

# For terminals and pipes that cannot write all letters, as on Windows.
_PLAIN = str.maketrans(
    {
        "━": "=",
        "┈": ".",
        "◆": "*",
        "−": "-",
        "…": "~",
        "�": "?",
        "█": "#",
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
    """Print a text; where its letters cannot be written, in those that can."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        plain = text.translate(_PLAIN)
        text = plain.encode(encoding, "replace").decode(encoding)
    click.echo(text)


def columns() -> int:
    """Count the columns of the terminal; 0 where there is none, as in a pipe."""
    return shutil.get_terminal_size(fallback=(0, 0)).columns
