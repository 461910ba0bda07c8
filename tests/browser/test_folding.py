"""Many components are shown in groups, and unfold into single ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import shafer
from shafer.report import Study, make_study
from shafer.report.sentences import overview
from shafer.report.study import GroupedStudy, grouped_study

from .test_numbers import same


@pytest.fixture(scope="session")
def cancer() -> Study:
    data = load_breast_cancer(as_frame=True)
    X = data.data[:200]
    y = data.target_names[data.target][:200]
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1)).fit(X, y)
    return make_study(shafer.Explainer(model, X, prior="own"), X, y, title="Cancer")


def joined(study: Study) -> GroupedStudy:
    found = grouped_study(study)
    assert found is not None
    return found


def bars(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "#waterfall tbody tr:not(.sum)", "rows => rows.map((row) => row.dataset.component)"
    )
    return found


def shares(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "[data-share] dd", "cells => cells.map((cell) => cell.textContent)"
    )
    return found


@pytest.mark.parametrize("name", ["cancer", "boosted"])
def test_both_views_have_the_numbers_of_python(
    name: str, open_report: Any, request: pytest.FixtureRequest
) -> None:
    study: Study = request.getfixturevalue(name)
    found = joined(study)
    opened = open_report(study, folded=True)
    for row in (0, 3, len(study) - 1):
        opened.show(row)
        same(opened.numbers(), found.study.evidence[row])
        assert opened.numbers()["sentence"] == found.sentence(row)
    before = opened.numbers()["probability"]
    opened.page.click("#reasons .unfold")
    assert opened.numbers()["row"] == len(study) - 1
    same(opened.numbers(), study.evidence[-1])
    assert opened.numbers()["sentence"] == study.sentence(len(study) - 1)
    np.testing.assert_allclose(opened.numbers()["probability"], before, atol=1e-9)
    opened.page.click("#reasons .unfold")
    same(opened.numbers(), found.study.evidence[-1])
    assert opened.complaints == []


def test_the_page_tells_about_its_groups(cancer: Study, open_report: Any) -> None:
    page = open_report(cancer, folded=True).page
    assert page.inner_text("#group-count") == "in 5 groups"
    assert "The 30 components are shown in 5 groups" in page.inner_text("#folding")
    assert len(bars(page)) == 6  # and the base rate
    assert page.locator("#ranking tbody tr").count() == 5
    for view in (joined(cancer).study, cancer):
        figures = overview(view)
        true = (figures.decided, figures.left_open, figures.lacking, figures.disagreeing)
        assert shares(page) == [f"{100 * share:.1f}\u2009%" for share in true]
        page.click("#folding .unfold")
    page.click("#folding .unfold")
    assert not page.is_visible("#group-count")
    assert page.locator("#ranking tbody tr").count() == 30
    assert "shown one by one" in page.inner_text("#folding")


def test_the_list_follows_the_view(cancer: Study, open_report: Any) -> None:
    page = open_report(cancer, folded=True).page
    for view in (joined(cancer).study, cancer):
        page.select_option("#sort", "ignorance")
        rows = [int(r) for r in page.eval_on_selector_all(
            "#table tbody tr", "rows => rows.map((row) => row.dataset.row)")]  # fmt: skip
        values = view.evidence.ignorance
        np.testing.assert_allclose(values[rows], np.sort(values)[::-1][: len(rows)], atol=1e-6)
        page.click("#folding .unfold")


def test_sliders_in_groups(cancer: Study, open_report: Any) -> None:
    opened = open_report(cancer, folded=True)
    opened.show(7)
    slider = opened.page.locator(".slider[data-input='worst texture'] input[type=number]")
    slider.fill("41.5")
    changed = cancer.X.iloc[[7]].assign(**{"worst texture": 41.5})
    ev = cancer.explainer(changed)
    groups = dict(
        zip(joined(cancer).study.undiscounted.component_names, joined(cancer).members, strict=True)
    )
    same(opened.numbers(), ev.grouped(groups))
    opened.page.click("#reasons .unfold")
    same(opened.numbers(), ev)  # the change stays
    assert opened.page.get_attribute("#instance", "data-changed") == "true"


def test_few_components_are_not_grouped(heart: Study, open_report: Any) -> None:
    page = open_report(heart).page
    assert page.locator(".unfold").count() == 0
    assert page.locator("#folding").count() == 0
