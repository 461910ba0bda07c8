"""What to do about an instance, as the page tells it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.asking.answers import ask_rows
from shafer.asking.sentences import CHECK, SETTLE, STAND, question_sentences
from shafer.evidence.table import label_texts
from shafer.report import Study, make_study
from shafer.scale.default_model import train_default_model

HEADINGS = {"settle": SETTLE, "stand": STAND, "check": CHECK}


@pytest.fixture(scope="session")
def gappy() -> Study:
    """Numbers with gaps and a category without, three classes."""
    rng = np.random.default_rng(4)
    n = 150
    X = pd.DataFrame({"height": rng.normal(170.0, 9.0, n), "age": rng.integers(20, 80, n) * 1.0})
    X["weight"] = 0.8 * X["height"] - 65.0 + rng.normal(0.0, 6.0, n)
    X["kind"] = rng.choice(["u", "v"], n).astype(object)
    score = (X["weight"] - 70.0) / 10.0 + (X["age"] - 50.0) / 20.0 + rng.normal(size=n)
    y = np.digitize(score, [-0.7, 0.7])
    holes = rng.random((n, 3)) < 0.3
    holes[0], holes[1] = False, [True, True, True]
    X[["height", "age", "weight"]] = X[["height", "age", "weight"]].mask(holes)
    model = train_default_model(X, y)
    return make_study(shafer.Explainer(model, X, groups="source", prior="own"), X, y)


def sentences(study: Study, row: int) -> dict[str, str]:
    asked = ask_rows(study.explainer, study.X, study.undiscounted, [row]).rows[0]
    return question_sentences(asked, int(study.answers[row]), label_texts(study.evidence.classes))


def shown(page: Any) -> dict[str, str]:
    found = {heading: page.locator(f"#{name}") for name, heading in HEADINGS.items()}
    return {heading: place.text_content() for heading, place in found.items() if place.is_visible()}


@pytest.mark.parametrize("name", ["gappy", "heart", "mixed", "boosted", "texts", "hostile"])
def test_sentences_are_those_of_python(
    name: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    study: Study = request.getfixturevalue(name)
    opened = open_report(study)
    for row in (0, 1, 3, 5, 17, 40, len(study) - 1):
        opened.show(row)
        assert shown(opened.page) == sentences(study, row)
    assert opened.complaints == []


def test_missing_inputs_are_asked_for(gappy: Study, open_report: Any) -> None:
    opened = open_report(gappy)
    opened.show(1)
    assert "Of the 3 missing inputs" in shown(opened.page)[SETTLE]
    opened.show(0)
    assert SETTLE not in shown(opened.page)


def test_answers_stay_those_of_the_row_as_given(gappy: Study, open_report: Any) -> None:
    opened = open_report(gappy)
    opened.show(0)
    before = shown(opened.page)
    assert not opened.page.is_visible("#questions-note")
    opened.page.locator(".slider[data-input='age'] input[type=number]").fill("21")
    assert opened.page.is_visible("#questions-note")
    assert shown(opened.page) == before


def test_triangles_mark_the_expected_values(gappy: Study, open_report: Any) -> None:
    opened = open_report(gappy)
    opened.show(0)
    asked = ask_rows(gappy.explainer, gappy.X, gappy.undiscounted, [0]).rows[0]
    assert asked.expected is not None
    inputs = opened.page.evaluate("shafer.data.whatIf.inputs")
    checked = 0
    for entry in inputs:
        expected = asked.expected[entry["name"]]
        box = opened.page.locator(f".slider[data-input='{entry['name']}']")
        if entry["slope"] is None:
            assert f"suggested by the other inputs: {expected}" in box.inner_text()
            continue
        tick = box.locator(".expected")
        assert float(tick.get_attribute("data-expected")) == expected
        slider = box.locator("input[type=range]")
        # A slider moved to the expected value has its thumb above the triangle.
        share = (expected - entry["low"]) / (entry["high"] - entry["low"])
        line, mark = slider.bounding_box(), tick.bounding_box()
        thumb = line["x"] + 8 + share * (line["width"] - 16)
        assert abs(mark["x"] + mark["width"] / 2 - thumb) < 1.5
        checked += 1
    assert checked == 3


def test_why_other_models_are_not_asked(boosted: Study, open_report: Any) -> None:
    page = open_report(boosted).page
    assert set(shown(page)) == {STAND}
    assert page.locator(".expected").count() == 0
    page.click("#questions-why-not summary")
    assert "linear models" in page.inner_text("#questions-why-not")


def test_answers_are_hidden_until_the_reader_has_judged(gappy: Study, open_report: Any) -> None:
    page = open_report(gappy, judge_first=True).page
    assert shown(page) == {}
    assert page.text_content("#stand") == ""
    page.select_option("#judgement", "unsure")
    page.click("#commit")
    assert STAND in shown(page)


def test_a_large_table_stays_small(open_report: Any, tmp_path: Any) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 40))
    y = rng.integers(0, 3, 3000)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    opened = open_report(make_study(shafer.Explainer(model, X), X, y))
    assert (tmp_path / "report.html").stat().st_size < 6_000_000
    assert opened.complaints == []
