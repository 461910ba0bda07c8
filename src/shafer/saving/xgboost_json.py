"""The JSON of a trained XGBoost booster: read strictly, and written again from what was read.

XGBoost follows the indices in its file without checks, and takes the memory that the file names.
So it gets JSON that was made here, from values of which each has the type, size and range that
XGBoost itself would have written.
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer.saving.checked_trees import MOST_COLUMNS, check_splits, check_within, integer, refuse
from shafer.saving.values import Json

_NONE = 2**31 - 1  # the parent of the root, and the column of a deleted node
_MOST_CLASSES = 2**15
_MOST_CATEGORY = 2**24
_LEAST_ROOM = 2**24  # bytes for the sets of categories of a small file
_ROOM = 64  # the same for each byte of the file

_FLOATS = ("base_weights", "loss_changes", "split_conditions", "sum_hessian")
_INTEGERS = (
    *("default_left", "left_children", "parents", "right_children", "split_indices", "split_type"),
)
_OF_SETS = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_FEATURE_TYPES = ("q", "i", "int", "float", "indicator", "c")


def checked_xgboost(content: bytes) -> bytes:
    """Return the booster as JSON that was written from checked values; refuse a damaged one."""
    try:
        given = json.loads(content)
        learner = given["learner"]
        booster = learner["gradient_booster"]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise ValueError("it holds a booster that is not XGBoost's JSON") from error
    _fields(given, {"learner", "version"})
    _fields(
        learner,
        {"gradient_booster", "learner_model_param", "objective"},
        {"attributes", "feature_names", "feature_types"},
    )
    parameters = learner["learner_model_param"]
    _fields(
        parameters,
        {"base_score", "num_class", "num_feature"},
        {"boost_from_average", "num_target"},
    )
    n_columns = integer(parameters["num_feature"], 0, MOST_COLUMNS)
    n_classes = integer(parameters["num_class"], 0, _MOST_CLASSES)
    n_targets = integer(parameters.get("num_target", "1"), 0, _MOST_CLASSES)
    n_outputs = max(n_classes, n_targets, 1)
    _check_head(learner, n_columns, n_classes, n_outputs)
    integers_of(given["version"], 0, 10**6, 3)
    n_rounds = _Boosters(n_columns, n_outputs, len(content)).check(booster)
    best = learner.get("attributes", {}).get("best_iteration")
    if best is not None:
        integer(best, 0, n_rounds - 1)
    return json.dumps(given, separators=(",", ":")).encode()


def _check_head(learner: Json, n_columns: int, n_classes: int, n_outputs: int) -> None:
    """Check what belongs to the whole booster: its names, attributes, objective and bias."""
    for name, most in (("feature_names", None), ("feature_types", _FEATURE_TYPES)):
        texts = _texts(learner.get(name, []))
        if len(texts) not in (0, n_columns) or (most and not set(texts) <= set(most)):
            refuse()
    attributes = _fields(learner.get("attributes", {}))
    _texts(list(attributes.values()))
    parameters = learner["learner_model_param"]
    if parameters.get("boost_from_average", "0") not in ("0", "1"):
        refuse()
    bias = parameters["base_score"]
    parts = bias.removeprefix("[").removesuffix("]").split(",") if isinstance(bias, str) else []
    if len(parts) not in (1, n_outputs) or not all(map(_NUMBER.fullmatch, parts)):
        refuse()
    floats_of([float(part) for part in parts], len(parts))
    objective = dict(_fields(learner["objective"]))
    if not isinstance(objective.pop("name", None), str):
        refuse()
    for settings in objective.values():
        values = dict(_fields(settings))
        integer(values.pop("num_class", str(n_classes)), n_classes, n_classes)
        for text in _texts(list(values.values())):
            if not _NUMBER.fullmatch(text):
                refuse()


class _Boosters:
    """Checks the boosters of one file, of trees or of a linear model."""

    def __init__(self, n_columns: int, n_outputs: int, n_bytes: int) -> None:
        self.n_columns, self.n_outputs = n_columns, n_outputs
        self.room = _LEAST_ROOM + _ROOM * n_bytes
        self.n_categories: dict[int, int] = {}

    def check(self, booster: Json) -> int:
        """Check a booster, and return its number of rounds."""
        name = booster.get("name") if isinstance(booster, dict) else None
        if name == "dart":
            _fields(booster, {"name", "gbtree", "weight_drop"})
            if _fields(booster["gbtree"], {"name", "model"})["name"] != "gbtree":
                refuse()
            n_rounds, n_trees = self._trees(booster["gbtree"]["model"])
            booster["weight_drop"] = floats_of(booster["weight_drop"], n_trees).tolist()
            return n_rounds
        _fields(booster, {"name", "model"})
        if name == "gbtree":
            return self._trees(booster["model"])[0]
        if name != "gblinear":
            refuse()
        model = _fields(booster["model"], {"weights"}, {"boosted_rounds", "param"})
        n_weights = (self.n_columns + 1) * self.n_outputs
        model["weights"] = floats_of(model["weights"], n_weights).tolist()
        rounds = model.get("boosted_rounds", 0)
        integers_of([rounds], 0, _NONE, 1)
        _texts(list(_fields(model.get("param", {})).values()))
        return int(rounds)

    def _trees(self, model: Json) -> tuple[int, int]:
        _fields(model, {"gbtree_model_param", "tree_info", "trees"}, {"cats", "iteration_indptr"})
        parameters = _fields(
            model["gbtree_model_param"], {"num_trees"}, {"num_parallel_tree", "size_leaf_vector"}
        )
        trees = _list(model["trees"])
        n_trees = integer(parameters["num_trees"], len(trees), len(trees))
        parallel = integer(parameters.get("num_parallel_tree", "1"), 1, max(n_trees, 1))
        integer(parameters.get("size_leaf_vector", "0"), 0, 1)
        outputs = integers_of(model["tree_info"], 0, self.n_outputs, n_trees)
        each = parallel * self.n_outputs
        if n_trees % each or (np.bincount(outputs) != n_trees // self.n_outputs).any():
            refuse()
        rounds = np.arange(0, n_trees + 1, each)
        starts = model.get("iteration_indptr", rounds.tolist())
        if not np.array_equal(integers_of(starts, 0, n_trees + 1, len(rounds)), rounds):
            refuse()
        if "cats" in model:
            self._categories(model["cats"])
        for number, tree in enumerate(trees):
            self._tree(tree, number)
        return len(rounds) - 1, n_trees

    def _categories(self, cats: Json) -> None:
        """Check the categories of the columns, of which the trees name the positions."""
        _fields(cats, {"enc", "feature_segments", "sorted_idx"})
        kept = _list(cats["enc"])
        if len(kept) not in (0, self.n_columns):
            refuse()
        counts = [_n_categories(column) for column in kept]
        self.n_categories = {j: n for j, n in enumerate(counts) if n}
        segments = np.cumsum([0, *counts]) if kept else np.zeros(0, dtype=np.int64)
        total = int(segments[-1]) if kept else 0
        if not np.array_equal(
            integers_of(cats["feature_segments"], 0, _NONE, len(segments)), segments
        ):
            refuse()
        order = integers_of(cats["sorted_idx"], 0, max(counts, default=0), total)
        for start, stop in pairwise(segments.tolist()):
            if not np.array_equal(np.sort(order[start:stop]), np.arange(stop - start)):
                refuse()

    def _tree(self, tree: Json, number: int) -> None:
        _fields(tree, {*_FLOATS, *_INTEGERS, *_OF_SETS, "id", "tree_param"})
        integers_of([tree["id"]], number, number + 1, 1)
        parameters = _fields(
            tree["tree_param"],
            {"num_deleted", "num_feature", "num_nodes", "size_leaf_vector"},
        )
        n_nodes = integer(parameters["num_nodes"], 1, len(_list(tree["left_children"])))
        integer(parameters["num_feature"], self.n_columns, self.n_columns)
        integer(parameters["size_leaf_vector"], 0, 1)
        for name in _FLOATS:
            tree[name] = floats_of(tree[name], n_nodes).tolist()
        lists = {name: integers_of(tree[name], -1, _NONE + 1, n_nodes) for name in _INTEGERS}
        tree.update({name: values.tolist() for name, values in lists.items()})
        left, right = lists["left_children"], lists["right_children"]
        columns = lists["split_indices"]
        deleted = columns == _NONE
        reached = check_splits(left, right)
        integer(parameters["num_deleted"], int(deleted.sum()), int(deleted.sum()))
        if (reached == deleted).any() or (left[deleted] >= 0).any():
            refuse()
        inner = left >= 0
        check_within(columns[inner], self.n_columns)
        check_within(columns[~inner & ~deleted], max(self.n_columns, 1))
        parents = lists["parents"]
        nodes = np.flatnonzero(inner)
        if parents[0] != _NONE or any(
            (parents[side[nodes]] != nodes).any() for side in (left, right)
        ):
            refuse()
        check_within(parents[1:], n_nodes)
        for name in ("default_left", "split_type"):
            check_within(lists[name], 2)
        self._sets(tree, np.flatnonzero(lists["split_type"] == 1), columns, inner)

    def _sets(
        self,
        tree: Json,
        nodes: NDArray[np.int64],
        columns: NDArray[np.int64],
        inner: NDArray[np.bool_],
    ) -> None:
        """Check the sets of categories: one for each node that splits by them."""
        categories = integers_of(tree["categories"], 0, _MOST_CATEGORY)
        n_sets = len(nodes)
        given, starts, sizes = (integers_of(tree[name], 0, _NONE, n_sets) for name in _OF_SETS[1:])
        ends = np.cumsum(sizes)
        if not np.array_equal(given, nodes) or not inner[nodes].all():
            refuse()
        if not np.array_equal(starts, ends - sizes) or int(sizes.sum()) != len(categories):
            refuse()
        for node, start, end in zip(nodes, starts, ends, strict=True):
            own = categories[start:end]
            known = self.n_categories.get(int(columns[node]), _MOST_CATEGORY)
            check_within(own, known)
            self.room -= int(own.max(initial=0)) // 8 + 8  # XGBoost holds one bit for each
        if self.room < 0:
            refuse()


def _n_categories(column: Json) -> int:
    """Check the categories of one column, and return how many there are."""
    if "type" in _fields(column, {"values"}, {"type", "offsets"}):
        integers_of([column["type"]], 0, 64, 1)
        values = _list(column["values"])
        kinds = {type(value) for value in values}
        if "offsets" in column or not kinds <= {int, float}:
            refuse()
        if any(not -(2.0**63) <= value < 2.0**64 for value in values):
            refuse()
        return len(values)
    letters = integers_of(column["values"], -128, 256)
    offsets = integers_of(column.get("offsets"), 0, len(letters) + 1)
    if not len(offsets):
        return 0 if not len(letters) else refuse()
    if offsets[0] != 0 or offsets[-1] != len(letters) or (np.diff(offsets) < 0).any():
        refuse()
    return len(offsets) - 1


def _fields(given: Json, needed: Any = (), also: Any = None) -> dict[str, Json]:
    """Return a mapping that has the fields it needs, and none but these and ``also``."""
    if not isinstance(given, dict) or not set(needed) <= set(given):
        refuse()
    if needed and not set(given) <= set(needed) | set(also or ()):
        refuse()
    found: dict[str, Json] = given
    return found


def _list(given: Json) -> list[Any]:
    if not isinstance(given, list):
        refuse()
    found: list[Any] = given
    return found


def _texts(given: Json) -> list[str]:
    texts = _list(given)
    if not all(isinstance(text, str) and "\x00" not in text for text in texts):
        refuse()
    return texts


def integers_of(given: Json, least: int, stop: int, size: int | None = None) -> NDArray[np.int64]:
    """Return a list of whole numbers of this range and size as an array."""
    values = _list(given)
    if size is not None and len(values) != size:
        refuse()
    if not all(type(value) in (int, bool) and least <= value < stop for value in values):
        refuse()
    return np.array(values, dtype=np.int64)


def floats_of(given: Json, size: int) -> NDArray[np.float64]:
    """Return a list of finite numbers of single precision as an array."""
    values = _list(given)
    if len(values) != size or not all(type(value) in (int, float) for value in values):
        refuse()
    try:
        found = np.array(values, dtype=np.float64)
    except (OverflowError, ValueError):
        refuse()
    if not (np.abs(found) <= float(np.finfo(np.float32).max) * (1.0 + 1e-7)).all():
        refuse()
    return found
