"""scikit-learn's decision trees: a component is a feature, by its Shapley values.

The logits are the logarithms of the shares of the classes in a leaf. A class that a leaf has never
seen would be ruled out: infinite evidence. So every leaf must have seen every class.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from shafer._kernels.trees import NAN_IS_MISSING, Forest
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.boosting.trees import (
    ShapleyTrees,
    TreeTable,
    contributions_with_bias,
    joined_trees,
)
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel
from shafer.models.sklearn.linear import feature_names
from shafer.rows.checks import checked


def adapt(model: Any) -> AdditiveModel:
    """Read a fitted decision tree all of whose leaves have rows of all classes."""
    check_is_fitted(model)
    if model.n_outputs_ > 1:
        raise UnsupportedModelError(
            f"{type(model).__name__} predicts {model.n_outputs_} labels for each row, not one "
            "class. Explain the model of each label, such as LogisticRegression."
        )
    leaves = model.tree_.children_left < 0
    if not model.tree_.value[leaves, 0].all():
        raise UnsupportedModelError(
            f"{type(model).__name__} has leaves without training rows of some class, so it gives "
            "this class a probability of 0, which is infinite evidence. Use "
            "HistGradientBoostingClassifier(max_iter=1) or LogisticRegression."
        )
    score = partial(_scores, model)
    trees = ShapleyTrees(model.n_features_in_, partial(_forest, model), score)
    head = Contributions(
        partial(_contributions, model, trees), None, model.classes_, feature_names(model)
    )
    return AdditiveModel(head, live=(LiveParameters.attributes(model, "tree_"),))


def tree_table(tree: Any, output: int, values: FloatArray) -> TreeTable:
    """Return a tree of scikit-learn with other values at its nodes."""
    return TreeTable(
        output,
        tree.feature,
        tree.threshold,
        tree.children_left,
        tree.children_right,
        np.full(tree.node_count, NAN_IS_MISSING, dtype=np.uint8),
        tree.missing_go_to_left.astype(bool),
        values,
        tree.weighted_n_node_samples,
    )


def _forest(model: Any) -> Forest:
    """Write the tree once for each logit."""
    logits = _logits(np.where(model.tree_.value[:, 0] > 0.0, model.tree_.value[:, 0], 1.0))
    tables = [tree_table(model.tree_, k, values) for k, values in enumerate(logits.T)]
    return joined_trees(tables, set_goes_right=False)


def _logits(shares: FloatArray) -> FloatArray:
    """Return the logarithms (n, K), or the log-odds of two classes (n, 1)."""
    logs = np.log(shares)
    return logs[:, 1:] - logs[:, :1] if logs.shape[1] == 2 else logs


def _scores(model: Any, rows: Any) -> FloatArray:
    return _logits(model.tree_.predict(np.asarray(rows, dtype=np.float32)))


def _contributions(model: Any, trees: ShapleyTrees, X: Any) -> FloatArray:
    finite = "allow-nan" if get_tags(model).input_tags.allow_nan else True
    rows = checked(model, X, dtype=np.float32, accept_sparse="csr", ensure_all_finite=finite)
    dense = rows.toarray() if sparse.issparse(rows) else rows
    found = trees.contributions(dense.astype(np.float64), _scores(model, dense))
    assert found is not None  # both read the same tree
    return contributions_with_bias(found if found.shape[1] > 1 else found[:, 0])
