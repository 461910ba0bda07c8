"""The sentences about a row: right words, right numbers."""

from __future__ import annotations

from dataclasses import replace

from shafer.asking.answers import CheckedCell, NextInput, RowQuestions
from shafer.asking.sentences import CHECK, SETTLE, STAND, question_sentences

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
