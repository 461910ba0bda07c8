"""interpret's ``ExplainableBoostingClassifier``: a component is a term."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shafer._errors import UnsupportedModelError
from shafer.models.heads import Contributions
from shafer.models.inputs.column_bins import (
    MISSING,
    OTHER,
    ColumnBin,
    category_bins,
    interval_bins,
    unseen_value,
)
from shafer.models.readers.adapted_model import AdditiveModel
from shafer.models.readers.boosting.ebm_bags import term_bags
from shafer.models.readers.live_parameters import LiveParameters, check_parameters


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


decision = adapt  # its decision function is the logit
