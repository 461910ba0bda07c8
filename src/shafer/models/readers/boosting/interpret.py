"""interpret's ``ExplainableBoostingClassifier``: a component is a term."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shafer._errors import UnsupportedModelError
from shafer.models.heads import Contributions
from shafer.models.readers.adapted_model import AdditiveModel


def adapt(model: Any) -> AdditiveModel:
    """Read a fitted explainable boosting machine; interactions are terms of their own."""
    check_is_fitted(model)
    if model.link_ not in ("logit", "mlogit"):
        raise UnsupportedModelError(
            f"ExplainableBoostingClassifier with link {model.link_!r} gives no logistic or softmax "
            "of a sum. Use its default objective, 'log_loss'."
        )
    intercept = np.ravel(model.intercept_)
    head = Contributions(model.eval_terms, intercept, model.classes_, model.term_names_)
    columns = tuple(tuple(map(int, term)) for term in model.term_features_)
    return AdditiveModel(head, by_column=False, term_columns=columns)


decision = adapt  # its decision function is the logit
