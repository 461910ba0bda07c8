"""CatBoost: a component is a feature, through the library's own exact contributions (TreeSHAP)."""

from __future__ import annotations

from functools import partial
from typing import Any

import catboost

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer.models.heads import Contributions
from shafer.models.inputs.rows import check_table
from shafer.models.readers.adapted_model import AdditiveModel
from shafer.models.readers.boosting.bias_column import contributions_with_bias


def adapt(model: Any) -> AdditiveModel:
    """Read a fitted ``CatBoostClassifier``."""
    loss = str(model.get_all_params()["loss_function"]).partition(":")[0]
    if loss not in ("Logloss", "CrossEntropy", "MultiClass"):
        raise UnsupportedModelError(
            f"CatBoostClassifier with loss_function={loss!r} gives no logistic or softmax of a "
            "sum. Use loss_function='Logloss' or 'MultiClass'."
        )
    function = partial(_contributions, model)
    return AdditiveModel(Contributions(function, None, model.classes_, _names(model)))


def _names(model: Any) -> list[str] | None:
    """Return the names it was trained with; without any it numbers the features."""
    names = list(model.feature_names_)
    return None if names == [str(j) for j in range(len(names))] else names


def _contributions(model: Any, X: Any) -> FloatArray:
    check_table(X, len(model.feature_names_), "the CatBoost model")
    pool = catboost.Pool(
        X,
        cat_features=model.get_cat_feature_indices(),
        text_features=model.get_text_feature_indices(),
    )
    return contributions_with_bias(model.get_feature_importance(pool, type="ShapValues"))
