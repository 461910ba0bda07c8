"""Judge first: nothing gives the model's answer away before the reader has given one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shafer.report import Study

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
        attributes = page.evaluate("({ ...document.getElementById('instance').dataset })")
        assert set(attributes) == {"row", "changed"}
        # The reader's answer, the true class, the model's answer and its probability.
        assert set(cells(page, row)[1:5]) == {"–"}
        for selector in ("#verdict", "#sentence", "#live", "#intervals tbody", "#sets tbody"):
            assert page.text_content(selector) == ""
    text = page.inner_text("#instances") + page.inner_text("#instance")
    for word in ("wrong", "Decided", "Undecided", "the answer is", "Would it stand"):
        assert word not in text
    assert opened.complaints == []


def test_lists_and_pictures_do_not_give_it_away(heart: Study, open_report: Any) -> None:
    opened = open_report(heart, judge_first=True)
    page = opened.page
    sorts = page.eval_on_selector_all("#sort option", "all => all.map((o) => o.value)")
    assert sorts == ["row", "ignorance", "disagreement"]
    assert page.locator("#table th[data-sort=wrong], #table th[data-sort=size]").count() == 0
    for asked in ("wrong", "right", "chd"):
        page.fill("#search", asked)
        assert page.inner_text("#position") == "No instance matches"
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
    assert cells(page, row)[3] == f"{{{labels[answer]}}}"
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
