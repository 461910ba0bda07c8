"""``ModelColumns``: which columns of a frame an explainer takes, and in what form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from shafer._text import listed
from shafer.errors import UnsupportedModelError
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.estimators.evidential_voting import EvidentialVotingClassifier
from shafer.explain.explainer import Explainer
from shafer.models.read_model import ReadModel
from shafer.models.registry import known_columns
from shafer.rows.schema import ColumnSchema, InputSchema, encoder_columns
from shafer.scale.tables import SIDE_COLUMNS, Columns, Kind, Table

_TEXT = ColumnSchema("text")


@final
@dataclass(frozen=True)
class ModelColumns:
    """The columns of a frame that a model takes.

    Attributes
    ----------
    names : tuple of strings
        In the order of the model.
    named : bool
        The model was trained on named columns; otherwise it gets an array.
    texts : bool
        The model takes the texts of a single column.
    schema : InputSchema or None
        What the columns held in training.
    """

    names: tuple[str, ...]
    named: bool
    texts: bool
    schema: InputSchema | None = None

    @classmethod
    def of(
        cls,
        known: Sequence[str] | None,
        columns: str | Iterable[str] | None,
        present: Sequence[str],
        *,
        texts: bool,
        schema: InputSchema | None = None,
    ) -> Self:
        """Choose the columns of a frame.

        Parameters
        ----------
        known : sequence of strings or None
            The columns of the training data, if they had names.
        columns : string, iterable of strings, or None
            The user's choice; by default the columns of the training data.
        present : sequence of strings
            The columns of the frame.
        texts : bool
            Whether the model takes texts.
        schema : InputSchema, optional
            What the columns held in training.
        """
        if columns is None and known is None:
            what = "the column with the texts" if texts else "the columns, in the order of training"
            raise ValueError(
                f"columns is needed: the model was trained without column names. Pass {what}; the "
                f"frame has {listed(present)}."
            )
        chosen = tuple(known or ()) if columns is None else column_choice(columns, "columns")
        if not chosen:
            raise ValueError(
                f"columns must name at least one column; the frame has {listed(present)}."
            )
        if texts and len(chosen) != 1:
            raise ValueError(
                f"columns must name the one column with the texts; got {listed(chosen)}."
            )
        check_present(chosen, present, "columns")
        missing = [] if known is None or texts else [name for name in known if name not in chosen]
        if missing:
            raise ValueError(
                f"columns must have all columns of the training data; {listed(missing)} "
                f"{'is' if len(missing) == 1 else 'are'} not among them. Leave columns out to use "
                "the columns of the training data."
            )
        return cls(chosen, named=known is not None, texts=texts, schema=schema)

    def rows(self, frame: Any) -> Any:
        """Return the rows of a pandas frame as the model takes them."""
        if self.texts:
            return frame[self.names[0]].tolist()
        chosen = frame[list(self.names)]
        if self.named:
            return chosen
        conformed = chosen if self.schema is None else self.schema.conformed(chosen)
        numbers = self.schema is None or set(self.schema.kinds) <= {"number", "whole", "truth"}
        return conformed.to_numpy(dtype=float if numbers else object)


def column_choice(given: Any, option: str) -> tuple[str, ...]:
    """Return the columns that a user named, one or several, each once."""
    if not isinstance(given, str | Iterable) or isinstance(given, bytes):
        raise ValueError(f"{option} must be a name of a column or a list of names; got {given!r}.")
    chosen = (given,) if isinstance(given, str) else tuple(str(name) for name in given)
    twice = [name for name, count in Counter(chosen).items() if count > 1]
    if twice:
        raise ValueError(f"{option} has {listed(twice)} twice. Name each column once.")
    return chosen


def check_present(wanted: Sequence[str], present: Sequence[str], option: str) -> None:
    """Raise an error if a frame lacks a column."""
    missing = [name for name in wanted if name not in present]
    if missing:
        raise ValueError(
            f"{option} has {listed(missing)}, which the frame lacks; it has {listed(present)}. "
            "Name the columns as in training."
        )
    twice = [name for name in wanted if present.count(name) > 1]
    if twice:
        raise ValueError(f"The frame has {listed(twice)} twice. Rename one of the columns.")


# Which columns of a table a model takes: columns by name, or one column of texts.


@final
@dataclass(frozen=True)
class ModelInputs:
    """The columns that a model takes from a table.

    Attributes
    ----------
    columns : dict
        The columns in the model's order, and what they held in training.
    texts : bool
        Whether the model takes the texts of a single column.
    """

    columns: Columns
    texts: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    def read(self, table: Table) -> Any:
        """Return the rows of a table as the model takes them."""
        return self.rows(table.read(self.columns))

    def rows(self, frame: Any) -> Any:
        """Return the rows of a pandas frame, whose columns are read already."""
        chosen = frame[list(self.columns)]
        if not self.texts:
            return chosen
        [name] = self.columns
        column = chosen[name]
        missing = column.isna().to_numpy()
        if missing.any():
            raise ValueError(
                f"Column {name!r} has no text in row {frame.index[missing.argmax()]}. Fill it in, "
                "or remove the row."
            )
        return column.tolist()


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
    ids: Collection[str] = (),
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
    ids : collection of strings
        The columns that name rows, which are no inputs.
    """
    others = [name for name in kinds if name != target and name not in (*ids, *SIDE_COLUMNS)]
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
                "Remove the other columns, or name the column of classes with --target, and those "
                "that name rows with --id."
            )
        return ModelInputs(model_columns(model, others, kinds))
    names = [str(name) for name in wanted]
    missing = [name for name in names if name not in kinds]
    if missing:
        raise ValueError(
            f"{path} lacks {len(missing)} column(s) that the model needs: {listed(missing)}. Add "
            "them, with the names that they had in training."
        )
    return ModelInputs(model_columns(model, names, kinds))


