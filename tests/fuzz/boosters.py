"""Forged boosters: a few values of a stored model are changed, with right checksums and sizes."""

from __future__ import annotations

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
from lightgbm import LGBMClassifier
from xgboost import XGBClassifier

import shafer
from shafer.saving.file import loaded_bytes, saved_bytes

FORGED_PER_SEED = 25
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
OTHERS = (None, True, "", "0", "-1", "1000000000", "x", "[]", [], {}, [0], {"values": []}, "1e9")


@cache
def _files() -> tuple[tuple[bytes, str], ...]:
    """Return explainers in files, and the member of each that holds the booster."""
    few = {"n_estimators": 3, "n_jobs": 1}
    codes = {"enable_categorical": True, "max_cat_to_onehot": 1, "max_depth": 3}
    light = {"verbose": -1, "min_data_per_group": 2, "cat_smooth": 1.0, "num_leaves": 6}
    fitted = [
        XGBClassifier(**few, **codes).fit(X, TWO),
        XGBClassifier(**few, **codes, booster="dart", rate_drop=0.5).fit(X, THREE),
        LGBMClassifier(**few, **light).fit(X, TWO),
        LGBMClassifier(**few, **light).fit(X, THREE),
    ]
    contents = [saved_bytes(shafer.Explainer(model, X)) for model in fitted]
    return tuple((content, _member(content)) for content in contents)


def _member(content: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
    return next(name for name in names if re.fullmatch(r"model/\d+\.(json|txt)", name))


def boosters(seed: int) -> int:
    """Load forged boosters and use those that load; none may end the process or fill the memory."""
    rng = np.random.default_rng(seed)
    files = _files()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(FORGED_PER_SEED):
        content, member = files[int(rng.integers(len(files)))]
        found: Any = None
        with suppress(ValueError):
            found = loaded_bytes(_forged(rng, content, member))
        if found is not None:
            with suppress(Exception), np.errstate(all="ignore"):
                found(ROWS)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < MOST_MEMORY, f"forged boosters take {grown // 1024} MB"
    return FORGED_PER_SEED


def _forged(rng: np.random.Generator, content: bytes, member: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            raw = old.read(name)
            if name == member:
                change = _changed_json if name.endswith(".json") else _changed_text
                raw = change(rng, raw.decode()).encode()
            new.writestr(name, raw)
    return file.getvalue()


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
