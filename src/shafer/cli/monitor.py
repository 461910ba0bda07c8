"""``shafer monitor``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import click

from shafer._terminal import note, say
from shafer._text import shortened
from shafer.cli.options import ModelOptions, careful, examples, model_options
from shafer.explain.explainer import Explainer
from shafer.monitor.monitor import Monitor
from shafer.monitor.report import MonitorReport, report_lines, text_rows
from shafer.scale.background_means import MeasuredModel, measured_model
from shafer.scale.ids import check_not_inputs, table_ids
from shafer.scale.inputs import ModelInputs, model_inputs
from shafer.scale.models import NamedModel, train_on
from shafer.scale.tables import Table, known_labels, read_labels, read_table

_PATH = click.Path(path_type=Path)


@click.command(
    epilog=examples(
        "shafer monitor reference.csv march.csv --model model.skops",
        "shafer monitor reference.csv march.csv --model model.skops --out march.html || mail ...",
        "shafer monitor reference.csv jan.csv feb.csv mar.csv --model model.skops --labels chd",
    )
)
@click.argument("reference", type=_PATH)
@click.argument("new", type=_PATH, nargs=-1, required=True)
@model_options
@click.option("--labels", metavar="COLUMN", help="The column with the true classes, if known.")
@click.option(
    "--alpha",
    type=float,
    default=0.05,
    show_default=True,
    help="The chance of an alarm for a file if nothing changed.",
)
@click.option("--out", type=_PATH, help="The HTML page to write.")
def monitor(
    reference: Path,
    new: tuple[Path, ...],
    options: ModelOptions,
    labels: str | None,
    alpha: float,
    out: Path | None,
) -> None:
    """Compare each file NEW with the rows of REFERENCE, and name the components that moved.

    REFERENCE holds rows from a time when all was well, best rows that the model was not trained on.
    Several NEW files are batches in the order of time. The exit code is 0 if nothing moved, 1 on
    an alarm and 2 on an error, so that the command can stand in a cron job. The page --out appears
    when it is complete.

    Weights of evidence are relative to the means of the training data. These come from the model
    file or from --train, otherwise from REFERENCE.
    """
    with careful(findings=True):
        alarm = _run(reference, new, options, labels, alpha, out)
    if alarm:
        raise SystemExit(1)


def _run(
    reference: Path,
    new: tuple[Path, ...],
    options: ModelOptions,
    labels: str | None,
    alpha: float,
    out: Path | None,
) -> bool:
    from shafer._terminal import writing

    if out is not None:
        check_page(out, (reference, *new, options.train_path))
    found = monitored_files(options.loaded(), reference, new, options, labels, alpha)
    if out is not None:
        from shafer.monitor.page import render_page, write_page

        title = f"{', '.join(found.names)} compared with {reference.name}"
        html = render_page(found.reports, found.names, title, [found.about])
        with writing(out):
            write_page(html, out)
    for name, report in zip(found.names, found.reports, strict=True):
        say(f"{name}\n{monitor_text(report)}\n")
    say(found.about if out is None else f"{found.about} Written to {out}.")
    return any(report.alarm for report in found.reports)


# A monitor's report for the terminal: the answer, and a table.

_COLUMNS = {
    "name": "",
    "shift": "shift",
    "classes": "classes",
    "spread": "spread",
    "ks": "KS",
    "psi": "PSI",
    "adjusted_p": "adjusted p",
    "decisions": "decisions",
}
_MOST = 40  # rows that did not move
_LEGEND = (
    "",
    "shift       of the mean, in log-odds for components: +1 multiplies the odds by 2.7",
    "spread      standard deviation of the file over that of the reference",
    "adjusted p  for all rows of this table; an alarm from the chance of a false alarm down",
    "decisions   that would change if the component were as in the reference",
)


def monitor_text(report: MonitorReport) -> str:
    """Return the summary, and a table with what moved first."""
    rows = text_rows(report)
    quiet = [row for row in rows if not row["moved"]]
    left_out = {id(row) for row in quiet[_MOST:]}
    shown = [row for row in rows if id(row) not in left_out]
    cells = [[shortened(str(row[key]), 40) for key in _COLUMNS] for row in shown]
    marks = ["!" if row["moved"] else " " for row in shown]
    lines = [" ", *marks]
    table = [list(_COLUMNS.values()), *cells]
    widths = [max(len(line[k]) for line in table) for k in range(len(_COLUMNS))]
    text = [
        f"{mark} " + "  ".join(_padded(line, widths)).rstrip()
        for mark, line in zip(lines, table, strict=True)
    ]
    if left_out:
        text.append(f"  and {len(left_out)} more that did not move")
    return "\n".join([*report_lines(report), "", *text, *_LEGEND])


def _padded(line: list[str], widths: list[int]) -> list[str]:
    first, *others = [
        cell.ljust(width) if k in (0, 2) else cell.rjust(width)
        for k, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]
    return [first, *others]


# From files named on the command line to reports of a monitor.

_PAGES = (".html", ".htm")


@final
@dataclass(frozen=True, eq=False)
class Monitored:
    """Reports of files, in their order, the names of the files, and a sentence on the means."""

    reports: list[MonitorReport]
    names: list[str]
    about: str


def check_page(out: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse a page that is not HTML, or that is one of the inputs."""
    if out.suffix.lower() not in _PAGES:
        raise ValueError(f"--out must be a .html file; got {out}.")
    if any(p is not None and p.exists() and out.exists() and p.samefile(out) for p in inputs):
        raise ValueError(f"--out must be another file than the data; got {out}.")


