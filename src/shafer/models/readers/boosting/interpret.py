"""interpret's ``ExplainableBoostingClassifier``: a component is a term."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from shafer._errors import UnsupportedModelError
from shafer.models.heads import Contributions
from shafer.models.readers.adapted_model import AdditiveModel
from shafer.models.readers.live_parameters import LiveParameters


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
    live = LiveParameters.attributes(model, "intercept_", "term_scores_")
    return AdditiveModel(head, by_column=False, term_columns=columns, live=(live,))


decision = adapt  # its decision function is the logit
