"""The outer bags of interpret's ``ExplainableBoostingClassifier``, as tables of scores.

An EBM is the mean of several models, one for each outer bag, which share their bins. interpret
shows the standard deviation over the bags as error bars (``standard_deviations_``).
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer.models.readers.live_parameters import check_parameters
from shafer.models.readers.term_bags import TermBags


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
