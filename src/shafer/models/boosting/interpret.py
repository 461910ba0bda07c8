"""interpret's ``ExplainableBoostingClassifier``: a component is a term."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
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
