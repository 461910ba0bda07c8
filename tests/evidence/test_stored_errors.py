"""Errors in files: what is saved comes back, and what is damaged or forged is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.evidence.errors import ComponentSums, TableErrors
from shafer.models import bootstrap_refits

X, Y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=5000).fit(X, Y)
ROWS = X[::30]


def _table() -> shafer.Evidence:
    rng = np.random.default_rng(0)
    ev = shafer.Evidence.from_weights(rng.normal(size=(5, 3, 3)))
    tables = rng.normal(size=(4, 7, 3))
    sums = ComponentSums.of_groups([[0, 1], [2]], 3, own=True)
    index = rng.integers(0, 7, size=(5, 4))
    errors = TableErrors(index, tables, np.full(4, 0.25), sums, np.ones(5))
    return shafer.Evidence.from_source(ev.source, ev.classes, ev.component_names, errors=errors)


def kinds() -> dict[str, shafer.Evidence]:
    """One of each kind of errors, on several kinds of weights."""
    linear = shafer.Explainer(MODEL, X, errors="laplace", prior="own")
    refits = bootstrap_refits(MODEL, X, Y, 3)
    sampled = shafer.Explainer(MODEL, X, errors="bootstrap", refits=refits)
    factors = np.linspace(0.1, 1.0, 5)
    return {
        "linear": linear(ROWS),
        "sparse": linear(sparse.csr_array(ROWS)),
        "grouped": linear(ROWS).grouped({"sepal": [0, 1]}),
        "without": linear(ROWS).without([0, 4]).tempered(factors),
        "sampled": sampled(ROWS),
        "scaled sampled": sampled(ROWS).tempered(factors),
        "grouped sampled": sampled(ROWS).grouped("one"),
        "table": _table(),
    }


KINDS = kinds()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_save_and_load(kind: str, tmp_path: Path) -> None:
    ev = KINDS[kind]
    ev.save(tmp_path / "e.npz")
    again = shafer.Evidence.load(tmp_path / "e.npz")
    assert type(again.errors) is type(ev.errors)
    np.testing.assert_array_equal(again.weights_std, ev.weights_std)
    np.testing.assert_array_equal(again.contrast_std(0, 2), ev.contrast_std(0, 2))
    assert again.errors.degrees_of_freedom == ev.errors.degrees_of_freedom
    np.testing.assert_array_equal(again[[2, 0]].weights_std, ev.weights_std[[2, 0]])


def save_forged(path: Path, arrays: dict[str, Any], **header: Any) -> None:
    """Write a file without a checksum."""
    stored = json.loads(str(arrays["header"])) | header
    stored.pop("checksum", None)
    with path.open("wb") as file:
        np.savez(file, **{**arrays, "header": np.asarray(json.dumps(stored))})


def refused(path: Path) -> bool:
    """Load a file; what loads must give possible numbers, and what does not one line."""
    try:
        ev = shafer.Evidence.load(path)
    except ValueError as error:
        message = str(error)
    else:
        check_numbers(ev)
        return False
    assert "\n" not in message
    assert "is not a file written by Evidence.save, or is damaged" in message
    return True


def check_numbers(ev: shafer.Evidence) -> None:
    if ev.errors is not None:
        assert np.isfinite(ev.weights_std).all()
        assert ev.weights_std.min() >= 0.0
        assert ev.weights_std.shape == ev.weights.shape


def forgeries(array: Any) -> dict[str, Any]:
    """Ways to forge an array that no file may have."""
    last = np.zeros(array.shape, dtype=bool)
    last.reshape(-1)[-1] = True
    found = {
        "longer": np.concatenate([array] * 2),
        "more axes": array[None],
        "truth": array.astype(bool),
        "text": np.full(array.shape, "x"),
        "complex": array.astype(complex),
        "empty": np.empty((0,) * array.ndim),
        "shorter": array[: len(array) // 2],
    }
    if array.dtype.kind == "f":
        found |= {"nan": np.where(last, np.nan, array), "inf": np.where(last, np.inf, array)}
        found["half"] = array.astype(np.float16)
    else:
        found |= {"far": np.where(last, 10**6, array), "negative": np.where(last, -5, array)}
        found["fraction"] = array + 0.5
    return found


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_array_forged(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    KINDS[kind].save(path)
    whole = dict(np.load(path))
    save_forged(path, whole)
    assert not refused(path)
    names = [name for name in whole if name.startswith("errors.")]
    assert names
    for name in names:
        for way, array in forgeries(whole[name]).items():
            save_forged(path, {**whole, name: array})
            assert refused(path), (name, way)
        save_forged(path, {key: array for key, array in whole.items() if key != name})
        optional = name.endswith(("row_factor", "shares")) and "sampled" in kind
        assert refused(path) != optional, name
    for extra in ("errors.extra", "errors.0.DenseWeights.extra", "errors.", "errors.-1.x.y"):
        save_forged(path, {**whole, extra: np.ones(2)})
        assert refused(path), extra


@pytest.mark.parametrize(
    "errors", ["TableErrors", "WeightErrors", "", ["LinearErrors"], {}, 3, True, None]
)
def test_a_forged_header(errors: Any, tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    KINDS["linear"].save(path)
    save_forged(path, dict(np.load(path)), errors=errors)
    assert refused(path)


def test_errors_of_other_weights(tmp_path: Path) -> None:
    """Each part is possible, but they do not belong together."""
    path = tmp_path / "e.npz"
    KINDS["linear"].save(path)
    whole = dict(np.load(path))
    KINDS["grouped"].save(path)
    other = {name: array for name, array in np.load(path).items() if "errors." in name}
    save_forged(path, {**whole, **other})
    assert refused(path)
    KINDS["sampled"].save(path)
    one = {name: a for name, a in np.load(path).items() if not name.startswith("errors.2")}
    save_forged(path, one)
    assert not refused(path)  # two refits are enough
    alone = {name: array for name, array in one.items() if not name.startswith("errors.1")}
    save_forged(path, alone)
    assert refused(path)


def test_negative_shares_and_factors(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    KINDS["table"].save(path)
    whole = dict(np.load(path))
    for name, values in {
        "errors.shares": [0.5, 0.5, 0.5, -0.5],
        "errors.factor": [1.0, 1.0, -1.0, 1.0, 1.0],
    }.items():
        save_forged(path, {**whole, name: np.array(values)})
        assert refused(path)
