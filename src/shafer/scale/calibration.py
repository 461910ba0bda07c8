"""Calibrate a model on the held-out rows of a file: prediction sets, and promises about errors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._terminal import warn
from shafer._text import listed, one_line
from shafer.explain.predictor import Predictor
from shafer.scale.background_means import MeansOptions
from shafer.scale.ids import check_columns, table_ids
from shafer.scale.inputs import ModelInputs, model_inputs
from shafer.scale.tables import Table, known_labels, read_labels, read_table

_MOST_SEEN = 0.5
"""The share of calibration rows from which on rows that are in the training data are refused."""
_FEW_SEEN = 0.02
"""More than that beyond what repeats in the training data itself is named."""


@final
@dataclass(frozen=True)
class CalibrationOptions:
    """What to promise, and from which rows.

    Attributes
    ----------
    path : Path, optional
        Rows that the model was not trained on.
    coverage : float, optional
        Of prediction sets.
    error : float, optional
        At most this share of the decided rows is wrong.
    by : str, optional
        The column of subpopulations in each of which the promises hold.
    """

    path: Path | None = None
    coverage: float | None = None
    error: float | None = None
    by: str | None = None

    def check(self, means: MeansOptions) -> None:
        """Refuse options that do not fit together, and the training data as calibration rows."""
        options = {"--coverage": self.coverage, "--error": self.error, "--by": self.by}
        given = [option for option, value in options.items() if value is not None]
        if self.path is None:
            if given:
                raise ValueError(
                    f"{given[0]} needs --calibrate FILE, rows that the model was not trained on."
                )
            return
        if self.coverage is None and self.error is None:
            raise ValueError(
                "--calibrate needs --coverage (of prediction sets), --error (of the rows that are "
                "decided), or both, such as --coverage 0.9 --error 0.05."
            )
        if means.target is None:
            raise ValueError("--calibrate needs --target, the column with the true classes.")
        train = means.train_path
        if train is None or not (train.exists() and self.path.exists()):
            return
        if self.path.samefile(train):
            raise ValueError(
                f"--calibrate must be other rows than --train; both are {self.path}. Promises need "
                "rows that the model was not trained on: hold some out."
            )


def calibrated(model: Any, asked: CalibrationOptions, means: MeansOptions) -> str:
    """Calibrate a model in place, and return a sentence on what is promised; empty without rows."""
    path, target = asked.path, means.target
    if path is None or target is None:
        return ""
    if not isinstance(model, Predictor):
        raise ValueError(
            f"--calibrate cannot be used: a {type(model).__name__} makes no promises. Pass an "
            "Explainer or a classifier of shafer, or the model behind it with --train."
        )
    table = read_table(path)
    inputs = model_inputs(
        model,
        table.kinds,
        path,
        target=target,
        text_column=means.text_column,
        ids={*means.ids, *((asked.by,) if asked.by is not None else ())},
    )
    y = known_labels(read_labels(table, target), model.classes, target)
    by = None
    if asked.by is not None:
        check_columns([asked.by], table.columns, path, "--by")
        by = np.asarray(table.frame[asked.by])
    _check_held_out(table, inputs, means)
    X = inputs.read(table)
    if model.columns is None and not inputs.texts:
        X = X.to_numpy()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        promised = _promised(model, X, y, asked, by)
    for entry in told:
        if entry.category is UserWarning:
            warn(one_line(entry.message))
    return f"Calibrated on the {len(table):,} rows of {path.name}: {promised}."


def _promised(
    model: Predictor, X: Any, y: NDArray[Any], asked: CalibrationOptions, by: NDArray[Any] | None
) -> str:
    """Make the promises; their groups are those of a column, which new rows will have."""
    said = []
    if asked.coverage is not None:
        model.conformalize(X, y, asked.coverage, by=by)
        sets = model.promises.conformal
        assert sets is not None
        model.promises.promise_sets(replace(sets, column=asked.by))
        said.append(f"sets that hold the true class with a probability of {sets.coverage:.0%}")
    if asked.error is not None:
        model.control_error(X, y, asked.error, by=by)
        control = model.promises.deferral
        assert control is not None
        model.promises.deferral = replace(control, column=asked.by)
        said.append(control.text)
    return "; ".join(said)


def _check_held_out(table: Table, inputs: ModelInputs, means: MeansOptions) -> None:
    """Refuse calibration rows that are in the training data, as far as it is at hand."""
    path, target = means.train_path, means.target
    if path is None or target is None:
        return
    train = read_table(path)
    columns = [*inputs.columns, target]
    if any(name not in train.columns for name in columns):
        return
    named = [name for name in means.ids if name in train.columns and name in table.columns]
    trained = _digests(train, inputs, target)
    known = np.isin(_digests(table, inputs, target), trained)
    if means.ids and len(named) == len(means.ids):
        ids = table_ids(table, named)
        both = known & np.isin(ids.to_numpy(), table_ids(train, named).to_numpy())
        if both.any():
            raise ValueError(
                f"--calibrate must be other rows than --train: {both.sum()} of the {len(table)} "
                f"rows of {table.path} are in {path}, such as {listed(ids[both], 3)}. Promises "
                "need rows that the model was not trained on."
            )
        return
    share, repeated = float(known.mean()), 1.0 - len(np.unique(trained)) / len(trained)
    text = f"{known.sum()} of the {len(table)} rows of {table.path} are in {path} as well"
    if share > max(_MOST_SEEN, 2.0 * repeated):
        raise ValueError(
            f"--calibrate must be other rows than --train: {text}. Promises need rows that the "
            "model was not trained on."
        )
    if share > repeated + _FEW_SEEN:
        warn(f"{text}. If the model was trained on them, the promises do not hold for new rows.")


def _digests(table: Table, inputs: ModelInputs, target: str) -> NDArray[np.uint64]:
    """Return a number for each row that tells its inputs and its class from others."""
    import pandas

    rows = table.read(inputs.columns).astype(object)
    rows = rows.where(rows.notna(), None).astype(str)
    rows["the class"] = read_labels(table, target).astype(str)
    return np.asarray(pandas.util.hash_pandas_object(rows, index=False, categorize=False))
