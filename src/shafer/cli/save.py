"""``shafer save``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer._terminal import say
from shafer.cli.options import ModelOptions, careful, errors_option, examples, model_options


@click.command(
    epilog=examples(
        "shafer save --model model.skops --train old.csv --out model.shafer",
        "shafer score new.csv --model model.shafer --out scored.csv",
    )
)
@model_options
@errors_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The file to write, such as model.shafer.",
)
def save(options: ModelOptions, errors: str | None, out: Path) -> None:
    """Write a model and the means of its training data to one file, for all other commands.

    With that file as --model, they need no --train. The file is not a pickle: nothing in it is run
    when it is loaded. In Python, shafer.Explainer.load reads it.
    """
    with careful():
        from shafer._terminal import writing
        from shafer.scale.models import SAVED, model_to_save

        if out.suffix.lower() not in SAVED:
            raise ValueError(f"--out must end in .shafer, as the other commands expect; got {out}.")
        found, sentence = model_to_save(options.loaded(), options.means(errors=errors))
        with writing(out):
            found.save(out)
    say(f"{sentence} Written to {out}.")
