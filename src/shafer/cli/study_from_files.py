"""From files named on the command line to a study: a model, its data, and the truth."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from shafer._errors import UnsupportedModelError
from shafer.cli.table_files import Kinds, as_kinds, kinds_of, read_table
from shafer.models import EvidentialClassifier, Explainer
from shafer.report import Study, heart_study, make_study
from shafer.report.default_model import held_out_error, how_measured, train

_MOST_CLASSES = 1000
_LARGEST = 1e150  # numbers whose squares have room


@final
@dataclass(frozen=True)
class Trained:
    """A model trained here, and the columns it learnt from."""

    model: Any
    explainer: Explainer
    kinds: Kinds
    classes: NDArray[Any]
    held_out: float | None
    about: tuple[str, ...]


def _listed(names: Any) -> str:
    shown = [repr(str(name)) for name in list(names)[:8]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _labels(frame: Any, target: str, path: Path) -> NDArray[Any]:
    """Take the target column, checked to hold classes."""
    if target not in frame.columns:
        raise ValueError(f"{path} has no column {target!r}; it has {_listed(frame.columns)}.")
    column = frame[target]
    missing = int(column.isna().sum())
    if missing:
        first = int(column.isna().to_numpy().argmax())
        raise ValueError(
            f"The target {target!r} has {missing} missing value(s), the first in row {first} of "
            f"{path}. Leave those rows out."
        )
    values = np.asarray(column)
    if values.dtype.kind == "f":
        # Beyond 2^53 whole numbers are no longer apart.
        broken = values[(values != np.round(values)) | (np.abs(values) > 2.0**53)]
        if len(broken):
            raise ValueError(
                f"The target {target!r} holds numbers such as {broken[0]}, not classes. "
                "Cut it into classes first."
            )
        values = values.astype(np.int64)
    return values if values.dtype.kind in "iub" else values.astype(str)


def _check_size(X: Any, path: Path) -> None:
    """Refuse numbers whose variance overflows."""
    for name, column in X.select_dtypes("number").items():
        beyond = np.flatnonzero(np.abs(column.to_numpy()) > _LARGEST)
        if len(beyond):
            raise ValueError(
                f"Column {name!r} of {path} holds {column.iloc[beyond[0]]} in row {beyond[0]}, "
                f"too large to train on."
            )


def train_on(path: Path, target: str) -> tuple[Trained, Any, NDArray[Any]]:
    """Train a logistic regression on a table; return it, the inputs and the labels."""
    frame = read_table(path)
    y = _labels(frame, target, path)
    classes = np.unique(y)
    if not 2 <= len(classes) <= _MOST_CLASSES:
        raise ValueError(
            f"The target {target!r} of {path} must have 2 to {_MOST_CLASSES} classes; "
            f"it has {len(classes)}."
        )
    inputs = frame.drop(columns=[target])
    kinds = {n: k for n, k in kinds_of(inputs).items() if inputs[n].notna().any()}
    if not kinds:
        raise ValueError(f"{path} has no column with values besides the target {target!r}.")
    X = as_kinds(inputs, kinds)
    _check_size(X, path)
    model = train(X, y)
    error, folds = held_out_error(model, X, y)
    lacking = int(X.isna().any(axis=1).sum())
    imputed = (
        f", missing numbers ({lacking} rows lack a value) set to the median" if lacking else ""
    )
    about = (
        f"No model was given, so a logistic regression was trained on all {len(X)} rows of "
        f"{path.name} to predict {target}: numbers scaled, categories one-hot encoded{imputed}.",
        how_measured(folds),
    )
    explainer = Explainer(model, X, groups="source")
    return Trained(model, explainer, kinds, model.classes_, error, about), X, y


def model_columns(model: Any, available: Any, target: str | None, where: Path) -> list[str]:
    """Return the columns the model wants, checked to be there."""
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is None:
        found = [str(name) for name in available if name != target]
        width = getattr(model, "n_features_in_", len(found))
        if width != len(found):
            raise ValueError(
                f"The model takes {width} columns; {where} has {len(found)}: {_listed(found)}."
            )
        return found
    missing = [str(name) for name in wanted if name not in available]
    if missing:
        raise ValueError(
            f"{where} lacks {len(missing)} column(s) that the model needs: {_listed(missing)}."
        )
    return [str(name) for name in wanted]


def explainer_for(model: Any, background: Callable[[], Any]) -> Explainer:
    """Explain a model by the columns of the data, where its encoders can be traced.

    ``background`` gives the data, or batches of them, as often as it is called.
    """
    if isinstance(model, EvidentialClassifier):
        return model.explainer_
    if isinstance(model, Pipeline):
        with suppress(UnsupportedModelError):
            return Explainer(model, background(), groups="source")
    return Explainer(model, background())


def _known_labels(labels: NDArray[Any], classes: NDArray[Any], target: str) -> NDArray[Any]:
    """Return the labels of a table as the model writes them; 1 and "1" are the same class."""
    place = {str(label): k for k, label in enumerate(classes.tolist())}
    unknown = sorted({str(label) for label in labels.tolist()} - set(place))
    if unknown:
        raise ValueError(
            f"The target {target!r} holds {_listed(unknown)}, which the model does not know; "
            f"its classes are {_listed(list(place))}."
        )
    return classes[[place[str(label)] for label in labels.tolist()]]


def _study_of_model(
    model: Any, name: str, data: Path, target: str | None, train_path: Path | None
) -> Study:
    frame = read_table(data)
    columns = model_columns(model, frame.columns, target, data)
    background = frame[columns]
    if train_path is not None:
        training = read_table(train_path)
        background = training[model_columns(model, training.columns, target, train_path)]
    explainer = explainer_for(model, lambda: background)
    truth = None
    if target is not None:
        truth = _known_labels(_labels(frame, target, data), explainer.classes, target)
    means = "of its training data"
    if not isinstance(model, EvidentialClassifier):
        means = "of these rows" if train_path is None else f"of {train_path.name}"
    about = [
        f"The model, a {type(model).__name__}, was read from {name}; its weights of evidence are "
        f"measured from the means {means}."
    ]
    if truth is not None:
        about.append(
            f"Its error is measured on these {len(frame)} rows. Whether it was trained on them is "
            "not known here; if it was, the error is too small."
        )
    return make_study(
        explainer, frame[columns], truth, title=_title(data, target, len(frame)), about=about
    )


def _title(data: Path, target: str | None, n: int) -> str:
    return f"{n:,} rows of {data.name}" if target is None else f"{target} in {data.name}"


def study_of(
    model: tuple[Any, str] | None, data: Path | None, target: str | None, train_path: Path | None
) -> Study:
    """Make the study that the options ask for.

    Parameters
    ----------
    model : (model, name of its file), optional
    data : Path, optional
        The rows to report on; the bundled heart data by default.
    target : str, optional
        The column with the classes.
    train_path : Path, optional
        Training data: sets the means; without a model, one is trained on them.
    """
    if data is None:
        given = {"--model": model, "--target": target, "--train": train_path}
        named = [option for option, value in given.items() if value is not None]
        if named:
            raise ValueError(f"{named[0]} needs --data, the rows to look at.")
        return heart_study()
    if model is not None:
        return _study_of_model(*model, data, target, train_path)
    if target is None:
        raise ValueError(
            "Without --model a logistic regression is trained, which needs --target, the column to "
            f"predict; {data} has {_listed(read_table(data).columns)}."
        )
    trained, X, y = train_on(train_path or data, target)
    about = trained.about
    held_out = trained.held_out
    if train_path is not None:
        frame = read_table(data)
        y = _labels(frame, target, data)
        lacking = [name for name in trained.kinds if name not in frame.columns]
        if lacking:
            raise ValueError(f"{data} lacks {len(lacking)} column(s): {_listed(lacking)}.")
        X = as_kinds(frame, trained.kinds)
        about = (about[0], f"It is reported on the {len(X)} rows of {data.name}.", about[1])
    return make_study(
        trained.explainer,
        X,
        _known_labels(y, trained.classes, target),
        title=_title(data, target, len(X)),
        about=about,
        held_out_error=held_out,
    )
