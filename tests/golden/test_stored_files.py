"""Files that earlier versions wrote, of every kind: they load, and give the results of that time.

``make_stored.py`` made them. Nothing is made again here: a file that no longer loads, or gives
other numbers, means that users' files do so too.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import shafer
from stored_results import (
    classifier_results,
    evidence_results,
    explainer_results,
    monitor_results,
    rows_of,
    stream_results,
    torch_module,
)

STORED = Path(__file__).parent / "stored"
DESCRIBED = {path.stem: json.loads(path.read_text()) for path in sorted(STORED.glob("*.json"))}
MODELS = {
    "Explainer": shafer.Explainer,
    "EvidentialClassifier": shafer.EvidentialClassifier,
    "EvidentialVotingClassifier": shafer.EvidentialVotingClassifier,
}


def of_kind(*kinds: str) -> list[str]:
    return [name for name, about in DESCRIBED.items() if about["kind"] in kinds]


def unpacked(name: str, folder: Path) -> Path:
    """Return a stored file as ``save`` wrote it."""
    path = folder / name
    path.write_bytes(gzip.decompress((STORED / f"{name}.gz").read_bytes()))
    return path


def same(found: Any, expected: Any, rtol: float, at: str) -> None:
    """Compare nested plain values: numbers closely, everything else exactly."""
    if isinstance(expected, dict):
        assert set(found) == set(expected), at
        for key, part in expected.items():
            same(found[key], part, rtol, f"{at}, {key}")
    elif isinstance(expected, float):
        assert isinstance(found, float), at
        assert_allclose(found, expected, rtol=rtol, atol=1e-3 * rtol, err_msg=at)
    elif isinstance(expected, list):
        assert len(found) == len(expected), at
        for k, part in enumerate(expected):
            same(found[k], part, rtol, f"{at}[{k}]")
    else:
        assert (type(found), found) == (type(expected), expected), at


@pytest.mark.parametrize("name", of_kind(*MODELS))
def test_a_stored_model(name: str, tmp_path: Path) -> None:
    about = DESCRIBED[name]
    module = torch_module(about["module"]) if "module" in about else None
    model: Any = MODELS[about["kind"]].load(
        unpacked(about["file"], tmp_path), trusted=about.get("trusted", ()), module=module
    )
    results: Any = explainer_results if about["kind"] == "Explainer" else classifier_results
    groups = np.array(about["groups"]) if "groups" in about else None
    found = results(model, rows_of(about["rows"]), groups)
    same(found, about["results"], about["rtol"], name)


@pytest.mark.parametrize("name", of_kind("evidence"))
def test_stored_evidence(name: str, tmp_path: Path) -> None:
    about = DESCRIBED[name]
    found = evidence_results(shafer.Evidence.load(unpacked(about["file"], tmp_path)))
    same(found, about["results"], about["rtol"], name)


@pytest.mark.parametrize("name", of_kind("monitor"))
def test_a_stored_monitor_and_its_stream(name: str, tmp_path: Path) -> None:
    about = DESCRIBED[name]
    explainer = shafer.Explainer.load(unpacked(about["explainer"], tmp_path))
    monitor = shafer.Monitor.load(unpacked(about["file"], tmp_path), explainer)
    batch, expected = rows_of(about["rows"]), about["results"]
    same(monitor_results(monitor, batch, about["y"]), expected["monitor"], about["rtol"], name)
    stream = monitor.resume(unpacked(about["stream"], tmp_path))
    same(stream_results(stream, batch[15:]), expected["stream"], about["rtol"], name)


def test_every_stored_file_is_read() -> None:
    keys = ("file", "stream")
    named = {about[key] for about in DESCRIBED.values() for key in keys if key in about}
    kept = {path.stem for path in STORED.iterdir() if path.suffix != ".json"}
    assert kept == named
    assert len(named) > 80
