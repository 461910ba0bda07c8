"""Answers about a row as sentences, one for each question, in the terminal as on the page.

``questions.js`` in ``templates/scripts`` writes the same sentences on the page; a test compares
the two.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from shafer._text import harmless
from shafer._values import short_name, shown_value
from shafer.asking.answers import LOST, RowQuestions, ask_rows
from shafer.evidence.table import label_texts

if TYPE_CHECKING:
    from shafer.report.study import Study

SETTLE, STAND, CHECK = "What would settle it", "Would it stand", "Check this value"
LEAST_STAKE = 0.001
"""Below this stake, in nats, no value stands out."""
NOT_ERROR = (
    "This is how easily the answer falls when inputs are lost. It is not the probability that the "
    "answer is wrong."
)


SAME_ORDER = (
    "All rows lack the same inputs at the same cost, and there are two classes: the order must be "
    "the same in every row."
)


def question_sentences(
    questions: RowQuestions, answer: int, classes: Sequence[str]
) -> dict[str, str]:
    """Return a sentence for each question that can be answered, by its heading.

    Parameters
    ----------
    questions : RowQuestions
    answer : int
        Position of the class that the model answers.
    classes : sequence of strings
    """
    found = {
        SETTLE: _settle(questions, answer, classes),
        STAND: _stand(questions, classes),
        CHECK: _check(questions),
    }
    return {heading: text for heading, text in found.items() if text}


def _settle(questions: RowQuestions, answer: int, classes: Sequence[str]) -> str:
    if not questions.next_inputs:
        return ""
    first, *others = questions.next_inputs
    gain = f"{_decimals(first.information, 3)} nats"
    name = short_name(first.input)
    if questions.missing == 1:
        start = f"Only {name} is missing; it would tell {gain} about the class"
        known, place = "once it is known", "its place"
    else:
        more = [f"{short_name(o.input)} ({_decimals(o.information, 3)})" for o in others]
        then = f", then {' and '.join(more)}" if more else ""
        start = (
            f"Of the {questions.missing} missing inputs, {name} would tell most about the class "
            f"({gain}){then}"
        )
        known, place = "once all are known", "their place"
    label, chance = short_name(classes[questions.answer]), _chance(questions.overturn)
    if questions.answer == answer:
        return f"{start}; {known}, the answer ({label}) changes with a chance of {chance}."
    return (
        f"{start}; with expected values in {place} the answer is {label}, not "
        f"{short_name(classes[answer])}, and {known}, that changes with a chance of {chance}."
    )


def _stand(questions: RowQuestions, classes: Sequence[str]) -> str:
    label = short_name(classes[questions.answer])
    if questions.of_inputs and questions.cell is None:
        return "No input is known, so none can be lost."
    what, by = ("component", "mean over the background data")
    if questions.of_inputs:
        what, by = ("known input", "expected value given the others")
    return (
        f"If each {what} were lost with a chance of {_chance(LOST)} and replaced by its {by}, the "
        f"answer ({label}) would change with a chance of {_chance(questions.fragility)}."
    )


def _check(questions: RowQuestions) -> str:
    cell = questions.cell
    if cell is None:
        return ""
    name, stake = short_name(cell.input), f"{_decimals(cell.stake, 3)} nats"
    value, expected = shown_value(cell.value), shown_value(cell.expected)
    apart = f"it is {value}, as the other inputs suggest"
    if value != expected:
        apart = (
            f"it is {value}, and the other inputs suggest {expected}, "
            f"{_decimals(cell.surprise, 1)} standard deviations away"
        )
    if cell.stake < LEAST_STAKE:
        return f"No value stands out; most is at stake with {name} ({stake}): {apart}."
    return f"If you check one value, check {name} ({stake} at stake): {apart}."


def _chance(value: float) -> str:
    """Return a chance in percent, as JavaScript rounds it."""
    if value < 0.01:
        return "less than 1 %"
    return "more than 99 %" if value > 0.99 else f"{math.floor(100.0 * value + 0.5)} %"


def _decimals(value: float, digits: int) -> str:
    """Return a number with so many decimals, rounded as JavaScript does."""
    least = Decimal(1).scaleb(-digits)
    if 0.0 < value < 0.5 * float(least):
        return f"less than {least}"
    if value >= 1e6:
        return shown_value(value)
    return str(Decimal(value).quantize(least, rounding=ROUND_HALF_UP))


# What to do about one row, for the terminal: a sentence for each question.


def asked_about(study: Study, row: int, width: int = 0) -> str:
    """Return the answers about one row as text for the terminal.

    Parameters
    ----------
    study : Study
    row : int
        Position of the row.
    width : int
        Columns of the terminal; 0 means no limit.
    """
    found = ask_rows(study.explainer, study.X, study.undiscounted, [row])
    classes = label_texts(study.evidence.classes)
    sentences = question_sentences(found.rows[0], int(study.answers[row]), classes)
    sentences[STAND] += f" {NOT_ERROR}"
    lines: list[str] = []
    for heading, text in sentences.items():
        lines += [heading, *_wrapped(harmless(text), width), ""]
    if found.why_not:
        lines += ["What to measure or to check is not answered:", *_wrapped(found.why_not, width)]
    return "\n".join(lines).rstrip("\n")


def _wrapped(text: str, width: int) -> list[str]:
    if not width:
        return [f"  {text}"]
    return textwrap.wrap(
        text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
