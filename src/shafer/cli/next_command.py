"""``shafer next``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer.cli.shared_options import ModelOptions, careful, examples, model_options
from shafer.cli.terminal_output import say


@click.command(
    "next",
    epilog=examples(
        "shafer next new.csv --model model.skops --train old.csv",
        "shafer next new.csv --model model.skops --train old.csv --budget 100 --out plan.csv",
        "shafer next new.csv --train old.csv --target chd --budget 50 --costs ldl=20 --costs age=1",
        "shafer next new.csv --model model.skops --train old.csv --budget 500 --costs costs.csv",
    ),
)
@click.argument("data", type=click.Path(path_type=Path))
@model_options
@click.option(
    "--budget",
    type=float,
    help="What all measurements together may cost. Each costs 1 unless --costs is given.",
)
@click.option(
    "--costs",
    multiple=True,
    metavar="NAME=NUMBER|FILE",
    help="The cost of an input, such as age=2.5 (may be repeated), or a CSV or Parquet file with "
    "the columns input and cost.",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Inputs listed for each row.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The table to write: .csv, .csv.gz or .parquet. With --budget the measurements to make, "
    "otherwise the next inputs of each row.",
)
def next_(
    data: Path,
    options: ModelOptions,
    budget: float | None,
    costs: tuple[str, ...],
    top: int,
    out: Path | None,
) -> None:
    """Print which missing inputs of DATA to measure, for which rows.

    Empty cells of DATA are missing inputs. Each is ranked by its information: how far the
    probabilities of the row would change on average if it were known, per cost. With --budget,
    the measurements with the most information per cost are chosen over all rows.

    It works for linear models whose features each come from one column, such as a logistic
    regression behind scalers and one-hot encoders. It needs the training data, from --train or
    from an Explainer or EvidentialClassifier in the model file.
    """
    with careful():
        from shafer.cli.cost_options import read_costs
        from shafer.cli.measurement_plan import measurement_plan
        from shafer.cli.plan_text import plan_text
        from shafer.cli.table_output import check_output, write_table

        if out is not None:
            check_output(out, (data, options.train_path))
        plan = measurement_plan(
            options.loaded(),
            data,
            options.means(),
            budget=budget,
            costs=read_costs(costs),
            top=top,
        )
        table = plan.each if plan.bought is None else plan.bought
        if out is not None:
            write_table(table, out)
        say(plan_text(plan, budget, None if out is None else str(out)))
    if out is not None:
        say(f"\nWritten to {out}: {len(table)} rows.")
