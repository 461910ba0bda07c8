"""``catboost_trees``: trees of a CatBoost model that are not symmetric, from its JSON form."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from shafer.kernels.tree_shap import NAN_IS_MISSING, Forest
from shafer.models.readers.boosting.joined_trees import TreeTable, joined_trees


def catboost_trees(model: Any) -> Forest | None:
    """Read trees that split on numbers only; None if there are others.

    CatBoost computes contributions of such trees too, but they do not add up to its predictions.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        stored = json.loads(path.read_text("utf-8"))
    columns = stored["features_info"].get("float_features", [])
    tables = [_tables(_nodes(tree), columns) for tree in stored.get("trees", [])]
    if not tables or any(found is None for found in tables):
        return None
    return joined_trees([table for found in tables for table in found or ()], set_goes_right=False)


def _nodes(root: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the nodes of a tree, parents first."""
    nodes = [root]
    for node in nodes:  # it grows
        nodes += [node[side] for side in ("left", "right") if side in node]
    return nodes


def _tables(nodes: list[dict[str, Any]], columns: list[dict[str, Any]]) -> list[TreeTable] | None:
    """Return one tree for each output, with the same splits."""
    splits = [node.get("split") for node in nodes]
    if any(split and split["split_type"] != "FloatFeature" for split in splits):
        return None
    place = {id(node): at for at, node in enumerate(nodes)}
    left, right = (
        np.array([place[id(node[side])] if side in node else -1 for node in nodes])
        for side in ("left", "right")
    )
    asked = [columns[split["float_feature_index"]] if split else {} for split in splits]
    cover = np.array([float(node.get("weight", 0.0)) for node in nodes])
    for at in reversed(np.flatnonzero(left >= 0)):
        cover[at] = cover[left[at]] + cover[right[at]]
    values = [np.atleast_1d(node.get("value", 0.0)) for node in nodes]
    n_outputs = max(map(len, values))
    values = [np.broadcast_to(value, n_outputs) for value in values]
    return [
        TreeTable(
            output,
            np.array([column.get("flat_feature_index", -1) for column in asked]),
            np.array([split["border"] if split else 0.0 for split in splits]),
            left,
            right,
            np.full(len(nodes), NAN_IS_MISSING, dtype=np.uint8),
            np.array([column.get("nan_value_treatment") != "AsTrue" for column in asked]),
            np.array([value[output] for value in values]),
            cover,
        )
        for output in range(n_outputs)
    ]
