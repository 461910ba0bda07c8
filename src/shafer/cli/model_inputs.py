"""Which columns of a table a model takes: columns by name, or one column of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from shafer._text import listed
from shafer.cli.table_files import Kind, Kinds, column_as_texts
from shafer.models import EvidentialClassifier, Explainer


@final
@dataclass(frozen=True)
class ModelInputs:
    """The columns that a model takes from a table.

    Attributes
    ----------
    kinds : dict
        The columns in the model's order, and what they hold.
    texts : bool
        Whether the model takes the texts of a single column.
    """

    kinds: Kinds
    texts: bool = False

    def rows(self, frame: Any) -> Any:
        """Return the rows of a pandas frame as the model takes them."""
        chosen = frame[list(self.kinds)]
        if not self.texts:
            return chosen
        [name] = self.kinds
        column = chosen[name]
        missing = column.isna().to_numpy()
        if missing.any():
            raise ValueError(
                f"Column {name!r} has no text in row {frame.index[missing.argmax()]}. Fill it in, "
                "or remove the row."
            )
        return list(column_as_texts(column))


def first_step(model: Any) -> Any:
    """Return the part of a model that receives the rows."""
    while True:
        if isinstance(model, Explainer):
            model = model.model
        elif isinstance(model, EvidentialClassifier):
            model = model.estimator_
        elif isinstance(model, BaseSearchCV):
            model = model.best_estimator_
        elif isinstance(model, Pipeline):
            steps = [step for _, step in model.steps if step not in (None, "passthrough")]
            model = steps[0] if steps else None
        elif isinstance(model, FeatureUnion):
            model = model.transformer_list[0][1]
        else:
            return model


def takes_texts(model: Any) -> bool:
    """Tell whether a model takes a list of texts rather than a table."""
    step = first_step(model)
    if not isinstance(step, BaseEstimator):
        return False
    tags = get_tags(step).input_tags
    return bool(tags.string and not tags.two_d_array)


def model_inputs(
    model: Any,
    kinds: Mapping[str, Kind],
    path: Path,
    *,
    target: str | None = None,
    text_column: str | None = None,
) -> ModelInputs:
    """Choose the columns of a table that a model takes.

    Parameters
    ----------
    model : fitted model
    kinds : mapping
        The columns of the table and what they hold.
    path : Path
        The table, for messages.
    target, text_column : str, optional
        The column with the classes, and the column with the texts.
    """
    others = [name for name in kinds if name != target]
    if takes_texts(model):
        return _text_input(model, kinds, others, path, text_column)
    if text_column is not None:
        raise ValueError(
            f"--text-column is for models that take texts; this {type(model).__name__} takes "
            "columns of a table. Leave --text-column out."
        )
    wanted = _named_columns(model)
    if wanted is None:
        width = n_columns(model) or len(others)
        if width != len(others):
            raise ValueError(
                f"The model takes {width} columns; {path} has {len(others)}: {listed(others)}. "
                "Remove the other columns, or name the column of classes with --target."
            )
        return ModelInputs({name: kinds[name] for name in others})
    names = [str(name) for name in wanted]
    missing = [name for name in names if name not in kinds]
    if missing:
        raise ValueError(
            f"{path} lacks {len(missing)} column(s) that the model needs: {listed(missing)}. Add "
            "them, with the names that they had in training."
        )
    return ModelInputs({name: kinds[name] for name in names})


def _named_columns(model: Any) -> Iterable[Any] | None:
    """Return the names of the columns that a model was trained on, if it knows them."""
    if isinstance(model, Explainer):
        return model.columns or _named_columns(model.model)
    names: Iterable[Any] | None = getattr(model, "feature_names_in_", None)
    return names


def n_columns(model: Any) -> int | None:
    """Return the number of columns that a model was trained on, if it knows it."""
    inner = model.model if isinstance(model, Explainer) else model
    width: int | None = getattr(inner, "n_features_in_", None)
    return width


def _text_input(
    model: Any,
    kinds: Mapping[str, Kind],
    others: list[str],
    path: Path,
    text_column: str | None,
) -> ModelInputs:
    step = first_step(model)
    if isinstance(step, CountVectorizer | HashingVectorizer) and step.input != "content":
        raise ValueError(
            f"The model takes the names of text files ({type(step).__name__} has "
            f"input={step.input!r}). Here it must take the texts themselves, input='content'."
        )
    if text_column is not None:
        if text_column not in kinds:
            raise ValueError(f"{path} has no column {text_column!r}; it has {listed(kinds)}.")
        return ModelInputs({text_column: "text"}, texts=True)
    candidates = [name for name in others if kinds[name] == "text"]
    if len(candidates) == 1:
        return ModelInputs({candidates[0]: "text"}, texts=True)
    raise ValueError(
        f"The model takes one column of texts; {path} has {_several(candidates, others)}. Name the "
        "column with --text-column."
    )


def _several(candidates: list[str], others: Iterable[str]) -> str:
    if candidates:
        return f"{len(candidates)}: {listed(candidates)}"
    return f"no such column, but {listed(others)}"