@final
@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads rows as the model takes them, and their classes."""

    model: MeasuredModel
    inputs: ModelInputs
    labels: str | None
    target: str | None = None  # a column that may hold the true classes, in files that have it

    def rows(self, table: Table) -> Any:
        path = table.path
        lacking = [name for name in self.inputs.columns if name not in table.columns]
        if lacking:
            raise ValueError(
                f"{path} lacks the column {lacking[0]!r}, which the model needs. Add it, with the "
                "name that it had in training."
            )
        try:
            return self.inputs.read(table)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def truth(self, table: Table) -> Any:
        column = self.labels
        if column is None and self.target in table.columns:
            column = self.target
        if column is None:
            return None
        return known_labels(read_labels(table, column), self.model.classes, column)


def monitored_files(
    named: NamedModel | None,
    reference: Path,
    new: tuple[Path, ...],
    options: ModelOptions,
    labels: str | None,
    alpha: float,
) -> Monitored:
    """Fit a monitor on one file, and check the others.

    Parameters
    ----------
    named : NamedModel, optional
        By default a logistic regression is trained, on ``--train``.
    reference, new : Path, tuple of Path
    options : ModelOptions
    labels : str, optional
        The column with the true classes.
    alpha : float
    """
    table = read_table(reference)
    reader = _reader(named, table, options, labels)
    explainer = reader.model.evidence
    if not isinstance(explainer, Explainer):
        raise ValueError(
            "shafer monitor needs a model with weights of evidence; this one makes its evidence in "
            "another way. Use one of the models of docs/guide/models.md."
        )
    _check_ids(table, options)
    note(f"Reading {len(table):,} reference rows …")
    monitor = Monitor.fit(explainer, reader.rows(table), reader.truth(table), alpha=alpha)
    reports = []
    for path in new:
        note(f"Checking {path.name} …")
        table = read_table(path)
        _check_ids(table, options)
        truth = reader.truth(table)
        X = reader.rows(table)
        try:
            reports.append(monitor.check(X, truth))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return Monitored(reports, [path.name for path in new], reader.model.sentence)


def _check_ids(table: Table, options: ModelOptions) -> None:
    """Refuse a table whose ids are missing or not unique: a row in it twice counts twice."""
    if options.ids:
        table_ids(table, options.ids)


def _reader(
    named: NamedModel | None, table: Table, options: ModelOptions, labels: str | None
) -> _Reader:
    means = options.means(of_table=True)
    if named is None:
        if options.train_path is None or options.target is None:
            raise ValueError(
                "shafer monitor needs --model, or --train and --target to train a logistic "
                "regression."
            )
        trained = train_on(options.train_path, options.target, means)
        own = MeasuredModel.relative(trained.explainer, f"of {options.train_path.name}")
        return _Reader(own, ModelInputs(trained.columns), labels, options.target)
    target = options.target if labels is None else labels
    inputs = model_inputs(
        named.model,
        table.kinds,
        table.path,
        target=target,
        text_column=options.text_column,
        ids=options.ids,
    )
    check_not_inputs(options.ids, inputs.columns)
    measured = measured_model(named.model, inputs, table.path, lambda: inputs.read(table), means)
    return _Reader(measured, inputs, labels, options.target)
