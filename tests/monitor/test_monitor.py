"""``Monitor``: what it names, how often it errs, which models it takes, and its files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from shafer.monitor import monitor as monitor_module
from shafer.monitor import report as monitor_report

from .monitored_worlds import linear_world

# ``Monitor``: what it names, how often it errs, and which models it takes.


def _false_alarms(n: int) -> int:
    explainer, draw = linear_world(10, seed=1)
    return sum(
        shafer.Monitor.fit(explainer, draw(400), seed=i).check(draw(100)).alarm for i in range(n)
    )


def test_false_alarms_are_rare() -> None:
    n = 100
    assert _false_alarms(n) <= stats.binom.ppf(0.999, n, 0.05)


def test_without_holm_they_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (monitor_module, monitor_report):
        monkeypatch.setattr(module, "adjusted_p_values", lambda p: p)
    n = 40
    assert _false_alarms(n) > stats.binom.ppf(0.999, n, 0.05)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_shifted_feature_is_named(n_classes: int) -> None:
    explainer, draw = linear_world(10, seed=2, n_classes=n_classes)
    monitor = shafer.Monitor.fit(explainer, draw(1000))
    for g in range(10):
        batch = draw(500)
        batch[:, g] += 1.0
        report = monitor.check(batch)
        assert report.alarm
        assert report.moved[0] == f"feature {g}"


def test_typicality_is_uniform_if_nothing_changed() -> None:
    explainer, draw = linear_world(8, seed=3, n_classes=3)
    p = [
        shafer.Monitor.fit(explainer, draw(300), seed=i).check(draw(10)).typicality
        for i in range(60)
    ]
    assert stats.kstest(np.concatenate(p), "uniform").pvalue > 0.001
    # Rows compared with a profile that they define themselves are too typical.
    X = draw(100)
    own = shafer.evidence.typicality(explainer(X), explainer(X))
    fresh = shafer.evidence.typicality(explainer(draw(4000)), explainer(X))
    assert own.mean() > fresh.mean()


def test_shift_is_the_change_of_the_mean_contrast() -> None:
    for n_classes in (2, 3):
        explainer, draw = linear_world(5, seed=4, n_classes=n_classes)
        reference, batch = draw(300), draw(200) + 0.5
        report = shafer.Monitor.fit(explainer, reference).check(batch)
        for g, check in enumerate(report.checks[:5]):
            pair = check.class_, check.over
            now = explainer(batch).contrast(*pair)[:, g].mean()
            before = explainer(reference).contrast(*pair)[:, g].mean()
            assert_allclose(check.shift, now - before, atol=1e-12)
            means = [explainer(X).weights[:, g].mean(axis=0) for X in (batch, reference)]
            if n_classes == 2:
                assert pair == (1, 0)
            else:
                assert_allclose(check.shift, np.ptp(means[0] - means[1]), atol=1e-12)


def test_decisions_that_moved_are_counted() -> None:
    random = np.random.default_rng(0)
    reference = random.normal(size=(2000, 2))
    explainer = shafer.Explainer(([2.0, 0.001], 0.0), reference, names=["strong", "weak"])
    monitor = shafer.Monitor.fit(explainer, reference)
    batch = random.normal(size=(1000, 2)) + np.array([1.0, 0.0])
    report = monitor.check(batch)
    assert report.moved == ("strong",)
    # P(x > 0) grows from 0.5 to Φ(1) = 0.84; quantile mapping takes the shift off again.
    assert report.decisions_moved == report.component_decisions["strong"]
    assert abs(report.decisions_moved / 1000 - 0.34) < 0.05
    assert "decisions moved: with the reference" in str(report)
    assert re.search(r"strong: \S+ for 1 over 0, spread ×(0\.9|1\.0)\d, KS 0\.[34]", str(report))
    significant = replace(report, alpha=float(report.adjusted_p.min()))  # just so
    assert significant.alarm
    assert significant.moved + significant.moved_quantities
    harmless = monitor.check(random.normal(size=(1000, 2)) + np.array([0.0, 1.0]))
    assert harmless.alarm
    assert harmless.moved == ("weak",)
    assert harmless.decisions_moved <= 2
    if harmless.decisions_moved == 0:
        assert "No decision moved" in str(harmless)


@pytest.mark.parametrize("moderate", ["laplace", "laplace+discount"])
def test_moderation_does_not_spread_a_shift(moderate: str) -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(120, 4))
    y = (X @ np.array([1.0, -1.0, 0.5, 0.5]) + random.logistic(size=120) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    moderated = shafer.Explainer(model, X, moderate=moderate)
    reference = random.normal(size=(1000, 4))
    batch = random.normal(size=(800, 4)) + np.array([4.0, 0.0, 0.0, 0.0])
    report = shafer.Monitor.fit(moderated, reference).check(batch)
    assert report.moved == ("x0",)
    # Moderated weights themselves shrink in such rows, all of them.
    before, now = (moderated.observe(X).bet.weights[:, 1, 1] for X in (reference, batch))
    assert stats.ks_2samp(before, now).pvalue < 0.01
    plain = shafer.Monitor.fit(shafer.Explainer(model, X), reference).check(batch)
    assert plain.decisions_moved == report.decisions_moved  # a factor for a row keeps its order


def test_a_shift_that_changes_no_decision_is_told() -> None:
    random = np.random.default_rng(1)
    reference = random.normal(size=(500, 2))
    moved = random.normal(size=(300, 2)) + np.array([2.0, 0.0])
    explainer = shafer.Explainer(([0.1, 1e-9], 5.0), reference)
    report = shafer.Monitor.fit(explainer, reference).check(moved)
    assert report.moved == ("x0",)
    assert report.decisions_moved == 0
    assert "No decision moved" in str(report)


def test_labels_are_compared() -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(3000, 3))
    y = np.where(X[:, 0] + random.logistic(size=3000) > 0, "yes", "no")
    explainer = shafer.Explainer(LogisticRegression().fit(X[:1000], y[:1000]), X[:1000])
    explainer.conformalize(X[1000:1500], y[1000:1500], coverage=0.8)
    monitor = shafer.Monitor.fit(explainer, X[1500:2500], y[1500:2500])
    table = monitor.check(X[2500:], y[2500:]).to_frame("pandas").set_index("name")
    names = ["log loss", "Brier score", "accuracy", "coverage"]
    assert not table.loc[names, "moved"].any()
    p = explainer(X[2500:]).probability
    true = p[np.arange(500), (y[2500:] == "yes").astype(int)]
    assert_allclose(table.loc["log loss", "batch"], -np.log(true).mean())
    assert abs(table.loc["coverage", "batch"] - 0.8) < 0.08
    flipped = np.where(y[2500:] == "yes", "no", "yes")
    report = monitor.check(X[2500:], flipped)
    assert report.moved == ()
    assert set(names) <= set(report.moved_quantities)
    assert "no component moved by itself" in str(report)
    unlabelled = shafer.Monitor.fit(explainer, X[1500:2500]).check(X[2500:], y[2500:])
    assert not unlabelled.alarm
    values = unlabelled.to_frame("pandas").set_index("name")
    assert np.isnan(values.loc["log loss", "p"])
    assert_allclose(values.loc["log loss", "batch"], -np.log(true).mean())


def _frame(n: int, random: np.random.Generator) -> pd.DataFrame:
    colour = random.choice(["red", "green", "blue"], size=n)
    return pd.DataFrame({"size": random.normal(size=n), "colour": colour})


@pytest.fixture(scope="module")
def shop() -> tuple[shafer.Explainer, np.random.Generator]:
    random = np.random.default_rng(3)
    X = _frame(400, random)
    y = X["size"] + (X["colour"] == "red") > 0
    columns = make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(handle_unknown="ignore"), ["colour"])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(X, y)
    return shafer.Explainer(model, X, groups="source", prior="own"), random


def test_frames_are_read_by_name(shop: Any) -> None:
    explainer, random = shop
    monitor = shafer.Monitor.fit(explainer, _frame(300, random))
    batch = _frame(100, random)
    batch["size"] += 1.0
    report = monitor.check(batch)
    assert report.moved[0] == "size"
    assert "base rate" not in [check.name for check in report.checks]
    for other in (batch[["colour", "size"]], pl.from_pandas(batch)):
        assert monitor.check(other).columns() == report.columns()
    assert isinstance(report.table, pd.DataFrame)
    polars, arrow = report.to_frame("polars"), report.to_frame("pyarrow")
    names = [check.name for check in report.checks]
    assert polars["name"].to_list() == arrow["name"].to_pylist() == names
    with pytest.raises(ValueError, match="without 'size'"):
        monitor.check(batch[["colour"]])


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_unseen_categories_are_counted(shop: Any) -> None:
    explainer, random = shop
    monitor = shafer.Monitor.fit(explainer, _frame(300, random))
    batch = _frame(200, random)
    batch.loc[:29, "colour"] = "violet"
    report = monitor.check(batch)
    assert report.moved == ("colour",)
    assert "unseen categories" in report.moved_quantities
    table = report.to_frame("pandas").set_index("name")
    assert_allclose(table.loc["unseen categories", "batch"], 0.15)


def test_gaps_are_counted() -> None:
    explainer, draw = linear_world(4, seed=5)
    background = draw(300)
    filling = shafer.Explainer(
        (explainer.pool.beta[:, 1] * 2, 0.0), background, missing="conditional"
    )
    monitor = shafer.Monitor.fit(filling, draw(300))
    batch = draw(200)
    batch[::2, 1] = np.nan
    report = monitor.check(batch)
    table = report.to_frame("pandas").set_index("name")
    assert_allclose(table.loc["gaps", "batch"], 0.125)
    assert table.loc["gaps", "moved"]
    assert "x1" in report.moved


def _models() -> dict[str, shafer.Explainer]:
    random = np.random.default_rng(6)
    X = random.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    trees = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y)
    head = LogisticRegression().fit(X, y)
    import torch

    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
    return {
        "trees": shafer.Explainer(trees, X, components="feature"),
        "moderated": shafer.Explainer(head, X, moderate="laplace+discount"),
        "one group": shafer.Explainer(head, X, groups="one"),
        "network": shafer.Explainer(network, torch.tensor(X, dtype=torch.float32)),
        "classifier": shafer.EvidentialClassifier(LogisticRegression()).fit(X, y),
    }


@pytest.mark.parametrize("name", ["trees", "moderated", "one group", "network", "classifier"])
def test_models(name: str) -> None:
    explainer = _models()[name]
    random = np.random.default_rng(7)

    def rows(n: int, shift: float = 0.0) -> Any:
        X = random.normal(size=(n, 3)) + np.array([shift, 0.0, 0.0])
        if name != "network":
            return X
        import torch

        return torch.tensor(X, dtype=torch.float32)

    monitor = shafer.Monitor.fit(explainer, rows(400))
    assert not monitor.check(rows(200)).alarm
    report = monitor.check(rows(200, 2.0))
    assert report.alarm
    numbers = report.to_frame("pandas").select_dtypes("number").drop(columns="decisions")
    assert np.isfinite(numbers.drop(columns=["psi", "ks", "ks_p", "spread"])).all(axis=None)
    assert not monitor.watch().update(rows(30))


def test_sparse_rows() -> None:
    X = sparse.random(400, 60, density=0.1, random_state=0, format="csr")
    y = (X[:, :30].sum(axis=1) > X[:, 30:].sum(axis=1)).astype(int)
    explainer = shafer.Explainer(LogisticRegression().fit(X, np.asarray(y).ravel()), X)
    monitor = shafer.Monitor.fit(explainer, X[:200])
    assert not monitor.check(X[200:]).alarm
    shifted = X[200:].tolil()
    shifted[:, 3] = 1.0
    assert "x3" in monitor.check(shifted.tocsr()).moved


def test_a_constant_feature_that_starts_to_vary() -> None:
    for coef in ([1.0, 2.0], np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 0.3]])):
        random = np.random.default_rng(8)
        reference = np.column_stack([random.normal(size=200), np.full(200, 0.1)])
        explainer = shafer.Explainer((coef, np.zeros(np.ndim(coef) * 2 - 1)), reference)
        monitor = shafer.Monitor.fit(explainer, reference)
        batch = np.column_stack([random.normal(size=150), np.full(150, 0.1)])
        assert not monitor.check(batch).alarm
        batch[:20, 1] = 0.4
        assert monitor.check(batch).moved == ("x1",)


def test_reference_rows_are_sampled() -> None:
    explainer, draw = linear_world(3, seed=9)
    X = draw(2000)
    monitor = shafer.Monitor.fit(explainer, X, max_rows=300, seed=4)
    assert len(monitor.reference) == 300
    again = shafer.Monitor.fit(explainer, X, max_rows=300, seed=4)
    batch = draw(100)
    assert monitor.check(batch).columns() == again.check(batch).columns()
    other = shafer.Monitor.fit(explainer, X, max_rows=300, seed=5)
    assert other.check(batch).columns() != again.check(batch).columns()


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    explainer, draw = linear_world(3, seed=10, n_classes=3)
    reference, batch = draw(200), draw(101)
    whole = shafer.Monitor.fit(explainer, reference).check(batch).to_frame("pandas")
    monkeypatch.setattr("shafer.monitor.reference._FACTS_BLOCK", 90)
    parts = shafer.Monitor.fit(explainer, reference).check(batch).to_frame("pandas")
    pd.testing.assert_frame_equal(whole, parts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((0, 2))}, "X has 0 rows; a batch needs at least 10"),
        ({"X": np.zeros((9, 2))}, "X has 9 rows; a batch needs at least 10"),
        ({"X": np.zeros((20, 3))}, "X must have 2 columns"),
        ({"X": None}, "X must hold rows"),
        ({"X": np.full((20, 2), np.nan)}, "X contains NaN"),
        ({"X": [["a", "b"]] * 20}, "must hold real numbers"),
        ({"y": ["maybe"] * 20}, "Unknown class label(s) ['maybe'] in y"),
        ({"y": [0] * 19}, "y must hold one label for each of 20 rows"),
    ],
)
def test_bad_batches(change: dict[str, Any], message: str) -> None:
    explainer = shafer.Explainer(([1.0, -1.0], 0.0), np.eye(2))
    random = np.random.default_rng(0)
    monitor = shafer.Monitor.fit(explainer, random.normal(size=(60, 2)))
    with pytest.raises(ValueError, match=re.escape(message)):
        monitor.check(**{"X": random.normal(size=(20, 2)), **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X_reference": np.zeros((49, 2))}, "X_reference has 49 rows; a monitor needs"),
        ({"X_reference": None}, "X_reference must hold rows"),
        ({"y": [1] * 60}, "y holds the class 1 only, for all 60 reference rows"),
        ({"y": ["a", "b"] * 30}, "Unknown class label(s)"),
        ({"explainer": LogisticRegression()}, "explainer must be an Explainer; got Logistic"),
        ({"alpha": 1.0}, "alpha must be a chance between 0 and 1"),
        ({"alpha": "0.05"}, "alpha must be a chance between 0 and 1"),
        ({"max_rows": 10}, "max_rows must be a whole number of at least 50"),
        ({"bins": 1}, "bins must be a whole number of at least 2"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": 0.5}, "seed must be a whole number of at least 0"),
    ],
)
def test_bad_references(change: dict[str, Any], message: str) -> None:
    explainer = shafer.Explainer(([1.0, -1.0], 0.0), np.eye(2))
    given = {"explainer": explainer, "X_reference": np.random.default_rng(0).normal(size=(60, 2))}
    with pytest.raises(ValueError, match=re.escape(message)):
        shafer.Monitor.fit(**{**given, **change})


def test_an_explainer_that_was_tempered_since_is_refused() -> None:
    explainer, draw = linear_world(3, seed=11)
    monitor = shafer.Monitor.fit(explainer, draw(100))
    explainer.temper(draw(100), np.arange(100) % 2)
    with pytest.raises(ValueError, match="not the one that the monitor was fitted with: its temp"):
        monitor.check(draw(50))


def test_losses_on_training_rows_are_warned_of() -> None:
    explainer, draw = linear_world(3, seed=13)
    with pytest.warns(UserWarning, match="the model was probably trained on it"):
        shafer.Monitor.fit(explainer, explainer.background, np.arange(500) % 2)
    shafer.Monitor.fit(explainer, draw(100), np.arange(100) % 2)


def test_texts() -> None:
    explainer, draw = linear_world(3, seed=12)
    monitor = shafer.Monitor.fit(explainer, draw(300))
    assert repr(monitor) == "<Monitor: 3 components, 300 reference rows>"
    quiet, loud = monitor.check(draw(100)), monitor.check(draw(100) + np.array([3, 0, 0]))
    assert str(quiet).startswith("No alarm (100 rows compared with 300 reference rows")
    assert repr(quiet) == "<MonitorReport of 100 rows, quiet>"
    assert str(loud).startswith("ALARM: 1 of 3 components moved")
    assert "alarm: 'feature 0'" in repr(loud)
    assert loud._repr_html_().startswith("<pre>ALARM")


# Saved monitors: the same answers, without pickle, and clear errors for other files.


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
    shared = shafer.Explainer(monitor.explainer.model, X, prior="shared")
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
    with pytest.raises(ValueError, match="has format 'shafer-evidence-2'"):
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
