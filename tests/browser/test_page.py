"""What a reader can do with the page: look, judge first, unfold, search, sort, print."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.report import Study, make_study

from .conftest import HOSTILE
from .test_numbers import same

# What a reader can do with the page: look, click, type, search, sort, print.


def background(page: Any) -> str:
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def test_nothing_is_fetched(heart: Study, open_report: Any) -> None:
    opened = open_report(heart)
    opened.show(3)
    opened.page.select_option("#colour", "size")
    opened.page.click("#ranking tr:nth-child(3) button")
    assert opened.requests
    assert all(url.startswith("file://") for url in opened.requests)
    assert len(opened.requests) == 1  # the page itself, and nothing beside it
    assert opened.complaints == []
    assert "default-src 'none'" in opened.page.content()


def test_clicking_a_point(heart: Study, open_report: Any) -> None:
    opened = open_report(heart)
    before = opened.numbers()["row"]
    points = opened.page.locator("#plane .points").first.locator("path")
    points.nth(7).scroll_into_view_if_needed()
    box = points.nth(7).bounding_box()
    opened.page.mouse.move(box["x"] + 4, box["y"] + 4)
    opened.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    opened.page.wait_for_selector(f"#case:not([data-row='{before}'])")
    shown = opened.numbers()
    assert shown["row"] != before
    assert abs(shown["ignorance"] - heart.evidence.ignorance[shown["row"]]) < 1e-9
    assert opened.page.inner_text("#case-title") == f"Row {shown['row']}"


def test_sorting_and_searching(heart: Study, open_report: Any) -> None:
    page = open_report(heart).page

    def rows() -> list[int]:
        return [int(r) for r in page.eval_on_selector_all(
            "#table tbody tr", "rows => rows.map((row) => row.dataset.row)")]  # fmt: skip

    lead = np.abs(heart.evidence.probability @ [1.0, -1.0])
    np.testing.assert_allclose(lead[rows()], np.sort(lead)[:12], atol=1e-6)  # closest first
    page.select_option("#sort", "wrong")
    assert all(heart.wrong[rows()])
    for key, values in (
        ("typicality", heart.typicality(list(range(462)))),
        ("p", -heart.evidence.probability.max(axis=1)),
    ):
        page.select_option("#sort", key)
        assert values is not None
        np.testing.assert_allclose(values[rows()], np.sort(values)[:12], atol=1e-4)
    page.select_option("#sort", "row")
    assert rows() == list(range(12))
    page.click("#forth")
    assert rows() == list(range(12, 24))
    assert page.inner_text("#position") == "13–24 of 462"
    page.click("#table th[data-sort=row]")
    assert rows()[0] == 461
    page.fill("#search", "age 17")
    expected = [i for i, age in enumerate(heart.columns["age"]) if str(age).startswith("17")]
    assert rows() == expected[::-1][:12]  # still by row, the last one first
    page.fill("#search", "no such thing")
    assert rows() == []
    assert page.inner_text("#position") == "No case matches"


def test_by_keyboard_alone(heart: Study, open_report: Any) -> None:
    opened = open_report(heart)
    page = opened.page
    page.focus("#table td button")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = opened.numbers()["row"]
    assert page.inner_text("#case-title") == f"Row {second}"
    assert page.evaluate("document.activeElement.id") == "case"
    page.focus("#plane")
    page.keyboard.press("ArrowRight")
    third = opened.numbers()["row"]
    assert heart.evidence.ignorance[third] > heart.evidence.ignorance[second]
    page.focus(".slider input[type=range]")
    before = opened.numbers()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert opened.numbers()["belief"] != before["belief"]
    page.focus("#reset")
    page.keyboard.press("Enter")
    assert opened.numbers() == before


def test_headers_sort_by_keyboard(heart: Study, open_report: Any) -> None:
    page = open_report(heart, rows=list(range(30))).page
    head = "#table th[data-sort=p]"
    shown: list[list[float]] = []
    for _ in range(2):
        page.focus(f"{head} button")
        page.keyboard.press("Enter")
        rows = page.eval_on_selector_all(
            "#table tbody tr", "rows => rows.map((row) => Number(row.dataset.row))"
        )
        shown.append(heart.evidence.probability.max(axis=1)[rows].tolist())
    assert shown[0] == sorted(shown[0], reverse=True)
    assert shown[1] == sorted(shown[1])
    assert page.get_attribute(head, "aria-sort") == "ascending"


def test_why_this_rather_than_that(iris: Study, open_report: Any) -> None:
    opened = open_report(iris)
    page = opened.page
    opened.show(77)
    a, b = page.input_value("#class"), page.input_value("#over")
    page.select_option("#class", b)  # the same class twice: the two change places
    assert (page.input_value("#class"), page.input_value("#over")) == (b, a)
    title = page.inner_text("#waterfall .axis-title")
    names = iris.evidence.classes
    assert title == (
        f"log-odds of {names[int(b)]} over {names[int(a)]}: +1 multiplies the odds by 2.7"
    )
    page.select_option("#over", "rest")
    assert "over the other classes: +1 multiplies" in page.inner_text("#waterfall .axis-title")
    page.select_option("#class", a)
    assert page.input_value("#over") == "rest"
    opened.show(100)  # a new instance starts with its answer and its runner-up
    best, second = np.argsort(-iris.evidence.probability[100])[:2]
    assert page.input_value("#class") == str(best)
    assert page.input_value("#over") == str(second)


def test_the_classes_in_dispute_can_be_compared(iris: Study, open_report: Any) -> None:
    from shafer.evidence.contrast import disputed_classes

    opened = open_report(iris)
    page = opened.page
    rows = np.flatnonzero(iris.undiscounted.disagreement >= 0.2)[[0, 40, 80]]
    for row in rows.tolist():
        opened.show(row)
        pair = disputed_classes(iris.undiscounted.weights[row])
        assert pair is not None
        first, second = (iris.evidence.classes[k] for k in pair)
        assert page.inner_text("#disputed") == f"most about {first} or {second}"
        page.focus("#disputed button")
        page.keyboard.press("Enter")
        assert (page.input_value("#class"), page.input_value("#over")) == tuple(map(str, pair))
        weights = [bar["weight"] for bar in opened.bars()[:-1]]
        assert min(weights) < 0 < max(weights)  # both sides of the dispute are seen


def test_the_plane_keeps_many_classes_apart(open_report: Any, heart: Study) -> None:
    """With many classes all disagreement is nearly one; no two points may lie on one another."""
    assert open_report(heart, rows=[0, 1, 2]).page.input_value("#scale") == "plain"
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 40))
    model = (rng.normal(size=(30, 40)), np.zeros(30))
    study = make_study(shafer.Explainer(model, X), X)
    assert study.evidence.ignorance.max() < 1e-6
    opened = open_report(study)
    page = opened.page
    assert page.input_value("#scale") == "log"
    where = "rows => rows.map((r) => [r.getBoundingClientRect().x, r.getBoundingClientRect().y])"
    points = "#plane .points path"
    places = np.array(page.eval_on_selector_all(points, where))
    assert np.all(np.ptp(places, axis=0) > 100)
    page.focus("#plane")
    before = opened.numbers()["row"]
    page.keyboard.press("ArrowUp")
    after = opened.numbers()["row"]
    weight = study.undiscounted.weight_of_disagreement
    assert weight[after] > weight[before]
    page.select_option("#scale", "plain")
    crowd = np.array(page.eval_on_selector_all(points, where))[:, 0]
    assert np.mean(np.abs(crowd - np.median(crowd)) < 5) > 0.5  # why there is another scale
    assert opened.complaints == []


def test_long_and_blank_names(open_report: Any) -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 3))
    names, classes = ["x" * 500, " ", "c"], ["y" * 500, "", "z" * 500]
    weights = rng.normal(size=(3, 3)), np.zeros(3)
    explainer = shafer.Explainer(weights, X, names=names, classes=classes, prior="shared")
    study = make_study(explainer, X, names=names)
    for width in (390, 1280):
        opened = open_report(study, unfolded=False, viewport={"width": width, "height": 800})
        page = opened.page
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.documentElement.scrollHeight") < 9000
        scroll = page.eval_on_selector("#cases .scroll", "e => e.scrollWidth - e.clientWidth")
        assert scroll <= 0  # no column is out of sight
        shown = page.eval_on_selector_all("#ranking button", "all => all.map(b => b.textContent)")
        assert "(blank)" in shown
        assert page.get_attribute("#ranking button[title]", "title") == "x" * 500
        opened.show(3)
        assert page.text_content("#sentence") == study.sentence(3)
        assert opened.complaints == []


def test_dark_and_light(heart: Study, open_report: Any) -> None:
    page = open_report(heart, rows=[0, 1], color_scheme="dark").page
    dark = background(page)
    assert sum(map(int, re.findall(r"\d+", dark))) < 150
    page.click("#theme")
    light = background(page)
    assert sum(map(int, re.findall(r"\d+", light))) > 700
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    assert background(page) == dark


def test_on_a_phone(hostile: Study, heart: Study, open_report: Any) -> None:
    for study in (heart, hostile):
        page = open_report(study, viewport={"width": 390, "height": 800}).page
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390


def test_on_paper(heart: Study, open_report: Any) -> None:
    page = open_report(heart, color_scheme="dark").page
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert not page.is_visible("#what-if")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_hostile_names_are_texts(hostile: Study, open_report: Any) -> None:
    opened = open_report(hostile)
    page = opened.page
    for row in (0, 1, 2):
        opened.show(row)
    for choice in ("right", "size", "class"):
        page.select_option("#colour", choice)
    for position in range(len(hostile.columns)):
        page.click(f"#ranking tr:nth-child({position + 1}) button")
    page.hover("#dependence .points path >> nth=0", force=True)
    page.click("#pin")
    page.click("#following")
    page.click("#alike")
    for at in range(page.locator("#filter-column option").count()):
        page.select_option("#filter-column", index=at)
    page.select_option("#filter-value", HOSTILE[1])
    page.click("#add-filter")
    page.select_option("#filter-column", "true class")
    page.click("#add-filter")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, body script:not([id])").count() == 1
    assert page.locator("b:text-is('bold')").count() == 0
    assert opened.complaints == []
    assert len(opened.requests) == 1
    names = page.eval_on_selector_all("#ranking button", "all => all.map((b) => b.textContent)")
    assert sorted(names) == sorted(hostile.columns)
    classes = page.eval_on_selector_all("#class option", "all => all.map((o) => o.textContent)")
    assert classes == hostile.evidence.classes.tolist()
    classes = page.eval_on_selector_all("#over option", "all => all.map((o) => o.textContent)")
    assert classes == [*hostile.evidence.classes.tolist(), "the others"]
    assert page.title() == " ".join(hostile.title.split())
    for line, paragraph in zip(hostile.about, page.locator(".lead").all(), strict=True):
        assert paragraph.text_content() == line


def test_a_file_of_cases_runs_no_formula(open_report: Any) -> None:
    import pandas as pd

    X = pd.DataFrame({"a": [-1.0, 2.0, 0.5], "=1+1": ["=HYPERLINK()", '"quoted", text', "@x"]})

    def explained(X: Any) -> shafer.Evidence:
        a = X["a"].to_numpy(dtype=float)[:, None]
        return shafer.Evidence.from_weights(np.stack([a, -a], axis=2), names=["a"])

    study = make_study(explained, X)
    page = open_report(study).page
    with page.expect_download() as download:
        page.click("#csv")
    with open(download.value.path(), newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head[-2:] == ["a", "'=1+1"]
    assert sorted(row[-1] for row in rows) == ['"quoted", text', "'=HYPERLINK()", "'@x"]
    assert sorted(row[-2] for row in rows) == ["-1", "0.5", "2"]


def test_many_rows_and_classes(open_report: Any, tmp_path: Path) -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(3)
    n = 2100
    X = rng.normal(size=(n, 30))
    y = rng.integers(0, 40, n)
    X[np.arange(n), y % 30] += 2
    model = LogisticRegression(max_iter=20, tol=1e-1).fit(X, y)
    opened = open_report(make_study(shafer.Explainer(model, X), X, y))
    assert (tmp_path / "report.html").stat().st_size < 6_000_000
    page = opened.page
    assert page.locator("#intervals tbody tr[data-class]").count() == 10
    page.click("#all-classes")
    assert page.locator("#intervals tbody tr[data-class]").count() == 40
    assert page.locator(".slider").count() == 12
    page.click("#more")
    assert page.locator(".slider").count() == 30
    assert "the other" in page.inner_text("#waterfall")
    assert opened.complaints == []


def test_zooming_into_the_plane(heart: Study, open_report: Any) -> None:
    page = open_report(heart).page
    page.locator("#plane").scroll_into_view_if_needed()
    box = page.locator("#plane").bounding_box()
    across = "document.getElementById('plane').chart.box.x"
    ends = f"[{across}.value(60), {across}.value(400)]"
    low, high = page.evaluate(ends)
    page.mouse.move(box["x"] + 100, box["y"] + 80)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 250, steps=4)
    assert page.is_visible("#plane .band")
    page.mouse.up()
    assert not page.is_visible("#plane .band")
    near_low, near_high = page.evaluate(ends)
    assert near_high - near_low < 0.6 * (high - low)
    row = page.get_attribute("#case", "data-row")
    page.focus("#plane")
    page.keyboard.press("ArrowRight")  # the view stays when another row is chosen
    assert page.get_attribute("#case", "data-row") != row
    assert page.evaluate(ends) == [near_low, near_high]
    page.dblclick("#plane", position={"x": 3, "y": 3})
    assert page.evaluate(ends) == [low, high]


def test_pointing_at_a_point_tells_its_row(heart: Study, open_report: Any) -> None:
    page = open_report(heart).page
    point = page.locator("#plane .points path").nth(5)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    lines = page.evaluate("document.getElementById('plane').chart.points[5].lines")
    assert page.locator("#plane .tip div").all_inner_texts() == lines
    page.mouse.move(0, 0)
    assert not page.is_visible("#plane .tip")


def test_axes_of_very_small_and_very_large_numbers(open_report: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * [1e9, 1e-9]
    model = (np.array([[1e-9, 1e9]]), np.zeros(1))
    page = open_report(make_study(shafer.Explainer(model, X), X)).page
    for position in (1, 2):
        page.click(f"#ranking tr:nth-child({position}) button")
        texts = page.locator("#dependence .axes text").all_text_contents()
        assert any("e" in text and text[-1].isdigit() for text in texts)
        assert max(map(len, texts[:-2])) <= 8


# Judge first: nothing gives the model's answer away before the reader has given one.


ANSWERS = ("#verdict", "#sentence", "#questions", "#result", "#what-if", "#judged")


def visible(page: Any) -> dict[str, bool]:
    return {selector: page.is_visible(selector) for selector in ANSWERS}


def cells(page: Any, row: int) -> list[str]:
    page.fill("#search", str(row))
    found: list[str] = page.eval_on_selector_all(
        f"#table tr[data-row='{row}'] td", "cells => cells.map((cell) => cell.textContent)"
    )
    page.fill("#search", "")
    return found


@pytest.mark.parametrize("name", ["heart", "iris", "boosted", "texts", "discounted"])
def test_the_answer_is_hidden_at_first(
    name: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    study: Study = request.getfixturevalue(name)
    opened = open_report(study, judge_first=True)
    page = opened.page
    for row in (1, len(study) - 1):
        opened.show(row)
        assert not any(visible(page).values())
        assert opened.bars() == []  # not even a first class is chosen
        assert page.input_value("#class") == ""
        attributes = page.evaluate("({ ...document.getElementById('case').dataset })")
        assert set(attributes) == {"row", "changed"}
        # The reader's answer, the true class, the model's answer and its probability.
        assert set(cells(page, row)[1:5]) == {"–"}
        for selector in ("#verdict", "#sentence", "#live", "#intervals tbody", "#sets tbody"):
            assert page.text_content(selector) == ""
    page.evaluate("document.getElementById('reading').remove()")  # what the words mean
    text = page.inner_text("#cases") + page.inner_text("#case")
    for word in ("wrong", "Decided", "Undecided", "the answer is", "Would it stand"):
        assert word not in text
    assert opened.complaints == []


def test_lists_and_pictures_do_not_give_it_away(heart: Study, open_report: Any) -> None:
    opened = open_report(heart, judge_first=True)
    page = opened.page
    sorts = page.eval_on_selector_all("#sort option", "all => all.map((o) => o.value)")
    assert sorts == ["row", "typicality"]
    assert (
        page.locator(
            "#table th[data-sort=wrong], #table th[data-sort=p], #table th[data-sort=closeness]"
        ).count()
        == 0
    )
    for asked in ("wrong", "right", "chd"):
        page.fill("#search", asked)
        assert page.inner_text("#position") == "No case matches"
    page.fill("#search", "")
    assert not page.is_visible("#colour")
    assert page.inner_text("#plane-legend").split("\n")[0].startswith("not yet answered (462)")
    texts = page.evaluate(
        "document.getElementById('plane').chart.points.map(({ lines }) => lines.join(' '))"
    )
    assert len(texts) == 462
    assert not any(word in text for text in texts for word in ("{", "chd", "true"))
    colours = page.evaluate(
        "[...new Set([...document.querySelectorAll('#plane .points')].filter((group) => "
        "group.children.length).map((group) => group.style.fill))]"
    )
    assert len(colours) == 1


def test_evidence_is_shown_without_its_sum(iris: Study, open_report: Any) -> None:
    opened = open_report(iris, judge_first=True)
    page = opened.page
    opened.show(77)
    page.select_option("#class", "1")
    assert page.input_value("#over") == "rest"  # one class: for it and against it
    bars = opened.bars()
    assert [bar["component"] for bar in bars].count("sum") == 0
    assert len(bars) == iris.undiscounted.n_components
    assert bars[0]["component"] == str(iris.base_rate)
    weights = [bar["weight"] for bar in bars[1:]]
    first_against = next((at for at, w in enumerate(weights) if w < 0), len(weights))
    assert all(w >= 0 for w in weights[:first_against])
    assert all(w < 0 for w in weights[first_against:])
    assert "ln(" not in page.inner_text("#waterfall-note")
    page.select_option("#over", "2")  # or a pair
    contrast = iris.undiscounted[77].contrast(*iris.evidence.classes[[1, 2]])[0]
    for bar in opened.bars():
        np.testing.assert_allclose(bar["weight"], contrast[int(bar["component"])], atol=1e-9)
    assert not any(visible(page).values())


@pytest.mark.parametrize("name", ["heart", "iris"])
def test_the_model_answers_after_the_reader(
    name: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    study: Study = request.getfixturevalue(name)
    opened = open_report(study, judge_first=True)
    page = opened.page
    labels = study.evidence.classes.tolist()
    row = int(np.flatnonzero(study.decided.sum(axis=1) == 1)[3])
    opened.show(row)
    answer = int(study.answers[row])
    other = (answer + 1) % len(labels)
    assert page.is_disabled("#commit")
    page.select_option("#judgement", str(other))
    assert page.input_value("#class") == str(other)  # its evidence is shown before the answer
    assert opened.bars() != []
    page.click("#commit")
    shown = visible(page)
    assert all(shown.values())
    assert not page.is_visible("#judging")
    judged = page.inner_text("#judged")
    assert judged.startswith(f"You: {labels[other]}. Model: {{{labels[answer]}}}, probability ")
    assert judged.endswith("You differ; the bars below compare the two.")
    assert (page.input_value("#class"), page.input_value("#over")) == (str(answer), str(other))
    assert page.inner_text("#sentence").lower() == study.sentence(row).lower()
    assert page.evaluate("document.activeElement.id") == "judged"
    model = study.evidence[row].decide()[0]
    assert opened.numbers()["decided"] == np.flatnonzero(model).tolist()
    assert cells(page, row)[1] == labels[other]
    assert cells(page, row)[2] == labels[answer]
    neighbour = row + 1 if row + 1 < len(study) else row - 1
    opened.show(neighbour)  # another row is still hidden
    assert not any(visible(page).values())
    opened.show(row)  # and this one stays open
    assert page.inner_text("#judged") == judged
    assert "answered by you (1)" in page.inner_text("#plane-legend")


def test_agreeing_and_being_unsure(heart: Study, open_report: Any) -> None:
    opened = open_report(heart, judge_first=True)
    page = opened.page
    sizes = heart.decided.sum(axis=1)
    sure, unsure = int(np.argmax(sizes == 1)), int(np.argmax(sizes == 2))
    opened.show(sure)
    page.select_option("#judgement", str(heart.answers[sure]))
    page.click("#commit")
    assert page.inner_text("#judged").endswith("You agree.")
    opened.show(unsure)
    page.select_option("#judgement", "0")
    page.click("#commit")
    assert page.inner_text("#judged").endswith("The model leaves your answer open.")
    row = sure + 1
    opened.show(row)
    page.select_option("#judgement", "unsure")
    page.click("#commit")
    assert page.inner_text("#judged").startswith("You: cannot tell. Model: ")
    best = int(heart.answers[row])
    assert (page.input_value("#class"), page.input_value("#over")) == (str(best), str(1 - best))


def test_by_keyboard_alone_and_nothing_is_stored(heart: Study, open_report: Any) -> None:
    opened = open_report(heart, judge_first=True)
    page = opened.page
    page.focus("#table td button")
    page.keyboard.press("Enter")
    page.focus("#class")
    page.keyboard.press("ArrowDown")
    assert page.input_value("#class") == "0"
    assert page.input_value("#over") == "1"
    assert opened.bars() != []
    page.focus("#judgement")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "commit"
    page.keyboard.press("Enter")
    assert page.is_visible("#judged")
    assert page.get_attribute("#judged", "role") == "status"
    stored = page.evaluate("[document.cookie, location.href.includes('#judge'), history.state]")
    assert stored == ["", False, None]
    page.reload()
    page.wait_for_selector("html[data-ready=true]")
    assert not any(visible(page).values())
    assert len(opened.requests) == 2  # the page twice, and nothing beside it
    assert opened.complaints == []


def test_on_a_phone_and_in_the_dark(iris: Study, open_report: Any) -> None:
    opened = open_report(
        iris, judge_first=True, viewport={"width": 390, "height": 800}, color_scheme="dark"
    )
    page = opened.page
    page.select_option("#judgement", "0")
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        if page.is_visible("#commit"):
            page.click("#commit")
    assert page.is_visible("#judged")
    assert "arXiv:2402.01292" in page.inner_text("#judge-first")


def test_without_the_mode_nothing_is_hidden(heart: Study, open_report: Any) -> None:
    page = open_report(heart, rows=[0, 1]).page
    assert page.locator("#judging, #judged, #judgement, #judge-first").count() == 0
    assert page.is_visible("#verdict")


# Many components: ten bars and the sum of the others; the numbers are those of all components.


@pytest.fixture(scope="session")
def cancer() -> Study:
    data = load_breast_cancer(as_frame=True)
    X = data.data[:200]
    y = data.target_names[data.target][:200]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X, y)
    return make_study(shafer.Explainer(model, X), X, y, title="Cancer")


@pytest.mark.parametrize("name", ["cancer", "boosted"])
def test_many_components_have_the_numbers_of_python(
    name: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    study: Study = request.getfixturevalue(name)
    opened = open_report(study)
    for row in (0, 3, len(study) - 1):
        opened.show(row)
        same(opened.numbers(), study.evidence[row])
        assert opened.numbers()["sentence"] == study.sentence(row)
    assert opened.complaints == []


def test_ten_bars_and_the_sum_of_the_others(cancer: Study, open_report: Any) -> None:
    opened = open_report(cancer)
    opened.show(7)
    shown = opened.page.eval_on_selector_all(
        "#waterfall tbody tr:not(.sum)",
        "rows => rows.map((row) => [row.dataset.component, Number(row.dataset.weight)])",
    )
    assert [shown[0][0], shown[-1][0], len(shown)] == ["30", "rest", 12]
    assert "the other 20 inputs" in opened.page.inner_text("#waterfall")
    ev = cancer.undiscounted[7]
    np.testing.assert_allclose(
        sum(weight for _, weight in shown), abs(ev.contrast("benign", "malignant").sum()), rtol=1e-6
    )
    slider = opened.page.locator(".slider[data-input='worst texture'] input[type=number]")
    slider.fill("41.5")
    changed = cancer.X.iloc[[7]].assign(**{"worst texture": 41.5})
    same(opened.numbers(), cancer.explainer(changed))


@pytest.mark.parametrize("options", [{"threshold": 0.2}, {"threshold": {"chd": 0.4}}])
def test_the_answer_is_that_of_the_threshold(options: Any, open_report: Any) -> None:
    data = shafer.datasets.load_heart(as_frame=True)
    X = data.data[:60]
    model = LogisticRegression(max_iter=5000).fit(X, data.target_names[data.target][:60])
    study = make_study(shafer.Explainer(model, X, **options), X)
    opened = open_report(study)
    near = [row for row in range(60) if study.close_call(row)][:2]
    for row in (*near, 0, 1, 2):
        opened.show(row)
        assert opened.numbers()["sentence"] == study.sentence(row)
        verdict = opened.page.inner_text("#verdict")
        assert verdict.startswith("Close call: " if row in near else "Answer: ")
        assert f"for {study.evidence.classes[study.answers[row]]}" in verdict
    assert opened.complaints == []
