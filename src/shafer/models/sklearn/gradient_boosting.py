"""scikit-learn's gradient boosting: a component is a feature, or a tree.

With more than two classes each round grows one tree for each class; the round is the component.
Features have their path contributions, or interventional Shapley values relative to the background.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from shafer._kernels.trees import NAN_IS_MISSING, Forest
from shafer._typing import Array, FloatArray
from shafer.models.boosting.tree_background import MOST_ROWS, TreeValues
from shafer.models.boosting.trees import (
    ShapleyTrees,
    Tree,
    TreeTable,
    contributions_with_bias,
    joined_trees,
    path_contributions,
    scores_of_trees,
)
from shafer.models.formula import PATH, ROUND, Formula, Trees
from shafer.models.heads import Contributions
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import AdditiveModel
from shafer.models.registry import check_option
from shafer.models.sklearn.linear import feature_names


def adapt(
    model: Any,
    components: str | None = None,
    tree_values: str = "path",
    background_rows: int = MOST_ROWS,
    restored: Any = None,
) -> AdditiveModel:
    """Read the probabilities of a fitted boosted classifier.

    Parameters
    ----------
    model : HistGradientBoostingClassifier or GradientBoostingClassifier
    components : {"feature", "tree"}, optional
        A feature through its path contributions, or a tree. By default features; trees if boosting
        starts from the predictions of another model, which no feature holds.
    tree_values, background_rows, restored : options of ``TreeValues``
    """
    raw = decision(model, components, tree_values, background_rows, restored)
    # AdaBoost's loss has its minimum at half the log-odds.
    return raw.rescaled(2.0) if model.loss == "exponential" else raw


def decision(
    model: Any,
    components: str | None = None,
    tree_values: str = "path",
    background_rows: int = MOST_ROWS,
    restored: Any = None,
) -> AdditiveModel:
    """Read the decision function of a fitted boosted classifier."""
    check_is_fitted(model)
    values = TreeValues.read(tree_values, background_rows, restored)
    check_option("components", components, ("feature", "tree"))
    if components is None:
        components = "tree" if _starts_from_a_model(model) else "feature"
    chosen = {"components": components}  # to be read alike from a file, whatever the default
    live = LiveParameters.of(partial(_some_trees, model))
    if components == "feature":
        by_feature = replace(_by_feature(model), options=chosen).watching(live)
        function_of = partial(_shapley_contributions, model)
        rows_of = partial(_compared_rows, model)
        trees = _shapley_trees(model)
        functions = partial(partial, function_of)
        return values.applied(by_feature, trees, functions, rows_of, shapley=False)
    if values.by_background:
        raise ValueError(
            "tree_values='background' is about features; got components='tree'. Leave out one of "
            "them. Boosting that starts from another model (init) has trees as components only."
        )
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
    columns = _encoded_columns(model)
    return [[_histogram_tree(tree.nodes, columns) for tree in row] for row in model._predictors]


def _encoded_columns(model: Any) -> NDArray[np.intp]:
    """Return the columns of X in the order in which histogram trees see them."""
    if model.is_categorical_ is None:
        return np.arange(model.n_features_in_)
    return np.argsort(~model.is_categorical_, kind="stable")  # categories first


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
    histogram = _is_histogram(model)
    forest = _histogram_forest(model) if histogram else _plain_forest(model)
    numbers = partial(_compared_rows if histogram else _plain_numbers, model)
    return Formula(numbers, Trees(forest, model.n_features_in_, how, single=not histogram))


def _plain_numbers(model: Any, X: Any) -> FloatArray:
    given: FloatArray = validate_data(model, X, reset=False, dtype=np.float64)
    return given


# -- features: Shapley values relative to the background ------------------------------------------


def _shapley_trees(model: Any) -> ShapleyTrees:
    histogram = _is_histogram(model)
    read = partial(_histogram_forest if histogram else _plain_forest, model)
    start = partial(_start, model) if histogram else partial(_start_of_plain, model)
    return ShapleyTrees(int(model.n_features_in_), read, partial(_scores, read, start))


def _scores(
    read: Callable[[], Forest], start: Callable[[], FloatArray], rows: FloatArray
) -> FloatArray:
    """Return the decision function of rows as the trees compare them, (n, outputs)."""
    return scores_of_trees(read(), rows) + start()


def _start(model: Any) -> FloatArray:
    """Return the constant that histogram boosting starts from."""
    start: FloatArray = np.reshape(model._baseline_prediction, -1)
    return start


def _start_of_plain(model: Any) -> FloatArray:
    """Return the constant that plain boosting starts from."""
    zeros = np.zeros((1, model.n_features_in_))
    trees = scores_of_trees(_plain_forest(model), zeros)
    start: FloatArray = np.reshape(model._raw_predict(zeros.astype(np.float32)), -1) - trees[0]
    return start


def _shapley_contributions(model: Any, trees: ShapleyTrees, X: Any) -> FloatArray:
    decision = model.decision_function(X)
    scores = np.reshape(decision, (len(decision), -1))
    ours = trees.contributions(_compared_rows(model, X), scores)
    if ours is None:
        trees.refuse_library()
        raise AssertionError  # it raises
    return contributions_with_bias(ours if ours.shape[1] > 1 else ours[:, 0])


def _compared_rows(model: Any, X: Any) -> FloatArray:
    """Return rows as the trees compare them, in the order of the columns of X."""
    if not _is_histogram(model):
        rows = _rows_of_trees(model, X)
        dense = rows.toarray() if sparse.issparse(rows) else rows
        return np.asarray(dense, dtype=np.float64)
    encoded = model._preprocess_X(X, reset=False)
    rows = np.empty(encoded.shape)
    rows[:, _encoded_columns(model)] = encoded
    return rows


def _plain_forest(model: Any) -> Forest:
    tables = [
        _plain_table(tree.tree_, k, model.learning_rate)
        for row in model.estimators_
        for k, tree in enumerate(row)
    ]
    return joined_trees(tables, set_goes_right=False)


def _plain_table(tree: Any, output: int, learning_rate: float) -> TreeTable:
    n_nodes = tree.node_count
    return TreeTable(
        output,
        tree.feature,
        tree.threshold,
        tree.children_left,
        tree.children_right,
        np.full(n_nodes, NAN_IS_MISSING, dtype=np.uint8),
        np.zeros(n_nodes, dtype=bool),
        tree.value[:, 0, 0] * learning_rate,
        tree.weighted_n_node_samples,
    )


def _histogram_forest(model: Any) -> Forest:
    columns = _encoded_columns(model)
    tables = [
        _histogram_table(tree, k, columns)
        for row in model._predictors
        for k, tree in enumerate(row)
    ]
    return joined_trees(tables, set_goes_right=False)


def _histogram_table(predictor: Any, output: int, columns: NDArray[np.intp]) -> TreeTable:
    nodes = predictor.nodes
    tree = _histogram_tree(nodes, columns)
    splits = np.flatnonzero((nodes["is_categorical"] == 1) & (nodes["is_leaf"] == 0))
    sets = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][splits]]
    bits = sets[:, :, None] >> np.arange(32, dtype=np.uint32) & 1
    return TreeTable(
        output,
        tree.feature,
        nodes["num_threshold"],
        tree.left,
        tree.right,
        np.full(len(nodes), NAN_IS_MISSING, dtype=np.uint8),
        nodes["missing_go_to_left"].astype(bool),
        tree.leaf_value,
        tree.cover,
        [(int(at), np.flatnonzero(own.ravel())) for at, own in zip(splits, bits, strict=True)],
    )
