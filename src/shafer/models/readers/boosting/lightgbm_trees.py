"""``lightgbm_trees``: the trees of a LightGBM model, from its text form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer.kernels.tree_shap import NAN_IS_MISSING, Forest
from shafer.models.readers.boosting.joined_trees import TreeTable, joined_trees

# Bits of LightGBM's decision_type; the two bits from the third on are the kind of missing value.
_CATEGORICAL, _DEFAULT_LEFT, _MISSING_SHIFT = 1, 2, 2


def lightgbm_trees(booster: Any) -> Forest | None:
    """Read the trees that the model predicts with; None if there are none."""
    text = booster.model_to_string()
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    if not blocks:
        return None
    n_outputs = int(_fields(head)["num_tree_per_iteration"])
    tables = [_table(_fields(block), t % n_outputs) for t, block in enumerate(blocks)]
    return joined_trees(tables, set_goes_right=False)


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition("=") for line in block.splitlines())
    return {name: value for name, equals, value in pairs if equals}


def _numbers(fields: dict[str, str], name: str, kind: type) -> NDArray[Any]:
    return np.array(fields.get(name, "").split(), dtype=kind)


def _table(fields: dict[str, str], output: int) -> TreeTable:
    """Return one tree; its splits come first, then its leaves, which the text calls −1, −2 …."""
    n_splits = int(fields["num_leaves"]) - 1
    decision = _numbers(fields, "decision_type", int)[:n_splits]
    categorical = (decision & _CATEGORICAL) > 0
    threshold = _numbers(fields, "threshold", float)[:n_splits]
    missing = np.where(categorical, NAN_IS_MISSING, decision >> _MISSING_SHIFT & 3)
    leaves = np.full(n_splits + 1, -1)
    none = np.zeros(n_splits + 1)
    return TreeTable(
        output,
        np.concatenate([_numbers(fields, "split_feature", int)[:n_splits], leaves]),
        np.concatenate([threshold, none]),
        np.concatenate([_children(fields, "left_child", n_splits), leaves]),
        np.concatenate([_children(fields, "right_child", n_splits), leaves]),
        np.concatenate([missing, none]).astype(np.uint8),
        np.concatenate([((decision & _DEFAULT_LEFT) > 0) & ~categorical, none]).astype(bool),
        np.concatenate([np.zeros(n_splits), _numbers(fields, "leaf_value", float)]),
        np.concatenate(
            [
                _numbers(fields, "internal_count", float)[:n_splits],
                _numbers(fields, "leaf_count", float) if n_splits else np.ones(1),
            ]
        ),
        _categories(fields, np.flatnonzero(categorical), threshold),
    )


def _children(fields: dict[str, str], name: str, n_splits: int) -> NDArray[np.int64]:
    child = _numbers(fields, name, int)[:n_splits]
    return np.where(child < 0, n_splits + ~child, child)


def _categories(
    fields: dict[str, str], nodes: NDArray[np.intp], threshold: NDArray[np.float64]
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the sets of categories; their "threshold" is a position among the sets."""
    bounds, words = _numbers(fields, "cat_boundaries", int), _numbers(fields, "cat_threshold", int)
    sets = []
    for node in nodes:
        place = int(threshold[node])
        own = words[bounds[place] : bounds[place + 1]]
        bits = own[:, None] >> np.arange(32) & 1
        sets.append((int(node), np.flatnonzero(bits.ravel())))
    return sets
