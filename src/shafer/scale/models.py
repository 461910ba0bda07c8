"""The models of commands: trained on a table, read from a file, or saved; and reason codes."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._terminal import note, warn
from shafer._text import listed, one_line, shortened
from shafer.decision.acts import ACT_COLUMN
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.estimators.evidential_voting import EvidentialVotingClassifier
from shafer.explain.explainer import Explainer
from shafer.rows.schema import ColumnSchema
from shafer.saving.file import load_object
from shafer.saving.savable import Savable
from shafer.saving.skops import read_skops
from shafer.saving.trusted import TrustWording
from shafer.scale.background_means import (
    MeansOptions,
    answer_sentence,
    measured_model,
    prior_sentence,
)
from shafer.scale.default_model import held_out_error, how_measured, train_default_model
from shafer.scale.ids import check_columns
from shafer.scale.inputs import model_columns, model_inputs
from shafer.scale.tables import (
    Columns,
    Table,
    column_names,
    identifier_columns,
    read_labels,
    read_table,
    read_texts,
)

_MOST_CLASSES = 1000
_MOST_COLUMNS = 10_000
_LARGEST = 1e150  # the squares of larger numbers overflow


@final
@dataclass(frozen=True)
class TrainedModel:
    """A logistic regression trained on a table, and the rows it was trained on.

    Attributes
    ----------
    explainer : Explainer
    columns : dict
        The columns it takes and what they hold.
    X : pandas frame
    y : array of shape (n,)
    held_out : float, optional
        Error by cross-validation.
    about : tuple of strings
        Sentences on how it was trained.
    """

    explainer: Explainer
    columns: Columns
    X: Any
    y: NDArray[Any]
    held_out: float | None
    about: tuple[str, ...]

    def inputs(self, table: Table) -> Any:
        """Return the columns of another table as this model takes them."""
        self.check_columns(table.columns, table.path)
        return table.read(self.columns)

    def check_columns(self, columns: Any, path: Path) -> None:
        """Refuse a table that lacks a column of the training data."""
        there = set(columns)
        lacking = [name for name in self.columns if name not in there]
        if lacking:
            raise ValueError(
                f"{path} lacks {len(lacking)} column(s) of the training data: {listed(lacking)}. "
                "Add them."
            )


def train_on(path: Path, target: str, options: MeansOptions) -> TrainedModel:
    """Train a logistic regression on a table, and measure its error by cross-validation."""
    _check_width(path, target)
    table = read_table(path)
    y = read_labels(table, target)
    classes = np.unique(y)
    if not 2 <= len(classes) <= _MOST_CLASSES:
        raise ValueError(
            f"The target {target!r} of {path} must have 2 to {_MOST_CLASSES} classes; "
            f"it has {len(classes)}."
        )
    ids = [name for name in options.ids if name in table.columns and name != target]
    left_out = [target, *ids, *_dropped(table, target, options.drop)]
    for name in identifier_columns(table.frame.drop(columns=left_out)):
        option = "--drop" if ids else "--id"  # two ids would be one id of two parts
        warn(
            f"Column {name!r} has a different value in nearly every row. If it is an id, leave it "
            f"out: {option} {shlex.quote(name)}"
        )
    X = _inputs(table, target, left_out)
    note(f"Training a logistic regression on {len(X):,} rows and {X.shape[1]:,} columns …")
    model = train_default_model(X, y)
    explainer = Explainer(
        model,
        X,
        prior=options.new_prior,
        errors=options.errors,
        missing=options.new_missing,
        **options.answer_rule(classes),
    )
    note("Measuring its error by cross-validation …")
    error, folds = held_out_error(model, X, y, explainer.policy.cutoff)
    sentences = (
        _how_trained(X, path, target),
        prior_sentence(explainer),
        answer_sentence(explainer),
        _other_class(options.threshold, classes),
    )
    how = " ".join(filter(None, sentences))
    about = (how, how_measured(folds))
    columns = model_columns(explainer, list(X.columns), table.kinds)
    return TrainedModel(explainer, columns, X, y, error, about)


def _other_class(threshold: str | None, classes: NDArray[Any]) -> str:
    """Return how to state the threshold of the first class, if a plain number was given."""
    if threshold is None or "=" in threshold:
        return ""
    named = shlex.quote(f"{classes.tolist()[0]}={threshold}")
    return f"A plain --threshold is that of the second class; of the first: --threshold {named}."


def _check_width(path: Path, target: str) -> None:
    """Refuse a table with too many columns before its rows are read, which takes long."""
    width = sum(name != target for name in column_names(path))
    if width > _MOST_COLUMNS:
        raise ValueError(
            f"{path} has {width:,} columns besides the target. A model is trained here on at most "
            f"{_MOST_COLUMNS:,}. Keep fewer columns, or train a model yourself and pass --model."
        )


def _dropped(table: Table, target: str, drop: tuple[str, ...]) -> list[str]:
    for name in drop:
        if name == target or name not in table.columns:
            why = "it is the target" if name == target else f"{table.path} has no such column"
            raise ValueError(
                f"--drop {name} cannot be used: {why}. The columns are {listed(table.columns)}."
            )
    return list(dict.fromkeys(drop))


def _inputs(table: Table, target: str, left_out: Sequence[str]) -> Any:
    """Return the columns that have values, to train on."""
    path = table.path
    kinds = {name: kind for name, kind in table.columns.items() if name not in left_out and kind}
    if not kinds:
        raise ValueError(f"{path} has no column with values besides the target {target!r}.")
    # A gap among truth values is one of the categories.
    X = table.read({name: ColumnSchema(kind, gap="nan") for name, kind in kinds.items()})
    for name, column in X.select_dtypes("number").items():
        beyond = np.flatnonzero(np.abs(column.to_numpy()) > _LARGEST)
        if len(beyond):
            raise ValueError(
                f"Column {name!r} of {path} holds {column.iloc[beyond[0]]} in row {beyond[0]}, "
                "which is too large to train on. Correct the value, or remove the column."
            )
    return X


def _how_trained(X: Any, path: Path, target: str) -> str:
    numbers = X.select_dtypes("number")
    gaps = {
        "numbers ({} rows) replaced by the median": numbers,
        "texts ({} rows) taken as a category of their own": X.drop(columns=numbers.columns),
    }
    counts = {text: int(part.isna().any(axis=1).sum()) for text, part in gaps.items()}
    imputed = "".join(f", missing {text.format(n)}" for text, n in counts.items() if n)
    return (
        f"No model was given, so a logistic regression was trained on all {len(X)} rows of "
        f"{path.name} to predict {target}: numbers scaled, categories one-hot encoded{imputed}."
    )


# What ``shafer save`` writes: a model with the means of its training data.


def model_to_save(named: NamedModel | None, options: MeansOptions) -> tuple[Savable, str]:
    """Return what to save, and a sentence on its means.

    Parameters
    ----------
    named : NamedModel, optional
        The model of ``--model``.
    options : MeansOptions
        The training data, and what to do with the base rate and with missing inputs.
    """
    if named is None:
        if options.train_path is None or options.target is None:
            raise ValueError(
                "shafer save needs --model, the trained model to save, or --train and --target to "
                "train a logistic regression."
            )
        check_columns(options.ids, column_names(options.train_path), options.train_path, "--id")
        trained = train_on(options.train_path, options.target, options)
        return trained.explainer, f"{trained.about[0]}{_error_sentence(trained)}"
    if isinstance(named.model, Explainer | EvidentialClassifier | EvidentialVotingClassifier):
        for option in ("prior", "missing", "errors"):
            if getattr(options, option) is not None:
                raise ValueError(
                    f"--{option} cannot be used: the {type(named.model).__name__} in "
                    f"{named.file_name} keeps its own choice. Leave out --{option}, or save the "
                    "model behind it with --train."
                )
        options.check_kept(
            f"the {type(named.model).__name__} in {named.file_name}",
            "Leave it out, or save the model behind it with --train.",
            _classes(named.model),
        )
        return named.model, "The model file has the means of its training data already."
    if options.train_path is None:
        raise ValueError(
            f"shafer save needs --train, the training data of the {type(named.model).__name__} in "
            f"{named.file_name}: weights of evidence are relative to its means."
        )
    table = read_table(options.train_path)
    inputs = model_inputs(
        named.model,
        table.kinds,
        options.train_path,
        target=options.target,
        text_column=options.text_column,
        ids=options.ids,
    )
    measured = measured_model(
        named.model, inputs, options.train_path, lambda: inputs.read(table), options
    )
    if not isinstance(measured.evidence, Explainer):
        raise ValueError(
            f"shafer save cannot store a {type(named.model).__name__}, which makes its own "
            "evidence. Keep its skops file."
        )
    return measured.evidence, measured.sentence


def _classes(model: Any) -> NDArray[Any]:
    return np.asarray(model.classes if isinstance(model, Explainer) else model.classes_)


def _error_sentence(trained: TrainedModel) -> str:
    held_out = trained.held_out
    return "" if held_out is None else f" Its error by cross-validation is {100 * held_out:.1f} %."


# Models on disk: saved files, skops files of known classes; pickles only if the user insists.

SAVED = (".shafer",)
_SKOPS, _PICKLES = (".skops",), (".pkl", ".pickle", ".joblib")
_WORDING = TrustWording(True, "Save the model again with skops.io.dump.")
_WORDING_OF_SAVED = TrustWording(True, "Save the model again.")


@final
@dataclass(frozen=True)
class NamedModel:
    """A loaded model and the name of its file."""

    model: Any
    file_name: str


def load_model(path: Path, trusted: Sequence[str] = (), trust_pickle: bool = False) -> Any:
    """Load a model.

    Parameters
    ----------
    path : Path
        A file of ``Explainer.save``, a skops file; or a pickle or joblib file, with
        ``trust_pickle``.
    trusted : sequence of str
        Full names of classes that the user trusts, besides the list in ``saving/trusted.py``.
        Functions and methods are never loaded.
    trust_pickle : bool
        Load a pickle, which may run any code.
    """
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Give a model file, such as model.skops.")
    if not path.is_file():
        raise ValueError(f"{path} does not exist. Check the path.")
    suffix = path.suffix.lower()
    if suffix in SAVED:
        return load_object(path, trusted=trusted, wording=_WORDING_OF_SAVED)
    if suffix in _PICKLES:
        if not trust_pickle:
            raise ValueError(
                f"{path} is a pickle, and loading a pickle may run any code. If you trust its "
                "source, add --trust-pickle. It is safer to save the model with skops.io.dump."
            )
        return _unpickled(path)
    if suffix not in _SKOPS:
        raise ValueError(
            f"{path} must be a .shafer or .skops file, or a .pkl, .pickle or .joblib file with "
            "--trust-pickle."
        )
    return _from_skops(path, trusted)


def _unpickled(path: Path) -> Any:
    import joblib

    try:
        return joblib.load(path)
    except Exception as error:  # a pickle may fail in any way
        raise ValueError(f"{path} cannot be loaded: {one_line(error)}") from error


def _from_skops(path: Path, trusted: Collection[str]) -> Any:
    with path.open("rb") as file:
        return read_skops(file, str(path), trusted, _WORDING)


# What errors and acts cost: a table with the column act and a column for each class, or JSON.


def read_loss_table(given: str) -> Any:
    """Return the costs as a pandas frame: the column ``act``, and a column for each class.

    Parameters
    ----------
    given : str
        The path of a CSV, Parquet or JSON file, or JSON itself: ``{act: {class: cost}}``.
    """
    import pandas

    text = given.strip()
    path = Path(given)
    if text.startswith("{") or path.suffix.lower() == ".json":
        if not text.startswith("{") and not path.is_file():
            raise ValueError(f"--loss: {path} does not exist. Check the path.")
        try:
            content = json.loads(text if text.startswith("{") else path.read_text("utf-8"))
            rows = [{ACT_COLUMN: str(act), **costs} for act, costs in content.items()]
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(
                f"--loss must be JSON such as {{act: {{class: cost}}}}; got {shortened(text)}."
            ) from error
        return pandas.DataFrame(rows)
    table = read_table(path)
    if ACT_COLUMN not in table.frame.columns:
        raise ValueError(
            f"{path} lacks the column act. A table of costs has a row for each act: its name in "
            "the column act, and its cost in a column for each class."
        )
    # An act may have any name, "None" as well.
    return table.frame.assign(**{ACT_COLUMN: table.cells[ACT_COLUMN].map(str)})


# The user's reason codes: a CSV file with the columns component, code and, optionally, text.


def read_codes(path: Path) -> dict[str, tuple[str, str | None]]:
    """Return the code and the text of each component, as they are written in the file.

    Raises
    ------
    ValueError
        If the file has other columns, a component twice, or a component without a code.
    """
    frame = read_texts(path)
    names = set(frame.columns)
    if not {"component", "code"} <= names <= {"component", "code", "text"}:
        raise ValueError(
            f"{path} must have the columns 'component' and 'code', and may have 'text'; it has "
            f"{listed(frame.columns)}."
        )
    if not len(frame):
        raise ValueError(f"{path} has no rows. Give at least one component with its code.")
    texts = frame["text"] if "text" in names else [""] * len(frame)
    codes: dict[str, tuple[str, str | None]] = {}
    for row, (name, code, text) in enumerate(
        zip(frame["component"], frame["code"], texts, strict=True)
    ):
        if not (name and code):
            raise ValueError(f"{path} lacks a component or a code in row {row}. Fill it in.")
        if name in codes:
            raise ValueError(f"{path} has {name!r} twice, in row {row} again. Keep one of the two.")
        codes[name] = (code, text or None)
    return codes
