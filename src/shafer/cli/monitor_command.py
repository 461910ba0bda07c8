"""``shafer monitor``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer.cli.clean_errors import Refused, one_line
from shafer.cli.shared_options import ModelOptions, careful, examples, model_options
from shafer.cli.terminal_output import say

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
    with careful():
        try:
            alarm = _run(reference, new, options, labels, alpha, out)
        except (ValueError, OSError, TypeError, ImportError, MemoryError, click.ClickException):
            raise
        except Exception as error:  # exit code 1 means an alarm, and nothing else
            raise Refused(f"{type(error).__name__}: {one_line(error)}") from error
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
    from shafer.cli.clean_errors import writing
    from shafer.cli.monitor_text import monitor_text
    from shafer.cli.monitored_files import check_page, monitored_files

    if out is not None:
        check_page(out, (reference, *new, options.train_path))
    found = monitored_files(options.loaded(), reference, new, options, labels, alpha)
    if out is not None:
        from shafer.monitor.reporting.monitor_page import render_page, write_page

        title = f"{', '.join(found.names)} compared with {reference.name}"
        html = render_page(found.reports, found.names, title, [found.about])
        with writing(out):
            write_page(html, out)
    for name, report in zip(found.names, found.reports, strict=True):
        say(f"{name}\n{monitor_text(report)}\n")
    say(found.about if out is None else f"{found.about} Written to {out}.")
    return any(report.alarm for report in found.reports)
