"""The trees of ``TreeEnsembleClassifier`` and ``TreeEnsembleRegressor`` as arrays.

ONNX does not keep how many training rows have passed each node, which Shapley values need. The rows
of the background are counted instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper

from shafer._kernels.trees import NAN_IS_MISSING, Forest
from shafer._typing import BoolArray, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.boosting.trees import (
    ShapleyTrees,
    TreeTable,
    contributions_with_bias,
    joined_trees,
)
from shafer.models.onnx.graph import GraphIndex, attributes, with_graph
from shafer.models.onnx.run import session_of

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_CLASSIFIER = "TreeEnsembleClassifier"
_LARGEST_CATEGORY = 2**16
# Splits whose true side is that of the smaller values, and those where it is the other.
_TRUE_LEFT, _TRUE_RIGHT = ("BRANCH_LEQ", "BRANCH_LT"), ("BRANCH_GT", "BRANCH_GTE")
_OF_EQUAL = ("BRANCH_EQ", "BRANCH_NEQ")


def tree_tables(node: NodeProto) -> list[TreeTable]:
    """Read the trees of a node, one for each tree and logit, without counts of rows."""
    has = attributes(node)
    if has.get("aggregate_function", "SUM") != "SUM":
        raise UnsupportedModelError(
            f"The graph joins its trees by {has['aggregate_function']}, so its probabilities are "
            "not a softmax of additive terms. Use boosted trees."
        )
    try:
        return _tables(has, "class" if node.op_type == _CLASSIFIER else "target")
    except (KeyError, IndexError, ValueError) as error:
        raise UnsupportedModelError(
            f"The trees of the graph do not fit together ({error}). Export the model again."
        ) from error


def _tables(has: dict[str, Any], leaf: str) -> list[TreeTable]:
    trees = np.asarray(has["nodes_treeids"], dtype=np.int64)
    own = np.asarray(has["nodes_nodeids"], dtype=np.int64)
    leaf_trees = np.asarray(has[f"{leaf}_treeids"], dtype=np.int64)
    leaf_nodes = np.asarray(has[f"{leaf}_nodeids"], dtype=np.int64)
    outputs = np.asarray(has[f"{leaf}_ids"], dtype=np.int64)
    weights = _numbers(has, f"{leaf}_weights")
    single = leaf == "class" and len(np.unique(outputs)) == 1
    found = []
    for tree in np.unique(trees).tolist():
        nodes, leaves = np.flatnonzero(trees == tree), np.flatnonzero(leaf_trees == tree)
        place = {int(number): k for k, number in enumerate(own[nodes])}
        table = _structure(has, nodes, place)
        _check_tree(table)
        for output in np.unique(outputs[leaves]).tolist():
            value = np.zeros(len(nodes))
            for at in leaves[outputs[leaves] == output].tolist():
                value[place[int(leaf_nodes[at])]] += weights[at]
            found.append(replace(table, output=0 if single else output, value=value))
    return found


def _numbers(has: dict[str, Any], name: str) -> FloatArray:
    given = has.get(f"{name}_as_tensor", has.get(name))
    if given is None:
        raise KeyError(name)
    return np.asarray(given, dtype=np.float64)


def _structure(has: dict[str, Any], nodes: NDArray[Any], place: dict[int, int]) -> TreeTable:
    """Return one tree without values and counts."""
    modes = np.asarray(has["nodes_modes"], dtype=object)[nodes]
    known = (*_TRUE_LEFT, *_TRUE_RIGHT, *_OF_EQUAL, "LEAF")
    odd = [str(mode) for mode in modes if mode not in known]
    if odd:
        raise ValueError(f"a split {odd[0]!r}")
    is_leaf, swapped = modes == "LEAF", np.isin(modes.astype(str), (*_TRUE_RIGHT, "BRANCH_NEQ"))
    true = _children(has["nodes_truenodeids"], nodes, place, is_leaf)
    false = _children(has["nodes_falsenodeids"], nodes, place, is_leaf)
    threshold = _numbers(has, "nodes_values")[nodes]
    equal = np.flatnonzero(np.isin(modes.astype(str), _OF_EQUAL))
    categories = [(int(k), _category(threshold[k])) for k in equal]
    # x < t is x <= the next number below t, in double precision, which holds both.
    strict = np.isin(modes.astype(str), ("BRANCH_LT", "BRANCH_GTE"))
    threshold = np.where(strict, np.nextafter(threshold, -np.inf), threshold)
    given = np.asarray(has.get("nodes_missing_value_tracks_true") or np.zeros(nodes.max() + 1))
    to_true = given[nodes].astype(bool) | (modes == "BRANCH_NEQ")  # NaN equals nothing
    return TreeTable(
        0,
        np.where(is_leaf, -1, np.asarray(has["nodes_featureids"], dtype=np.int64)[nodes]),
        threshold,
        np.where(swapped, false, true),
        np.where(swapped, true, false),
        np.full(len(nodes), NAN_IS_MISSING, dtype=np.uint8),
        to_true ^ swapped,
        np.zeros(len(nodes)),
        np.zeros(len(nodes)),
        categories,
    )


def _children(
    given: Any, nodes: NDArray[Any], place: dict[int, int], is_leaf: NDArray[Any]
) -> NDArray[np.int64]:
    numbers = np.asarray(given, dtype=np.int64)[nodes].tolist()
    return np.array(
        [-1 if leaf else place[number] for number, leaf in zip(numbers, is_leaf, strict=True)],
        dtype=np.int64,
    )


def _category(threshold: float) -> NDArray[np.int64]:
    if threshold != int(threshold) or not 0 <= threshold < _LARGEST_CATEGORY:
        raise ValueError(f"a split on equality with {threshold}, which is not a category")
    return np.array([int(threshold)], dtype=np.int64)


def _check_tree(table: TreeTable) -> None:
    """Refuse a node with two parents, and a circle, which would never end."""
    children = np.concatenate([table.left[table.left >= 0], table.right[table.right >= 0]])
    if len(np.unique(children)) < len(children) or np.any(children == 0):
        raise ValueError("a node has two parents, or the first one has a parent")
    # Each node has one parent, so a circle cannot be reached from the root, which has none.


def counted(tables: Sequence[TreeTable], rows: FloatArray) -> list[TreeTable]:
    """Return the trees with the number of rows that pass each node."""
    found: list[TreeTable] = []
    for table in tables:
        same = found and found[-1].left is table.left  # another logit of the same tree
        cover = found[-1].cover if same else _passed(table, rows)
        found.append(replace(table, cover=cover))
    return found


def _passed(table: TreeTable, rows: FloatArray) -> FloatArray:
    cover = np.zeros(len(table.left))
    at = np.zeros(len(rows), dtype=np.int64)
    here = np.arange(len(rows))
    while len(here):
        cover += np.bincount(at[here], minlength=len(cover))
        here = here[table.left[at[here]] >= 0]
        node = at[here]
        left = _goes_left(table, node, rows[here, table.feature[node]])
        at[here] = np.where(left, table.left[node], table.right[node])
    return cover


def _goes_left(table: TreeTable, node: NDArray[np.int64], x: FloatArray) -> BoolArray:
    left = x <= table.threshold[node]
    for split, categories in table.categories:
        here = node == split
        left[here] = np.isin(x[here], categories)
    return np.asarray(np.where(np.isnan(x), table.missing_left[node], left))


def raw_scores(index: GraphIndex, node: NodeProto, n_features: int) -> InferenceSession:
    """Return a session from features to the sums of the leaves, before any transform."""
    kind = TensorProto.DOUBLE if _is_double(node) else TensorProto.FLOAT
    plain = NodeProto()
    plain.CopyFrom(node)
    del plain.attribute[:]
    plain.attribute.extend(a for a in node.attribute if a.name != "post_transform")
    plain.attribute.append(helper.make_attribute("post_transform", "NONE"))
    plain.input[0] = "features"
    outputs = ["scores"] if node.op_type != _CLASSIFIER else ["label", "scores"]
    del plain.output[:]
    plain.output.extend(outputs)
    given = helper.make_tensor_value_info("features", kind, [None, n_features])
    wanted = helper.make_empty_tensor_value_info("scores")
    return session_of(
        with_graph(index.model, helper.make_graph([plain], "trees", [given], [wanted]))
    )


def _is_double(node: NodeProto) -> bool:
    doubles = [a for a in node.attribute if a.name.endswith("_as_tensor")]
    return any(a.t.data_type == TensorProto.DOUBLE for a in doubles)


def scores(session: InferenceSession, n_logits: int, rows: FloatArray) -> FloatArray:
    """Return the logits of features, (n, n_logits); of two opposite ones the second."""
    kind = session.get_inputs()[0].type
    given = rows.astype(np.float64 if "double" in kind else np.float32)
    found = np.asarray(session.run(["scores"], {"features": given})[0], dtype=np.float64)
    return found.reshape(len(rows), -1)[:, -n_logits:]


def shapley_trees(
    tables: Sequence[TreeTable], session: InferenceSession, n_features: int, n_logits: int
) -> ShapleyTrees:
    """Return the trees with the function that computes their contributions."""
    read = partial(_forest, tuple(tables))
    return ShapleyTrees(n_features, read, partial(scores, session, n_logits))


def _forest(tables: Sequence[TreeTable]) -> Forest:
    return joined_trees(tables, set_goes_right=False)


def contributions(trees: ShapleyTrees, n_logits: int, rows: FloatArray) -> FloatArray:
    """Return what each feature adds to the logits, (n, J, K), or (n, J) for one logit."""
    found = trees.contributions(rows, trees.score(rows))
    if found is None:
        raise UnsupportedModelError(
            "The trees of the graph, read node by node, do not add up to the scores of "
            "onnxruntime. Pass the trained model itself."
        )
    return contributions_with_bias(found if n_logits > 1 else found[:, 0])
