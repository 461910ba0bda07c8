"""The trees of stored boosters, whose indices compiled code follows without checks."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer.models.saving.stored_values import Json

_NODE_LISTS = ("right_children", "split_indices", "split_conditions", "default_left")


def check_xgboost(content: bytes) -> None:
    """Refuse a booster of XGBoost, as JSON, with trees that point outside themselves."""
    try:
        learner = json.loads(content)["learner"]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise ValueError("it holds a booster that is not XGBoost's JSON") from error
    booster = learner["gradient_booster"]
    if booster["name"] == "gblinear":
        return
    model = booster["gbtree" if booster["name"] == "dart" else "model"]
    model = model.get("model", model)
    trees, outputs = model["trees"], model["tree_info"]
    n_columns = int(learner["learner_model_param"]["num_feature"])
    n_outputs = max(1, int(learner["learner_model_param"]["num_class"]))
    if len(trees) != len(outputs) or not all(0 <= output < n_outputs for output in outputs):
        raise _damaged()
    for tree in trees:
        _check_xgboost_tree(tree, n_columns)


def _check_xgboost_tree(tree: Json, n_columns: int) -> None:
    left = np.asarray(tree["left_children"], dtype=np.int64)
    n_nodes = len(left)
    lists = [np.asarray(tree[name]) for name in _NODE_LISTS]
    stated = int(tree["tree_param"]["num_nodes"])
    if stated != n_nodes or any(len(part) != n_nodes for part in lists):
        raise _damaged()
    right, columns = lists[0].astype(np.int64), lists[1].astype(np.int64)
    inner = left >= 0
    if (inner != (right >= 0)).any() or n_nodes == 0:
        raise _damaged()
    _check_children(np.concatenate([left[inner], right[inner]]), n_nodes)
    _check_columns(columns[inner], n_columns)


def check_lightgbm(text: str) -> None:
    """Refuse a booster of LightGBM, as text, with trees that point outside themselves."""
    if not text.startswith("tree\n"):
        raise ValueError("it holds a booster that is not the text of LightGBM")
    head, *trees = text.split("\n\nend of trees")[0].split("\nTree=")
    n_columns = int(_fields(head)["max_feature_idx"]) + 1
    for tree in trees:
        _check_lightgbm_tree(_fields(tree), n_columns)


def _check_lightgbm_tree(fields: dict[str, str], n_columns: int) -> None:
    n_leaves = int(fields["num_leaves"])
    if n_leaves < 1 or len(fields["leaf_value"].split()) != n_leaves:
        raise _damaged()
    if n_leaves == 1:
        return
    names = ("left_child", "right_child", "split_feature", "decision_type")
    lists = [np.array(fields[name].split(), dtype=np.int64) for name in names]
    if any(len(part) != n_leaves - 1 for part in lists):
        raise _damaged()
    children = np.concatenate(lists[:2])
    _check_children(children[children >= 0], n_leaves - 1)
    leaves = np.sort(~children[children < 0])
    if not np.array_equal(leaves, np.arange(n_leaves)):
        raise _damaged()
    _check_columns(lists[2], n_columns)
    if int(fields["num_cat"]) > 0:
        _check_sets(fields, lists[3])


def _check_sets(fields: dict[str, str], decisions: NDArray[np.int64]) -> None:
    """Check the sets of categories: where each begins, and which split has which."""
    bounds = np.array(fields["cat_boundaries"].split(), dtype=np.int64)
    numbers = np.array(fields["threshold"].split(), dtype=np.float64)
    n_sets, n_words = int(fields["num_cat"]), len(fields["cat_threshold"].split())
    if len(bounds) != n_sets + 1 or bounds[0] != 0 or bounds[-1] != n_words:
        raise _damaged()
    if (np.diff(bounds) < 0).any() or len(numbers) != len(decisions):
        raise _damaged()
    chosen = numbers[decisions & 1 == 1]
    if not ((chosen >= 0) & (chosen < n_sets)).all():
        raise _damaged()


def _fields(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _check_children(children: NDArray[np.int64], n_nodes: int) -> None:
    """Check that every node has one parent at most, and the root, node 0, has none.

    Then nothing that is reached from the root can lead back to it.
    """
    within = ((children > 0) & (children < n_nodes)).all()
    if not within or len(np.unique(children)) != len(children):
        raise _damaged()


def _check_columns(columns: NDArray[Any], n_columns: int) -> None:
    if not ((columns >= 0) & (columns < n_columns)).all():
        raise _damaged()


def _damaged() -> ValueError:
    return ValueError("a tree of its booster is damaged")
