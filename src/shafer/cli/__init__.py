"""The command line: one file for each command, and ``options`` with what they share.

Each calls the layers below, and writes what it finds to files or the terminal. May import
everything.
"""

from __future__ import annotations

try:
    import click
except ImportError as error:  # pragma: no cover - click is there wherever the tests run
    raise SystemExit(
        "The command line needs its extra: pip install '.[cli]' in a copy of the repository"
    ) from error

import shafer
from shafer.cli.budget import budget
from shafer.cli.explain import explain
from shafer.cli.monitor import monitor
from shafer.cli.next import next_
from shafer.cli.paper import paper
from shafer.cli.report import report
from shafer.cli.save import save
from shafer.cli.score import score


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(shafer.__version__, prog_name="shafer")
def main() -> None:
    """Show the evidence behind a classifier's probabilities."""


for command in (report, explain, score, next_, budget, monitor, save, paper):
    main.add_command(command)
