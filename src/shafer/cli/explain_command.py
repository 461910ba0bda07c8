"""``shafer explain``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer.cli.shared_options import ModelOptions, careful, examples, model_options
from shafer.cli.terminal_output import say, terminal_width


@click.command(
    epilog=examples(
        "shafer explain --row 17",
        "shafer explain --data patients.csv --target chd --row 3",
        "shafer explain --model model.skops --data new.csv --row 3",
        "shafer explain --model texts.skops --train old.csv --data new.csv --text-column review",
    )
)
@click.option("--data", type=click.Path(path_type=Path), help="The rows: CSV or Parquet.")
@model_options
@click.option(
    "--row",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The row, counted from 0.",
)
def explain(data: Path | None, options: ModelOptions, row: int) -> None:
    """Explain one row in the terminal: weights, intervals, sets and a sentence.

    Without --data it explains a row of the bundled heart data.

    Weights of evidence are relative to the means of the training data. These come from the model
    file (classifiers of shafer, Explainer, a linear model behind a StandardScaler) or from --train.
    """
    with careful():
        from shafer.cli.study_from_files import study_of
        from shafer.report.terminal_view import explained

        study = study_of(options.loaded(), data, options.means())
        say(explained(study, row, terminal_width()))
        if data is not None:
            say(f"\n{study.about[0]}")
