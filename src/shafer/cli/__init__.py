"""The command line: one file for each command, and ``options`` with what they share.

Each calls the layers below, and writes what it finds to files or the terminal. May import
everything.
"""

from __future__ import annotations

from importlib import import_module

try:
    import click
except ImportError as error:  # pragma: no cover - click is there wherever the tests run
    raise SystemExit(
        "The command line needs its extra: pip install '.[cli]' in a copy of the repository"
    ) from error

import shafer

_COMMANDS = {  # each in the file of its name
    "explain": "Explain one row: its answer, its reasons, what could change it.",
    "score": "Write the answer about every row of a table, and its reasons.",
    "report": "Write one HTML page that shows rows, reasons and sliders.",
    "next": "Say which missing inputs to measure, and for which rows.",
    "budget": "Hand on a share of the rows, and bound the error of the rest.",
    "monitor": "Compare new rows with earlier ones, and name what moved.",
    "save": "Write a model, its background and its promises to one file.",
    "inspect": "Say what a saved file holds, who can load it, and what it promises.",
    "warmup": "Compile the fast kernels once, when an image is built.",
    "paper": "Reproduce every table and figure of Denœux (2019).",
}


class Commands(click.Group):
    """The commands, each read from its file when it is called: ``shafer --help`` reads none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of a first use."""
        del ctx
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of this name, or return None."""
        del ctx
        if cmd_name not in _COMMANDS:
            return None
        name = "next_" if cmd_name == "next" else cmd_name  # next is Python's own
        command = getattr(import_module(f"shafer.cli.{cmd_name}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line about each command, from the table above."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(shafer.__version__, prog_name="shafer")
def main() -> None:
    """Show the evidence behind a classifier's probabilities."""
