"""Evidence on disk: what is saved comes back, and what is damaged or forged is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import shafer
from shafer.evidence.errors import ComponentSums, TableErrors
from shafer.models import bootstrap_refits


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
    with pytest.raises(OSError, match="is a folder. Give the name of a file"):
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
    with pytest.raises(ValueError, match="has format 'shafer-evidence-9'; 'shafer-evidence-2' is"):
        shafer.Evidence.load(tmp_path / "future.npz")


def kinds_of_evidence() -> dict[str, Any]:
    """One of each kind of source."""
    rng = np.random.default_rng(0)
    pool = shafer.least_commitment(rng.normal(size=(3, 4)), rng.normal(size=3))
    X = rng.normal(size=(6, 4))
    rows = sparse.csr_array(X * (rng.random((6, 4)) < 0.6))
    linear, thin = pool(X), pool(rows)
    dense = linear.grouped([["x0", "x1"]])
    own = shafer.least_commitment(rng.normal(size=(3, 4)), rng.normal(size=3), prior="own")(X)
    factors = np.linspace(0.1, 1.0, 6)
    other = shafer.Evidence.from_weights(rng.normal(size=(6, 2, 2)), classes=[1, 5])
    joined = shafer.combine({"a": linear, "b": thin.tempered(factors), "c": other})
    return {
        "dense": dense,
        "linear": linear,
        "sparse": thin,
        "scaled": linear.tempered(factors),
        "scaled sparse": thin.tempered(factors),
        "joined": joined,
        "scaled joined": joined.tempered(factors),
        "components": linear.components,
        "base rate": own,
        "scaled base rate": own.tempered(factors),
        "joined base rate": shafer.combine({"a": own, "b": thin}),
    }


def forgeries(array: Any) -> dict[str, Any]:
    """Ways to forge an array."""
    wide = np.asarray(array)
    number = wide.dtype.kind in "if" and wide.size > 0
    found = {
        "longer": np.concatenate([np.atleast_1d(wide)] * 2),
        "more axes": wide[None],
        "truth": wide.astype(bool) if wide.dtype.kind != "U" else np.array([True]),
        "text": np.full(wide.shape, "x"),
        "complex": wide.astype(complex) if number else np.ones(3, complex),
        "empty": np.empty((0,) * max(1, wide.ndim)),
        "big endian": wide.astype(wide.dtype.newbyteorder(">")) if number else np.ones(2, ">f8"),
    }
    if wide.ndim and len(wide) > 1:
        found["shorter"] = wide[:1]
    if number:
        last = np.zeros(wide.shape, dtype=bool)
        last.reshape(-1)[-1] = True
        for name, value in {"far": 10**6, "negative": -5}.items():
            found[name] = np.where(last, np.asarray(value, wide.dtype), wide)
        found["first far"] = np.where(np.roll(last.reshape(-1), 1).reshape(wide.shape), 10**6, wide)
    if wide.dtype.kind == "f" and number:
        for name, value in {"nan": np.nan, "inf": np.inf, "huge": 1e308}.items():
            found[name] = np.where(last, value, wide)
        found["half"] = wide.astype(np.float16)
    return found


def save_forged(path: Path, arrays: dict[str, Any], **header: Any) -> None:
    """Write a file as version 0.1.0 did, without a checksum."""
    stored = json.loads(str(arrays["header"])) | header
    stored.pop("checksum", None)
    with path.open("wb") as file:
        np.savez(file, **{**arrays, "header": np.asarray(json.dumps(stored))})


def loads_well(path: Path) -> bool:
    """Load a file; what loads must give possible numbers, and what does not one line."""
    try:
        evidence = shafer.Evidence.load(path)
    except ValueError as error:
        message = str(error)
    else:
        check_numbers(evidence)
        return True
    assert "\n" not in message
    assert "is not a file written by Evidence.save, or is damaged" in message or (
        "overflow" in message
    )
    return False


def check_numbers(evidence: Any) -> None:
    for values in (evidence.belief, evidence.plausibility, evidence.conflict):
        assert np.isfinite(values).all()
        assert values.min() >= -1e-9
        assert values.max() <= 1 + 1e-9
    assert (evidence.belief <= evidence.plausibility + 1e-9).all()


def may_load(name: str, way: str) -> bool:
    """Tell whether only the checksum can see that an array is not the saved one."""
    field = name.rpartition(".")[2]
    if field in ("weights", "features", "data", "centre", "beta", "offset", "base_rate", "shares"):
        rows = ("longer", "shorter") if name in ("weights", "features") else ()
        return way in ("far", "negative", "first far", *rows)
    if "factor" in field:
        return way in ("far", "first far")
    return field == "classes" or (field in ("shape", "places") and way == "big endian")


@pytest.mark.parametrize("kind", sorted(kinds_of_evidence()))
def test_every_array_forged(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    kinds_of_evidence()[kind].save(path)
    whole = dict(np.load(path))
    save_forged(path, whole)
    assert loads_well(path)  # a file of version 0.1.0
    for name in set(whole) - {"header"}:
        for way, array in forgeries(whole[name]).items():
            save_forged(path, {**whole, name: array})
            assert not loads_well(path) or may_load(name, way), (name, way)
            with path.open("wb") as file:  # the same, with the checksum of the honest file
                np.savez(file, **{**whole, name: array})
            with pytest.raises(ValueError, match="is damaged"):
                shafer.Evidence.load(path)
        save_forged(path, {key: array for key, array in whole.items() if key != name})
        if name.endswith(("row_factor", "shares")):  # the file may lack them
            assert loads_well(path)
        else:
            assert not loads_well(path)
    save_forged(path, {**whole, "extra": np.ones(2)})
    assert not loads_well(path)


@pytest.mark.parametrize(
    "header",
    [
        {"source": "SparseWeights"},
        {"source": "Evidence"},
        {"source": ["x"]},
        {"names": "wxyz"},
        {"names": [1, 2, 3, 4]},
        {"names": ["a", "a", "b", "c"]},
        {"names": None},
        {"parts": ["a"]},
        {"parts": None},
        {"classes": [{}, [], 1]},
        {"classes": "abc"},
        {"threshold": {"threshold": 0.2, "position": 1}},  # of three classes
        {"threshold": 0.2},
        {"loss": [[0.0, 1.0], [1.0, 0.0]]},
        {"loss": [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, float("nan"), 0.0]]},
        {"loss": [[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0]]},
        {"base_rates": [0]},  # linear weights hold none
        {"base_rates": [4]},
        {"base_rates": "0"},
    ],
)
def test_a_forged_header(header: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    kinds_of_evidence()["linear"].save(path)
    save_forged(path, dict(np.load(path)), **header)
    assert not loads_well(path)


LOADS_EACH = """
import sys, shafer
for path in sys.argv[1:]:
    try:
        shafer.Evidence.load(path)
    except ValueError as error:
        print(path, error, flush=True)
