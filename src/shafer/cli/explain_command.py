"""``shafer explain``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer.cli.shared_options import careful, examples, loaded, model_options
from shafer.cli.terminal_output import columns, say


@click.command(
    epilog=examples(
        "shafer explain --row 17",
        "shafer explain --data patients.csv --target chd --row 3",
        "shafer explain --model model.skops --data new.csv --row 3",
    )
)
@click.option("--data", type=click.Path(path_type=Path), help="Rows to look at: CSV or Parquet.")
@model_options
@click.option(
    "--row", type=click.IntRange(min=0), default=0, show_default=True, help="Which row, from 0."
)
def explain(
    data: Path | None,
    model_path: Path | None,
    train_path: Path | None,
    target: str | None,
    trusted: tuple[str, ...],
    trust_pickle: bool,
    row: int,
) -> None:
    """Explain one row in the terminal: weights, intervals, sets and a sentence.

    Without --data it is a row of the bundled heart data.
    """
    with careful():
        from shafer.cli.study_from_files import study_of
        from shafer.report.terminal_view import explained

        study = study_of(loaded(model_path, trusted, trust_pickle), data, target, train_path)
        say(explained(study, row, columns()))
