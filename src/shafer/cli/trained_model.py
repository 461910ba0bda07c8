"""The logistic regression that is trained when no model is given."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._text import listed
from shafer.cli.background_means import MeansOptions, prior_sentence
from shafer.cli.identifier_columns import identifier_columns
from shafer.cli.table_files import Kinds, as_kinds, column_names, kinds_of, read_table
from shafer.cli.target_labels import read_labels
from shafer.cli.terminal_output import note, warn
from shafer.models import Explainer
from shafer.report.default_model import held_out_error, how_measured, train_default_model

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
    kinds : dict
        The columns it takes and what they hold.
    X : pandas frame
    y : array of shape (n,)
    held_out : float, optional
        Error by cross-validation.
    about : tuple of strings
        Sentences on how it was trained.
    """

    explainer: Explainer
    kinds: Kinds
    X: Any
    y: NDArray[Any]
    held_out: float | None
    about: tuple[str, ...]

    def inputs(self, frame: Any, path: Path) -> Any:
        """Return the columns of another table as this model takes them."""
        self.check_columns(frame.columns, path)
        return as_kinds(frame, self.kinds)

    def check_columns(self, columns: Any, path: Path) -> None:
        """Refuse a table that lacks a column of the training data."""
        there = set(columns)
        lacking = [name for name in self.kinds if name not in there]
        if lacking:
            raise ValueError(
                f"{path} lacks {len(lacking)} column(s) of the training data: {listed(lacking)}. "
                "Add them."
            )


def train_on(path: Path, target: str, options: MeansOptions) -> TrainedModel:
    """Train a logistic regression on a table, and measure its error by cross-validation."""
    _check_width(path, target)
    frame = read_table(path)
    y = read_labels(frame, target, path)
    classes = np.unique(y)
    if not 2 <= len(classes) <= _MOST_CLASSES:
        raise ValueError(
            f"The target {target!r} of {path} must have 2 to {_MOST_CLASSES} classes; "
            f"it has {len(classes)}."
        )
    inputs = frame.drop(columns=[target, *_dropped(frame, target, options.drop, path)])
    for name in identifier_columns(inputs):
        warn(
            f"Column {name!r} has a different value in nearly every row. If it is an id, leave it "
            f"out: --drop {shlex.quote(name)}"
        )
    X, kinds = _inputs(inputs, target, path)
    note(f"Training a logistic regression on {len(X):,} rows and {len(kinds):,} columns …")
    model = train_default_model(X, y)
    note("Measuring its error by cross-validation …")
    error, folds = held_out_error(model, X, y)
    explainer = Explainer(
        model,
        X,
        groups="source",
        prior=options.new_prior,
        errors=options.errors,
        missing=options.new_missing,
    )
    how = f"{_how_trained(X, path, target)} {prior_sentence(explainer)}"
    about = (how, how_measured(folds))
    return TrainedModel(explainer, kinds, X, y, error, about)


def _check_width(path: Path, target: str) -> None:
    """Refuse a table with too many columns before its rows are read, which takes long."""
    width = sum(name != target for name in column_names(path))
    if width > _MOST_COLUMNS:
        raise ValueError(
            f"{path} has {width:,} columns besides the target. A model is trained here on at most "
            f"{_MOST_COLUMNS:,}. Keep fewer columns, or train a model yourself and pass --model."
        )


def _dropped(frame: Any, target: str, drop: tuple[str, ...], path: Path) -> list[str]:
    for name in drop:
        if name == target or name not in frame.columns:
            why = "it is the target" if name == target else f"{path} has no such column"
            raise ValueError(
                f"--drop {name} cannot be used: {why}. The columns are {listed(frame.columns)}."
            )
    return list(dict.fromkeys(drop))


def _inputs(inputs: Any, target: str, path: Path) -> tuple[Any, Kinds]:
    present = inputs.notna().any()
    kinds = {name: kind for name, kind in kinds_of(inputs).items() if present[name]}
    if not kinds:
        raise ValueError(f"{path} has no column with values besides the target {target!r}.")
    X = as_kinds(inputs, kinds)
    for name, column in X.select_dtypes("number").items():
        beyond = np.flatnonzero(np.abs(column.to_numpy()) > _LARGEST)
        if len(beyond):
            raise ValueError(
                f"Column {name!r} of {path} holds {column.iloc[beyond[0]]} in row {beyond[0]}, "
                "which is too large to train on. Correct the value, or remove the column."
            )
    return X, kinds


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
