"""Forged boosters are refused before compiled code follows their indices."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from xgboost import XGBClassifier

import shafer
from shafer.saving.catboost_trial import try_catboost
from shafer.saving.checked_trees import check_splits
from shafer.saving.file import loaded_bytes, packed, saved_bytes

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


XGBOOST = _content(
    XGBClassifier(n_estimators=2, n_jobs=1, enable_categorical=True, max_cat_to_onehot=1)
)
LIGHTGBM = _content(
    LGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1, min_data_per_group=2, cat_smooth=1.0)
)


def _changed(given: tuple[bytes, str], change: Callable[[str], str]) -> bytes:
    content, name = given
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = {member: old.read(member) for member in old.namelist()}
    changed = change(members[name].decode()).encode()
    assert changed != members[name]
    return packed({**members, name: changed})


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


# What compiled code would follow or allocate, beside the links between nodes.

BOUNDLESS = {
    "sets begin far away": _tree(
        lambda m: m["trees"][0].update(categories_segments=[10**9] * _n_sets(m))
    ),
    "no categories": _tree(lambda m: m["trees"][0].update(categories=[])),
    "sets of no node": _tree(lambda m: m["trees"][0].update(categories_nodes=[10**6] * _n_sets(m))),
    "parents": _tree(lambda m: m["trees"][0].update(parents=[10**9] * _n_nodes(m))),
    "all by category": _tree(lambda m: m["trees"][0].update(split_type=[1] * _n_nodes(m))),
    "number of the tree": _tree(lambda m: m["trees"][0].update(id=1)),
    "leaves of size 5": _tree(lambda m: m["trees"][0]["tree_param"].update(size_leaf_vector="5")),
    "deleted nodes": _tree(lambda m: m["trees"][0]["tree_param"].update(num_deleted="1")),
    "columns of a tree": _tree(lambda m: m["trees"][0]["tree_param"].update(num_feature="9")),
    "number of trees": _tree(lambda m: m["gbtree_model_param"].update(num_trees="9")),
    "rounds": _tree(lambda m: m.update(iteration_indptr=[0, 2])),
    "not a number": _tree(lambda m: m["trees"][0]["split_conditions"].__setitem__(0, float("nan"))),
    "too large": _tree(lambda m: m["trees"][0]["split_conditions"].__setitem__(0, 1e60)),
    "a text": _tree(lambda m: m["trees"][0]["split_conditions"].__setitem__(0, "1")),
    "a category that is not known": _tree(
        lambda m: m["trees"][0]["categories"].__setitem__(0, 10**7)
    ),
    "unknown field": _tree(lambda m: m["trees"][0].update(more=[])),
    "missing field": _tree(lambda m: m["trees"][0].pop("parents")),
    "names of categories": _tree(lambda m: m["cats"]["enc"][2].update(offsets=[0, 10**9])),
    "places of categories": _tree(lambda m: m["cats"].update(feature_segments=[0, 0, 0, 11])),
    "order of categories": _tree(lambda m: m["cats"].update(sorted_idx=[0] * 12)),
    "classes": lambda text: text.replace('"num_class":"0"', '"num_class":"20000000"'),
    "classes of the objective": lambda text: text.replace(
        '"scale_pos_weight":"1"', '"scale_pos_weight":"1","num_class":"7"'
    ),
    "columns": lambda text: text.replace('"num_feature":"3"', '"num_feature":"2000000000"'),
    "outputs": lambda text: text.replace('"num_target":"1"', '"num_target":"30000"'),
}


def _n_nodes(model: dict[str, Any]) -> int:
    return len(model["trees"][0]["left_children"])


def _n_sets(model: dict[str, Any]) -> int:
    return len(model["trees"][0]["categories_nodes"])


@pytest.mark.parametrize("change", BOUNDLESS.values(), ids=BOUNDLESS)
def test_what_xgboost_allocates_and_follows(change: Callable[[str], str]) -> None:
    with pytest.raises(ValueError, match="a tree of its booster is damaged"):
        loaded_bytes(_changed(XGBOOST, change))


def _without_sizes(change: Callable[[str], str]) -> Callable[[str], str]:
    """Change the text, and state the sizes of the trees as they are then."""

    def changed(text: str) -> str:
        body, end, rest = change(text).partition("end of trees")
        head, *trees = re.split(r"(?m)^(?=Tree=\d+$)", body)
        sizes = " ".join(str(len(tree.encode())) for tree in trees)
        head = re.sub(r"(?m)^tree_sizes=.*$", f"tree_sizes={sizes}", head)
        return head + "".join(trees) + end + rest

    return changed


LIGHTGBM_BOUNDLESS = {
    "classes of the objective": lambda text: text.replace(
        "objective=binary sigmoid:1", "objective=multiclass num_class:100000000"
    ),
    "underscores": lambda text: text.replace("num_class=1\n", "num_class=0_1\n"),
    "half a child": _without_sizes(_field("left_child", "0.5")),
    "a kind of decision": _without_sizes(_field("decision_type", "300")),
    "infinite leaf": _without_sizes(_field("leaf_value", "inf")),
    "linear leaves": _without_sizes(_field("is_linear", "1")),
    "words of a set": _without_sizes(_field("cat_threshold", "-1")),
    "categories": lambda text: re.sub("pandas_categorical:.*", "pandas_categorical:[", text),
}


@pytest.mark.parametrize("change", LIGHTGBM_BOUNDLESS.values(), ids=LIGHTGBM_BOUNDLESS)
def test_what_lightgbm_allocates_and_follows(change: Callable[[str], str]) -> None:
    with pytest.raises(ValueError, match="a tree of its booster is damaged"):
        loaded_bytes(_changed(LIGHTGBM, change))


def test_deep_trees_are_refused() -> None:
    """Contributions take memory with the square of the depth."""
    depth = 600
    left = np.arange(1, 2 * depth + 1, 2)
    links = [np.full(2 * depth + 1, -1) for _ in range(2)]
    for link, shift in zip(links, (0, 1), strict=True):
        link[np.concatenate([[0], left[:-1]])] = left + shift
    with pytest.raises(ValueError, match="more than 512 levels"):
        check_splits(*links)
    cut = [np.where(np.arange(len(link)) < 2 * 400, link, -1) for link in links]
    assert check_splits(*cut).sum() == 2 * int((cut[0] >= 0).sum()) + 1


def test_a_number_of_threads_that_no_machine_has() -> None:
    for model in (XGBClassifier(n_estimators=1), LGBMClassifier(n_estimators=1, verbose=-1)):
        explainer = shafer.Explainer(model.fit(X[["a", "b"]], Y), X[["a", "b"]])
        model.n_jobs = 10**9
        with pytest.raises(ValueError, match="asks for 1000000000 threads"):
            loaded_bytes(saved_bytes(explainer))


@pytest.mark.parametrize(
    "model",
    [
        XGBClassifier(n_estimators=4, tree_method="exact", gamma=5, max_depth=5),
        XGBClassifier(n_estimators=4, booster="dart", rate_drop=0.5),
        XGBClassifier(n_estimators=4, booster="gblinear"),
        XGBClassifier(n_estimators=2, num_parallel_tree=3, subsample=0.5),
        XGBClassifier(n_estimators=2, base_score=0.3),
        LGBMClassifier(
            n_estimators=4, verbose=-1, boosting_type="rf", subsample=0.5, subsample_freq=1
        ),
        LGBMClassifier(n_estimators=4, verbose=-1, monotone_constraints=[1, 0]),
        LGBMClassifier(n_estimators=4, verbose=-1, min_child_samples=400),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_the_libraries_write_is_read(model: Any, n_classes: int) -> None:
    rows = X[["a", "b"]] if n_classes == 2 else X[["a", "b"]].to_numpy()  # without names
    labels = (X["kind"].cat.codes % n_classes).to_numpy()
    if isinstance(model, LGBMClassifier) and model.boosting_type == "rf" and n_classes == 3:
        model = LGBMClassifier(n_estimators=2, verbose=-1)
    explainer = shafer.Explainer(clone(model).fit(rows, labels), rows)
    again = loaded_bytes(saved_bytes(explainer))
    assert np.array_equal(again(rows).weights, explainer(rows).weights)
    assert np.array_equal(again(rows).probability, explainer(rows).probability)


# Hundreds of forged files, in a process of their own: a fault would end it.


def test_forged_boosters_end_no_process() -> None:
    tests = Path(__file__).parents[1]
    code = "from fuzz.boosters import boosters; print(sum(boosters(s) for s in range(8)))"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=tests,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout.split()[-1]) == 208


def test_catboost_is_tried_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    model = CatBoostClassifier(
        iterations=2, depth=2, verbose=False, thread_count=1, allow_writing_files=False
    )
    explainer = shafer.Explainer(model.fit(X[["a", "b"]], Y), X[["a", "b"]])
    content = saved_bytes(explainer)
    again = loaded_bytes(content)
    assert np.array_equal(again(X[["a", "b"]]).weights, explainer(X[["a", "b"]]).weights)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".cbm")]
        blob = archive.read(name)
    with monkeypatch.context() as patch:  # a second load of the same model needs no trial
        patch.setattr(subprocess, "run", None)
        try_catboost(blob)
    with pytest.raises(ValueError, match="CatBoost cannot read its model"):
        try_catboost(blob[: len(blob) // 2])
    ended = "import os; os.kill(os.getpid(), 11)"
    monkeypatch.setattr("shafer.saving.catboost_trial._TRIAL", ended)
    with pytest.raises(ValueError, match="CatBoost cannot read its model"):
        try_catboost(blob + b" ")
