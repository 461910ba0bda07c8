"""The command line. Parsing only: every command calls one function of the layers below."""

from __future__ import annotations

from pathlib import Path

try:
    import click
except ImportError as error:  # pragma: no cover - click is there wherever the tests run
    raise SystemExit("The command line needs its extra: pip install 'shafer[cli]'") from error

import shafer


class _Refused(click.ClickException):
    """One clear line, exit code 2, no traceback."""

    exit_code = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(shafer.__version__, prog_name="shafer")
def main() -> None:
    """Show the evidence behind a classifier's probabilities."""


def _row_numbers(_: click.Context, __: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    try:
        return [int(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"expected numbers such as 0,17,42; got {value!r}") from None


@main.command()
@click.option("--rows", callback=_row_numbers, help="Patients to show, as in 0,17,42.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("out"),
    show_default=True,
    help="Folder for report.txt, evidence.csv and weights.csv.",
)
def report(rows: list[int] | None, out: Path) -> None:
    """Report on the bundled heart data under a logistic regression.

    Example: shafer report --rows 0,17,42 --out out
    """
    from shafer.report import heart_report

    try:
        click.echo(heart_report(out, rows))
    except (ValueError, OSError) as error:
        raise _Refused(str(error)) from error
    click.echo(f"Written to {out}: report.txt, evidence.csv, weights.csv")


@main.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for index.html, results.json and the figures.",
)
@click.option("--quick", is_flag=True, help="A small version for tests; its numbers mean nothing.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Fixes everything that is drawn.",
)
@click.option(
    "--select-lambda",
    is_flag=True,
    help="Choose the penalty and the number of epochs by 10-fold cross-validation.",
)
def paper(out: Path, quick: bool, seed: int, select_lambda: bool) -> None:
    """Reproduce every table and figure of Denœux (2019), beside the printed numbers.

    Example: shafer paper --out paper
    """
    try:
        from shafer.paper import reproduce
        from shafer.paper.words import summary
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise _Refused(f"This command needs {missing}; run: pip install 'shafer[paper]'") from error

    try:
        results = reproduce(out, quick=quick, seed=seed, select_lambda=select_lambda)
    except (ValueError, OSError) as error:
        raise _Refused(str(error)) from error
    click.echo(summary(results))
    click.echo(f"Written to {out} in {results['seconds']} seconds: open index.html there.")
