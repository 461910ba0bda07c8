"""The data of the questions about rows: what would settle them, would they stand, what to check."""

from __future__ import annotations

from typing import Any

from shafer.report.asking.question_sentences import LEAST_STAKE
from shafer.report.asking.row_questions import LOST, AnsweredRows, RowQuestions
from shafer.report.study import Study


def questions_payload(answered: AnsweredRows) -> dict[str, Any]:
    """Return what is the same for all rows."""
    return {
        "questions": {
            "ofInputs": not answered.why_not,
            "whyNot": answered.why_not,
            "lost": LOST,
            "leastStake": LEAST_STAKE,
        }
    }


def question_entries(
    study: Study, answered: AnsweredRows, rows: list[int]
) -> dict[int, dict[str, Any]]:
    """Return the entry of each row; inputs are columns of the page, by position where possible."""
    place: dict[str, int | str] = {name: j for j, name in enumerate(study.columns)}
    return {
        row: {"questions": _entry(questions, place)}
        for row, questions in zip(rows, answered.rows, strict=True)
    }


def _entry(questions: RowQuestions, place: dict[str, int | str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"answer": questions.answer, "fragility": questions.fragility}
    if questions.missing:
        entry["overturn"] = questions.overturn
        entry["missing"] = questions.missing
        entry["next"] = [
            [place.get(n.input, n.input), n.information] for n in questions.next_inputs
        ]
    cell = questions.cell
    if cell is not None:
        name = place.get(cell.input, cell.input)
        entry["cell"] = [name, cell.value, cell.expected, cell.surprise, cell.stake]
    if questions.expected:
        entry["expected"] = [questions.expected.get(name) for name in place]
    return entry
