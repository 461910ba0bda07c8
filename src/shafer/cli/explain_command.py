"""``shafer explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from shafer.cli.shared_options import ModelOptions, careful, errors_option, examples, model_options
from shafer.cli.terminal_output import say, say_styled, terminal_width, wants_color

if TYPE_CHECKING:
    from shafer.report.terminal_reasons import ReasonsAsked


@click.command(
    epilog=examples(
        "shafer explain --row 17",
        "shafer explain --data patients.csv --target chd --row 3",
        "shafer explain --model model.skops --data new.csv --row 3",
        "shafer explain --row 17 --reasons 4 --class chd",
        "shafer explain --model texts.skops --train old.csv --data new.csv --text-column review",
    )
)
@click.option("--data", type=click.Path(path_type=Path), help="The rows: CSV or Parquet.")
@model_options
@errors_option
@click.option(
    "--row",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The row, counted from 0.",
)
@click.option("--class", "class_text", metavar="CLASS", help="Explain this class, not the answer.")
@click.option(
    "--over",
    "over_text",
    metavar="CLASS",
    help="Compare with this class; by default with the most probable other class.",
)
@click.option(
    "--reasons",
    type=click.IntRange(min=1),
    help="List so many reasons: the components that favour the class most.",
)
@click.option(
    "--codes",
    type=click.Path(path_type=Path),
    help="A CSV file with the columns component, code and text: your codes of the reasons.",
)
def explain(
    data: Path | None,
    options: ModelOptions,
    errors: str | None,
    row: int,
    class_text: str | None,
    over_text: str | None,
    reasons: int | None,
    codes: Path | None,
) -> None:
    """Explain one row in the terminal: weights, intervals, sets, and what to do about it.

    If the model reads texts, the text is shown with the weights of its words.

    Below the evidence are up to three sentences: which missing input would settle the row, whether
    its answer would stand if inputs were lost, and which value to check.

    Without --data it explains a row of the bundled heart data. The weights are in log-odds of the
    answer over the runner-up: why this class rather than that one.

    Weights of evidence are relative to the means of the training data. These come from the model
    file (classifiers of shafer, Explainer, a linear model behind a StandardScaler) or from --train.
    """
    with careful():
        from shafer.cli.study_from_files import study_of
        from shafer.cli.target_labels import label_named
        from shafer.report.asking.terminal_questions import asked_about
        from shafer.report.row_texts import terminal_texts
        from shafer.report.terminal_view import explained

        asked = _reasons(reasons, codes)
        study = study_of(options.loaded(), data, options.means(errors=errors))
        classes = study.evidence.classes
        first, second = (
            None if text is None else label_named(text, classes, option)
            for text, option in ((class_text, "--class"), (over_text, "--over"))
        )
        text = explained(study, row, terminal_width(), class_=first, over=second, reasons=asked)
        say(text)
        pair = {"class_": first, "over": second}
        for marked in terminal_texts(study, row, terminal_width(), color=wants_color(), **pair):
            say_styled(f"\n{marked}")
        say(f"\n{asked_about(study, row, terminal_width())}")
        if data is not None:
            say(f"\n{study.about[0]}")


def _reasons(top: int | None, codes: Path | None) -> ReasonsAsked | None:
    from shafer.cli.code_files import read_codes
    from shafer.report.terminal_reasons import ReasonsAsked

    if top is None:
        if codes is not None:
            raise ValueError("--codes needs --reasons, the number of reasons to list.")
        return None
    return ReasonsAsked(top, None if codes is None else read_codes(codes))
