"""``shafer report``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shafer._terminal import say, writing
from shafer.cli.options import (
    ModelOptions,
    careful,
    errors_option,
    examples,
    model_options,
    page_path,
    read_rows,
    rows_among,
)

if TYPE_CHECKING:
    from shafer.report.study import Study

_RANGE = re.compile(r"\d*:\d*")


@click.command(
    epilog=examples(
        "shafer report",
        "shafer report --data patients.csv --target chd --out report.html",
        "shafer report --model model.skops --data new.parquet --train old.parquet",
    )
)
@click.option("--data", type=click.Path(path_type=Path), help="The rows: CSV or Parquet.")
@model_options
@errors_option
@click.option(
    "--rows",
    help="Rows to show, such as 3,7,9 or 0:100; with --id, the ids of rows such as pat7,pat160, or "
    "a range such as 0:100.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    help="The page to write, or a folder for report.html.",
)
@click.option(
    "--judge-first",
    is_flag=True,
    help="Hide the model's answer about a row until the reader has seen the evidence for and "
    "against a class, and has given an answer.",
)
def report(
    data: Path | None,
    options: ModelOptions,
    errors: str | None,
    rows: str | None,
    out: Path,
    judge_first: bool,
) -> None:
    """Write a report on a model's evidence: one HTML file that needs nothing else.

    Without options it reports on the bundled heart data and a logistic regression. With --data
    and --target but no --model, a logistic regression is trained on the data. If neither the model
    nor --train gives the means of the training data, the means of the reported rows are used, and
    the report states it.
    """
    with careful():
        page = page_path(out, "--out", "report.html")
        from shafer.cli.explain import study_of
        from shafer.report.page import write_report
        from shafer.report.terminal import summary

        study = study_of(options.loaded(), data, options.means(of_table=True, errors=errors))
        chosen = None if rows is None else _places(study, rows, options, data)
        with writing(page):
            write_report(study, page, chosen, judge_first=judge_first)
        say(summary(study, chosen, cases=not judge_first))
    say(f"Written to {page}: open it in a browser.")


def _places(study: Study, rows: str, options: ModelOptions, data: Path | None) -> list[int]:
    """Return the positions of the rows that were asked for, by their ids or their numbers."""
    from shafer.scale.ids import row_of

    if not options.ids or data is None or _RANGE.fullmatch(rows):
        return rows_among(read_rows(rows), len(study))
    found = (row_of(text.strip(), study.ids, data, "--rows") for text in rows.split(","))
    return list(dict.fromkeys(found))
