"""interpret's ``ExplainableBoostingClassifier``: a component is a term."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.formula import Formula, Tables
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters, check_parameters
from shafer.models.read_model import AdditiveModel, TermBags
from shafer.rows.bins import MISSING, OTHER, ColumnBin, category_bins, interval_bins, unseen_value
from shafer.rows.schema import ColumnSchema


def adapt(model: Any) -> AdditiveModel:
    """Read a fitted explainable boosting machine; interactions are terms of their own."""
    check_is_fitted(model)
    if model.link_ not in ("logit", "mlogit"):
        raise UnsupportedModelError(
            f"ExplainableBoostingClassifier has link {model.link_!r}. Its probabilities are not a "
            "logistic or softmax of additive terms. Use its default objective, 'log_loss'."
        )
    intercept = np.ravel(model.intercept_)
    head = Contributions(model.eval_terms, intercept, model.classes_, model.term_names_)
    columns = tuple(tuple(map(int, term)) for term in model.term_features_)
    check_parameters(type(model).__name__, (model.intercept_, *model.term_scores_))
    live = LiveParameters.of(partial(_some_terms, model))
    return AdditiveModel(
        head,
        by_column=False,
        term_columns=columns,
        live=(live,),
        bags=partial(term_bags, model),
        column_bins=partial(_column_bins, model),
        formula=partial(_formula, model),
    )


def _column_bins(model: Any, j: int) -> list[ColumnBin]:
    """Return the bins of a feature in the term of its own."""
    found = model.bins_[j][0]
    if not isinstance(found, dict):  # cut points
        return [*interval_bins(found), ColumnBin(MISSING, np.nan)]
    by_bin: dict[int, list[Any]] = {}
    for category, position in found.items():
        by_bin.setdefault(position, []).append(category)
    rest = [ColumnBin(OTHER, unseen_value(found)), ColumnBin(MISSING, None)]
    return [*category_bins(by_bin.values()), *rest]


def _some_terms(model: Any) -> tuple[Any, ...]:
    """Return the intercept, the number of terms, and the first and the last of them."""
    scores = model.term_scores_
    return model.intercept_, len(scores), scores[0], scores[-1]


def known_columns(model: Any, _: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return the columns of categories: the model reads each value as it is written."""
    # A feature that is in no term has no bins.
    named = (j for j, found in enumerate(model.bins_) if found and isinstance(found[0], dict))
    return {j: ColumnSchema("written") for j in named}


decision = adapt  # its decision function is the logit


# The tables of the terms, over the bins of their features.


@final
@dataclass(frozen=True, eq=False)
class BinnedColumn:
    """The bins of one feature, as finely as terms of one or of several features use them."""

    feature: int
    level: int
    bins: Any  # cut points, or category -> position


def level_of(machine: Any, feature: int, n_features: int) -> int:
    """Return which of the bins of a feature a term of so many features uses."""
    return min(len(machine.bins_[feature]), n_features) - 1


def binned_columns(machine: Any) -> list[BinnedColumn]:
    """Return the bins that the terms use."""
    found = {
        (feature, level_of(machine, feature, len(term)))
        for term in machine.term_features_
        for feature in term
    }
    return [BinnedColumn(f, level, machine.bins_[f][level]) for f, level in sorted(found)]


def term_tables(machine: Any) -> list[FloatArray]:
    """Return the table of each term, with the classes on its last axis."""
    tables: list[FloatArray] = []
    for features, given in zip(machine.term_features_, machine.term_scores_, strict=True):
        scores: FloatArray = np.asarray(given, dtype=np.float64)
        if scores.ndim == len(features):
            scores = _both_logits(scores[..., None])
        tables.append(scores)
    return tables


def _formula(machine: Any, _: Any) -> Formula:
    columns = binned_columns(machine)
    place = {(column.feature, column.level): c for c, column in enumerate(columns)}
    axes = [
        tuple(place[feature, level_of(machine, feature, len(term))] for feature in term)
        for term in machine.term_features_
    ]
    tables = term_tables(machine)
    sizes = {c: tables[t].shape[axis] for t, own in enumerate(axes) for axis, c in enumerate(own)}
    edges = [
        # The positions of categories are their bins.
        np.arange(2.0, sizes[c] - 1) if isinstance(column.bins, dict) else np.asarray(column.bins)
        for c, column in enumerate(columns)
    ]
    return Formula(partial(_numbers, machine, columns, axes), Tables(axes, edges, tables))


