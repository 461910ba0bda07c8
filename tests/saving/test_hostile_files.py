"""Damaged and forged saved files: one line says why they are refused, and nothing of them runs."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.saving.file import loaded_bytes, packed, saved_bytes

X = np.random.default_rng(0).normal(size=(30, 2))
Y = (X[:, 0] > 0).astype(int)
EXPLAINER = shafer.Explainer(LogisticRegression().fit(X, Y), X)
HEAD = shafer.Explainer(([1.0, -2.0], 0.5), X)
CONTENT, HEAD_CONTENT = saved_bytes(EXPLAINER), saved_bytes(HEAD)

Members = dict[str, bytes]


def members(content: bytes = CONTENT) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def arrays(**given: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **given)
    return file.getvalue()


def forged(change: Callable[[dict[str, Any]], Any], content: bytes = CONTENT) -> bytes:
    """Change the description of a saved file."""
    parts = members(content)
    description = json.loads(parts["description.json"])
    changed = change(description)
    parts["description.json"] = json.dumps(description if changed is None else changed).encode()
    return packed(parts)


def refusal(content: bytes, **options: Any) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        loaded_bytes(content, **options)
    message = str(caught.value)
    assert type(caught.value) is ValueError
    assert "\n" not in message
    assert len(message) < 700
    return message


def test_a_cut_file_is_refused() -> None:
    for length in (0, 1, 10, 100, len(CONTENT) // 2, len(CONTENT) - 1):
        assert "cannot be loaded" in refusal(CONTENT[:length])


def test_a_changed_byte_is_refused_or_changes_nothing() -> None:
    ev = HEAD(X)
    refused = 0
    for place in range(0, len(HEAD_CONTENT), 29):
        damaged = bytearray(HEAD_CONTENT)
        damaged[place] ^= 0x55
        try:
            again = loaded_bytes(bytes(damaged))
        except ValueError:
            refused += 1
        else:
            assert_array_equal(again(X).belief, ev.belief)
    assert refused > 50


def test_versions() -> None:
    newer = refusal(forged(lambda d: d.update(version=3, libraries={"shafer": "9.1"})))
    assert newer == (
        "The saved model was written by a newer version, shafer 9.1 (file format 3; this version "
        "reads format 2). Update shafer."
    )
    older = refusal(forged(lambda d: d.update(version=0)))
    assert "written by an older version, shafer" in older
    assert older.endswith("Save the model again with this version.")
    assert "has no version" in refusal(forged(lambda d: d.pop("version") and None))
    state = forged(lambda d: _state(d)["format"].__setitem__(1, 99), HEAD_CONTENT)
    assert "has format 99, and format 7 is needed" in refusal(state)


def _state(description: dict[str, Any]) -> dict[str, Any]:
    """Return the pairs of the state of the explainer by their key."""
    return {pair[0]: pair for pair in description["objects"][0]["state"]["items"]}


def test_a_file_of_other_libraries_names_them() -> None:
    changed = forged(lambda d: (d["libraries"].update(numpy="1.0"), _state(d)["means"].pop())[0])
    assert "It is from numpy 1.0 (here " in refusal(changed)


@pytest.mark.parametrize(
    "text", [b"", b"[]", b"{}", b"null", b"{", b"[" * 100_000, b'{"format": "shafer"}', b"\xff\xfe"]
)
def test_nonsense_in_the_description(text: bytes) -> None:
    assert "description.json" in refusal(packed({**members(), "description.json": text}))


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "no root": lambda d: d.pop("root") and None,
    "root is a number": lambda d: d.update(root=7),
    "root is another": lambda d: d.update(root={"type": "object", "number": 99}),
    "negative": lambda d: d.update(root={"type": "object", "number": -1}),
    "no number": lambda d: d.update(root={"type": "object", "number": False}),
    "objects are a text": lambda d: d.update(objects="abc"),
    "unknown format": lambda d: d["objects"][0].update(format="pickle"),
    "another class": lambda d: d["objects"][0].update({"class": "os.system"}),
    "no class": lambda d: d["objects"][0].update({"class": None}),
    "class by skops only": lambda d: d["objects"][0].update({"class": "subprocess.Popen"}),
    "no state": lambda d: d["objects"][0].update(state=None),
    "state is a list": lambda d: d["objects"][0].update(state=[1, 2]),
    "holds itself": lambda d: _state(d)["model"].__setitem__(1, {"type": "object", "number": 0}),
    "member elsewhere": lambda d: d["objects"][1].update(file="description.json"),
    "member outside": lambda d: d["objects"][1].update(file="model/../../../etc/passwd"),
    "no member": lambda d: d["objects"][1].update(file="model/7.skops"),
    "parts are missing": lambda d: d["objects"][1].pop("parts") and None,
    "wrong array": lambda d: _state(d)["means"].__setitem__(1, {"type": "array", "name": "zz"}),
    "array is a path": lambda d: _state(d)["means"].__setitem__(
        1, {"type": "array", "name": "../a0"}
    ),
    "means are a text": lambda d: _state(d)["means"].__setitem__(1, "abc"),
    "unknown type": lambda d: _state(d)["means"].__setitem__(1, {"type": "call", "number": 0}),
    "scalar of objects": lambda d: _state(d)["factor"].__setitem__(
        1, {"type": "scalar", "dtype": "O", "value": 1}
    ),
    "tensor of nothing": lambda d: _state(d)["means"].__setitem__(
        1, {"type": "tensor", "name": "a0", "dtype": "load"}
    ),
    "not a number": lambda d: _state(d)["factor"].__setitem__(1, {"type": "float", "value": "nan"}),
    "unhashable key": lambda d: _state(d)["groups"].__setitem__(
        1, {"type": "dict", "items": [[[1], 2]]}
    ),
    "deep": lambda d: _state(d)["groups"].__setitem__(1, json.loads("[" * 900 + "]" * 900)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_forged_description(change: Callable[[dict[str, Any]], Any]) -> None:
    assert "cannot be loaded" in refusal(forged(change))


def test_forged_arrays() -> None:
    given = members()
    with np.load(io.BytesIO(given["arrays.npz"])) as held:
        good = dict(held)
    objects = {**good, "a0": np.array([print], dtype=object)}
    assert "holds Python objects" in refusal(packed({**given, "arrays.npz": arrays(**objects)}))
    other = {name: np.zeros(7) for name in good}
    assert "damaged" in refusal(packed({**given, "arrays.npz": arrays(**other)}))
    assert "zip archive" in refusal(packed({**given, "arrays.npz": b"not an archive"}))
    header = arrays(**good).replace(b"'shape': (", b"'shape': (9")
    assert "cannot be loaded" in refusal(packed({**given, "arrays.npz": header}))
    lacking = {name: raw for name, raw in given.items() if name != "arrays.npz"}
    assert "no member 'arrays.npz'" in refusal(packed(lacking))


def test_archives_that_would_fill_the_memory() -> None:
    zeros = io.BytesIO()
    with zipfile.ZipFile(zeros, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a0.npy", bytes(30_000_000))
    assert "far more than" in refusal(packed({**members(), "arrays.npz": zeros.getvalue()}))
    model = next(name for name in members() if name.startswith("model/"))
    assert "far more than" in refusal(packed({**members(), model: zeros.getvalue()}))
    with zipfile.ZipFile(io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        file = archive.fp
        for name, raw in members().items():
            archive.writestr(name, raw)
    assert "is compressed" in refusal(file.getvalue())


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt", "model/../../x", "c:x", "a\\..\\b"])
def test_members_with_paths(name: str) -> None:
    assert "plain file name" in refusal(packed({**members(), name: b""}))


def test_a_forged_model_runs_nothing(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    node = {
        "__class__": "system",
        "__module__": os.system.__module__,
        "__loader__": "FunctionNode",
        "__id__": 1,
        "protocol": 2,
    }
    call = {**node, "__loader__": "ConstructorFromReduceNode", "content": f"touch {canary}"}
    model = next(name for name in members() if name.startswith("model/"))
    for schema in (node, call):
        part = packed({"schema.json": json.dumps(schema).encode()})
        message = refusal(packed({**members(), model: part}), trusted=["posix.system"])
        assert "is not loaded: it holds" in message
    assert not canary.exists()


class Unknown(LogisticRegression):
    """A class that is not known to be safe."""


def test_an_unknown_class_needs_trust() -> None:
    content = saved_bytes(shafer.Explainer(Unknown().fit(X, Y), X))
    name = f"{Unknown.__module__}.Unknown"
    assert refusal(content) == (
        "The saved model holds classes that are not known to be safe. If you trust them, pass "
        f"trusted=[{name!r}]."
    )
    for near in (name[:-1], name.rpartition(".")[0], "Unknown"):  # exact names only
        assert "not known to be safe" in refusal(content, trusted=[near])


def test_trust_does_not_admit_a_placeholder_without_its_part() -> None:
    from shafer.saving.formats import TakenOut

    model = LogisticRegression().fit(X, Y)
    model.extra = [TakenOut(3)]
    parts = members()
    name = next(name for name in parts if name.startswith("model/"))
    parts[name] = skops.io.dumps(model)
    description = json.loads(parts["description.json"])
    description["objects"][1]["parts"] = [description["root"]]
    parts["description.json"] = json.dumps(description).encode()
    assert "cannot be loaded" in refusal(packed(parts))
    description["objects"].append({"format": "state", "class": "x", "state": None})
    description["objects"][1]["parts"] = []
    parts["description.json"] = json.dumps(description).encode()
    assert "cannot be loaded" in refusal(packed(parts))
