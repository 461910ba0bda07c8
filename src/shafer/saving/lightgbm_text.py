"""The text of a trained LightGBM booster, read strictly.

LightGBM follows the indices in its text without checks. So every line must be one that LightGBM
writes, with numbers of the right kind, size and range, and nothing else.
"""

from __future__ import annotations

import json
import re

import numpy as np
from numpy.typing import NDArray

from shafer.saving.checked_trees import MOST_COLUMNS, check_splits, check_within, integer, refuse

_OF_SPLITS = (
    *("split_feature", "split_gain", "threshold", "decision_type", "left_child", "right_child"),
    *("internal_value", "internal_weight", "internal_count"),
)
_OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
_OF_SETS = ("cat_boundaries", "cat_threshold")
_WHOLE = frozenset(
    {"split_feature", "decision_type", "left_child", "right_child", *_OF_SETS}
    | {"internal_count", "leaf_count"}
)
_FIELDS = frozenset(
    {"num_leaves", "num_cat", "is_linear", "shrinkage", *_OF_SPLITS, *_OF_LEAVES, *_OF_SETS}
)
_BARE = ("tree", "average_output")
_NEEDED = frozenset(
    {"num_class", "num_tree_per_iteration", "max_feature_idx", "feature_names", "feature_infos"}
    | {"tree_sizes", "version", "label_index"}
)
_HEAD = _NEEDED | {"objective", "monotone_constraints"}
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|inf|nan)"
_NUMBERS = re.compile(rf"(?:{_NUMBER}(?: |$))*")
_WHOLE_NUMBERS = re.compile(r"(?:-?\d{1,10}(?: |$))*")
_PARAMETER = re.compile(r"\[\w+: .*\]")
_OBJECTIVE = re.compile(rf"(\w+)((?: \w+:{_NUMBER}| \w+)*)")
_IMPORTANCE = re.compile(r".+=\d+")
_END = "end of trees\n"


def checked_lightgbm(text: str) -> str:
    """Return the text of a booster if each of its lines is as LightGBM writes it."""
    if not text.startswith("tree\n"):
        raise ValueError("it holds a booster that is not the text of LightGBM")
    if _CONTROL.search(text):
        refuse()
    head, trees, rest = _blocks(text)
    fields = _fields(head)
    if not set(fields) <= _HEAD or not set(fields) >= _NEEDED:
        refuse()
    n_columns = integer(fields["max_feature_idx"], -1, MOST_COLUMNS) + 1
    counts = [len(fields[name].split()) for name in ("feature_names", "feature_infos")]
    each = integer(fields["num_tree_per_iteration"], 1, max(len(trees), 1))
    integer(fields["num_class"], each, each)
    integer(fields["label_index"], 0, 2**31 - 1)
    if counts != [n_columns, n_columns] or len(trees) % each:
        refuse()
    _check_objective(fields.get("objective", ""), each)
    _whole(fields.get("monotone_constraints", ""), {0, n_columns})
    for tree in trees:
        _check_tree(_fields(tree), n_columns)
    _check_rest(rest)
    return text


def _blocks(text: str) -> tuple[str, list[str], str]:
    """Return the head, the trees and the rest; the sizes of trees must be as the head has them."""
    start = text.find("\nTree=0\n") + 1
    if start == 0:
        refuse()
    head, content = text[:start], text[start:].encode()
    blocks, place = [], 0
    sizes = _whole(_fields(head).get("tree_sizes", ""))
    for number, size in enumerate(sizes.astype(np.int64).tolist()):
        block = content[place : place + size].decode(errors="replace")
        if size < 1 or not block.startswith(f"Tree={number}\n") or "\nTree=" in block:
            refuse()
        blocks.append(block.partition("\n")[2])
        place += size
    rest = content[place:].decode(errors="replace")
    if not rest.startswith(_END):
        refuse()
    return head, blocks, rest.removeprefix(_END)


def _check_objective(text: str, n_classes: int) -> None:
    """Check the objective, which has a number of classes of its own."""
    if not text:
        return
    found = _OBJECTIVE.fullmatch(text)
    if found is None:
        refuse()
    settings = dict(part.split(":", 1) for part in found[2].split() if ":" in part)
    integer(settings.get("num_class", str(n_classes)), n_classes, n_classes)


