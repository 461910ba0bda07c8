"""Trained boosters of XGBoost, LightGBM and CatBoost, in formats that keep every digit."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer.saving.formats import ObjectFormat, ObjectSink, ObjectSource, class_name, imported_class
from shafer.saving.values import Json

_XGBOOST = "xgboost.core.Booster"
_LIGHTGBM = "lightgbm.basic.Booster"


@final
class XGBoostFormat(ObjectFormat):
    """XGBoost's JSON, which has as many digits as a number of single precision needs."""

    name = "xgboost"

    def takes(self, value: Any) -> bool:
        """Tell whether it is a booster of XGBoost."""
        return class_name(value) == _XGBOOST

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write the booster as XGBoost does."""
        return {"file": sink.member("json", bytes(value.save_raw(raw_format="json")))}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let XGBoost read its booster."""
        content = source.member(node["file"])
        check_xgboost(content)
        booster = imported_class(_XGBOOST)()
        booster.load_model(bytearray(content))
        return booster


@final
class LightGBMFormat(ObjectFormat):
    """LightGBM's text, which has 17 digits of each number."""

    name = "lightgbm"

    def takes(self, value: Any) -> bool:
        """Tell whether it is a booster of LightGBM."""
        return class_name(value) == _LIGHTGBM

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write all trees as LightGBM does, also those after the best iteration."""
        text = value.model_to_string(num_iteration=-1)
        if "\nis_linear=1" in text:
            raise ValueError(
                "A LightGBM model with linear_tree=True cannot be saved. Train it with "
                "linear_tree=False."
            )
        chosen = {"best_iteration": value.best_iteration, "params": value.params}
        return {"file": sink.member("txt", text.encode()), "state": sink.value(chosen)}

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let LightGBM read its booster."""
        text, state = source.member(node["file"]).decode(), source.value(node["state"])
        check_lightgbm(text)
        booster = imported_class(_LIGHTGBM)(model_str=text)
        booster.best_iteration, booster.params = int(state["best_iteration"]), dict(state["params"])
        return booster


# CatBoost's models, in its own binary format.

_CLASSES = ("catboost.core.CatBoost", "catboost.core.CatBoostClassifier")


@final
class CatBoostFormat(ObjectFormat):
    """A ``cbm`` file, and the parameters that the user gave."""

    name = "catboost"

    def takes(self, value: Any) -> bool:
        """Tell whether it is a model of CatBoost."""
        return class_name(value) in _CLASSES

    def write(self, value: Any, sink: ObjectSink) -> dict[str, Json]:
        """Write the model as CatBoost does; one that is not trained has parameters only."""
        written: dict[str, Json] = {
            "class": class_name(value),
            "params": sink.value(dict(value.get_params(deep=False))),
            "file": None,
        }
        if value.is_fitted():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "model.cbm")
                value.save_model(str(path), format="cbm")
                written["file"] = sink.member("cbm", path.read_bytes())
        return written

    def read(self, node: dict[str, Json], source: ObjectSource) -> Any:
        """Let CatBoost read its model."""
        if node["class"] not in _CLASSES:
            raise ValueError(f"it names {node['class']!r}, which is not a class of CatBoost")
        model, params = imported_class(node["class"])(), source.value(node["params"])
        if node["file"] is not None:
            model.load_model(blob=source.member(node["file"]))
        model._init_params = dict(params)
        return model


# The trees of stored boosters, whose indices compiled code follows without checks.

_OUTPUTS = ("num_class", "num_target")
_NODE_LISTS = ("right_children", "split_indices", "split_conditions", "default_left")

