"""What to do about one row, for the terminal: a sentence for each question."""

from __future__ import annotations

import textwrap

from shafer.evidence.io.frame_table import label_texts
from shafer.report.asking.question_sentences import NOT_ERROR, STAND, question_sentences
from shafer.report.asking.row_questions import ask_rows
from shafer.report.study import Study
from shafer.report.terminal_text import harmless


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
