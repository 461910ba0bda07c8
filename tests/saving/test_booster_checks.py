"""Forged boosters are refused before compiled code follows their indices."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

import shafer
from shafer.saving.file import loaded_bytes, saved_bytes

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(120, 2)), columns=["a", "b"])
X["kind"] = pd.Categorical(RNG.integers(0, 12, len(X)).astype(str))
Y = (X["a"] + X["kind"].cat.codes % 3 > 1).astype(int)


def _content(model: Any) -> tuple[bytes, str]:
    content = saved_bytes(shafer.Explainer(model.fit(X, Y), X))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        [name] = [
            name for name in archive.namelist() if re.fullmatch(r"model/\d\.(json|txt)", name)
        ]
    return content, name


XGBOOST = _content(XGBClassifier(n_estimators=2, n_jobs=1, enable_categorical=True))
LIGHTGBM = _content(
    LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1, min_data_per_group=2, cat_smooth=1.0)
)


def _changed(given: tuple[bytes, str], change: Callable[[str], str]) -> bytes:
    content, name = given
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for member in old.namelist():
            raw = old.read(member)
            changed = change(raw.decode()).encode() if member == name else raw
            assert member != name or changed != raw
            new.writestr(member, changed)
    return file.getvalue()


def _tree(change: Callable[[dict[str, Any]], Any]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        booster = json.loads(text)
        change(booster["learner"]["gradient_booster"]["model"])
        return json.dumps(booster)

    return changed


XGBOOST_CHANGES = {
    "child far away": _tree(lambda m: m["trees"][0]["left_children"].__setitem__(0, 10**6)),
    "child is the root": _tree(lambda m: m["trees"][0]["right_children"].__setitem__(0, 0)),
    "one child": _tree(lambda m: m["trees"][0]["right_children"].__setitem__(0, -1)),
    "same child twice": _tree(
        lambda m: m["trees"][0]["right_children"].__setitem__(0, m["trees"][0]["left_children"][0])
    ),
    "column": _tree(lambda m: m["trees"][0]["split_indices"].__setitem__(0, 3)),
    "short": _tree(lambda m: m["trees"][0]["split_conditions"].pop()),
    "stated size": _tree(lambda m: m["trees"][0]["tree_param"].update(num_nodes="99")),
    "output": _tree(lambda m: m["tree_info"].__setitem__(0, 7)),
    "fewer trees": _tree(lambda m: m["trees"].pop()),
}


@pytest.mark.parametrize("change", XGBOOST_CHANGES.values(), ids=XGBOOST_CHANGES)
def test_trees_of_xgboost(change: Callable[[str], str]) -> None:
    with pytest.raises(ValueError, match="a tree of its booster is damaged"):
        loaded_bytes(_changed(XGBOOST, change))


def _field(name: str, value: str) -> Callable[[str], str]:
    """Change the first number of a field of the first tree."""
    return lambda text: re.sub(rf"(\n{name}=)\S+", rf"\g<1>{value}", text, count=1)


LIGHTGBM_CHANGES = {
    "child far away": _field("left_child", "100000"),
    "leaf far away": _field("right_child", "-100000"),
    "child is the root": _field("left_child", "0"),
    "column": _field("split_feature", "3"),
    "leaves": _field("num_leaves", "3000"),
    "no leaves": _field("num_leaves", "0"),
    "short": lambda text: re.sub(r"(\ndecision_type=)\S+ ", r"\g<1>", text, count=1),
    "sets": _field("num_cat", "900"),
    "set of a number": lambda text: re.sub(r"(\nnum_cat=)\d+", r"\g<1>0", text, count=1),
    "not a number": _field("leaf_value", "1_0"),
    "unknown field": lambda text: text.replace("\nleaf_value=", "\nleaf_values=", 1),
    "control character": lambda text: text.replace("[boosting: ", "[boosting\x12 ", 1),
    "parameter": lambda text: text.replace("[boosting: ", "[boosting ", 1),
    "size of a tree": _field("tree_sizes", "9000"),
    "columns": _field("max_feature_idx", "7"),
    "outputs": _field("num_tree_per_iteration", "2"),
    "unknown head": lambda text: text.replace("\nlabel_index=", "\nlabel_indices=", 1),
    "twice": lambda text: text.replace("\nlabel_index=0", "\nlabel_index=0\nlabel_index=0", 1),
    "bounds": _field("cat_boundaries", "7"),
    "words": lambda text: re.sub(r"(\ncat_threshold=)\S+", r"\g<1>1 1", text, count=1),
}


@pytest.mark.parametrize("change", LIGHTGBM_CHANGES.values(), ids=LIGHTGBM_CHANGES)
def test_trees_of_lightgbm(change: Callable[[str], str]) -> None:
    with pytest.raises(ValueError, match="a tree of its booster is damaged"):
        loaded_bytes(_changed(LIGHTGBM, change))


def test_linear_trees_are_refused_when_the_file_is_written() -> None:
    model = LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1, linear_tree=True)
    classifier = shafer.EvidentialClassifier(model.fit(X[["a", "b"]], Y))
    with pytest.raises(ValueError, match="linear_tree=True cannot be saved"):
        saved_bytes(classifier)


def test_other_content() -> None:
    for given, kind in ((XGBOOST, "XGBoost's JSON"), (LIGHTGBM, "the text of LightGBM")):
        for text in ("", "[]", "binf", "[" * 100_000):
            content = _changed(given, lambda _, text=text: text)
            with pytest.raises(ValueError, match=f"a booster that is not {kind}"):
                loaded_bytes(content)
