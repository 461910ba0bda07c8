"""``shafer paper``."""

from __future__ import annotations

from pathlib import Path

import click

from shafer._terminal import Refused


@click.command()
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Folder for index.html, results.json and the figures.",
)
@click.option("--quick", is_flag=True, help="A small version for tests; do not use its numbers.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of all random numbers.",
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
        from shafer.paper.findings import summary_of_results
        from shafer.paper.run import reproduce
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        raise Refused(
            f"This command needs {missing}; run: pip install '.[paper]' in a copy of the repository"
        ) from error

    try:
        results = reproduce(out, quick=quick, seed=seed, select_lambda=select_lambda)
    except (ValueError, OSError) as error:
        raise Refused(str(error)) from error
    click.echo(summary_of_results(results))
    click.echo(f"Written to {out} in {results['seconds']} seconds: open index.html there.")
