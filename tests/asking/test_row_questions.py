"""The answers about the rows of a study are those of its explainer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import HistGradientBoostingClassifier

import shafer
from linear_worlds import linear_world
from shafer.asking.answers import LOST, NAMED_NEXT, ask_rows
from shafer.asking.sentences import asked_about
from shafer.report import Study, heart_study, make_study
from shafer.scale.default_model import train_default_model


def gappy_study() -> Study:
    """Numbers with gaps, and a category without, under the model that is trained by default."""
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(5.0, 2.0, n)})
    X["c"] = 0.7 * X["a"] + rng.normal(size=n)
    X["kind"] = rng.choice(["u", "v"], n).astype(object)
    y = np.where(X["a"] + X["c"] + (X["kind"] == "u") + rng.normal(size=n) > 0.5, "yes", "no")
    X.loc[2, ["a", "c"]] = np.nan
    X.loc[5, "b"] = np.nan
    X.index = pd.Index(range(1000, 1000 + n))
    explainer = shafer.Explainer(train_default_model(X, y), X, groups="source", prior="own")
    return make_study(explainer, X, y)


def test_answers_of_a_table_with_gaps() -> None:
    study = gappy_study()
    rows = [5, 0, 2]
    found = ask_rows(study.explainer, study.X, study.undiscounted, rows)
    assert found.why_not == ""
    part = study.X.iloc[rows]
    explainer = study.explainer
    assert_allclose(
        [q.fragility for q in found.rows], explainer.ask.fragility(part, LOST), rtol=1e-5
    )
    assert_allclose([q.overturn for q in found.rows], explainer.ask.overturn(part), rtol=1e-5)
    assert [q.missing for q in found.rows] == [1, 0, 2]
    asked = explainer.ask.next_inputs(part.reset_index(drop=True), NAMED_NEXT)
    named = [[n.input for n in q.next_inputs] for q in found.rows]
    assert named == [asked["input"][asked["row"] == i].tolist() for i in range(3)]
    cells = explainer.ask.check_cells(part.reset_index(drop=True), 1)
    for i, q in enumerate(found.rows):
        line = cells[cells["row"] == i].iloc[0]
        assert q.cell is not None
        assert q.cell.input == line["input"]
        assert_allclose(q.cell.stake, line["stake"], rtol=1e-5)
        assert q.expected is not None
        assert set(q.expected) == {"a", "b", "c", "kind"}
        assert q.expected["kind"] in ("u", "v")
        assert isinstance(q.expected["a"], float)


def test_other_models_have_fragility_alone() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, X[:, 0] > 0.0)
    study = make_study(shafer.Explainer(model, X), X)
    found = ask_rows(study.explainer, X, study.undiscounted, range(5))
    assert "linear models" in found.why_not
    expected = study.undiscounted[:5].fragility(LOST)
    assert_allclose([q.fragility for q in found.rows], expected, rtol=1e-5)
    assert not any(q.of_inputs or q.cell or q.next_inputs for q in found.rows)
    text = asked_about(study, 3)
    assert text.startswith("Would it stand\n  If each component were lost")
    assert "What to measure or to check is not answered:\n  A question about inputs" in text


def test_too_many_inputs() -> None:
    explainer, X, _ = linear_world(0, 2, n_inputs=501)
    study = make_study(explainer, X[:3])
    found = ask_rows(explainer, X[:3], study.undiscounted, [1])
    assert found.why_not == "More than 500 inputs are too many for them."
    assert not found.rows[0].of_inputs


@pytest.mark.parametrize("width", [0, 40])
def test_text_for_the_terminal(width: int) -> None:
    study = gappy_study()
    text = asked_about(study, 2, width)
    headings = [line for line in text.splitlines() if line and not line.startswith(" ")]
    assert headings == ["What would settle it", "Would it stand", "Check this value"]
    assert "It is not the probability that the answer is wrong." in " ".join(text.split())
    assert not width or max(map(len, text.splitlines())) <= width
    complete = asked_about(study, 0, width)
    assert "What would settle it" not in complete


def test_names_cannot_control_the_terminal() -> None:
    heart: Any = heart_study()
    X = pd.DataFrame(heart.X, columns=["\x1b[31mred", *map(str, range(8))])
    y = heart.evidence.classes[heart.truth]
    explainer = shafer.Explainer(train_default_model(X, y), X, groups="source")
    X.iloc[3, 0] = np.nan
    assert "\x1b" not in asked_about(make_study(explainer, X), 3)