"""


def test_hostile_files_do_not_end_the_process(tmp_path: Path) -> None:
    """Under version 0.1.0 an index out of range was a segmentation fault."""
    kinds_of_evidence()["sparse"].save(tmp_path / "e.npz")
    whole = dict(np.load(tmp_path / "e.npz"))
    forged = []
    for name in ("indptr", "indices", "shape"):
        for value in (10**6, -1):
            array = whole[name].copy()
            array[-1 if name == "shape" else 1] = value
            forged.append(str(tmp_path / f"{name} {value}.npz"))
            save_forged(Path(forged[-1]), {**whole, name: array})
    command = [sys.executable, "-c", LOADS_EACH, *forged]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    for path, line in zip(forged, done.stdout.splitlines(), strict=True):
        assert line.startswith(path)
        assert "is damaged" in line


def test_bombs_and_pickles(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    kinds_of_evidence()["dense"].save(path)
    whole = dict(np.load(path))
    np.savez_compressed(path, **{**whole, "weights": np.zeros((2**22, 2, 3))})
    with pytest.raises(ValueError, match="would unpack to"):
        shafer.Evidence.load(path)
    np.savez(path, allow_pickle=True, **{**whole, "classes": np.array([{}, 1, 2], dtype=object)})
    with pytest.raises(ValueError, match="holds Python objects"):
        shafer.Evidence.load(path)


def test_a_flipped_bit(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    kinds_of_evidence()["linear"].save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(whole), 60):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged))
        loads_well(path)  # or a ValueError, nothing else


@pytest.mark.parametrize("kind", ["linear", "sparse"])
def test_arrays_of_two_precisions(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    kinds_of_evidence()[kind].save(path)
    whole = dict(np.load(path))
    for name in ("features" if kind == "linear" else "data", "centre", "beta", "offset"):
        save_forged(path, {**whole, name: whole[name].astype(np.float32)})
        with pytest.raises(ValueError, match="must be of one precision"):
            shafer.Evidence.load(path)


def test_places_are_classes_of_the_part(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    kinds_of_evidence()["joined"].save(path)
    whole = dict(np.load(path))
    for name, n_classes in {
        "0.LinearWeights": 3,
        "1.SparseWeights": 3,
        "2.DenseWeights": 2,
    }.items():
        places = whole[f"{name}.places"]
        assert places.max() == n_classes - 1
        for beyond in (-2, n_classes):
            forged = np.where(places == places.max(), beyond, places)
            save_forged(path, {**whole, f"{name}.places": forged})
            with pytest.raises(ValueError, match="places"):
                shafer.Evidence.load(path)


@pytest.mark.parametrize("kind", ["dense", "linear", "sparse"])
def test_arrays_that_are_missing_or_unknown_are_named(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    kinds_of_evidence()[kind].save(path)
    whole = dict(np.load(path))
    name = {"dense": "weights", "linear": "beta", "sparse": "indptr"}[kind]
    save_forged(path, {key: array for key, array in whole.items() if key != name})
    with pytest.raises(ValueError, match=f"it must hold the arrays .*'{name}'.*; it holds"):
        shafer.Evidence.load(path)
    save_forged(path, {**whole, "extra": np.ones(2)})
    with pytest.raises(ValueError, match="it must hold the arrays .*; it holds .*'extra'"):
        shafer.Evidence.load(path)


def test_joined_evidence_of_a_single_part(tmp_path: Path) -> None:
    weights = np.random.default_rng(0).normal(size=(4, 2, 2))
    moved = shafer.combine([shafer.Evidence.from_weights(weights)], classes=[1, 0, 7])
    moved.save(tmp_path / "e.npz")
    np.testing.assert_array_equal(shafer.Evidence.load(tmp_path / "e.npz").weights, moved.weights)


# Errors in files: what is saved comes back, and what is damaged or forged is refused.


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
def test_errors_save_and_load(kind: str, tmp_path: Path) -> None:
    ev = KINDS[kind]
    ev.save(tmp_path / "e.npz")
    again = shafer.Evidence.load(tmp_path / "e.npz")
    assert type(again.errors) is type(ev.errors)
    np.testing.assert_array_equal(again.weights_std, ev.weights_std)
    np.testing.assert_array_equal(again.contrast_std(0, 2), ev.contrast_std(0, 2))
    assert again.errors.degrees_of_freedom == ev.errors.degrees_of_freedom
    np.testing.assert_array_equal(again[[2, 0]].weights_std, ev.weights_std[[2, 0]])


def refused(path: Path) -> bool:
    """Load a file; what loads must give possible numbers, and what does not one line."""
    try:
        ev = shafer.Evidence.load(path)
    except ValueError as error:
        message = str(error)
    else:
        check_errors(ev)
        return False
    assert "\n" not in message
    assert "is not a file written by Evidence.save, or is damaged" in message
    return True


def check_errors(ev: shafer.Evidence) -> None:
    if ev.errors is not None:
        assert np.isfinite(ev.weights_std).all()
        assert ev.weights_std.min() >= 0.0
        assert ev.weights_std.shape == ev.weights.shape


def forged_errors(array: Any) -> dict[str, Any]:
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
def test_every_array_of_errors_forged(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    KINDS[kind].save(path)
    whole = dict(np.load(path))
    save_forged(path, whole)
    assert not refused(path)
    names = [name for name in whole if name.startswith("errors.")]
    assert names
    for name in names:
        for way, array in forged_errors(whole[name]).items():
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
def test_a_forged_header_of_errors(errors: Any, tmp_path: Path) -> None:
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


# Row labels and inputs: what is asked of loaded evidence gives what it gave before.


def _patients(index: Any = None) -> Any:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=60).round(3),
            "city": rng.choice(list("ABC"), 60),
            "visits": rng.integers(0, 5, 60),
            "seen": pd.to_datetime("2026-01-01") + pd.to_timedelta(np.arange(60), "D"),
        },
        index=index,
    )
    frame.loc[frame.index[3], "city"] = None
    y = np.where(frame["age"] + (frame["city"] == "B") * 2 > 0.5, "ill", "well")
    encoder = make_column_transformer(
        (StandardScaler(), ["age", "visits"]),
        (OneHotEncoder(), ["city"]),
        (OrdinalEncoder(), ["seen"]),
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(frame, y)
    return shafer.Explainer(model, frame, prior="own", groups=None), frame


def _loaded(ev: Any, folder: Path) -> Any:
    ev.save(folder / "ev.npz")
    return shafer.Evidence.load(folder / "ev.npz")


@pytest.mark.parametrize(
    "index",
    [
        None,
        pd.Index([f"patient {i}" for i in range(60)], name="id"),
        pd.Index(np.arange(60) * 7),
        pd.date_range("2026-03-01", periods=60),
        pd.Index([1, "two"] * 30),
        pd.MultiIndex.from_product([["first", "second"], range(30)], names=["clinic", None]),
    ],
)
def test_row_labels_and_inputs_come_back(index: Any, tmp_path: Path) -> None:
    explainer, frame = _patients(index)
    ev = explainer(frame)
    again = _loaded(ev, tmp_path)
    for one, other in ((ev, again), (ev[5:20], again[5:20]), (ev, _loaded(again, tmp_path))):
        pd.testing.assert_frame_equal(one.to_frame("pandas"), other.to_frame("pandas"))
        wanted, found = (e.reasons(class_="ill", over="well", top=4) for e in (one, other))
        pd.testing.assert_frame_equal(wanted, found)
        assert wanted["component"].tolist() == found["component"].tolist()
    groups = {"who": ["age", "visits", "city_A", "city_B"], "when": ["seen"]}
    names = {name.rpartition("__")[2]: name for name in ev.component_names}
    chosen = {group: [names[name] for name in members] for group, members in groups.items()}
    wanted, found = (e.grouped(chosen).reasons(top=2) for e in (ev, again))
    pd.testing.assert_frame_equal(wanted, found)
    codes = {"city": ("C1", "where you live")}
    pd.testing.assert_frame_equal(ev.reasons(codes=codes), again.reasons(codes=codes))


@pytest.mark.parametrize(
    "rows",
    [
        {"levels": {"0": ["a", "b", "c"]}, "level_names": ["x"]},
        {"levels": {"0": ["a", "b", "c"], "1": ["a", "b"]}, "level_names": ["x", "y"]},
        {"levels": {"0": ["a", "b", "c"], "1": [1, 2, 3]}, "level_names": ["x"]},
        {"levels": {"0": ["a", "b", "c"], "1": [1, 2, 3]}},
    ],
)
def test_forged_levels_of_row_labels(rows: Any, tmp_path: Path) -> None:
    shafer.Evidence.from_weights(np.ones((3, 1, 2))).save(tmp_path / "e.npz")
    save_forged(tmp_path / "e.npz", dict(np.load(tmp_path / "e.npz")), rows=rows)
    assert not loads_well(tmp_path / "e.npz")


def test_labels_that_are_not_of_pandas(tmp_path: Path) -> None:
    ev = shafer.Evidence.from_weights(np.ones((3, 1, 2))).with_index(["a", 2, None])
    assert _loaded(ev, tmp_path).index.tolist() == ["a", 2, None]
    assert _loaded(ev.with_index(None), tmp_path).index is None


def test_words_and_sparse_values_are_columns_without_values(tmp_path: Path) -> None:
    texts = ["good film", "bad film", "very good", "so bad"] * 5
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0] * 5)
    ev = shafer.Explainer(model, texts)(texts)
    again = _loaded(ev, tmp_path)
    for name in ("row", "rank", "component", "log_odds", "share", "class"):
        assert_array_equal(again.reasons()[name], ev.reasons()[name])
    assert again.reasons()["value"].isna().all()
    X = sparse.random(30, 4000, density=0.01, random_state=0, format="csr")
    ev = shafer.Explainer((np.arange(4000.0), 0.0), X)(X)
    assert (
        _loaded(ev, tmp_path).reasons()["component"].tolist() == ev.reasons()["component"].tolist()
    )
    assert (tmp_path / "ev.npz").stat().st_size < 600_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"members": [[9]] * 8}, "do not fit"),
        ({"members": [[0]]}, "do not fit"),
        ({"values": {"age": [1.0]}}, "for 60 rows"),
        ({"values": {"age": "weights"}}, "weights"),
        ({"values": {"other": "rows.0"}}, "unknown columns"),
        ({"values": {"age": [[1.0]] * 60}}, "damaged"),
        ({"labels": 7}, "damaged"),
        ({"order": ["age", "age"], "members": [[0]] * 8, "values": {}}, "unknown columns"),
        ({"more": 1}, "must hold"),
        (None, "unknown arrays"),
    ],
)
def test_forged_rows_are_refused(change: Any, message: str, tmp_path: Path) -> None:
    explainer, frame = _patients()
    explainer(frame).save(tmp_path / "ev.npz")
    with np.load(tmp_path / "ev.npz") as held:
        arrays = dict(held)
    header = json.loads(str(arrays.pop("header")))
    del header["checksum"]
    if change is None:
        del header["rows"]
    else:
        header["rows"] |= change
    np.savez(tmp_path / "bad.npz", header=np.asarray(json.dumps(header)), **arrays)
    with pytest.raises(ValueError, match=message):
        shafer.Evidence.load(tmp_path / "bad.npz")
