"""LightGBM: a component is a feature, through exact Shapley contributions (TreeSHAP).

With numba they are computed here, many times faster than by the library and to the same numbers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import lightgbm
import numpy as np
from scipy import sparse

from shafer._errors import UnsupportedModelError
from shafer._text import listed
from shafer._typing import FloatArray
from shafer._validation import frame_columns
from shafer.kernels.tree_shap import Forest
from shafer.models.heads import Contributions
from shafer.models.inputs.frame_order import without_blanks
from shafer.models.inputs.table_checks import check_table
from shafer.models.readers.adapted_model import AdditiveModel, both_probabilities
from shafer.models.readers.boosting.bias_column import contributions_with_bias
from shafer.models.readers.boosting.lightgbm_rows import lightgbm_rows, with_lightgbm_categories
from shafer.models.readers.boosting.lightgbm_trees import lightgbm_trees
from shafer.models.readers.boosting.shapley_trees import ShapleyTrees
from shafer.models.readers.live_parameters import LiveParameters


def adapt(model: Any) -> AdditiveModel:
    """Read a fitted ``LGBMClassifier`` or a ``Booster``."""
    bare = isinstance(model, lightgbm.Booster)
    booster = model if bare else model.booster_
    classes = None if bare else model.classes_
    names = model.feature_name() if bare else getattr(model, "feature_names_in_", None)
    _check_leaves(booster)
    summary = booster.dump_model(num_iteration=1)
    slope = _slope(summary)
    if summary.get("average_output"):  # boosting="rf": contributions are of the sum of its trees
        slope /= (
            booster.best_iteration if booster.best_iteration > 0 else booster.current_iteration()
        )
    n_logits = int(summary["num_tree_per_iteration"])
    names_trained = tuple(booster.feature_name())
    averaged = bool(summary.get("average_output"))
    trees = ShapleyTrees(
        len(names_trained),
        partial(_trees, booster, averaged),
        partial(_scores, booster, n_logits),
    )
    function = partial(_contributions, model, n_logits, names_trained, trees)
    live = LiveParameters.of(partial(_identity, model))
    adapted = AdditiveModel(Contributions(function, None, classes, names), live=(live,))
    return adapted if slope == 1.0 else adapted.rescaled(slope)


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that the library itself computes, (n, K)."""
    bare = isinstance(model, lightgbm.Booster)
    X = with_lightgbm_categories(model, X)
    # For an objective of the user's the classifier returns its scores, one for each row.
    return both_probabilities(model.predict(X) if bare else model.predict_proba(X))


def _identity(model: Any) -> tuple[Any, ...]:
    """Return the number of trees, and a leaf of the first and of the last tree."""
    booster = model if isinstance(model, lightgbm.Booster) else model.booster_
    n_trees = booster.num_trees()
    leaves = [booster.get_leaf_output(tree, 0) for tree in ((0, n_trees - 1) if n_trees else ())]
    return (n_trees, booster.best_iteration, *leaves)


def _check_leaves(booster: Any) -> None:
    # Only the text form of a model tells, for one trained here and one read from a file alike.
    text = booster.model_to_string(num_iteration=1)
    if "\nis_linear=1\n" in text or "[linear_tree: 1]" in text:
        raise UnsupportedModelError(
            "This LightGBM model was trained with linear_tree=True, for which LightGBM computes no "
            "contributions. Train with linear_tree=False."
        )


def _slope(summary: dict[str, Any]) -> float:
    """Return the factor between scores and log-odds, or refuse the objective."""
    # Such as "binary sigmoid:1", "multiclass num_class:3", "cross_entropy"; none if it is a
    # function of the user's.
    objective, *settings = str(summary.get("objective") or "custom").split()
    if objective == "binary":
        return next((float(s[8:]) for s in settings if s.startswith("sigmoid:")), 1.0)
    if objective in ("multiclass", "cross_entropy"):
        return 1.0
    raise UnsupportedModelError(
        f"This LightGBM model was trained with objective {objective!r}. Its predictions are not a "
        "logistic or softmax of additive terms. Use objective='binary' or 'multiclass'."
    )


def _trees(booster: Any, averaged: bool) -> Forest | None:
    return None if averaged else lightgbm_trees(booster)  # scores of averages are not sums


def _scores(booster: Any, n_logits: int, X: Any) -> FloatArray:
    return np.reshape(booster.predict(X, raw_score=True), (-1, n_logits)).astype(np.float64)


def _contributions(
    model: Any, n_logits: int, names: tuple[str, ...], trees: ShapleyTrees, X: Any
) -> FloatArray:
    _check_input(names, X)
    X = with_lightgbm_categories(model, X)
    rows = lightgbm_rows(model, X)
    ours = None if rows is None else trees.contributions(rows, trees.score(X))
    if ours is not None:
        return contributions_with_bias(ours if n_logits > 1 else ours[:, 0])
    given = model.predict(X, pred_contrib=True)
    if isinstance(given, list):  # one sparse matrix for each class
        given = np.stack([part.toarray() for part in given], axis=1)
    elif sparse.issparse(given):
        given = given.toarray()
    if n_logits > 1:
        given = given.reshape(len(given), n_logits, -1)
    return contributions_with_bias(given)


def _check_input(names: tuple[str, ...], X: Any) -> None:
    """Refuse columns in another order, which LightGBM would read by position, and other shapes."""
    columns = frame_columns(X)
    spelled = columns and without_blanks(columns)
    if spelled and columns and spelled != names and set(spelled) == set(names):
        raise ValueError(
            f"X must have its columns in the order of training, [{listed(names)}], because "
            f"LightGBM reads them by position; got [{listed(columns or ())}]."
        )
    check_table(X, len(names), "the LightGBM model")
