"""``shafer explain``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from shafer._terminal import note, say, say_styled, terminal_width, wants_color, writing
from shafer._text import listed
from shafer.cli.options import (
    ModelOptions,
    careful,
    errors_option,
    examples,
    model_options,
    page_path,
)
from shafer.report.default_study import heart_study
from shafer.report.study import Study, make_study
from shafer.scale.background_means import MeansOptions, measured_model
from shafer.scale.columns import promised_lines
from shafer.scale.ids import check_not_inputs, table_ids
from shafer.scale.inputs import model_inputs, n_columns
from shafer.scale.models import NamedModel, train_on
from shafer.scale.tables import Table, column_names, known_labels, read_labels, read_table

if TYPE_CHECKING:
    from shafer.report.terminal import ReasonsAsked


@click.command(
    epilog=examples(
        "shafer explain --row 17",
        "shafer explain --data patients.csv --target chd --row 3",
        "shafer explain --model model.shafer --data new.csv --id patient --row pat160",
        "shafer explain --row 17 --reasons 4 --class chd",
        "shafer explain --row 17 --html case.html",
        "shafer explain --model texts.skops --train old.csv --data new.csv --text-column review",
    )
)
@click.option("--data", type=click.Path(path_type=Path), help="The rows: CSV or Parquet.")
@model_options
@errors_option
@click.option(
    "--row",
    help="The row, counted from 0; with --id, the id of the row. By default the first row.",
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
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path),
    help="Write the case as one HTML page as well, or into a folder as case.html.",
)
def explain(
    data: Path | None,
    options: ModelOptions,
    errors: str | None,
    row: str | None,
    class_text: str | None,
    over_text: str | None,
    reasons: int | None,
    codes: Path | None,
    page: Path | None,
) -> None:
    """Explain one row in the terminal: weights, intervals, sets, and what to do about it.

    With --html the same row is also written as one page that works offline, for a person who has to
    decide: the answer, the reasons on both sides, what to check, sliders.

    If the model reads texts, the text is shown with the weights of its words.

    If the model file was calibrated, it shows the set of classes that was promised and whether the
    row is deferred, as shafer score writes them.

    Below the evidence are up to three sentences: which missing input would settle the row, whether
    its answer would stand if inputs were lost, and which value to check.

    Without --data it explains a row of the bundled heart data. The weights are in log-odds of the
    answer over the runner-up: why this class rather than that one.

    Weights of evidence are relative to the means of the training data. These come from the model
    file (classifiers of shafer, Explainer, a linear model behind a StandardScaler) or from --train.
    """
    with careful():
        from shafer.asking.sentences import asked_about
        from shafer.report.terminal import explained
        from shafer.scale.tables import label_named
        from shafer.texts.rows import terminal_texts

        asked = _reasons(reasons, codes)
        target = None if page is None else page_path(page, "--html", "case.html")
        study = study_of(options.loaded(), data, options.means(errors=errors))
        classes = study.evidence.classes
        first, second = (
            None if text is None else label_named(text, classes, option)
            for text, option in ((class_text, "--class"), (over_text, "--over"))
        )
        place = _place(study, row, options, data)
        text = explained(study, place, terminal_width(), class_=first, over=second, reasons=asked)
        say(text)
        pair = {"class_": first, "over": second}
        for marked in terminal_texts(study, place, terminal_width(), color=wants_color(), **pair):
            say_styled(f"\n{marked}")
        say(f"\n{asked_about(study, place, terminal_width())}")
        if data is not None:
            say(f"\n{study.about[0]}")
        if target is not None:
            from shafer.report.page import write_report

            with writing(target):
                write_report(study, target, [place], alone=True)
            say(f"\nWritten to {target}: open it in a browser.")


def _place(study: Study, row: str | None, options: ModelOptions, data: Path | None) -> int:
    """Return the position of the row that was asked for, by its id or its number."""
    from shafer.scale.ids import row_of

    if row is None:
        return 0
    if options.ids and data is not None:
        return row_of(row, study.ids, data)
    if not (row.isascii() and row.isdigit()):
        raise ValueError(
            f"--row must be the number of a row, counted from 0; got {row!r}. For an id, name its "
            "column with --id."
        )
    return int(row)


def _reasons(top: int | None, codes: Path | None) -> ReasonsAsked | None:
    from shafer.report.terminal import ReasonsAsked
    from shafer.scale.models import read_codes

    if codes is not None:
        return ReasonsAsked(3 if top is None else top, read_codes(codes))
    return None if top is None else ReasonsAsked(top, None)


# From files named on the command line to a study: a model, its data, and the true classes.

_MOST_COLUMNS = 20_000


def study_of(model: NamedModel | None, data: Path | None, options: MeansOptions) -> Study:
    """Make the study that the options ask for.

    Parameters
    ----------
    model : NamedModel, optional
        By default a logistic regression is trained.
    data : Path, optional
        The rows to report on; the bundled heart data by default.
    options : MeansOptions
        Training data, target and text column.
    """
    if data is None:
        given = {
            "--model": model,
            "--target": options.target,
            "--train": options.train_path,
            "--text-column": options.text_column,
            "--missing": options.missing,
            "--id": options.ids or None,
        }
        named = [option for option, value in given.items() if value is not None]
        if named:
            raise ValueError(f"{named[0]} needs --data, the rows to look at.")
        return heart_study(options.new_prior, options.errors)
    if model is not None:
        study = _study_of_model(model, data, options)
        if options.errors is not None and study.undiscounted.errors is None:
            raise ValueError(
                f"--errors {options.errors} cannot be used: the explainer in {model.file_name} was "
                f"made without error bars. Save one made with errors={options.errors!r}."
            )
        return study
    if options.target is None:
        raise ValueError(
            "Without --model a logistic regression is trained, which needs --target, the column to "
            f"predict; {data} has {listed(column_names(data))}."
        )
    return _study_of_trained(data, options.train_path or data, options.target, options)


def _study_of_model(named: NamedModel, data: Path, options: MeansOptions) -> Study:
    # Before the rows are read, which takes long if there are many columns.
    _check_width(n_columns(named.model) or 0)
    table = read_table(data)
    target = options.target
    inputs = model_inputs(
        named.model,
        table.kinds,
        data,
        target=target,
        text_column=options.text_column,
        ids=options.ids,
    )
    _check_width(len(inputs.columns))
    check_not_inputs(options.ids, inputs.columns)
    X = inputs.read(table)
    note(f"Reading the evidence of {len(table):,} rows …")
    measured = measured_model(named.model, inputs, data, lambda: X, options)
    truth = None
    if target is not None:
        truth = known_labels(read_labels(table, target), measured.classes, target)
    about = [
        f"The model ({type(named.model).__name__}) was read from {named.file_name}. "
        f"{measured.sentence}"
    ]
    if truth is not None:
        about.append(
            f"Its error is measured on these {len(table)} rows. Whether it was trained on them is "
            "not known here; if it was, the error is too small."
        )
    title = _title(data, target)
    study = make_study(measured.evidence, X, truth, title=title, about=about)
    study = replace(study, promised=partial(promised_lines, measured, X, table.frame))
    return _by_id(study, table, options)


def _by_id(study: Study, table: Table, options: MeansOptions) -> Study:
    """Call the rows by their ids, if columns of ids were named."""
    if not options.ids:
        return study
    ids = table_ids(table, options.ids)
    return replace(study, evidence=study.evidence.with_index(ids))


def _check_width(width: int) -> None:
    if width > _MOST_COLUMNS:
        raise ValueError(
            f"The model takes {width:,} columns. shafer explain and shafer report accept at most "
            f"{_MOST_COLUMNS:,}. Use shafer score, which has no such limit."
        )


def _study_of_trained(data: Path, train_path: Path, target: str, options: MeansOptions) -> Study:
    trained = train_on(train_path, target, options)
    X, y, about = trained.X, trained.y, trained.about
    table = read_table(data)
    if train_path != data:
        y = read_labels(table, target)
        X = trained.inputs(table)
        about = (about[0], f"It is reported on the {len(X)} rows of {data.name}.", about[1])
    study = make_study(
        trained.explainer,
        X,
        known_labels(y, trained.explainer.classes, target),
        title=_title(data, target),
        about=about,
        held_out_error=trained.held_out,
    )
    return _by_id(study, table, options)


def _title(data: Path, target: str | None) -> str:
    return data.name if target is None else f"{target} in {data.name}"
