"""Forged boosters: a few values of a stored model are changed, with right checksums and sizes."""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import re
import resource
import zipfile
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import shafer
from shafer.saving.file import loaded_bytes, packed, saved_bytes

FORGED_PER_SEED, CATBOOST_PER_SEED = 25, 1
MOST_MEMORY = 400 * 1024  # kilobytes that all files of a process may add
RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(150, 2)), columns=["a", "b"])
X["kind"] = pd.Categorical(RNG.integers(0, 12, len(X)).astype(str))
TWO = (X["a"] + X["kind"].cat.codes % 3 > 1).astype(int)
THREE = (X["kind"].cat.codes % 3).astype(int)
ROWS = X.head(20).copy()
ROWS.loc[0, "a"] = np.nan
NUMBERS = (
    *(-1, 0, 1, 2, 7, 31, 32, 1000, 10**6, 10**9, 2**31 - 1, 2**31, -(2**31), 2**63, 10**30),
    *(0.5, -0.5, 1e-300, 1e38, 1e39, 1e300, float("nan"), float("inf"), -float("inf")),
)
WHOLE = (-1, 0, 1, 2, 3, 7, 255, 1000, 10**6, 2**31 - 1, -(2**31))
OTHERS = (None, True, "", "0", "-1", "1000000000", "x", "[]", [], {}, [0], {"values": []}, "1e9")


@cache
def _files() -> tuple[tuple[bytes, str], ...]:
    """Return explainers in files, and the member of each that holds the booster."""
    few = {"n_estimators": 3, "n_jobs": 1}
    fitted: list[Any] = []
    if XGBClassifier := _class("xgboost", "XGBClassifier"):
        codes = {"enable_categorical": True, "max_cat_to_onehot": 1, "max_depth": 3}
        fitted += [
            XGBClassifier(**few, **codes).fit(X, TWO),
            XGBClassifier(**few, **codes, booster="dart", rate_drop=0.5).fit(X, THREE),
        ]
    if LGBMClassifier := _class("lightgbm", "LGBMClassifier"):
        light = {"verbose": -1, "min_data_per_group": 2, "cat_smooth": 1.0, "num_leaves": 6}
        fitted += [LGBMClassifier(**few, **light).fit(X, y) for y in (TWO, THREE)]
    contents = [saved_bytes(shafer.Explainer(model, X)) for model in fitted]
    return tuple((content, _member(content)) for content in contents)


@cache
def _catboost_files() -> tuple[tuple[bytes, str], ...]:
    """Return the same for CatBoost, whose files are tried in a process of their own."""
    made = []
    if CatBoostClassifier := _class("catboost", "CatBoostClassifier"):
        frame = X.astype({"kind": str})
        quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "depth": 2}
        for y in (TWO, THREE):
            model = CatBoostClassifier(3, cat_features=["kind"], **quiet).fit(frame, y)
            content = saved_bytes(shafer.Explainer(model, frame))
            made.append((content, _member(content)))
    return tuple(made)


def _class(package: str, name: str) -> Any:
    """Return a class of a package, or None where it is not installed."""
    return getattr(importlib.import_module(package), name) if _has(package) else None


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _member(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
    return next(name for name in names if re.fullmatch(r"model/\d+\.(json|txt|cbm)", name))


def boosters(seed: int) -> int:
    """Load forged boosters and use those that load; none may end the process or fill the memory."""
    rng = np.random.default_rng(seed)
    files, slow = _files(), _catboost_files()
    tried = FORGED_PER_SEED if files else 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(tried):
        _use(_forged(rng, *_pick(rng, files)), ROWS)
    for _ in range(CATBOOST_PER_SEED if slow else 0):
        _use(_forged(rng, *_pick(rng, slow)), ROWS.astype({"kind": str}))
        tried += 1
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MOST_MEMORY, f"forged boosters take {grown // 1024} MB"
    return tried


def _use(content: bytes, rows: Any) -> None:
    """Load a forged file, which is refused with a ValueError; one that loads may fail in use."""
    found: Any = None
    with suppress(ValueError):
        found = loaded_bytes(content)
    if found is not None:
        with suppress(Exception), np.errstate(all="ignore"):
            found(rows)


def _forged(rng: np.random.Generator, content: bytes, member: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        members = {name: old.read(name) for name in old.namelist()}
    raw = members[member]
    if member.endswith(".cbm"):
        members[member] = _changed_bytes(rng, raw)
    else:
        change = _changed_json if member.endswith(".json") else _changed_text
        members[member] = change(rng, raw.decode()).encode()
    return packed(members)


def _pick(rng: np.random.Generator, items: Any) -> Any:
    return items[int(rng.integers(len(items)))]


def _changed_json(rng: np.random.Generator, text: str) -> str:
    """Change one to three values anywhere in the booster."""
    found = json.loads(text)
    for _ in range(int(rng.integers(1, 4))):
        here: Any = found
        while True:
            keys = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = _pick(rng, keys)
            inner = here[key]
            if isinstance(inner, dict | list) and inner and rng.random() < 0.9:
                here = inner
                continue
            _change(rng, here, key)
            break
    return json.dumps(found)


def _change(rng: np.random.Generator, here: Any, key: Any) -> None:
    kind = rng.random()
    if kind < 0.1:
        del here[key]
    elif kind < 0.2 and isinstance(here, list):
        here.insert(key, here[key])
    elif kind < 0.3 and isinstance(here, list):
        here[:] = [here[key]] * len(here)
    elif kind < 0.4 and isinstance(here, list):
        here[key] = _pick(rng, here)
    elif isinstance(here[key], str) and kind < 0.8:
        here[key] = str(_pick(rng, NUMBERS))
    else:
        here[key] = _pick(rng, NUMBERS if kind < 0.9 else OTHERS)


def _changed_text(rng: np.random.Generator, text: str) -> str:
    """Change one to three words of the head and the trees, and state the sizes as they are then."""
    body, end, rest = text.partition("end of trees")
    for _ in range(int(rng.integers(1, 4))):
        places = [found.span() for found in re.finditer(r"(?<=[= ])[^= \n]+", body)]
        start, stop = _pick(rng, places)
        kind = rng.random()
        new = str(_pick(rng, NUMBERS))
        if kind < 0.15:
            new = ""
        elif kind < 0.3:
            new = f"{body[start:stop]} {body[start:stop]}"
        elif kind < 0.5:
            other = _pick(rng, places)
            new = body[other[0] : other[1]]
        body = body[:start] + new + body[stop:]
    if rng.random() < 0.8:
        head, *trees = re.split(r"(?m)^(?=Tree=\d+$)", body)
        sizes = " ".join(str(len(tree.encode())) for tree in trees)
        body = re.sub(r"(?m)^tree_sizes=.*$", f"tree_sizes={sizes}", head) + "".join(trees)
    return body + end + rest


def _changed_bytes(rng: np.random.Generator, raw: bytes) -> bytes:
    """Change one to three numbers of a binary file: sizes, offsets, indices, borders, values."""
    made = bytearray(raw)
    for _ in range(int(rng.integers(1, 4))):
        place = 4 * int(rng.integers(1, len(made) // 4))
        if rng.random() < 0.3:
            new = rng.bytes(4)
        elif rng.random() < 0.5:
            new = np.array([_pick(rng, WHOLE)], dtype=np.int64).astype(np.int32).tobytes()
        else:
            with np.errstate(over="ignore"):
                new = np.array([_pick(rng, NUMBERS)], dtype=float).astype(np.float32).tobytes()
        made[place : place + 4] = new
    return bytes(made)
