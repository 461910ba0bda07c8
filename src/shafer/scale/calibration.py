"""Calibrate a model on the held-out rows of a file: prediction sets, and promises about errors."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.labels import is_missing
from shafer._terminal import warn
from shafer._text import listed, one_line
from shafer.deferral.control import DeferralControl
from shafer.explain.predictor import Predictor
from shafer.rows.access import n_rows
from shafer.scale.background_means import MeansOptions
from shafer.scale.ids import check_columns, table_ids
from shafer.scale.inputs import ModelInputs, model_inputs
from shafer.scale.tables import Table, known_labels, read_labels, read_table

_MOST_SEEN = 0.5
"""The share of calibration rows from which on rows that are in the training data are refused."""
_FEW_SEEN = 0.02
"""More than that beyond what repeats in the training data itself is named."""
_LEAST_FEW = 8
"""Kept rows of a model file that tell training data from others, if all of them are there ..."""
_MOST_REPEATED = 0.25
"""... and at most this share of the rows is equal to another one."""
_NEEDED = "Promises need rows that the model was not trained on: hold some out"


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
                f"--calibrate must be other rows than --train; both are {self.path}. {_NEEDED}."
            )


def calibrated(model: Any, asked: CalibrationOptions, means: MeansOptions) -> str:
    """Calibrate a model in place, and return a sentence on what is promised; empty without rows."""
    if asked.path is None:
        return ""
    if not isinstance(model, Predictor):
        raise ValueError(
            f"--calibrate cannot be used: a {type(model).__name__} makes no promises. Pass an "
            "Explainer or a classifier of shafer, or the model behind it with --train."
        )
    held = held_out_rows(model, asked.path, means, asked.by, "--calibrate")
    with warnings_told():
        promised = _promised(model, held, asked)
    return f"Calibrated on the {len(held.y):,} rows of {asked.path.name}: {promised}."


@contextmanager
def warnings_told() -> Iterator[None]:
    """Write warnings about a promise as lines for the user."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        yield
    for entry in told:
        if entry.category is UserWarning:
            warn(one_line(entry.message))


@final
@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows that the model was not trained on, as it takes them.

    Attributes
    ----------
    X : as the model takes it
    y : array of shape (n,)
        Their classes.
    by : array of shape (n,) or None
        The group of each row.
    """

    X: Any
    y: NDArray[Any]
    by: NDArray[Any] | None


def held_out_rows(
    model: Predictor, path: Path, means: MeansOptions, by: str | None, what: str
) -> HeldOutRows:
    """Read the rows of a file on which promises are made; rows of the training data are refused.

    Parameters
    ----------
    model : Explainer or classifier of shafer
    path : Path
    means : MeansOptions
        The training data, the ids and the column with the classes.
    by : str, optional
        The column of subpopulations.
    what : str
        How the user gave the rows, such as ``--calibrate``.
    """
    assert means.target is not None
    table = read_table(path)
    beside = {*means.ids, *((by,) if by is not None else ())}
    text, target = means.text_column, means.target
    inputs = model_inputs(model, table.kinds, path, target=target, text_column=text, ids=beside)
    y = known_labels(read_labels(table, target), model.classes, target)
    groups = None
    if by is not None:
        check_columns([by], table.columns, path, "--by")
        groups = np.asarray(table.frame[by])
    X = inputs.read(table)
    _check_held_out(table, inputs, means, what)
    _check_few_rows(model, X, table, what)
    unnamed = model.columns is None and not inputs.texts
    return HeldOutRows(X.to_numpy() if unnamed else X, y, groups)


def _promised(model: Predictor, held: HeldOutRows, asked: CalibrationOptions) -> str:
    """Make the promises; their groups are those of a column, which new rows will have."""
    said = []
    if asked.coverage is not None:
        model.conformalize(held.X, held.y, asked.coverage, by=held.by)
        sets = model.promises.conformal
        assert sets is not None
        sets = replace(sets, column=asked.by)
        model.promises.promise_sets(sets)
        said.append(sets.text)
    if asked.error is not None:
        model.control_error(held.X, held.y, asked.error, by=held.by)
        said.append(name_groups(model, asked.by).text)
    return "; ".join(said)


def name_groups(model: Predictor, by: str | None) -> DeferralControl:
    """Keep the name of the column that the groups of a deferral came from, and return it."""
    control = model.promises.deferral
    assert control is not None
    model.promises.deferral = replace(control, column=by)
    return model.promises.deferral


def _check_held_out(table: Table, inputs: ModelInputs, means: MeansOptions, what: str) -> None:
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
                f"{what} must be other rows than --train: {both.sum()} of the {len(table)} rows of "
                f"{table.path} are in {path}, such as {listed(ids[both], 3)}. {_NEEDED}."
            )
    share, repeated = float(known.mean()), 1.0 - len(np.unique(trained)) / len(trained)
    text = f"{known.sum()} of the {len(table)} rows of {table.path} are in {path} as well"
    if share > max(_MOST_SEEN, 2.0 * repeated):
        raise ValueError(
            f"{what} must be other rows than --train: {text}"
            f"{', with other ids' if named else ''}. {_NEEDED}."
        )
    if share > repeated + _FEW_SEEN:
        warn(f"{text}. If the model was trained on them, the promises do not hold for new rows.")


def _check_few_rows(model: Predictor, X: Any, table: Table, what: str) -> None:
    """Refuse a table that has all of the few training rows that a model file keeps."""
    few = getattr(model, "few_rows", None)
    if few is None or n_rows(few) < _LEAST_FEW or not hasattr(X, "columns"):
        return
    kept = few if hasattr(few, "columns") else _named(few, X)
    if list(kept.columns) != list(X.columns):
        return
    there = _row_digests(X)
    if 1.0 - len(np.unique(there)) / len(there) > _MOST_REPEATED:
        return  # other rows may be equal by chance
    if np.isin(_row_digests(kept), there).all():
        raise ValueError(
            f"{what} must be other rows than those of the model: {table.path} has all "
            f"{len(kept)} training rows that the model file keeps. {_NEEDED}."
        )


def _named(rows: Any, X: Any) -> Any:
    import pandas

    return pandas.DataFrame(rows, columns=list(X.columns)[: rows.shape[1]])


def _row_digests(X: Any) -> NDArray[np.uint64]:
    """Return a number for each row; 2, 2.0 and "2.0" of a category are the same."""
    import pandas

    cells = X.astype(object).apply(lambda column: column.map(_cell))
    return np.asarray(pandas.util.hash_pandas_object(cells, index=False, categorize=False))


def _cell(value: Any) -> str:
    if is_missing(value):
        return ""
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    return repr(float(value)) if number else str(value)


def _digests(table: Table, inputs: ModelInputs, target: str) -> NDArray[np.uint64]:
    """Return a number for each row that tells its inputs and its class from others."""
    import pandas

    rows = table.read(inputs.columns).astype(object)
    rows = rows.where(rows.notna(), None).astype(str)
    rows["the class"] = read_labels(table, target).astype(str)
    return np.asarray(pandas.util.hash_pandas_object(rows, index=False, categorize=False))