def _check_rest(rest: str) -> None:
    """Check what follows the trees: counts of use, parameters, and the categories of columns."""
    counts, _, after = rest.partition("\nparameters:\n")
    parameters, _, last = after.partition("\nend of parameters\n")
    lines = [line for line in counts.split("\n") if line]
    title = lines.pop(0) if lines else "feature_importances:"
    if title != "feature_importances:" or not all(map(_IMPORTANCE.fullmatch, lines)):
        refuse()
    if not all(_PARAMETER.fullmatch(line) for line in parameters.split("\n") if line):
        refuse()
    categories = last.strip("\n")
    if categories:
        name, _, given = categories.partition(":")
        try:
            columns = json.loads(given)
        except (ValueError, RecursionError):
            refuse()
        listed = isinstance(columns, list) and all(isinstance(part, list) for part in columns)
        if name != "pandas_categorical" or "\n" in given or not (columns is None or listed):
            refuse()


def _check_tree(fields: dict[str, str], n_columns: int) -> None:
    n_leaves = integer(fields.get("num_leaves"), 1, 2**31 - 1)
    n_splits = n_leaves - 1
    n_sets = integer(fields.get("num_cat"), 0, n_splits)
    if not set(fields) <= _FIELDS or "leaf_value" not in fields:
        refuse()
    if n_splits and not set(fields) >= _FIELDS - {*_OF_SETS, "is_linear"}:
        refuse()
    if fields.get("is_linear", "0") != "0":
        refuse()
    _numbers(fields.get("shrinkage", "1"), {1})
    # A tree of one leaf may leave its counts out.
    lists = {
        name: _read(name, fields[name], {size} if n_splits or name == "leaf_value" else {0, size})
        for names, size in ((_OF_SPLITS, n_splits), (_OF_LEAVES, n_leaves))
        for name in names
        if name in fields
    }
    if not np.isfinite(lists["leaf_value"]).all():
        refuse()
    if not n_splits:
        return
    left, right = (lists[name].astype(np.int64) for name in ("left_child", "right_child"))
    children = np.concatenate([left, right])
    if not np.array_equal(np.sort(~children[children < 0]), np.arange(n_leaves)):
        refuse()
    places = [np.where(side < 0, n_splits + ~side, side) for side in (left, right)]
    ends = np.full(n_leaves, -1)
    check_splits(*(np.concatenate([side, ends]) for side in places))
    check_within(lists["split_feature"], n_columns)
    check_within(lists["decision_type"], 16)
    by_set = lists["decision_type"].astype(np.int64) & 1 == 1
    _check_sets(fields, n_sets, lists["threshold"][by_set])


def _check_sets(fields: dict[str, str], n_sets: int, chosen: NDArray[np.float64]) -> None:
    """Check the sets of categories: where each begins, and which set a split has."""
    check_within(chosen, n_sets)
    if (chosen != np.floor(chosen)).any():
        refuse()
    if n_sets:
        bounds = _whole(fields.get("cat_boundaries", ""), {n_sets + 1})
        words = _whole(fields.get("cat_threshold", ""))
        check_within(words, 2**32)
        if bounds[0] != 0 or bounds[-1] != len(words) or (np.diff(bounds) < 0).any():
            refuse()


def _fields(block: str) -> dict[str, str]:
    """Return the lines ``name=value``; a name may occur once."""
    lines = [line for line in block.split("\n") if line and line not in _BARE]
    if not all("=" in line for line in lines):
        refuse()
    fields = dict(line.split("=", 1) for line in lines)
    if len(fields) != len(lines):
        refuse()
    return fields


def _read(name: str, text: str, sizes: set[int]) -> NDArray[np.float64]:
    return _whole(text, sizes) if name in _WHOLE else _numbers(text, sizes)


def _whole(text: str, sizes: set[int] | None = None) -> NDArray[np.float64]:
    """Read whole numbers with one blank between them."""
    return _numbers(text, sizes) if _WHOLE_NUMBERS.fullmatch(text) else refuse()


def _numbers(text: str, sizes: set[int] | None = None) -> NDArray[np.float64]:
    """Read numbers with one blank between them."""
    parts = text.split()
    if not _NUMBERS.fullmatch(text) or (sizes is not None and len(parts) not in sizes):
        refuse()
    return np.array(parts, dtype=np.float64)