# The fields of a tree of LightGBM.
_OF_SPLITS = (
    *("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child"),
    *("internal_value", "internal_weight", "internal_count"),
)
_OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_FIELDS_OF_SETS = frozenset({"cat_boundaries", "cat_threshold"})
_FIELDS = _FIELDS_OF_SETS | {
    *("num_leaves", "num_cat", "is_linear", "shrinkage"),
    *_OF_SPLITS,
    *_OF_LEAVES,
}
_BARE = ("tree", "average_output")
_HEAD = frozenset(
    {"version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx"}
    | {"objective", "feature_names", "feature_infos", "monotone_constraints", "tree_sizes"}
)
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_NUMBERS = re.compile(r"(?:[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)(?: |$))*")
_PARAMETER = re.compile(r"\[\w+: .*\]")


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
    n_outputs = max(int(learner["learner_model_param"][name]) for name in _OUTPUTS)
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
    if _CONTROL.search(text):
        raise _damaged()
    head, *trees = _blocks(text)
    fields = _fields(head)
    n_columns = int(fields["max_feature_idx"]) + 1
    counts = [len(fields[name].split()) for name in ("feature_names", "feature_infos")]
    each = int(fields["num_tree_per_iteration"])
    if counts != [n_columns, n_columns] or each < 1 or len(trees) % each:
        raise _damaged()
    if int(fields["num_class"]) != each or not set(fields) <= _HEAD:
        raise _damaged()
    for tree in trees:
        _check_lightgbm_tree(_fields(tree), n_columns)
    parameters = text.partition("\nparameters:\n")[2].partition("\nend of parameters")[0]
    if not all(_PARAMETER.fullmatch(line) for line in parameters.split("\n") if line):
        raise _damaged()


def _blocks(text: str) -> list[str]:
    """Return the head and the trees; their sizes in bytes must be as the head has them."""
    start = text.index("\nTree=0\n") + 1
    head, content = text[:start], text[start:].encode()
    blocks, place = [head], 0
    for number, size in enumerate(_numbers(_fields(head)["tree_sizes"]).astype(np.int64).tolist()):
        block = content[place : place + size].decode()
        if not block.startswith(f"Tree={number}\n") or "\nTree=" in block or size < 1:
            raise _damaged()
        blocks.append(block.partition("\n")[2])
        place += size
    if not content[place:].startswith(b"end of trees\n"):
        raise _damaged()
    return blocks


def _check_lightgbm_tree(fields: dict[str, str], n_columns: int) -> None:
    n_leaves, n_sets = int(fields["num_leaves"]), int(fields["num_cat"])
    n_splits = n_leaves - 1
    if n_leaves < 1 or n_sets < 0 or not set(fields) <= _FIELDS or "leaf_value" not in fields:
        raise _damaged()
    if n_splits and not set(fields) >= _FIELDS - _FIELDS_OF_SETS:
        raise _damaged()
    sizes = dict.fromkeys(_OF_SPLITS, n_splits) | dict.fromkeys(_OF_LEAVES, n_leaves)
    # A tree of one leaf may leave its counts out.
    lists = {
        name: _numbers(fields[name], {size} if n_splits or name == "leaf_value" else {0, size})
        for name, size in sizes.items()
        if name in fields
    }
    if not n_splits:
        return
    children = np.concatenate([lists["left_child"], lists["right_child"]]).astype(np.int64)
    _check_children(children[children >= 0], n_splits)
    if not np.array_equal(np.sort(~children[children < 0]), np.arange(n_leaves)):
        raise _damaged()
    _check_columns(lists["split_feature"], n_columns)
    by_set = lists["decision_type"].astype(np.int64) & 1 == 1
    _check_sets(fields, n_sets, lists["threshold"][by_set])


def _check_sets(fields: dict[str, str], n_sets: int, chosen: NDArray[np.float64]) -> None:
    """Check the sets of categories: where each begins, and which set a split has."""
    if not ((chosen >= 0) & (chosen < n_sets)).all():
        raise _damaged()
    if n_sets:
        bounds = _numbers(fields["cat_boundaries"], {n_sets + 1})
        n_words = len(fields["cat_threshold"].split())
        _numbers(fields["cat_threshold"], {n_words})
        if bounds[0] != 0 or bounds[-1] != n_words or (np.diff(bounds) < 0).any():
            raise _damaged()


def _fields(block: str) -> dict[str, str]:
    """Return the lines ``name=value``; a name may occur once."""
    lines = [line for line in block.split("\n") if line and line not in _BARE]
    fields = dict(line.split("=", 1) for line in lines)
    if len(fields) != len(lines):
        raise _damaged()
    return fields


def _numbers(text: str, sizes: set[int] | None = None) -> NDArray[np.float64]:
    """Read numbers with one blank between them."""
    parts = text.split()
    if not _NUMBERS.fullmatch(text) or (sizes is not None and len(parts) not in sizes):
        raise _damaged()
    return np.array(parts, dtype=np.float64)


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