def _numbers(
    machine: Any, columns: list[BinnedColumn], axes: list[tuple[int, ...]], X: Any
) -> FloatArray:
    """Return numbers as they are, and the position of each category in its bins."""
    lines = _lines(machine, X)
    starts = np.concatenate(
        [[0], np.cumsum([np.prod(_shape(machine, t)) for t in range(len(axes))])]
    )
    numbers = np.empty((len(lines), len(columns)))
    for c, column in enumerate(columns):
        if not isinstance(column.bins, dict):
            given = X.iloc[:, column.feature] if hasattr(X, "iloc") else X[:, column.feature]
            numbers[:, c] = np.asarray(given, dtype=object).astype(np.float64)
            continue
        t = next(t for t, own in enumerate(axes) if c in own)
        at = np.unravel_index((lines[:, t] - starts[t]).astype(int), _shape(machine, t))
        position = at[axes[t].index(c)].astype(np.float64)
        numbers[:, c] = np.where(position == 0, np.nan, position)
    return numbers


def _shape(machine: Any, t: int) -> tuple[int, ...]:
    shape: tuple[int, ...] = machine.term_scores_[t].shape[: len(machine.term_features_[t])]
    return shape


# The outer bags of interpret's ``ExplainableBoostingClassifier``, as tables of scores.


def term_bags(model: Any) -> TermBags:
    """Read the scores of each outer bag; ``term_scores_`` are their means.

    Raises
    ------
    UnsupportedModelError
        If the model has no scores of its bags, or only one bag.
    """
    scores, intercepts = model.bagged_scores_, model.bagged_intercept_
    if scores is None or intercepts is None or any(table is None for table in scores):
        raise UnsupportedModelError(
            "errors='bags' needs the scores of each outer bag. This ExplainableBoostingClassifier "
            "has lost them, because it was edited: monotonize, for instance, removes them. Pass "
            "the model as it was trained, or use errors='bootstrap' with refits=."
        )
    n_bags = len(intercepts)
    if n_bags < 2:
        raise UnsupportedModelError(
            "errors='bags' needs at least 2 outer bags; this ExplainableBoostingClassifier has "
            f"{n_bags}. Train it with outer_bags=14, or use errors='bootstrap' with refits=."
        )
    check_parameters(type(model).__name__, (intercepts, *scores))
    weights = np.asarray(model.bag_weights_, dtype=np.float64)
    n_scores = 1 if np.ndim(intercepts) == 1 else np.shape(intercepts)[1]
    tables = [np.reshape(table, (n_bags, -1, n_scores)) for table in scores]
    return TermBags(
        partial(_lines, model),
        _both_logits(np.concatenate(tables, axis=1)),
        _both_logits(np.reshape(intercepts, (n_bags, n_scores))),
        weights / weights.sum(),
    )


def _both_logits(scores: FloatArray) -> FloatArray:
    """Return one logit for each class, also if the model has one for two classes."""
    return np.concatenate([-scores / 2, scores / 2], axis=-1) if scores.shape[-1] == 1 else scores


def _lines(model: Any, X: Any) -> NDArray[Any]:
    """Return the bin of each row in each term, (n, G), numbered through the tables of all terms.

    interpret looks up the score of each bin. So a copy of the model whose scores are the numbers
    of the bins gives these numbers.
    """
    numbered = copy.copy(model)
    numbered.term_scores_ = []
    start = 0
    for scores in model.term_scores_:
        several = model.link_ == "mlogit"
        bins = scores[..., 0] if several else scores
        lines = start + np.arange(bins.size, dtype=np.float64).reshape(bins.shape)
        start += bins.size
        every = np.repeat(lines[..., None], scores.shape[-1], axis=-1) if several else lines
        numbered.term_scores_.append(every)
    found = numbered.eval_terms(X)
    return np.asarray(found[..., 0] if found.ndim == 3 else found).astype(np.int64)
