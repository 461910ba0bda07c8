"""Saved monitors: the same answers, without pickle, and clear errors for other files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import shafer

from .monitored_worlds import linear_world


@pytest.fixture
def saved(tmp_path: Path) -> tuple[shafer.Monitor, Path, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    y = np.array(["low", "middle", "high"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    explainer = shafer.Explainer(LogisticRegression().fit(X, y), X, prior="own")
    explainer.conformalize(X[:100], y[:100])
    monitor = shafer.Monitor.fit(explainer, X.copy(), y, alpha=0.01, seed=3)
    monitor.save(tmp_path / "monitor.npz")
    return monitor, tmp_path / "monitor.npz", X


def test_the_same_answers(saved: Any) -> None:
    monitor, path, X = saved
    again = shafer.Monitor.load(str(path), monitor.explainer)
    assert again.options == monitor.options
    y = np.array(["low", "high"] * 50)
    assert str(again.check(X[:100] + 0.3, y)) == str(monitor.check(X[:100] + 0.3, y))
    assert again.check(X[:100], y).columns() == monitor.check(X[:100], y).columns()
    streams = monitor.watch(), again.watch()
    assert [stream.update(X[:20]) for stream in streams] == [False, False]
    assert streams[0].evidence == streams[1].evidence


def test_no_rows_of_the_user_are_in_the_file(saved: Any) -> None:
    _, path, X = saved
    with np.load(path, allow_pickle=False) as archive:
        for name in archive.files:
            array = archive[name]
            assert array.dtype.kind in "fbU"
            if array.shape == X.shape:
                assert not np.allclose(array, X)


def test_another_explainer_is_refused(saved: Any) -> None:
    monitor, path, X = saved
    y = (X[:, 0] > 0).astype(int)
    two = shafer.Explainer(LogisticRegression().fit(X, y), X, prior="own")
    with pytest.raises(ValueError, match="its classes are 0, 1, those of the monitor are 'high'"):
        shafer.Monitor.load(path, two)
    shared = shafer.Explainer(monitor.explainer.model, X)
    with pytest.raises(ValueError, match="its components are"):
        shafer.Monitor.load(path, shared)
    means = shafer.Explainer(monitor.explainer.model, X[:50], prior="own")
    with pytest.raises(ValueError, match="relative to other means"):
        shafer.Monitor.load(path, means)
    with pytest.raises(ValueError, match="explainer must be the Explainer"):
        shafer.Monitor.load(path, LogisticRegression())
    classifier = shafer.EvidentialClassifier(LogisticRegression()).fit(X, y)
    shafer.Monitor.fit(classifier, X).save(path)
    assert shafer.Monitor.load(path, classifier).component_names == ("x0", "x1", "x2")


def test_a_monitor_of_maps(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(0)
    maps = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU())
    head = torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    network = torch.nn.Sequential(maps, head, torch.nn.Linear(2, 2))
    images = torch.randn(120, 1, 4, 4)
    explainer = shafer.Explainer(network, images, components="locations")
    monitor = shafer.Monitor.fit(explainer, images)
    assert len(monitor.component_names) == 4
    monitor.save(tmp_path / "maps.npz")
    again = shafer.Monitor.load(tmp_path / "maps.npz", explainer)
    brighter = torch.randn(100, 1, 4, 4) + 3.0
    assert again.check(brighter).moved == monitor.check(brighter).moved != ()


def _rewritten(path: Path, change: Any) -> None:
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(str(arrays.pop("header")))
    header.pop("checksum")  # a forger would leave it out, or compute it
    change(header, arrays)
    np.savez(path, header=np.asarray(json.dumps(header)), **arrays)


FORGED = {
    "no axes": lambda h, a: a.pop("axes"),
    "other shape": lambda h, a: a.update(rows_scores=a["rows_scores"][:, :2]),
    "integers": lambda h, a: a.update(rows_logits=np.zeros(a["rows_logits"].shape, dtype=int)),
    "NaN": lambda h, a: a.update(tolerance=np.full_like(a["tolerance"], np.nan)),
    "halves": lambda h, a: a.update(held_out=np.ones_like(a["held_out"])),
    "too many axes": lambda h, a: a.update(axes=np.ones((*a["axes"].shape[:2], 9))),
    "alpha": lambda h, a: h["options"].update(alpha=2.0),
    "options": lambda h, a: h.update(options=[]),
    "names": lambda h, a: h.update(names="abc"),
    "twice": lambda h, a: h.update(names=["x0", "x0", "x2", "base rate"]),
    "classes": lambda h, a: h.update(classes=[["a"], "b", "c"]),
    "factor": lambda h, a: h.update(factor=-1.0),
    "profiles": lambda h, a: h.update(profile=[]),
    "no rows": lambda h, a: a.update(profile0_distances=np.zeros(0)),
    "truth values": lambda h, a: a.update(rows_unseen=np.zeros(len(a["held_out"]))),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_files_are_refused_in_one_line(name: str, saved: Any) -> None:
    monitor, path, _ = saved
    _rewritten(path, FORGED[name])
    with pytest.raises(ValueError, match="is not a file written by Monitor.save, or is") as error:
        shafer.Monitor.load(path, monitor.explainer)
    assert "\n" not in str(error.value)


def test_damaged_and_other_files(saved: Any, tmp_path: Path) -> None:
    monitor, path, _ = saved
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"\x80\x04K\x01.", whole[:500] + whole[501:]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not a file written by Monitor.save, or is"):
            shafer.Monitor.load(path, monitor.explainer)
    path.write_bytes(whole)
    _rewritten(path, lambda header, _: header.update(format="shafer-monitor-99"))
    with pytest.raises(ValueError, match="has format 'shafer-monitor-99'; 'shafer-monitor-1' is"):
        shafer.Monitor.load(path, monitor.explainer)
    shafer.Evidence.from_weights(np.ones((1, 1, 2))).save(path)
    with pytest.raises(ValueError, match="has format 'shafer-evidence-1'"):
        shafer.Monitor.load(path, monitor.explainer)
    with pytest.raises(OSError, match="No such file"):
        shafer.Monitor.load(tmp_path / "nowhere.npz", monitor.explainer)


STREAMS = {
    "shares": lambda h, a: a.update(shares=a["shares"] * 2),
    "capital": lambda h, a: a.update(log_capital=np.full_like(a["log_capital"], np.inf)),
    "counts": lambda h, a: a.update(counts=a["counts"] - 10_000),
    "rows": lambda h, a: h.update(n_rows=-1),
    "history": lambda h, a: h.update(n_rows=31),
    "future": lambda h, a: a.update(crossed=np.full_like(a["crossed"], 30)),
    "seed": lambda h, a: h.update(seed="x"),
}


@pytest.mark.parametrize("name", STREAMS)
def test_forged_streams_are_refused(name: str, tmp_path: Path) -> None:
    explainer, draw = linear_world(3, seed=1)
    monitor = shafer.Monitor.fit(explainer, draw(100))
    stream = monitor.watch()
    stream.update(draw(30))
    stream.save(tmp_path / "stream.npz")
    _rewritten(tmp_path / "stream.npz", STREAMS[name])
    with pytest.raises(ValueError, match="is not a file written by MonitorStream.save, or"):
        monitor.resume(tmp_path / "stream.npz")


def test_labels_that_json_cannot_hold() -> None:
    explainer = shafer.Explainer(([1.0], 0.0), np.eye(1), classes=[(0, 1), (1, 0)])
    monitor = shafer.Monitor.fit(explainer, np.random.default_rng(0).normal(size=(60, 1)))
    with pytest.raises(ValueError, match="save\\(\\) can store class labels that are strings"):
        monitor.save("never.npz")
    assert not Path("never.npz").exists()
