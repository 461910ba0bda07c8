"""The command line. One file a command; each calls one function of the layers below.

``tables.py``, ``model_files.py`` and ``scoring.py`` read and write the user's files.
"""

from __future__ import annotations

try:
    import click
except ImportError as error:  # pragma: no cover - click is there wherever the tests run
    raise SystemExit("The command line needs its extra: pip install 'shafer[cli]'") from error

import shafer
from shafer.cli.explain_command import explain
from shafer.cli.paper_command import paper
from shafer.cli.report_command import report
from shafer.cli.score_command import score


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(shafer.__version__, prog_name="shafer")
def main() -> None:
    """Show the evidence behind a classifier's probabilities."""


for command in (report, explain, score, paper):
    main.add_command(command)
