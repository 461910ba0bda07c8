"""From files named on the command line to a study: a model, its data, and the true classes."""

from __future__ import annotations

from pathlib import Path

from shafer._text import listed
from shafer.cli.background_means import MeansOptions, measured_model
from shafer.cli.model_inputs import model_inputs, n_columns
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.table_files import column_names, kinds_of, read_table
from shafer.cli.target_labels import known_labels, read_labels
from shafer.cli.terminal_output import note
from shafer.cli.trained_model import train_on
from shafer.report import Study, heart_study, make_study

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
    frame = read_table(data)
    target = options.target
    inputs = model_inputs(
        named.model, kinds_of(frame), data, target=target, text_column=options.text_column
    )
    _check_width(len(inputs.kinds))
    X = inputs.rows(frame)
    note(f"Reading the evidence of {len(frame):,} rows …")
    measured = measured_model(named.model, inputs, data, lambda: X, options)
    truth = None
    if target is not None:
        truth = known_labels(read_labels(frame, target, data), measured.classes, target)
    about = [
        f"The model ({type(named.model).__name__}) was read from {named.file_name}. "
        f"{measured.sentence}"
    ]
    if truth is not None:
        about.append(
            f"Its error is measured on these {len(frame)} rows. Whether it was trained on them is "
            "not known here; if it was, the error is too small."
        )
    title = _title(data, target, len(frame))
    return make_study(measured.evidence, X, truth, title=title, about=about)


def _check_width(width: int) -> None:
    if width > _MOST_COLUMNS:
        raise ValueError(
            f"The model takes {width:,} columns. shafer explain and shafer report accept at most "
            f"{_MOST_COLUMNS:,}. Use shafer score, which has no such limit."
        )


def _study_of_trained(data: Path, train_path: Path, target: str, options: MeansOptions) -> Study:
    trained = train_on(train_path, target, options)
    X, y, about = trained.X, trained.y, trained.about
    if train_path != data:
        frame = read_table(data)
        y = read_labels(frame, target, data)
        X = trained.inputs(frame, data)
        about = (about[0], f"It is reported on the {len(X)} rows of {data.name}.", about[1])
    return make_study(
        trained.explainer,
        X,
        known_labels(y, trained.explainer.classes, target),
        title=_title(data, target, len(X)),
        about=about,
        held_out_error=trained.held_out,
    )


def _title(data: Path, target: str | None, n: int) -> str:
    return f"{n:,} rows of {data.name}" if target is None else f"{target} in {data.name}"
