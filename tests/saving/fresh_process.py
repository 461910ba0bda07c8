"""Loads every saved file of a folder in a new process, saves it again, and writes its numbers.

The rows of the files are in ``rows.pkl``, with what each file needs to be loaded. The second
argument says whether to load the compiled kernels.
"""

from __future__ import annotations

import importlib
import json
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import shafer
from shafer.saving.file import saved_bytes

COMPILED = "shafer._kernels.compiled.numba_kernels"


def network(name: str | None) -> Any:
    """Return a module with weights of its own, as the caller of ``load`` builds it."""
    if name is None:
        return None
    from torch import bfloat16, nn

    if name == "cells":
        pool = (nn.AdaptiveAvgPool2d(1), nn.Flatten())
        return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), *pool, nn.Linear(4, 3))
    if name == "words":
        return nn.Sequential(nn.EmbeddingBag(9, 4, mode="mean"), nn.Linear(4, 2))
    dense = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3))
    return dense.to(bfloat16) if name == "half" else dense


def loaded(path: Path, kind: str, trusted: tuple[str, ...], module: str | None) -> Any:
    return getattr(shafer, kind).load(path, trusted=trusted, module=network(module))


def numbers(model: Any, rows: Any) -> dict[str, np.ndarray]:
    """Return what a model says about rows, as bytes can be compared."""
    explains = isinstance(model, shafer.Explainer)
    ev = model(rows) if explains else model.evidence(rows)
    found = {name: getattr(ev, name) for name in ("belief", "plausibility", "ignorance")}
    found |= {"classes": ev.classes.astype(str), "set": model.predict_set(rows, "utility_set")}
    weighed = getattr(ev, "evidence", ev)
    if hasattr(weighed, "weights"):
        found |= {"weights": weighed.weights, "names": np.array(weighed.component_names)}
    if getattr(weighed, "errors", None) is not None:
        found["std"] = weighed.weights_std
    if explains:
        found["typicality"] = model.typicality(rows)
    else:
        found |= {"probability": model.predict_proba(rows), "class": model.predict(rows)}
    if (model.deferral if explains else model.deferral_) is not None:
        found["deferred"] = model.predict_or_defer(rows).deferred
    return {name: _bytes(value) for name, value in found.items()}


def _bytes(value: Any) -> np.ndarray:
    if type(value).__module__.startswith("torch"):
        value = value.detach().double().numpy()
    array = np.asarray(value)
    return array.astype(str) if array.dtype == object else array


def main(folder: Path) -> None:
    warnings.simplefilter("error")
    given = pickle.loads((folder / "rows.pkl").read_bytes())
    differ = []
    for name, (rows, *how) in given.items():
        path = folder / f"{name}.shafer"
        model = loaded(path, *how)
        if saved_bytes(model) != path.read_bytes():
            differ.append(name)
        np.savez(folder / f"{name}.npz", **numbers(model, rows))
    print(json.dumps(differ))


if __name__ == "__main__":
    if sys.argv[2] == "compiled":
        importlib.import_module(COMPILED)
    main(Path(sys.argv[1]))
