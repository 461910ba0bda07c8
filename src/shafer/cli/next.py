"""``shafer next``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import click

from shafer._terminal import say
from shafer._text import cells
from shafer.asking.next_inputs import order_cannot_differ
from shafer.asking.sentences import SAME_ORDER
from shafer.cli.options import ModelOptions, careful, examples, keep_option, model_options
from shafer.explain.explainer import Explainer
from shafer.report.terminal import label, padded
from shafer.scale.background_means import MeansOptions, measured_model
from shafer.scale.ids import check_columns, check_not_inputs, table_ids
from shafer.scale.inputs import model_inputs
from shafer.scale.models import NamedModel, train_on
from shafer.scale.tables import Table, read_table


@click.command(
    "next",
    epilog=examples(
        "shafer next new.csv --model model.skops --train old.csv",
        "shafer next new.csv --model model.shafer --id patient --budget 100 --out plan.csv",
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
@keep_option
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
    keep: tuple[str, ...],
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
        from shafer.cli.options import read_costs
        from shafer.scale.tables import check_output, write_table

        if out is not None:
            check_output(out, (data, options.train_path))
        plan = measurement_plan(
            options.loaded(),
            data,
            options.means(),
            budget=budget,
            costs=read_costs(costs),
            top=top,
            keep=keep,
        )
        table = plan.each if plan.bought is None else plan.bought
        if out is not None:
            write_table(table, out)
        say(plan_text(plan, budget, None if out is None else str(out)))
    if out is not None:
        say(f"\nWritten to {out}: {len(table)} rows.")


# Whom to measure what: a model, a table with gaps, and the measurements to make.


@final
@dataclass(frozen=True, eq=False)
class MeasurementPlan:
    """What to measure next.

    Attributes
    ----------
    n_rows : int
        Rows of the table.
    each : pandas frame
        The next inputs of each row, as ``explainer.ask.next_inputs`` gives them.
    bought : pandas frame, optional
        The measurements within the budget, as ``explainer.ask.next_measurements`` gives them.
    alike : bool
        Whether all rows must have the same order.
    ids : pandas index, optional
        The ids of the rows.
    """

    n_rows: int
    each: Any
    bought: Any = None
    alike: bool = False
    ids: Any = None

    def name(self, row: int) -> str:
        """Return how a row is called: by its id, or by its number."""
        return str(row) if self.ids is None else label(str(self.ids[row]), _LONGEST)


def measurement_plan(
    model: NamedModel | None,
    data: Path,
    options: MeansOptions,
    *,
    budget: float | None,
    costs: dict[str, float] | None,
    top: int,
    keep: tuple[str, ...] = (),
) -> MeasurementPlan:
    """Plan the measurements of a table.

    Parameters
    ----------
    model : NamedModel, optional
        By default a logistic regression is trained.
    data : Path
        The table, with empty cells where an input is missing.
    options : MeansOptions
        Training data and target.
    budget : float, optional
        What all measurements together may cost.
    costs : dict, optional
        Input -> cost; 1 by default.
    top : int
        The inputs listed for each row.
    keep : tuple of strings
        Columns of the table to pass on, besides the ids.
    """
    source = read_table(data)
    check_columns(keep, source.columns, data, "--keep")
    ids = table_ids(source, options.ids) if options.ids else None
    explainer, X = _asked(model, source, options)
    each = explainer.ask.next_inputs(X, top, costs=costs, backend="pandas")
    bought = None
    if budget is not None:
        bought = explainer.ask.next_measurements(X, budget, costs=costs, backend="pandas")
    kept = source.cells[list(dict.fromkeys((*options.ids, *keep)))]
    plan = [None if table is None else _of_rows(table, kept) for table in (each, bought)]
    alike = order_cannot_differ(explainer.ask.model(), X, costs)
    return MeasurementPlan(len(X), plan[0], plan[1], alike, ids)


def _of_rows(table: Any, kept: Any) -> Any:
    """Add columns of the rows. The labels of X are left out: they are positions."""
    table = table.drop(columns="index", errors="ignore")
    for place, name in enumerate(kept.columns):
        table.insert(place, name, kept[name].to_numpy()[table["row"].to_numpy()])
    return table


def _asked(model: NamedModel | None, table: Table, options: MeansOptions) -> tuple[Explainer, Any]:
    data = table.path
    if model is not None:
        inputs = model_inputs(
            model.model,
            table.kinds,
            data,
            target=options.target,
            text_column=options.text_column,
            ids=options.ids,
        )
        check_not_inputs(options.ids, inputs.columns)
        X = inputs.read(table)
        explainer = measured_model(model.model, inputs, data, lambda: X, options).evidence
        if not isinstance(explainer, Explainer):
            raise ValueError(
                f"shafer next needs a linear model on single columns; {model.file_name} holds a "
                f"{type(model.model).__name__}, which makes its own evidence."
            )
        return explainer, X
    if options.train_path is None or options.target is None:
        raise ValueError(
            "shafer next needs --model, or --train and --target to train a logistic regression."
        )
    trained = train_on(options.train_path, options.target, options)
    return trained.explainer, trained.inputs(table)


# A plan of measurements as text for the terminal.

_MOST_LINES = 30
_FEW_LINES = 10  # of the rows, below the measurements within a budget
_LONGEST = 32
_UNIT = (
    "Information is how far the probabilities would change on average, in nats, if the input were "
    "known."
)


def plan_text(plan: MeasurementPlan, budget: float | None, out: str | None) -> str:
    """Return the plan: the measurements within the budget, then the next inputs of each row.

    Parameters
    ----------
    plan : MeasurementPlan
    budget : float, optional
    out : str, optional
        The file that has the whole table.
    """
    if not len(plan.each):
        return f"Nothing to measure: no input is missing in these {plan.n_rows:,} rows."
    parts = []
    if plan.bought is not None and budget is not None:
        parts.append(_bought(plan, budget, out))
    alone = plan.bought is None
    most = _MOST_LINES if alone else _FEW_LINES
    parts.append(_each(plan, most, out if alone else None))
    return "\n\n".join([*parts, _UNIT, *([SAME_ORDER] if plan.alike else [])])


def _bought(plan: MeasurementPlan, budget: float, out: str | None) -> str:
    frame = plan.bought
    if not len(frame):
        return (
            f"Within a budget of {budget:g}, nothing can be measured that would tell anything "
            "about the class."
        )
    rows = frame["row"].nunique()
    total = float(frame["cost"].sum())
    title = (
        f"Within a budget of {budget:g}: {_count(len(frame), 'measurement')} in "
        f"{_count(rows, 'row')}, cost {total:g}"
    )
    header = ["order", "row", "input", "information", "cost", "between"]
    body = [
        [
            str(line["rank"]),
            plan.name(int(line["row"])),
            label(str(line["input"]), _LONGEST),
            f"{line['information']:.4f}",
            f"{line['cost']:g}",
            f"{label(str(line['class']), _LONGEST)} and {label(str(line['over']), _LONGEST)}",
        ]
        for line in frame.head(_MOST_LINES).to_dict("records")
    ]
    return "\n".join(
        [title, *_table(header, body), *_more(len(frame), _MOST_LINES, "measurements", out)]
    )


def _each(plan: MeasurementPlan, most: int, out: str | None) -> str:
    frame, n_rows = plan.each, plan.n_rows
    lacking = frame["row"].nunique()
    title = f"Next inputs of each row: {lacking:,} of {n_rows:,} rows lack an input"
    body = []
    for row, lines in frame.groupby("row", sort=True):
        named = [
            f"{label(str(name), _LONGEST)} {gain:.4f}"
            for name, gain in zip(lines["input"], lines["information"], strict=True)
        ]
        body.append([plan.name(int(row)), ", ".join(named)])
        if len(body) == most:
            break
    header = ["row", "inputs, the best first, with their information"]
    return "\n".join([title, *_table(header, body), *_more(lacking, most, "rows", out)])


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def _more(n: int, most: int, what: str, out: str | None) -> list[str]:
    if n <= most:
        return []
    where = "" if out is None else f" in {out}"
    return [f"  and {n - most:,} more {what}{where}"]


def _table(header: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(cells, column)) for column in zip(header, *body, strict=True)]
    return ["  " + "  ".join(map(padded, line, widths)).rstrip() for line in (header, *body)]
