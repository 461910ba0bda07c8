"""``shafer budget``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer._terminal import say
from shafer._text import listed
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
        from shafer.scale.inputs import model_inputs
        from shafer.scale.models import SAVED, model_to_save
        from shafer.scale.tables import known_labels, read_labels, read_table

        if out.suffix.lower() not in SAVED:
            raise ValueError(f"--out must end in .shafer, as the other commands expect; got {out}.")
        if options.target is None:
            raise ValueError("shafer budget needs --target, the column of DATA with the classes.")
        found, sentence = model_to_save(options.loaded(), options.means())
        assert isinstance(found, Predictor)
        table = read_table(data)
        target, text = options.target, options.text_column
        beside = (*options.ids, *(() if by is None else (by,)))
        inputs = model_inputs(found, table.kinds, data, target=target, text_column=text, ids=beside)
        X = inputs.read(table)
        y = known_labels(read_labels(table, target), found.classes, target)
        if by is not None:
            if by not in table.kinds:
                raise ValueError(
                    f"{data} has no column {by!r}; it has {listed(list(table.kinds))}."
                )
            if inputs.texts:
                raise ValueError("--by needs a model that takes columns; this one takes texts.")
            X = X if by in X.columns else X.assign(**{by: table.frame[by]})
        found.control_budget(X, y, share, confidence, by)
        with writing(out):
            found.save(out)
        control = found.promises.deferral
        assert control is not None
    say(f"Promise: {control.text}.\n{sentence} Written to {out}.")
