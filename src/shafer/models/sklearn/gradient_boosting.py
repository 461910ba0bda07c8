"""scikit-learn's gradient boosting: a component is a feature, or a tree.

With more than two classes each round grows one tree for each class; the round is the component.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from shafer._kernels.trees import NAN_IS_MISSING
from shafer._typing import Array, FloatArray
from shafer.models.boosting.trees import Tree, TreeTable, joined_trees, path_contributions
from shafer.models.formula import PATH, ROUND, Formula, Trees
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel
from shafer.models.registry import check_option
from shafer.models.sklearn.linear import feature_names


def adapt(model: Any, components: str | None = None) -> AdditiveModel:
    """Read the probabilities of a fitted boosted classifier.

    Parameters
    ----------
    model : HistGradientBoostingClassifier or GradientBoostingClassifier
    components : {"feature", "tree"}, optional
        A feature through its path contributions, or a tree. By default features; trees if boosting
        starts from the predictions of another model, which no feature holds.
    """
    raw = decision(model, components)
    # AdaBoost's loss has its minimum at half the log-odds.
    return raw.rescaled(2.0) if model.loss == "exponential" else raw


def decision(model: Any, components: str | None = None) -> AdditiveModel:
    """Read the decision function of a fitted boosted classifier."""
    check_is_fitted(model)
    check_option("components", components, ("feature", "tree"))
    if components is None:
        components = "tree" if _starts_from_a_model(model) else "feature"
    chosen = {"components": components}  # to be read alike from a file, whatever the default
    live = LiveParameters.of(partial(_some_trees, model))
    if components == "feature":
        return replace(_by_feature(model), options=chosen).watching(live)
    names = [f"tree {t}" for t in range(_n_rounds(model))]
    if _starts_from_a_model(model):
        names = ["init", *names]
    head = Contributions(partial(_tree_contributions, model), None, model.classes_, names)
    formula = None if _starts_from_a_model(model) else partial(_formula, model, ROUND)
    return AdditiveModel(head, by_column=False, live=(live,), options=chosen, formula=formula)


def _some_trees(model: Any) -> tuple[Any, ...]:
    """Return the number of trees and the values in the first and the last of them."""
    if _is_histogram(model):
        trees = model._predictors
        ends = [trees[t][k].nodes["value"] for t, k in ((0, 0), (-1, -1))]
        return (len(trees), model._baseline_prediction, *ends)
    trees = model.estimators_
    ends = [trees[t][k].tree_.value for t, k in ((0, 0), (-1, -1))]
    return (len(trees), model.init_, *ends)


def _is_histogram(model: Any) -> bool:
    return any(base.__name__ == "HistGradientBoostingClassifier" for base in type(model).__mro__)


def _n_rounds(model: Any) -> int:
    return int(model.n_iter_ if _is_histogram(model) else len(model.estimators_))


def _starts_from_a_model(model: Any) -> bool:
    """Tell whether boosting starts from the predictions of another model, not from a constant."""
    return not _is_histogram(model) and model.init not in (None, "zero")


def _tree_contributions(model: Any, X: Any) -> FloatArray:
    """Return what each round adds to the decision function.

    The constant that boosting starts from is added to the first round. This changes nothing, as
    weights of evidence are relative to the background mean of each component.
    """
    steps = _steps(model, X)
    if _starts_from_a_model(model):
        rows = _rows_of_trees(model, X)
        first = np.stack([tree.predict(rows) for tree in model.estimators_[0]], axis=-1)
        first = first * model.learning_rate
        steps = np.concatenate(
            [steps[:, :1] - first[:, None], first[:, None], steps[:, 1:]], axis=1
        )
    return _one_log_odds(steps)


def _steps(model: Any, X: Any) -> FloatArray:
    """Return the difference each round makes, (n, rounds, K), or (n, rounds, 1) for two classes."""
    stages = np.stack(list(model.staged_decision_function(X)), axis=1)
    return np.diff(stages.reshape(*stages.shape[:2], -1), axis=1, prepend=0.0)


def _one_log_odds(contributions: FloatArray) -> FloatArray:
    """Drop the class axis of a binary model, which has one logit."""
    return contributions[..., 0] if contributions.shape[-1] == 1 else contributions


# -- features: path contributions ---------------------------------------------------------------


def _by_feature(model: Any) -> AdditiveModel:
    if _starts_from_a_model(model):
        check_option("components", "feature", ("tree",))
    histogram = _is_histogram(model)
    rounds = _histogram_trees(model) if histogram else _plain_trees(model)
    tables = [[path_contributions(tree, model.n_features_in_) for tree in row] for row in rounds]
    leaves = (
        partial(_histogram_leaves, _with_leaf_numbers(model))
        if histogram
        else partial(_plain_leaves, model)
    )
    function = partial(_path_contributions, model, leaves, tables)
    return AdditiveModel(
        Contributions(function, None, model.classes_, feature_names(model)),
        formula=partial(_formula, model, PATH),
    )


def _path_contributions(
    model: Any, leaves_of: Callable[[Any], Any], tables: list[list[FloatArray]], X: Any
) -> FloatArray:
    """Add up the path contributions of all trees: (n, J, K), or (n, J) for two classes."""
    leaves = np.asarray(leaves_of(X)).astype(np.intp)
    leaves = leaves.reshape(len(leaves), len(tables), -1)  # (n, rounds, K)
    total = np.zeros((len(leaves), model.n_features_in_, leaves.shape[2]))
    for t, table in enumerate(tables):
        for k, paths in enumerate(table):
            total[:, :, k] += paths[leaves[:, t, k]]
    # The constant that boosting starts from is the same for every row, so any feature may hold it.
    decision = np.reshape(model.decision_function(X), (len(leaves), -1))
    total[:, 0] += decision - total.sum(axis=1)
    return _one_log_odds(total)


def _plain_leaves(model: Any, X: Any) -> FloatArray:
    """Return the leaf of each row in each tree, (n, rounds, K)."""
    leaves: FloatArray = model.apply(_rows_of_trees(model, X))
    return leaves


def _rows_of_trees(model: Any, X: Any) -> Array:
    """Check X as the model would; its trees know no column names, and read single precision."""
    return validate_data(model, X, reset=False, dtype=np.float32, accept_sparse="csr")


def _plain_trees(model: Any) -> list[list[Tree]]:
    return [
        [_plain_tree(tree.tree_, model.learning_rate) for tree in row] for row in model.estimators_
    ]


def _plain_tree(tree: Any, learning_rate: float) -> Tree:
    return Tree(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.value[:, 0, 0] * learning_rate,
        tree.weighted_n_node_samples,
    )


def _histogram_trees(model: Any) -> list[list[Tree]]:
    columns = _columns_of_trees(model)
    return [[_histogram_tree(tree.nodes, columns) for tree in row] for row in model._predictors]


def _columns_of_trees(model: Any) -> NDArray[np.intp]:
    if model.is_categorical_ is None:
        return np.arange(model.n_features_in_)
    return np.argsort(~model.is_categorical_, kind="stable")  # categorical columns come first


def _histogram_tree(nodes: Any, columns: NDArray[np.intp]) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    return Tree(
        np.where(leaf, -1, nodes["left"].astype(np.intp)),
        np.where(leaf, -1, nodes["right"].astype(np.intp)),
        columns[np.where(leaf, 0, nodes["feature_idx"])],
        nodes["value"],
        nodes["count"].astype(np.float64),
    )


def _with_leaf_numbers(model: Any) -> Any:
    """Return a copy whose trees put out the number of the leaf instead of its value.

    Histogram trees cannot return the leaf of a row. Walking them here would repeat their rules
    for categories and missing values.
    """
    numbered = copy.copy(model)
    numbered._predictors = [[copy.copy(tree) for tree in row] for row in model._predictors]
    for row in numbered._predictors:
        for tree in row:
            tree.nodes = tree.nodes.copy()
            tree.nodes["value"] = np.arange(len(tree.nodes))
    numbered._baseline_prediction = np.zeros_like(model._baseline_prediction)
    return numbered


def _histogram_leaves(numbered: Any, X: Any) -> FloatArray:
    """Return the leaf of each row in each tree, (n, rounds, K)."""
    return np.rint(_steps(numbered, X))


# -- the trees as data ---------------------------------------------------------------------------


def _formula(model: Any, how: str, _: Any) -> Formula:
    if _is_histogram(model):
        columns = _columns_of_trees(model)
        tables = [
            _histogram_table(k, tree, columns)
            for row in model._predictors
            for k, tree in enumerate(row)
        ]
        numbers = partial(_histogram_numbers, model)
    else:
        tables = [
            _plain_table(k, tree.tree_, model.learning_rate)
            for row in model.estimators_
            for k, tree in enumerate(row)
        ]
        numbers = partial(_plain_numbers, model)
    forest = joined_trees(tables, set_goes_right=False)
    trees = Trees(forest, model.n_features_in_, how, single=not _is_histogram(model))
    return Formula(numbers, trees)


def _histogram_numbers(model: Any, X: Any) -> FloatArray:
    """Return the rows in the order of training, with the codes of categories."""
    given = model._preprocess_X(X, reset=False)
    numbers = np.empty(given.shape)
    numbers[:, _columns_of_trees(model)] = given
    return numbers


def _plain_numbers(model: Any, X: Any) -> FloatArray:
    given: FloatArray = validate_data(model, X, reset=False, dtype=np.float64)
    return given


def _histogram_table(output: int, tree: Any, columns: NDArray[np.intp]) -> TreeTable:
    nodes = tree.nodes
    plain = _histogram_tree(nodes, columns)
    inner = plain.left >= 0
    sets = [
        (int(node), _members(tree.raw_left_cat_bitsets[nodes["bitset_idx"][node]]))
        for node in np.flatnonzero(inner & nodes["is_categorical"].astype(bool))
    ]
    return _table(
        output, plain, nodes["num_threshold"], nodes["missing_go_to_left"].astype(bool), sets
    )


def _plain_table(output: int, tree: Any, learning_rate: float) -> TreeTable:
    plain = _plain_tree(tree, learning_rate)
    return _table(output, plain, tree.threshold, np.zeros(len(plain.left), dtype=bool))


def _table(
    output: int,
    tree: Tree,
    threshold: FloatArray,
    missing_left: NDArray[np.bool_],
    sets: list[tuple[int, NDArray[np.intp]]] | None = None,
) -> TreeTable:
    return TreeTable(
        output,
        tree.feature,
        np.asarray(threshold, dtype=np.float64),
        tree.left,
        tree.right,
        np.full(len(tree.left), NAN_IS_MISSING, dtype=np.uint8),
        missing_left,
        tree.leaf_value,
        tree.cover,
        sets or (),
    )


def _members(words: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return the categories whose bits are set."""
    bits = words.astype(np.int64)[:, None] >> np.arange(32) & 1
    return np.flatnonzero(bits.ravel())
