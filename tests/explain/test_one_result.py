"""One row, one result: the same bits alone, in any batch and layout, with and without numba.

Compares bytes of every number of a row. Models whose own arithmetic is a matrix product (networks,
principal components) are not among them: docs/decisions/0069.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer._kernels import dispatch

NUMBERS = (
    "weights",
    "logits",
    "weights_for",
    "weights_against",
    "belief",
    "plausibility",
    "probability",
    "pignistic",
    "ignorance",
    "conflict",
    "weight_of_conflict",
    "conflict_for_against",
)
BATCHES = [[0], [41], [199], [5, 6], [7, 3, 198], range(90, 97), range(60, 124), range(0, 195, 3)]
N = 200


def table(n_classes: int, n_columns: int = 7) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(N, n_columns))
    X[:, 0], X[:, 1] = X[:, 0] > 0, X[:, 1].round()  # with ties
    logits = X @ rng.normal(size=(n_columns, n_classes))
    return X, np.argmax(logits + rng.gumbel(size=logits.shape), axis=1)


X2, Y2 = table(2)
X3, Y3 = table(3)
X9, Y9 = table(9, 33)
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {"a": RNG.choice(list("vwxyz"), N), "b": RNG.choice(list("pqr"), N), "c": RNG.normal(size=N)}
)
WORDS = np.array([f"w{i}" for i in range(40)])
TEXTS = np.array([" ".join(RNG.choice(WORDS, size=RNG.integers(1, 9))) for _ in range(N)])


def linear(X: Any, y: np.ndarray, *steps: Any, **options: Any) -> Any:
    model = make_pipeline(*steps, LogisticRegression()).fit(X, y)
    return shafer.Explainer(model, X, **options)


def one_hot() -> Any:
    return make_column_transformer((OneHotEncoder(), ["a", "b"]), (StandardScaler(), ["c"]))


def halves(n: int) -> list[list[int]]:
    return [list(range(n // 3)), list(range(n // 3, n))]


def scored() -> Any:
    """Return an explainer with thresholds, whose scores are compared as well."""
    return linear(X3, Y3, moderate="laplace").conformalize(X3, Y3).control_error(X3, Y3, error=0.3)


def guarded() -> Any:
    return shafer.EvidentialClassifier(guard=True, moderate="laplace").fit(X3, Y3)


MODELS: dict[str, tuple[Any, Callable[[], Any]]] = {
    "two classes": (X2, lambda: linear(X2, Y2)),
    "three classes, own base rate": (X3, lambda: linear(X3, Y3, StandardScaler(), prior="own")),
    "nine classes": (X9, lambda: linear(X9, Y9)),
    "single precision": (X3.astype("f4"), lambda: linear(X3.astype("f4"), Y3)),
    "groups": (X9, lambda: linear(X9, Y9, groups=halves(33), prior="own")),
    "laplace": (X9, lambda: linear(X9, Y9, moderate="laplace")),
    "laplace and discount": (X3, lambda: linear(X3, Y3, moderate="laplace+discount")),
    "tempered": (X3, lambda: linear(X3, Y3).temper(X3, Y3)),
    "with thresholds": (X3, scored),
    "one-hot": (FRAME, lambda: linear(FRAME, Y3, one_hot(), moderate="laplace")),
    "texts": (TEXTS, lambda: linear(TEXTS, Y3, TfidfVectorizer())),
    "naive Bayes": (X3, lambda: shafer.Explainer(GaussianNB().fit(X3, Y3), X3)),
    "trees": (
        X3,
        lambda: shafer.Explainer(HistGradientBoostingClassifier(max_iter=5).fit(X3, Y3), X3),
    ),
    "guarded": (X3, guarded),
}


def taken(X: Any, rows: Any) -> Any:
    return X.iloc[list(rows)] if hasattr(X, "iloc") else X[list(rows)]


def numbers(model: Any, X: Any) -> dict[str, np.ndarray]:
    """Return every number of each row."""
    seen = model.observe(X)
    found = {name: getattr(seen.evidence, name, None) for name in NUMBERS}
    found["bet"] = seen.bet.probability
    if isinstance(model, shafer.Explainer) and model.promises.deferral is not None:
        found["set"] = model.predict_set(X).astype(float)
        found["deferral score"] = model.predict_or_defer(X).scores
    return {name: np.asarray(values) for name, values in found.items() if values is not None}


def differing(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], rows: Any) -> list:
    pairs = ((name, values, expected[name][list(rows)]) for name, values in found.items())
    return [name for name, one, other in pairs if one.tobytes() != other.tobytes()]


@pytest.fixture(params=["plain", "compiled"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Choose the kernels, whatever was loaded before."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr(dispatch, "_pays", lambda name, work: (True, True))
    else:
        monkeypatch.setattr(dispatch, "_pays", lambda name, work: (False, False))
    return str(request.param)


@pytest.fixture(scope="module")
def known() -> dict[str, tuple[Any, dict[str, np.ndarray]]]:
    """Models, and the numbers of all rows as the first kernels gave them."""
    return {}


@pytest.mark.parametrize("name", MODELS)
def test_every_number(name: str, kernels: str, known: dict[str, Any]) -> None:
    X, make = MODELS[name]
    if name not in known:
        model = make()
        known[name] = model, numbers(model, X)
    model, whole = known[name]
    assert not differing(numbers(model, X), whole, range(N)), kernels
    for rows in BATCHES:
        assert not differing(numbers(model, taken(X, rows)), whole, rows), list(rows)
    if X is not FRAME and X is not TEXTS:
        for other in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
            assert not differing(numbers(model, other), whole, range(N))
        many = numbers(model, np.concatenate([X[7:]] + [X] * 5))
        assert not differing({k: v[-N:] for k, v in many.items()}, whole, range(N))


def test_another_process_without_numba_and_with_two_threads(tmp_path: Path) -> None:
    expected = {}
    for name in ("two classes", "groups", "laplace and discount"):
        X, make = MODELS[name]
        model = make()
        model.save(tmp_path / f"{name}.shafer")
        expected[name] = numbers(model, X)
        np.save(tmp_path / f"{name}.npy", X)
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'numba' else real(name, *a)\n"
        "import pickle, pathlib, numpy as np, shafer\n"
        "found = {}\n"
        "for file in pathlib.Path(sys.argv[1]).glob('*.shafer'):\n"
        "    seen = shafer.Explainer.load(file).observe(np.load(file.with_suffix('.npy')))\n"
        "    names = sys.argv[2].split(',')\n"
        "    found[file.stem] = {k: np.asarray(getattr(seen.evidence, k)) for k in names\n"
        "                        if hasattr(seen.evidence, k)}\n"
        "sys.stdout.buffer.write(pickle.dumps(found))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path), ",".join(NUMBERS)]
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(command, check=True, capture_output=True, timeout=120, env=environment)
    for name, found in pickle.loads(done.stdout).items():
        assert not differing(found, expected[name], range(N)), name
