"""``shafer monitor``."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import click

from shafer._files.atomic import replacing
from shafer._terminal import note, say, writing
from shafer._text import shortened
from shafer.cli.options import ModelOptions, careful, examples, model_options
from shafer.errors import BadRowsError
from shafer.explain.explainer import Explainer
from shafer.monitor.monitor import Monitor
from shafer.monitor.prometheus import prometheus_text
from shafer.monitor.report import MonitorReport, report_lines, text_rows
from shafer.scale.background_means import MeasuredModel, measured_model
from shafer.scale.ids import check_not_inputs, table_ids
from shafer.scale.inputs import ModelInputs, model_inputs
from shafer.scale.models import NamedModel, train_on
from shafer.scale.run_record import versions
from shafer.scale.tables import Table, known_labels, read_labels, read_table

_PATH = click.Path(path_type=Path)
_ALPHA = 0.05


@click.command(
    epilog=examples(
        "shafer monitor reference.csv march.csv --model model.skops",
        "shafer monitor reference.csv march.csv --model model.skops --out march.html || mail ...",
        "shafer monitor reference.csv jan.csv feb.csv mar.csv --model model.skops --labels chd",
        "shafer monitor reference.csv --model model.shafer --save saved.monitor",
        "shafer monitor --monitor saved.monitor march.csv --model model.shafer --json march.json",
    )
)
@click.argument("files", type=_PATH, nargs=-1, required=True, metavar="[REFERENCE] NEW...")
@model_options
@click.option(
    "--monitor",
    "saved",
    type=_PATH,
    help="A saved monitor, in the place of REFERENCE: of --save, or of Monitor.save. It needs the "
    "--model that it was made with.",
)
@click.option("--save", type=_PATH, help="Save the monitor, to use it again with --monitor.")
@click.option("--labels", metavar="COLUMN", help="The column with the true classes, if known.")
@click.option(
    "--alpha",
    type=float,
    help="The chance of an alarm for a file if nothing changed; by default 0.05. A saved monitor "
    "keeps its own.",
)
@click.option("--out", type=_PATH, help="The HTML page to write.")
@click.option("--json", "json_path", type=_PATH, help="The JSON file to write.")
@click.option(
    "--prometheus",
    type=_PATH,
    help="The file of metrics to write, for the textfile collector of Prometheus' node exporter.",
)
def monitor(
    files: tuple[Path, ...],
    options: ModelOptions,
    saved: Path | None,
    save: Path | None,
    labels: str | None,
    alpha: float | None,
    out: Path | None,
    json_path: Path | None,
    prometheus: Path | None,
) -> None:
    """Compare each file NEW with the rows of REFERENCE, and name the components that moved.

    REFERENCE holds rows from a time when all was well, best rows that the model was not trained on.
    With --monitor there is no REFERENCE: all files are new. Several NEW files are batches in the
    order of time. The files --out, --json and --prometheus appear when they are complete.

    The exit code is 0 if nothing moved, 1 on an alarm and 2 on an error, so that the command can
    stand in a cron job. On an error the files are left as they were; --prometheus has the time of
    the last run.

    Weights of evidence are relative to the means of the training data. These come from the model
    file or from --train, otherwise from REFERENCE.
    """
    with careful(findings=True):
        asked = _Asked(files, saved, save, labels, alpha, out, json_path, prometheus)
        alarm = _run(asked, options)
    if alarm:
        raise SystemExit(1)


@final
@dataclass(frozen=True)
class _Asked:
    """The files and options, as the user gave them."""

    files: tuple[Path, ...]
    saved: Path | None
    save: Path | None
    labels: str | None
    alpha: float | None
    out: Path | None
    json: Path | None
    prometheus: Path | None

    def check(self, train: Path | None) -> None:
        """Refuse options that do not fit together, and outputs that are inputs."""
        if self.saved is None and len(self.files) < 2 and self.save is None:
            raise ValueError(
                "shafer monitor needs REFERENCE and at least one file NEW, or --monitor and one "
                "file NEW."
            )
        if self.saved is not None and self.save is not None:
            raise ValueError("--monitor is saved already. Leave out --save.")
        if self.saved is not None and self.alpha is not None:
            raise ValueError("--alpha cannot be used with --monitor, which keeps its own.")
        inputs = (*self.files, self.saved, train)
        if self.out is not None:
            check_page(self.out, inputs)
        for option, path in (
            ("--save", self.save),
            ("--json", self.json),
            ("--prometheus", self.prometheus),
        ):
            if path is not None:
                _check_other(option, path, inputs)

    @property
    def reference(self) -> Path | None:
        return None if self.saved is not None else self.files[0]

    @property
    def new(self) -> tuple[Path, ...]:
        return self.files if self.saved is not None else self.files[1:]


def _run(asked: _Asked, options: ModelOptions) -> bool:
    asked.check(options.train_path)
    found = monitored_files(options.loaded(), asked, options)
    alarm = any(report.alarm for report in found.reports)
    if asked.out is not None and found.reports:
        from shafer.monitor.page import render_page, write_page

        compared = asked.saved if asked.reference is None else asked.reference
        assert compared is not None
        title = f"{', '.join(found.names)} compared with {compared.name}"
        html = render_page(found.reports, found.names, title, [found.about])
        with writing(asked.out):
            write_page(html, asked.out)
    if asked.json is not None:
        batches = [
            {"file": str(path), **report.to_dict()}
            for path, report in zip(asked.new, found.reports, strict=True)
        ]
        told = {"format": 1, "alarm": alarm, "about": found.about, "versions": versions()}
        content = json.dumps({**told, "batches": batches}, indent=1, allow_nan=False)
        _write(asked.json, content + "\n")
    if asked.prometheus is not None:
        _write(asked.prometheus, prometheus_text(found.reports, _distinct(asked.new)))
    for name, report in zip(found.names, found.reports, strict=True):
        say(f"{name}\n{monitor_text(report)}\n")
    written = (asked.save, asked.out, asked.json, asked.prometheus)
    where = ", ".join(str(path) for path in written if path is not None)
    say(f"{found.about} Written to {where}." if where else found.about)
    return alarm


def _write(path: Path, text: str) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(text.encode())


def _distinct(files: tuple[Path, ...]) -> list[str]:
    """Return the names of files, or their paths if two have the same name."""
    names = [path.name for path in files]
    return names if len(set(names)) == len(names) else [str(path) for path in files]


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
    "adjusted p  of the line, adjusted for all lines; an alarm if at most the chance above",
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
    _check_other("--out", out, inputs)


def _check_other(option: str, out: Path, inputs: Iterable[Path | None]) -> None:
    if any(p is not None and p.exists() and out.exists() and p.samefile(out) for p in inputs):
        raise ValueError(f"{option} must be another file than the data; got {out}.")


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


def monitored_files(named: NamedModel | None, asked: _Asked, options: ModelOptions) -> Monitored:
    """Fit or load a monitor, and check files.

    Parameters
    ----------
    named : NamedModel, optional
        By default a logistic regression is trained, on ``--train``.
    asked : _Asked
    options : ModelOptions
    """
    first = asked.files[0]  # with a saved monitor, its columns stand for all
    table = read_table(first)
    of_table = asked.saved is None  # new rows give no means
    reader = _reader(named, table, options, asked.labels, of_table=of_table)
    explainer = reader.model.evidence
    if not isinstance(explainer, Explainer):
        raise ValueError(
            "shafer monitor needs a model with weights of evidence; this one makes its evidence in "
            "another way. Use one of the models of docs/guide/models.md."
        )
    if asked.saved is not None:
        watching = Monitor.load(asked.saved, explainer)
    else:
        _check_ids(table, options)
        note(f"Reading {len(table):,} reference rows …")
        alpha = _ALPHA if asked.alpha is None else asked.alpha
        rows, truth = reader.rows(table), reader.truth(table)
        watching = Monitor.fit(explainer, rows, truth, alpha=alpha)
    if asked.save is not None:
        with writing(asked.save):
            asked.save.parent.mkdir(parents=True, exist_ok=True)
            watching.save(asked.save)
    reports = []
    for path in asked.new:
        note(f"Checking {path.name} …")
        if path is not first:
            table = read_table(path)
        _check_ids(table, options)
        truth = reader.truth(table)
        X = reader.rows(table)
        try:
            reports.append(watching.check(X, truth))
        except BadRowsError as error:
            raise ValueError(
                f"{path}, row {error.rows[0]}: {error.reasons[0]} Correct the row, or remove it."
            ) from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
    return Monitored(reports, [path.name for path in asked.new], reader.model.sentence)


def _check_ids(table: Table, options: ModelOptions) -> None:
    """Refuse a table whose ids are missing or not unique: a row in it twice counts twice."""
    if options.ids:
        table_ids(table, options.ids)


def _reader(
    named: NamedModel | None,
    table: Table,
    options: ModelOptions,
    labels: str | None,
    *,
    of_table: bool,
) -> _Reader:
    means = options.means(of_table=of_table)
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
