"""``shafer score``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer.cli.shared_options import ModelOptions, careful, examples, model_options
from shafer.cli.terminal_output import say


@click.command(
    epilog=examples(
        "shafer score new.csv --model model.skops --out scored.parquet",
        "shafer score new.csv --model model.skops --train old.csv --out scored.parquet",
        "shafer score new.csv --train old.csv --target chd --out scored.csv",
    )
)
@click.argument("data", type=click.Path(path_type=Path))
@model_options
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The table to write: .csv, .csv.gz or .parquet.",
)
@click.option(
    "--chunk",
    type=click.IntRange(min=1),
    default=20_000,
    show_default=True,
    help="Rows held in memory at a time.",
)
def score(data: Path, options: ModelOptions, out: Path, chunk: int) -> None:
    """Write the evidence of every row of DATA: belief, ignorance, conflict, decided set and more.

    The columns are the probability, belief, plausibility and pignistic probability of each class,
    the ignorance, the conflict and the decided set. The table is read in chunks, so it may be
    larger than the memory. The file --out appears when it is complete.

    Weights of evidence are relative to the means of the training data. These come from the model
    file (classifiers of shafer, Explainer, a linear model behind a StandardScaler) or from --train.
    """
    with careful():
        from shafer.cli.score_table import write_scores

        written = write_scores(data, out, options.loaded(), options.means(), chunk)
    say(f"{written.means} Written to {out}: {written.rows} rows.")