def model_columns(model: Any, names: Sequence[str], kinds: Mapping[str, Kind]) -> Columns:
    """Return what the columns of a model held in training.

    Columns of which neither the explainer nor the model knows it are taken as what the table holds.
    """
    schema = _known_schema(model, names)
    guessed = {name: ColumnSchema(kinds[name]) for name in names}
    if schema is None or len(schema) != len(names):
        return guessed
    pairs = zip(names, schema.columns, strict=True)
    return {name: guessed[name] if own.kind == "other" else own for name, own in pairs}


def _known_schema(model: Any, names: Sequence[str]) -> InputSchema | None:
    if isinstance(model, EvidentialClassifier) and hasattr(model, "explainer_"):
        return _known_schema(model.explainer_, names)
    if isinstance(model, Explainer):
        held = model.weighed_model.schema
        return held if held is not None else _known_schema(model.model, names)
    several = getattr(model, "estimators_", None)
    if isinstance(model, EvidentialVotingClassifier) and several:
        found = [_known_schema(one, names) for one in several]
        return next((schema for schema in found if schema is not None), None)
    with suppress(UnsupportedModelError):
        known = known_columns(model, names)
        inside = {j: column for j, column in known.items() if j < len(names)}
        return InputSchema.unknown(len(names)).completed(inside)
    return None


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
        return ModelInputs({text_column: _TEXT}, texts=True)
    candidates = [name for name in others if kinds[name] == "text"]
    if len(candidates) == 1:
        return ModelInputs({candidates[0]: _TEXT}, texts=True)
    raise ValueError(
        f"The model takes one column of texts; {path} has {_several(candidates, others)}. Name the "
        "column with --text-column."
    )


def _several(candidates: list[str], others: Iterable[str]) -> str:
    if candidates:
        return f"{len(candidates)}: {listed(candidates)}"
    return f"no such column, but {listed(others)}"


# Which columns of the data are texts: those whose categories are texts.


def text_columns(model: ReadModel, columns: Sequence[str] | None, n_columns: int) -> frozenset[int]:
    """Return the positions of the columns that the model, or its transformers, take as texts."""
    if model.encoders:
        known = encoder_columns(model.encoders[0], range(n_columns), columns)
        return frozenset(place for place, found in known if found.holds_texts)
    bins = getattr(model.core, "bins_", ())  # of an ExplainableBoostingClassifier
    return frozenset(j for j, found in enumerate(bins) if isinstance(found[0], Mapping))


def selects_by_name(step: Any) -> bool:
    """Say whether a transformer picks its columns by their names."""
    parts = [part for _, part in getattr(step, "steps", ())[:1]]
    parts += [part for _, part in getattr(step, "transformer_list", ())]
    selections = [selected for _, _, selected in getattr(step, "transformers_", ())]
    return any(map(selects_by_name, parts)) or any(map(_has_names, selections))


def _has_names(selected: Any) -> bool:
    if isinstance(selected, slice):
        return isinstance(selected.start, str) or isinstance(selected.stop, str)
    return any(isinstance(one, str) for one in np.atleast_1d(np.asarray(selected, dtype=object)))
