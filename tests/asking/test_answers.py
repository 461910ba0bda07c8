"""Answers about a row, and the sentences that a page writes about them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import shafer
from linear_worlds import linear_world
from shafer.asking.answers import (
    LOST,
    NAMED_NEXT,
    CheckedCell,
    NextInput,
    RowQuestions,
    ask_rows,
    row_answers,
)
from shafer.asking.sentences import CHECK, SETTLE, STAND, asked_about, question_sentences
from shafer.report import Study, heart_study, make_study
from shafer.scale.default_model import train_default_model

# All questions at once have the answers of the single questions.


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("top", [1, 2, None])
def test_the_same_as_each_question_alone(n_classes: int, top: int | None) -> None:
    explainer, X, rng = linear_world(3, n_classes, missing="conditional")
    gappy = np.where(rng.random((60, X.shape[1])) < 0.3, np.nan, X[:60])
    gappy[0] = np.nan
    gappy[1] = X[1]
    found = row_answers(explainer, gappy, 0.3, top)
    assert_array_equal(found.filled, np.argmax(explainer(gappy).probability, axis=1))
    assert_allclose(found.overturn, explainer.ask.overturn(gappy))
    assert_allclose(found.fragility, explainer.ask.fragility(gappy, 0.3))
    assert_allclose(found.alarm, explainer.ask.guard(gappy).alarm)
    asked = explainer.ask.next_inputs(gappy, top, backend="pandas")
    for name in ("row", "rank", "input", "information"):
        assert_array_equal(found.next_inputs[name], asked[name])
    cells = explainer.ask.check_cells(gappy, top, order="stake", backend="pandas")
    known = found.cells["rank"] > 0
    for name in ("row", "rank", "input", "value", "expected", "surprise", "stake"):
        assert_array_equal(found.cells[name][known], cells[name])


def test_missing_inputs_have_their_expectations() -> None:
    explainer, X, _ = linear_world(5, 3)
    rows = X[:4].copy()
    rows[1, [0, 2]] = np.nan
    found = row_answers(explainer, rows, 0.2)
    missing = found.cells["rank"] == 0
    assert found.cells["row"][missing].tolist() == [1, 1]
    names = list(explainer.component_names)
    assert sorted(found.cells["input"][missing]) == [names[0], names[2]]
    # The expectation is what takes the place of the input in the evidence.
    filled = rows[[1]].copy()
    for name, value in zip(found.cells["input"][missing], found.cells["expected"][missing],
                           strict=True):  # fmt: skip
        filled[0, names.index(name)] = value
    assert np.argmax(explainer(filled).probability) == found.filled[1]
    conditional, _, _ = linear_world(5, 3, missing="conditional")
    shown = conditional(rows[[1]]).logits[0]
    true = explainer(filled).logits[0]
    # Expected logits, times one factor for what is not known.
    assert_allclose(shown / shown[0], true / true[0], rtol=1e-8)
    assert len(found.cells["row"]) == rows.size


def mixed() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(5.0, 2.0, 300), "c": rng.choice(["u", "v", "w"], 300)})
    y = (X["size"] + 2 * (X["c"] == "u") + rng.normal(size=300) > 5.5).to_numpy()
    encoder = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["c"]))
    return shafer.Explainer(make_pipeline(encoder, LogisticRegression()).fit(X, y), X), X


def test_values_are_as_the_user_writes_them() -> None:
    explainer, X = mixed()
    cells = row_answers(explainer, X[:20], 0.2).cells
    kinds = {name: {type(v) for v in cells["expected"][cells["input"] == name].tolist()}
             for name in ("size", "c")}  # fmt: skip
    assert kinds == {"size": {float}, "c": {str}}
    one = row_answers(explainer, X[:20], 0.2, 1).cells
    assert {type(value) for value in one["expected"].tolist()} == {str}  # one type for a column


def test_a_background_of_one_row_has_no_distribution() -> None:
    _, X = mixed()
    numbers = X[["size"]].to_numpy()
    explainer = shafer.Explainer(([1.0], 0.5), numbers[:1])
    with pytest.raises(ValueError, match="single row, such as the means"):
        row_answers(explainer, numbers[:3], 0.2)
    with pytest.raises(ValueError, match="single row"):
        explainer.ask.overturn(numbers[:3])
    assert explainer.ask.fragility(numbers[:3], fill="mean").shape == (3,)


def test_missing_values_that_are_a_category_cannot_be_asked_about() -> None:
    _, X = mixed()
    X.loc[3, "c"] = np.nan
    encoder = make_column_transformer((StandardScaler(), ["size"]), (OneHotEncoder(), ["c"]))
    model = make_pipeline(encoder, LogisticRegression()).fit(X, X["size"] > 5.0)
    explainer = shafer.Explainer(model, X)
    with pytest.raises(shafer.UnsupportedModelError, match="a category for NaN"):
        row_answers(explainer, X[:2], 0.2)


# The answers about the rows of a study are those of its explainer.


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
    cells = explainer.ask.check_cells(part.reset_index(drop=True), 1, order="stake")
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


# The sentences about a row: right words, right numbers.


CLASSES = ["no", "chd"]
CELL = CheckedCell("alcohol", 97.2, 18.307, 2.64, 0.0134)
ROW = RowQuestions(1, 0.1249, True, 0.234, 0, (), CELL, {})


def test_complete_rows_need_nothing_more() -> None:
    assert question_sentences(ROW, 1, CLASSES) == {
        STAND: "If each known input were lost with a chance of 20 % and replaced by its expected "
        "value given the others, the answer (chd) would change with a chance of 12 %.",
        CHECK: "If you check one value, check alcohol (0.013 nats at stake): it is 97.2, and the "
        "other inputs suggest 18.31, 2.6 standard deviations away.",
    }


def test_one_missing_input() -> None:
    row = replace(ROW, missing=1, next_inputs=(NextInput("age", 0.0236),))
    assert question_sentences(row, 1, CLASSES)[SETTLE] == (
        "Only age is missing; it would tell 0.024 nats about the class; once it is known, the "
        "answer (chd) changes with a chance of 23 %."
    )


def test_several_missing_inputs() -> None:
    best = (NextInput("age", 0.0236), NextInput("ldl", 0.0121), NextInput("alcohol", 0.0002))
    row = replace(ROW, missing=5, next_inputs=best)
    assert question_sentences(row, 1, CLASSES)[SETTLE] == (
        "Of the 5 missing inputs, age would tell most about the class (0.024 nats), then ldl "
        "(0.012) and alcohol (less than 0.001); once all are known, the answer (chd) changes with "
        "a chance of 23 %."
    )


def test_another_answer_with_expected_values() -> None:
    row = replace(ROW, missing=2, next_inputs=(NextInput("age", 0.02), NextInput("ldl", 0.01)))
    assert question_sentences(row, 0, CLASSES)[SETTLE].endswith(
        "with expected values in their place the answer is chd, not no, and once all are known, "
        "that changes with a chance of 23 %."
    )


def test_nothing_stands_out() -> None:
    row = replace(ROW, cell=replace(CELL, stake=0.0007, surprise=0.04))
    assert question_sentences(row, 1, CLASSES)[CHECK] == (
        "No value stands out; most is at stake with alcohol (0.001 nats): it is 97.2, and the "
        "other inputs suggest 18.31, less than 0.1 standard deviations away."
    )
    row = replace(ROW, cell=CheckedCell("famhist", "Absent", "Absent", 0.9, 0.0001))
    assert question_sentences(row, 1, CLASSES)[CHECK] == (
        "No value stands out; most is at stake with famhist (less than 0.001 nats): it is Absent, "
        "as the other inputs suggest."
    )


def test_nothing_is_known() -> None:
    row = RowQuestions(0, 0.0, True, 0.4, 2, (NextInput("a", 0.1), NextInput("b", 0.0)))
    found = question_sentences(row, 0, CLASSES)
    assert found[STAND] == "No input is known, so none can be lost."
    assert "b (0.000)" in found[SETTLE]
    assert CHECK not in found


def test_components_and_extreme_chances() -> None:
    text = question_sentences(RowQuestions(0, 0.0, False), 0, CLASSES)[STAND]
    assert text == (
        "If each component were lost with a chance of 20 % and replaced by its mean over the "
        "background data, the answer (no) would change with a chance of less than 1 %."
    )
    text = question_sentences(RowQuestions(0, 1.0, False), 0, CLASSES)[STAND]
    assert text.endswith("more than 99 %.")
    huge = replace(ROW, cell=replace(CELL, surprise=2.5e7))
    assert "25000000 standard deviations" in question_sentences(huge, 1, CLASSES)[CHECK]
