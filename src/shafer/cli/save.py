"""``shafer save``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer._terminal import say
from shafer.cli.options import ModelOptions, careful, errors_option, examples, model_options


@click.command(
    epilog=examples(
        "shafer save --model model.skops --train old.csv --out model.shafer",
        "shafer save --train a.csv --target y --calibrate held.csv --coverage .9 --error .05 "
        "--by site --threshold .2 --id patient --out model.shafer",
        "shafer score new.csv --model model.shafer --out scored.csv",
    )
)
@model_options
@errors_option
@click.option(
    "--calibrate",
    type=click.Path(path_type=Path),
    help="Rows that the model was not trained on, with their classes in --target: the promises of "
    "--coverage and --error are made on them.",
)
@click.option(
    "--coverage",
    type=float,
    help="Promise sets of classes that hold the true one with this probability, such as 0.9.",
)
@click.option(
    "--error",
    type=float,
    help="Promise that at most this share of the decided rows is wrong, such as 0.05; the other "
    "rows are deferred to a person.",
)
@click.option(
    "--by",
    metavar="COLUMN",
    help="The column of subpopulations, in each of which the promises hold. New rows need it too.",
)
@click.option(
    "--no-rows",
    is_flag=True,
    help="Keep no rows of the training data. Otherwise the file has at most 16 of them, on which "
    "exports are compared.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write, such as model.shafer.",
)
def save(
    options: ModelOptions,
    errors: str | None,
    calibrate: Path | None,
    coverage: float | None,
    error: float | None,
    by: str | None,
    no_rows: bool,
    out: Path,
) -> None:
    """Write a model and the means of its training data to one file, for all other commands.

    With that file as --model, they need no --train. Without --model, a logistic regression is
    trained on --train. With --calibrate, shafer score then writes sets and deferrals, and reasons,
    with no further option. The file is not a pickle: nothing in it is run when it is loaded. In
    Python, shafer.Explainer.load reads it.
    """
    with careful():
        from shafer._terminal import writing
        from shafer.scale.calibration import CalibrationOptions, calibrated
        from shafer.scale.models import SAVED, model_to_save

        if out.suffix.lower() not in SAVED:
            raise ValueError(f"--out must end in .shafer, as the other commands expect; got {out}.")
        asked = CalibrationOptions(calibrate, coverage, error, by)
        means = options.means(errors=errors)
        asked.check(means)
        found, sentence = model_to_save(options.loaded(), means)
        promised = calibrated(found, asked, means)
        with writing(out):
            found.save(out, rows=not no_rows)
    say(" ".join(filter(None, (sentence, promised, f"Written to {out}."))))
