from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import shafer
from shafer.report import Case, case_table, heart_report, notable_cases


@pytest.fixture
def ev() -> shafer.Evidence:
    weights = np.random.default_rng(0).normal(size=(30, 4, 3))
    weights -= weights.mean(axis=2, keepdims=True)
    return shafer.Evidence.from_weights(weights, classes=["ant", "bee", "cat"], names=list("wxyz"))


def test_notable_cases_differ(ev: shafer.Evidence) -> None:
    cases = notable_cases(ev, focus=1)
    rows = [case.row for case in cases]
    assert len(set(rows)) == len(rows) >= 3
    assert rows[0] == int(np.argmax(ev.probability[:, 1]))
    assert cases[0].reason == "bee most probable"


def test_one_row_is_enough(ev: shafer.Evidence) -> None:
    assert [case.row for case in notable_cases(ev[4], focus=0)] == [0]


def test_table(ev: shafer.Evidence) -> None:
    text = case_table(ev, [Case(3, "because")], focus=2)
    header, rule, line, note = text.splitlines()
    assert header.split()[:5] == ["row", "why", "shown", "p(cat)", "ant"]
    assert set(rule) == {"-"}
    assert len(rule) == max(map(len, (header, line)))
    assert f"{ev.probability[3, 2]:.3f}" in line
    assert f"[{ev.belief[3, 0]:.3f}, {ev.plausibility[3, 0]:.3f}]" in line
    strongest = int(np.argmax(ev.weights[3, :, 2]))
    assert f"for cat: {'wxyz'[strongest]} {ev.weights[3, strongest, 2]:+.2f}" in note


def test_nothing_to_say() -> None:
    vacuous = shafer.Evidence.from_weights(np.zeros((1, 2, 2)))
    assert "for 1: nothing  |  against: nothing" in case_table(vacuous, [Case(0, "")], focus=1)


def test_heart_report(tmp_path: Path) -> None:
    text = heart_report(tmp_path / "deep" / "out", rows=[0, 461])
    folder = tmp_path / "deep" / "out"
    assert sorted(p.name for p in folder.iterdir()) == ["evidence.csv", "report.txt", "weights.csv"]
    assert (folder / "report.txt").read_text() == text
    with (folder / "evidence.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 462
    first = rows[0]
    assert float(first["belief_chd"]) <= float(first["plausibility_chd"])
    assert f"{float(first['probability_chd']):.3f}" in text
    assert "\n461  asked for" in text
    with pytest.raises(ValueError, match=r"rows must lie between 0 and 461; got \[462\]"):
        heart_report(tmp_path, rows=[462])
