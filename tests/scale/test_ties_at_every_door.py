"""Rows that tie, at every door: whatever was promised, one answer, and the one that was counted.

With yes/no questions a handful of rows occur many times. Each door gives the same answer, set and
deferral, and of the calibration rows as many are right or covered as the promise needs.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

import shafer
from shafer._kernels import dispatch
from shafer.cli import main
from shafer.decision import RULES
from shafer.monitor import Monitor

pytest.importorskip("numba")

SEEDS = [333, 264, 69]
PROMISES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sets": lambda model, X, y: model.conformalize(X, y),
    "sets by class": lambda model, X, y: model.conformalize(X, y, 0.7, class_conditional=True),
    "sets by dominance": lambda model, X, y: model.conformalize(X, y, score="dominance"),
    "sets by group": lambda model, X, y: model.conformalize(X, y, 0.8, by="q0"),
    "error": lambda model, X, y: model.control_error(X, y, error=0.3),
    "error by group": lambda model, X, y: model.control_error(X, y, error=0.35, by="q0"),
    "recall": lambda model, X, y: model.control_error(X, y, recall=0.7, class_="c0"),
    "budget": lambda model, X, y: model.control_budget(X, y, 0.25),
}
ANSWERS: dict[str, dict[str, Any]] = {"most probable": {}, "losses": {"loss": True}}


def drawn(seed: int) -> Iterator[Any]:
    rng = np.random.default_rng(seed)
    n_inputs, n_classes = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    coef = rng.normal(size=(n_inputs, n_classes))
    for n in (300, 400, 60):
        X = (rng.random((n, n_inputs)) < 0.5).astype(float)
        y = np.array([f"c{rng.choice(n_classes, p=p)}" for p in softmax(X @ coef, axis=1)])
        yield pd.DataFrame(X, columns=[f"q{j}" for j in range(n_inputs)]), y


def numbers(table: Any, names: list[str]) -> dict[str, list[str]]:
    return {name: [str(value) for value in table[name]] for name in names}


@pytest.mark.filterwarnings("ignore:(Class.es. with too few|Too few|No threshold keeps|All rows)")
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("promise", PROMISES)
def test_every_promise(
    promise: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = SEEDS[list(PROMISES).index(promise) % len(SEEDS)]
    (X, y), (held, y_held), (new, _) = drawn(seed)
    model, options = LogisticRegression().fit(X, y), dict(ANSWERS[answer])
    if options:
        n = len(model.classes_)
        options["loss"] = np.arange(1.0, n + 1)[:, None] * (1.0 - np.eye(n))
    monkeypatch.setattr(dispatch, "_pays", lambda *_: (False, False))
    explainer = PROMISES[promise](shafer.Explainer(model, X, **options), held, y_held)
    promised = "set" if explainer.deferral is None else "deferred"
    names = ["answer", promised]
    wanted = numbers(shafer.export.pyfunc(explainer).predict(None, new), names)
    _check_promise(promise, explainer, held, y_held)
    monkeypatch.setattr(dispatch, "_pays", lambda *_: (True, True))
    _check_promise(promise, explainer, held, y_held)
    explainer.save(tmp_path / "m.shafer")
    loaded = shafer.Explainer.load(tmp_path / "m.shafer")
    new.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "out.csv"
    command = ["score", tmp_path / "new.csv", "--model", tmp_path / "m.shafer", "--out", out]
    done = CliRunner().invoke(main, [str(part) for part in command])
    assert done.exit_code == 0, done.output
    again = shafer.export.pyfunc(loaded)
    one_by_one = pd.concat([again.predict(None, new[i : i + 1]) for i in range(0, 60, 6)])
    found = {
        "compiled": shafer.export.pyfunc(explainer).predict(None, new),
        "loaded": again.predict(None, new),
        "pickled": pickle.loads(pickle.dumps(again)).predict(None, new),
        "command": pd.read_csv(out, dtype=str, keep_default_na=False),
    }
    for door, table in found.items():
        assert numbers(table, names) == wanted, door
    assert numbers(one_by_one, names) == {name: wanted[name][::6] for name in names}
    assert [str(label) for label in explainer.predict(new)] == wanted["answer"]


def _check_promise(promise: str, explainer: Any, held: pd.DataFrame, y_held: Any) -> None:
    """Check that what was counted at calibration is what is answered now."""
    truth = np.searchsorted(explainer.classes, y_held)
    group = (held["q0"] == 1.0).to_numpy()
    parts = [group, ~group] if promise.endswith("by group") else [np.ones(len(truth), bool)]
    if explainer.deferral is None:
        kept = explainer.predict_set(held)[np.arange(len(truth)), truth]
        if promise == "sets by class":
            parts = [truth == k for k in range(len(explainer.classes))]
        for part in parts:
            needed = math.ceil(explainer.conformal.coverage * (part.sum() + 1) - 1e-9)
            assert kept[part].sum() >= min(needed, part.sum())
        return
    found = explainer.predict_or_defer(held)
    if promise == "budget":
        assert found.deferred.mean() >= 0.25
    if promise == "recall":
        parts = [truth == 0]
    elif len(parts) == 2:
        parts = [~group, group]  # in the order of the groups
    for part, control in zip(parts, explainer.deferral.found, strict=True):
        decided = part & ~found.deferred
        assert decided.sum() == control.n_decided
        of = part.sum() if promise == "recall" else decided.sum()
        if of:
            assert (decided & (found.labels != y_held)).sum() / of == pytest.approx(control.risk)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal rows get equal acts; with both kernels, in any batch."""
    for seed in SEEDS:
        (X, y), _, (held, _) = drawn(seed)
        model = LogisticRegression().fit(X, y)
        explainer = shafer.Explainer(model, X)
        n = len(model.classes_)
        for loss in (None, np.arange(1.0, n + 1)[:, None] * (1.0 - np.eye(n))):
            found = []
            for compiled in (False, True):
                monkeypatch.setattr(dispatch, "_pays", lambda *_, c=compiled: (c, c))
                found.append(np.asarray(explainer(held).decide(rule, loss=loss)))
                parts = [held[i:j] for i, j in ((0, 1), (1, 8), (8, 60))]
                found.append(np.concatenate([explainer(p).decide(rule, loss=loss) for p in parts]))
            for other in found[1:]:
                np.testing.assert_array_equal(other, found[0])
            kinds = held.to_numpy() @ 2.0 ** np.arange(held.shape[1])
            for kind in np.unique(kinds):
                assert len(np.unique(found[0][kinds == kind], axis=0)) == 1


def test_a_monitor_sees_no_shift_in_ties(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A batch of the reference rows themselves, computed elsewhere, has moved nowhere."""
    for seed in SEEDS:
        (X, y), (held, y_held), _ = drawn(seed)
        explainer = shafer.Explainer(LogisticRegression().fit(X, y), X)
        monkeypatch.setattr(dispatch, "_pays", lambda *_: (False, False))
        monitor = Monitor.fit(explainer, held, y_held)
        first = monitor.check(held, y_held)
        monkeypatch.setattr(dispatch, "_pays", lambda *_: (True, True))
        explainer.save(tmp_path / "m.shafer")
        loaded = shafer.Explainer.load(tmp_path / "m.shafer")
        reports = [
            monitor.check(held, y_held),
            monitor.check(held[::-1], y_held[::-1]),
            Monitor.fit(loaded, held, y_held).check(held, y_held),
        ]
        for report in reports:
            assert not report.alarm
            assert [check.p for check in report.checks] == [check.p for check in first.checks]
