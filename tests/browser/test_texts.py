"""Marked texts in the report, and the HTML of TextDisplay: shown as text, whatever they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import shafer
from shafer.plots import TextDisplay
from shafer.report import Study, make_study
from text_models import HOSTILE, IS_CAT, KINDS, MODELS, TEXTS


@pytest.fixture(scope="module")
def hostile_texts() -> Study:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, KINDS)
    explainer = shafer.Explainer(model, TEXTS, prior="own")
    return make_study(explainer, HOSTILE, title="Hostile texts")


def words(page: Any) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = page.eval_on_selector_all(
        "#text-list .word",
        "all => all.map((word) => [word.textContent, Number(word.dataset.weight)])",
    )
    return found


def test_words_have_the_weights_of_the_evidence(hostile_texts: Study, open_report: Any) -> None:
    opened = open_report(hostile_texts)
    for row, text in enumerate(HOSTILE):
        opened.show(row)
        for a, b in ((0, 1), (2, 0)):
            opened.compare(a, b)
            classes = hostile_texts.evidence.classes.tolist()
            display = TextDisplay.from_evidence(
                hostile_texts.evidence, row, class_=classes[a], over=classes[b]
            )
            shown = words(opened.page)
            assert [word for word, _ in shown] == [text[i:j] for i, j in display.spans]
            np.testing.assert_allclose([w for _, w in shown], display.weights, atol=2e-4)
    assert opened.page.evaluate("window.hacked") is None
    assert opened.complaints == []


def test_the_text_is_there_in_full(hostile_texts: Study, open_report: Any) -> None:
    opened = open_report(hostile_texts)
    opened.show(2)
    shown = opened.page.text_content("#text-list .marked-text")
    assert shown == HOSTILE[2]
    opened.show(4)
    assert "⟨U+202E⟩" in opened.page.text_content("#text-list .marked-text")
    opened.show(0)
    assert opened.page.text_content("#text-list .marked-text") == "(the text is empty)"


def test_the_sum_is_that_of_the_bars(texts: Study, open_report: Any) -> None:
    opened = open_report(texts)
    opened.show(3)
    total = float(opened.bars()[-1]["weight"])
    note = opened.page.text_content("#text-list .note").replace("−", "-")
    assert note.startswith("base rate ")
    assert abs(float(note.split(" = ")[1].split(".  ")[0].split(". ")[0]) - total) < 0.006
    sides = opened.page.eval_on_selector_all(
        "#text-list .favours, #text-list .opposes", "a => a.length"
    )
    assert sides > 0


def test_the_answer_stays_hidden_until_the_reader_has_judged(
    texts: Study, open_report: Any
) -> None:
    opened = open_report(texts, judge_first=True)
    opened.show(3)
    assert words(opened.page) == []
    assert opened.page.text_content("#text-list .marked-text") == texts.X[3]
    opened.compare(0, 1)
    assert words(opened.page)
    assert " = " not in opened.page.text_content("#text-list .note")


def test_two_columns_of_texts(open_report: Any) -> None:
    frame = pd.DataFrame({"title": TEXTS, "<b>body</b>": TEXTS[::-1]})
    encoder = ColumnTransformer(
        [("t", TfidfVectorizer(), "title"), ("b", CountVectorizer(), "<b>body</b>")]
    )
    model = make_pipeline(encoder, LogisticRegression()).fit(frame, IS_CAT)
    study = make_study(shafer.Explainer(model, frame, prior="own"), frame, IS_CAT)
    opened = open_report(study)
    opened.show(5)
    shown = [element.text_content() for element in opened.page.query_selector_all(".marked-text")]
    assert shown == [TEXTS[5], TEXTS[::-1][5]]
    assert opened.page.text_content("#text-list h4:nth-of-type(1)") == "title"
    assert opened.complaints == []


def test_places_that_are_not_found(open_report: Any) -> None:
    model = MODELS["stemmed"].fit(TEXTS, IS_CAT)
    study = make_study(shafer.Explainer(model, TEXTS, prior="own"), ["Cats and dogs"] * 2)
    opened = open_report(study)
    opened.show(0)
    assert "The places of these words were not found" in opened.page.text_content("#text-list")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_notebook_html_runs_nothing(browser: Any, tmp_path: Path, scheme: str) -> None:
    model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(TEXTS, KINDS)
    ev = shafer.Explainer(model, TEXTS)(HOSTILE)
    parts = [TextDisplay.from_evidence(ev, row).to_html() for row in range(len(HOSTILE))]
    path = tmp_path / "texts.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{''.join(parts)}", "utf-8")
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("window.hacked") is None
    assert page.locator("script, img, i").count() == 0
    boxes = page.locator(".shafer-text > div")
    assert boxes.count() == len(HOSTILE)
    assert boxes.nth(2).text_content() == HOSTILE[2]
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0
    context.close()


def test_the_sentence_quotes_words_and_tells_which_are_absent(
    hostile_texts: Study, open_report: Any
) -> None:
    opened = open_report(hostile_texts)
    sentences = [hostile_texts.sentence(row) for row in range(len(HOSTILE))]
    for row, sentence in enumerate(sentences):
        opened.show(row)
        assert opened.numbers()["sentence"] == sentence
    assert all("“" in sentence for sentence in sentences)
    assert any("” (not in the text)" in sentence for sentence in sentences)
