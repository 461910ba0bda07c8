"""``xgboost_trees``: the trees of an XGBoost model, from its JSON form."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from shafer.kernels.tree_shap import NAN_IS_MISSING, Forest
from shafer.models.readers.boosting.joined_trees import TreeTable, joined_trees


def xgboost_trees(booster: Any, n_rounds: int) -> Forest | None:
    """Read the trees of the first rounds, all if 0; None for a model that is not made of trees."""
    fitted = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    model = fitted["gbtree"]["model"] if "gbtree" in fitted else fitted.get("model", {})
    if "trees" not in model:
        return None
    trees = model["trees"]
    n_trees = model["iteration_indptr"][n_rounds] if n_rounds else len(trees)
    if n_trees == 0 or trees[0]["tree_param"]["size_leaf_vector"] not in ("0", "1"):
        return None
    factors = fitted.get("weight_drop", np.ones(n_trees))  # only for boosting with dropout
    tables = [
        _table(tree, output, float(factor))
        for tree, output, factor in zip(trees[:n_trees], model["tree_info"], factors, strict=False)
    ]
    return joined_trees(tables, set_goes_right=True)


def _table(tree: dict[str, Any], output: int, factor: float) -> TreeTable:
    # A row goes left where x < condition, both in single precision.
    condition = np.asarray(tree["split_conditions"], dtype=np.float32)
    n_nodes = len(condition)
    return TreeTable(
        int(output),
        np.asarray(tree["split_indices"], dtype=np.int64),
        np.nextafter(condition, np.float32(-np.inf)).astype(np.float64),
        np.asarray(tree["left_children"], dtype=np.int64),
        np.asarray(tree["right_children"], dtype=np.int64),
        np.full(n_nodes, NAN_IS_MISSING, dtype=np.uint8),
        np.asarray(tree["default_left"], dtype=bool),
        condition.astype(np.float64) * factor,
        np.asarray(tree["sum_hessian"], dtype=np.float64),
        _categories(tree),
    )


def _categories(tree: dict[str, Any]) -> list[tuple[int, Any]]:
    categories = np.asarray(tree["categories"], dtype=np.int64)
    spans = zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    )
    return [(node, categories[start : start + size]) for node, start, size in spans]
