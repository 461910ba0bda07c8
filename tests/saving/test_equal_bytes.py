"""Equal objects are equal files, and a file that was changed is refused.

``test_fresh_process.py`` saves every family of models again, here and after loading.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io

import shafer
from shafer.saving.canonical import canonical
from shafer.saving.file import loaded_bytes, packed, saved_bytes
from shafer.saving.values import write_value

from .families import families

FEW = ("logistic", "texts", "frame", "xgboost", "lightgbm", "catboost", "classifier")


def digests() -> dict[str, str]:
    """Train models of some kinds, and return the digests of their files."""
    found = {}
    for name, make in families().items():
        if name in FEW:
            found[name] = hashlib.sha256(saved_bytes(make().model)).hexdigest()
    words = {"so", "very", "film", "a", "the"}
    held = [
        canonical(skops.io.dumps([words, {"odd": words}])),
        _json(words),
        _json(frozenset(words)),
    ]
    return {**found, "sets": hashlib.sha256(b"".join(held)).hexdigest()}


def _json(value: object) -> bytes:
    return json.dumps(write_value(value, None)).encode()  # type: ignore[arg-type]  # no arrays


def test_models_that_are_trained_again_in_another_process() -> None:
    """It has other addresses, and sets in another order."""
    code = (
        "import json, sys, warnings; warnings.simplefilter('ignore')\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from saving.test_equal_bytes import digests\n"
        "print(json.dumps(digests()))\n"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parents[1])]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as other:
        here = digests()
        printed, _ = other.communicate(timeout=120)
    assert other.returncode == 0
    assert json.loads(printed) == here
    assert len(here) > 5


# Digests of all members.

HEAD = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(given: dict[str, bytes]) -> bytes:
    """Pack members as anyone can, without new digests."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, raw in given.items():
            archive.writestr(name, raw)
    return content.getvalue()


def test_a_changed_coefficient_is_refused(tmp_path: Path) -> None:
    """With the sign of a coefficient turned, the file loaded, and .552 became .113."""
    given = members(saved_bytes(HEAD))
    assert loaded_bytes(zipped(given))([[1.0, 0.0]]).probability.round(3).tolist() == [
        [0.182, 0.818]
    ]
    with np.load(io.BytesIO(given["arrays.npz"])) as held:
        turned = {name: -held[name] if held[name].dtype == float else held[name] for name in held}
    changed = io.BytesIO()
    np.savez(changed, **turned)
    path = tmp_path / "m.shafer"
    path.write_bytes(zipped({**given, "arrays.npz": changed.getvalue()}))
    with pytest.raises(ValueError, match="changed after it was saved: 'arrays.npz' is not") as said:
        shafer.Explainer.load(path)
    assert str(said.value).count("\n") == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model/9.skops", b"added"),
        ("description.json", None),  # another space at its end
        ("SHA256SUMS", b""),
        ("SHA256SUMS", b"\xff"),
    ],
)
def test_other_changes_are_refused(name: str, content: bytes | None) -> None:
    given = members(saved_bytes(HEAD))
    changed = zipped({**given, name: given[name] + b" " if content is None else content})
    with pytest.raises(ValueError, match="changed after it was saved: '") as said:
        loaded_bytes(changed)
    if not name.startswith("SHA"):
        assert f"'{name}'" in str(said.value)


def test_members_that_are_missing() -> None:
    given = members(saved_bytes(HEAD))
    for name in ("SHA256SUMS", "arrays.npz"):
        without = {member: raw for member, raw in given.items() if member != name}
        with pytest.raises(ValueError, match=f"'{name}'"):
            loaded_bytes(zipped(without))


def test_files_without_digests_are_read_in_their_own_format() -> None:
    """Format 1 has none. Digests find accidents; a signature finds people."""
    given = members(saved_bytes(HEAD))
    older = given["description.json"].replace(b'"version": 2', b'"version": 1')
    del given["SHA256SUMS"]
    found = loaded_bytes(zipped({**given, "description.json": older}))
    np.testing.assert_array_equal(found([[1.0, 2.0]]).belief, HEAD([[1.0, 2.0]]).belief)


def test_sha256sum_checks_them(tmp_path: Path) -> None:
    content = packed({"b": b"2", "a/c": b"1"})
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(tmp_path)
    lines = (tmp_path / "SHA256SUMS").read_text().splitlines()
    assert [line.partition("  ")[2] for line in lines] == ["a/c", "b"]
    for line in lines:
        digest, _, name = line.partition("  ")
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == digest
