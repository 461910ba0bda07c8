"""Saved models: files that were cut, flipped or forged are refused, or give the same evidence."""

from __future__ import annotations

import importlib
import importlib.util
import io
import zipfile
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.saving.file import loaded_bytes, saved_bytes

from .files import damaged

DAMAGED_PER_FILE = 15
X = np.random.default_rng(0).normal(size=(60, 3))
Y = (X @ [1.0, -1.0, 0.5] > 0).astype(int)


@cache
def _explainers() -> tuple[shafer.Explainer, ...]:
    boosters = []
    if importlib.util.find_spec("xgboost"):
        xgboost = importlib.import_module("xgboost")
        boosters.append(xgboost.XGBClassifier(n_estimators=2, n_jobs=1))
    if importlib.util.find_spec("lightgbm"):
        lightgbm = importlib.import_module("lightgbm")
        boosters.append(lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1))
    models = LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression()), *boosters
    heads = [shafer.Explainer(([1.0, -2.0, 0.5], 0.1), X, moderate=None)]
    return (*heads, *(shafer.Explainer(model.fit(X, Y), X) for model in models))


def saved_models(seed: int) -> int:
    """Damage the file of an explainer as a whole, and one member with a right checksum."""
    rng = np.random.default_rng(seed)
    explainers = _explainers()
    explainer = explainers[int(rng.integers(len(explainers)))]
    whole, expected = saved_bytes(explainer), explainer(X).belief
    for _ in range(DAMAGED_PER_FILE):
        with suppress(ValueError):
            found = loaded_bytes(damaged(rng, whole))
            assert np.array_equal(found(X).belief, expected), "belief differs after loading"
        _use(_forged(rng, whole))
    return 2 * DAMAGED_PER_FILE


def _forged(rng: np.random.Generator, whole: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(file, "w") as new:
        names = old.namelist()
        chosen = names[int(rng.integers(len(names)))]
        for name in names:
            raw = old.read(name)
            new.writestr(name, damaged(rng, raw) if name == chosen else raw)
    return file.getvalue()


def _use(content: bytes) -> None:
    """Load a forged file, which is refused with a ValueError; one that loads may fail in use."""
    found: Any = None
    with suppress(ValueError):
        found = loaded_bytes(content)
    if found is not None:
        with suppress(Exception), np.errstate(all="ignore"):
            found(X)
