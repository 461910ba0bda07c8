"""``shafer budget``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer._terminal import say
from shafer.cli.options import ModelOptions, careful, examples, model_options

_PATH = click.Path(path_type=Path)


@click.command(
    epilog=examples(
        "shafer budget held_out.csv --model model.shafer --target chd --share 0.04 --out m.shafer",
        "shafer score new.csv --model m.shafer --out scored.csv",
    )
)
@click.argument("data", type=_PATH)
@model_options
@click.option(
    "--share",
    type=float,
    required=True,
    help="The share of rows that a person can take, such as 0.04.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.9,
    show_default=True,
    help="How sure the bound on the error of the other rows is.",
)
@click.option("--by", metavar="COLUMN", help="Hand on the share in each group of this column.")
@click.option("--out", type=_PATH, required=True, help="The file to write, such as m.shafer.")
def budget(
    data: Path, options: ModelOptions, share: float, confidence: float, by: str | None, out: Path
) -> None:
    """Hand on a share of rows, and say what can be promised for the rest.

    DATA holds rows that the model was not trained on, and their classes in the column --target. The
    least sure ones decide which rows are handed on: the file --out has the threshold and an upper
    bound of the error of all other rows. shafer score uses it.
    """
    with careful():
        from shafer._terminal import writing
        from shafer.explain.predictor import Predictor
        from shafer.scale.calibration import held_out_rows, name_groups, warnings_told
        from shafer.scale.models import SAVED, model_to_save

        if out.suffix.lower() not in SAVED:
            raise ValueError(f"--out must end in .shafer, as the other commands expect; got {out}.")
        if options.target is None:
            raise ValueError("shafer budget needs --target, the column of DATA with the classes.")
        means = options.means()
        found, sentence = model_to_save(options.loaded(), means)
        assert isinstance(found, Predictor)
        held = held_out_rows(found, data, means, by, "DATA")
        with warnings_told():
            found.control_budget(held.X, held.y, share, confidence, held.by)
        control = name_groups(found, by)
        with writing(out):
            found.save(out)
    say(f"Promise: {control.text}.\n{sentence} Written to {out}.")
