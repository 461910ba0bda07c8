from __future__ import annotations

import numpy as np
import pytest

from shafer.report import heart_study, make_study, render, summary
from shafer.report.sentences import OVERLAP, overview


def test_decided_and_left_open_are_a_partition() -> None:
    study = heart_study()
    figures = overview(study)
    sizes = study.evidence.decide("interval_dominance").sum(axis=1)
    assert figures.decided == np.mean(sizes == 1)
    assert figures.left_open == pytest.approx(np.mean(sizes > 1))
    assert figures.decided + figures.left_open == 1.0
    assert figures.lacking == np.mean(study.evidence.ignorance >= 0.2)
    assert figures.disagreeing == np.mean(study.undiscounted.disagreement >= 0.5)
    assert figures.error == np.mean(study.wrong)


def test_terminal_and_page_give_the_same_figures_and_say_that_groups_overlap() -> None:
    study = heart_study()
    figures = overview(study)
    text, page = summary(study), render(study, [0])
    for share in (figures.decided, figures.left_open, figures.lacking, figures.disagreeing):
        assert f"{share:.1%}" in text
        assert f"<dd>{100 * share:.1f}&thinsp;%</dd>" in page
    assert OVERLAP in text
    assert OVERLAP in page


def test_without_true_labels() -> None:
    heart = heart_study()
    study = make_study(heart.explainer, heart.X)
    assert overview(study).error is None
    assert "error on" not in summary(study)
