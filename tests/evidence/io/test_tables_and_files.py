"""Out of the library: data frames of every kind, and files without pickle."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import narwhals as nw
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import shafer


@pytest.fixture
def pool() -> Any:
    rng = np.random.default_rng(0)
    return shafer.least_commitment(
        rng.normal(size=(3, 4)), rng.normal(size=3), classes=["a", "b", "c"], names=list("wxyz")
    )


@pytest.fixture
def X() -> Any:
    return np.random.default_rng(1).normal(size=(6, 4)).round(1)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame(pool: Any, X: Any, backend: str) -> None:
    ev = pool(X)
    frame = nw.from_native(ev.to_frame(backend), eager_only=True)
    assert str(frame.implementation) == backend
    assert frame.shape == (6, 4 * 3 + 4)
    assert_array_equal(frame["belief_b"].to_numpy(), ev.belief[:, 1])
    assert_array_equal(frame["ignorance"].to_numpy(), ev.ignorance)
    expected = ["{" + ", ".join(ev.classes[row]) + "}" for row in ev.decide()]
    assert frame["decision"].to_list() == expected


def test_frame_of_components(pool: Any, X: Any) -> None:
    frame = nw.from_native(pool(X).components.to_frame("polars"), eager_only=True)
    assert frame.shape[0] == 6 * 4
    assert frame["component"].to_list()[:5] == ["w", "x", "y", "z", "w"]


def test_labels_that_read_alike_keep_their_columns() -> None:
    ev = shafer.Evidence.from_weights(np.ones((1, 1, 3)), classes=[1, "1", 2])
    frame = nw.from_native(ev.to_frame("polars"), eager_only=True)
    assert frame.shape == (1, 4 * 3 + 4)
    assert "belief_'1'" in frame.columns


def test_default_backend(pool: Any, X: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ev = pool(X[:1])
    loaded = SimpleNamespace(modules={"pyarrow": None})
    monkeypatch.setattr("shafer.evidence.io.frame_table.sys", loaded)
    assert type(ev.to_frame()).__module__.startswith("pyarrow")
    loaded.modules.clear()
    real = importlib.util.find_spec
    missing: set[str] = set()
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name in missing else real(name)
    )
    missing.add("pandas")
    with pytest.raises(ValueError, match="pip install pandas"):
        ev.to_frame("pandas")
    assert type(ev.to_frame()).__module__.startswith("polars")
    missing.update({"polars", "pyarrow"})
    with pytest.raises(ValueError, match="to_frame needs a data-frame library"):
        ev.to_frame()


def test_unknown_backend(pool: Any, X: Any) -> None:
    with pytest.raises(ValueError, match="backend must be one of pandas, polars, pyarrow"):
        pool(X).to_frame("excel")


@pytest.mark.parametrize("kind", ["linear", "dense", "sparse", "components"])
def test_save_and_load(pool: Any, X: Any, tmp_path: Path, kind: str) -> None:
    ev = pool(sparse.csr_array(X)) if kind == "sparse" else pool(X)
    ev = ev.grouped([["w", "x"]]) if kind == "dense" else ev
    ev = ev.components if kind == "components" else ev
    path = tmp_path / "evidence.npz"
    ev.save(path)
    assert [p.name for p in tmp_path.iterdir()] == ["evidence.npz"]
    again = shafer.Evidence.load(path)
    assert again.component_names == ev.component_names
    assert_array_equal(again.classes, ev.classes)
    assert type(again.source) is type(ev.source)
    assert again.parts == ev.parts
    for name in ("belief", "conflict", "weights"):
        assert_array_equal(getattr(again, name), getattr(ev, name))


def test_save_tensors_and_mixed_labels(tmp_path: Path) -> None:
    weights = torch.tensor([[[0.5, -0.2, -0.3]]], dtype=torch.float32)
    ev = shafer.Evidence.from_weights(weights, classes=[1, "two", 3.0])
    ev.save(tmp_path / "evidence")
    again = shafer.Evidence.load(str(tmp_path / "evidence"))
    assert again.classes.tolist() == [1, "two", 3.0]
    assert again.belief.dtype == np.float32
    assert_allclose(again.belief, ev.belief.numpy(), rtol=1e-6)


def test_a_failed_save_leaves_nothing(tmp_path: Path) -> None:
    ev = shafer.Evidence.from_weights(np.ones((1, 1, 2)), classes=[("a",), "b"])
    with pytest.raises(ValueError, match=r"strings or numbers; got \('a',\) of type tuple"):
        ev.save(tmp_path / "evidence.npz")
    good = shafer.Evidence.from_weights(np.ones((1, 1, 2)))
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="is a folder; a file name is needed"):
        good.save(tmp_path / "folder")
    with pytest.raises(OSError, match="is a folder"):
        good.save("")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_load_refuses_other_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        shafer.Evidence.load(tmp_path / "nothing.npz")
    text = tmp_path / "text"
    text.write_text("hello")
    np.save(tmp_path / "array.npy", np.ones(3))
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    np.savez(tmp_path / "pickle.npz", header=np.array([{}], dtype=object))
    for name in ("text", "array.npy", "other.npz", "pickle.npz"):
        with pytest.raises(ValueError, match="is not a file written by Evidence.save, or is"):
            shafer.Evidence.load(tmp_path / name)
    shafer.Evidence.from_weights(np.ones((2, 3, 2))).save(tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    rng = np.random.default_rng(0)
    for cut in rng.integers(0, len(good), 20):
        (tmp_path / "cut").write_bytes(good[:cut])
        with pytest.raises(ValueError, match="is not a file written by Evidence.save"):
            shafer.Evidence.load(tmp_path / "cut")
    stored = dict(np.load(tmp_path / "good"))
    for name, value in (("weights", stored["weights"] * np.nan), ("classes", np.arange(3))):
        np.savez(tmp_path / "changed.npz", **{**stored, name: value})
        with pytest.raises(ValueError, match="is not a file written by Evidence.save"):
            shafer.Evidence.load(tmp_path / "changed.npz")
    np.savez(tmp_path / "future.npz", header=np.array('{"format": "shafer-evidence-9"}'))
    with pytest.raises(ValueError, match="has format 'shafer-evidence-9'; this version reads"):
        shafer.Evidence.load(tmp_path / "future.npz")
