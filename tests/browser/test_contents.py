"""Images, marked texts and questions in the page."""

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
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.asking.answers import ask_rows
from shafer.asking.sentences import CHECK, SETTLE, STAND, question_sentences
from shafer.datasets import load_fashion, load_fashion_network
from shafer.evidence.table import label_texts
from shafer.plots import TextDisplay
from shafer.report import Study, make_study
from shafer.scale.default_model import train_default_model
from text_models import HOSTILE, IS_CAT, KINDS, MODELS, TEXTS

# Images in the report: the picture, and the evidence of its locations over it.


def _study(**options: Any) -> Study:
    import torch

    def as_input(images: Any) -> Any:
        return torch.from_numpy(images / 255.0).float()[:, None]

    fashion, background = load_fashion(), load_fashion("train")
    explainer = shafer.Explainer(
        load_fashion_network(),
        as_input(background.images[:50]),
        components="locations",
        classes=fashion.target_names,
        prior="own",
        **options,
    )
    return make_study(explainer, as_input(fashion.images[:9]), fashion.target[:9], title="Garments")


@pytest.fixture(scope="module")
def garments() -> Study:
    return _study()


def _contrast(study: Study, row: int, a: int, b: int) -> np.ndarray:
    labels = study.evidence.classes.tolist()
    return np.asarray(study.undiscounted.contrast(labels[a], labels[b])[row])


def _map(page: Any) -> dict[str, Any]:
    found: dict[str, Any] = page.eval_on_selector("#map", "map => ({ ...map.dataset })")
    return found


def _colours(page: Any, name: str, cells: int) -> np.ndarray:
    """The colours at the centres of an even grid of cells, (cells, cells, 3)."""
    found = page.evaluate(
        """([name, cells]) => {
          const { width, height } = document.getElementById(name);
          const context = document.getElementById(name).getContext("2d");
          const { data } = context.getImageData(0, 0, width, height);
          const at = (part, size) => Math.floor((part + 0.5) * size / cells);
          const places = [...Array(cells).keys()];
          return places.map((i) => places.map((j) => {
            const start = 4 * (at(i, height) * width + at(j, width));
            return [...data.slice(start, start + 3)];
          }));
        }""",
        [name, cells],
    )
    return np.array(found, dtype=float)


def _changed_pixels(page: Any) -> int:
    """How many pixels of the map differ from the last call."""
    found: int = page.eval_on_selector(
        "#map",
        """map => {
          const { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height);
          const before = window.before ?? data;
          window.before = data;
          let count = 0;
          for (let at = 0; at < data.length; at += 4) count += data[at] !== before[at];
          return count;
        }""",
    )
    return found


def test_the_map_is_that_of_the_bars(garments: Study, open_report: Any) -> None:
    opened = open_report(garments)
    page = opened.page
    opened.show(7)
    labels = garments.evidence.classes.tolist()
    scale = np.abs(np.asarray(garments.undiscounted.weights[7])).max() * 2e-3
    for a, b in ((0, 6), (5, 9), (9, 5)):
        opened.compare(a, b)
        contrast = _contrast(garments, 7, a, b)[:49]
        shown = _map(page)
        assert abs(float(shown["for"]) - np.maximum(contrast, 0).sum()) < scale
        assert abs(float(shown["against"]) - np.maximum(-contrast, 0).sum()) < scale
        assert int(shown["best"]) == int(contrast.argmax())
        assert f"{labels[a]} over {labels[b]}" in page.inner_text("#map-title")
        logits = np.asarray(garments.undiscounted.logits[7])
        total = page.inner_text("#map-note").split("log-odds ")[1].split(" ")[0]
        assert abs(float(total.replace("−", "-")) - (logits[a] - logits[b])) < 0.05
    page.wait_for_function("document.getElementById('picture').width === 336")
    assert np.array_equal(_colours(page, "picture", 28)[..., 0], load_fashion().images[7])
    colours = _colours(page, "map", 7).reshape(49, 3)
    blue = colours[:, 2] - colours[:, 0]
    assert blue[contrast.argmax()] > 20  # blue for, orange against
    assert blue[contrast.argmin()] < -20
    box = page.locator("#map").bounding_box()
    page.locator("#map").hover(position={"x": box["width"] / 14, "y": box["height"] / 2})
    where, value = page.inner_text("#map-cell").split(": ")
    assert where == "row 3, column 0"
    assert abs(float(value.replace("−", "-")) - contrast[21]) < 0.02
    assert opened.complaints == []


def test_other_kinds_of_maps(garments: Study, open_report: Any) -> None:
    opened = open_report(garments)
    page = opened.page
    opened.show(3)
    own = np.asarray(garments.undiscounted[3].components.ignorance[0])[:49]
    page.select_option("#map-kind", "ignorance")
    shown = _map(page)
    assert shown["kind"] == "ignorance"
    assert int(shown["best"]) == int(np.argmax(np.round(own * 32767)))
    assert "Ignorance" in page.inner_text("#map-title")
    page.select_option("#map-kind", "disagreement")
    assert "Conflict" in page.inner_text("#map-title")
    assert _changed_pixels(page) == 0
    page.check("#map-grid")
    assert _changed_pixels(page) == 2 * 6 * 336 - 36  # six lines each way, which cross
    assert "images" in page.inner_text("#what-if-note")
    assert opened.complaints == []


def test_judging_first_shows_the_image_alone(garments: Study, open_report: Any) -> None:
    opened = open_report(
        garments, judge_first=True, color_scheme="dark", viewport={"width": 360, "height": 740}
    )
    page = opened.page
    assert page.is_visible("#picture")
    assert not page.is_visible("#map")
    opened.compare(9, 5)
    assert page.is_visible("#map")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_regions(open_report: Any) -> None:
    strips = np.repeat(np.arange(4), 7)[:, None] + np.zeros(28, dtype=int)
    study = _study(groups=strips)
    opened = open_report(study)
    opened.show(5)
    opened.compare(9, 5)
    contrast = _contrast(study, 5, 9, 5)[:4]
    assert int(_map(opened.page)["best"]) == int(contrast.argmax())
    colours = _colours(opened.page, "map", 28)
    blue = (colours[..., 2] - colours[..., 0]).mean(axis=1)
    assert np.array_equal(np.sign(blue[3::7]), np.sign(contrast))
    assert opened.complaints == []


def test_tables_have_no_picture(heart: Study, open_report: Any) -> None:
    opened = open_report(heart)
    assert opened.page.locator("#image").count() == 0
    assert opened.page.evaluate("shafer.data.images") is None


# Marked texts in the report, and the HTML of TextDisplay: shown as text, whatever they hold.


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


# What to do about an instance, as the page tells it.


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
    assert "linear models" in page.text_content("#questions-why-not")


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
