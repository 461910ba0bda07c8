"""A table of instances for the terminal: what is believed, what is open, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence import AnyEvidence
from shafer.evidence.degree_words import CONFLICTING, LACKING
from shafer.evidence.io.frame_table import label_texts, set_names
from shafer.report.study import Study
from shafer.report.terminal_text import cells, harmless, label, padded

_STRONGEST = 3
_MOST_INTERVALS = 3  # classes; of more, only the one in focus is shown
_MOST_CASES = 20
_LONGEST = 40

_LEGEND = """\
p          the model's probability: the normalised plausibilities
[bel, pl]  belief and plausibility of the class: what the evidence proves, what it does not exclude
ignorance  mass left to the whole frame: high where evidence is lacking
conflict   how far the pieces of evidence contradict each other
decided    the classes that no other one dominates (interval dominance)
for, against: the strongest weights of evidence, one unit of weight being a factor e in the odds of
the class against the geometric mean of all classes
"""


@final
@dataclass(frozen=True)
class Case:
    """A row worth showing, and the reason."""

    row: int
    reason: str


def notable_cases(evidence: AnyEvidence, focus: int) -> list[Case]:
    """Pick rows that differ in kind: sure, ignorant, conflicting. ``focus`` is a class position."""
    name = label(label_texts(evidence.classes)[focus])
    probability = to_numpy(evidence.probability)[:, focus]
    openness = np.abs(probability - 0.5)
    ignorance, conflict = to_numpy(evidence.ignorance), to_numpy(evidence.conflict)
    # Among the cases that the probability calls undecided, the two kinds of indecision.
    undecided = openness <= max(0.1, float(np.quantile(openness, 0.05)))
    picks = [
        (f"{name} most probable", np.argmax(probability)),
        (f"{name} least probable", np.argmin(probability)),
        ("undecided: evidence is lacking", np.argmax(np.where(undecided, ignorance, -1.0))),
        ("undecided: evidence conflicts", np.argmax(np.where(undecided, conflict, -1.0))),
        ("median probability", np.argsort(probability, kind="stable")[len(probability) // 2]),
    ]
    chosen: dict[int, str] = {}
    for reason, row in picks:
        chosen.setdefault(int(row), reason)
    return [Case(row, reason) for row, reason in chosen.items()]


def _strongest(evidence: AnyEvidence, row: int, focus: int) -> tuple[str, str]:
    """Name the components that speak most for and most against the class in focus."""
    weights = to_numpy(evidence[row].weights)[0, :, focus]
    order = np.argsort(-np.abs(weights), kind="stable")
    names = [label(name, _LONGEST) for name in evidence.component_names]

    def listed(sign: int) -> str:
        chosen = [g for g in order if sign * weights[g] > 0][:_STRONGEST]
        return ", ".join(f"{names[g]} {weights[g]:+.2f}" for g in chosen) or "nothing"

    return listed(+1), listed(-1)


def case_table(evidence: AnyEvidence, cases: list[Case], focus: int) -> str:
    """Write the cases as a table, two lines each.

    Parameters
    ----------
    evidence : AnyEvidence
        All instances, of which the cases are rows.
    cases : list of Case
        The rows to show.
    focus : int
        Position of the class the table is about.
    """
    labels = [label(text) for text in label_texts(evidence.classes)]
    with_interval = list(range(len(labels))) if len(labels) <= _MOST_INTERVALS else [focus]
    header = ["row", "why shown", f"p({labels[focus]})"]
    header += [f"{labels[k]} [bel, pl]" for k in with_interval]
    header += ["ignorance", "conflict", "decided"]
    body, notes = [], []
    for case in cases:
        one = evidence[case.row]
        bel, pl = to_numpy(one.belief)[0], to_numpy(one.plausibility)[0]
        line = [str(case.row), case.reason, f"{float(one.probability[0, focus]):.3f}"]
        line += [f"[{bel[k]:.3f}, {pl[k]:.3f}]" for k in with_interval]
        line += [f"{float(one.ignorance[0]):.3f}", f"{float(one.conflict[0]):.3f}"]
        decided = set_names(to_numpy(one.decide("interval_dominance")), one.classes)[0]
        line.append(label(decided, _LONGEST))
        body.append(line)
        support, doubt = _strongest(evidence, case.row, focus)
        notes.append(f"for {labels[focus]}: {support}  |  against: {doubt}")
    widths = [max(map(cells, column)) for column in zip(header, *body, strict=True)]

    def joined(line: list[str]) -> str:
        return "  ".join(map(padded, line, widths)).rstrip()

    indent = " " * (widths[0] + 2)
    lines = [joined(header), "-" * len(joined(["-" * width for width in widths]))]
    for line, note in zip(body, notes, strict=True):
        lines += [joined(line), indent + note, ""]
    return "\n".join(lines[:-1]) + "\n"


def _figures(study: Study) -> str:
    """Say how often the model errs, and how its evidence is."""
    ignorance, conflict = to_numpy(study.evidence.ignorance), to_numpy(study.evidence.conflict)
    parts = []
    if study.held_out_error is not None:
        parts.append(f"error on held-out rows {study.held_out_error:.1%}")
    if study.truth is not None:
        parts.append(f"error on these rows {np.mean(study.wrong):.1%}")
    parts += [
        f"evidence lacking {np.mean(ignorance >= LACKING):.1%}",
        f"conflicting {np.mean(conflict >= CONFLICTING):.1%}",
        f"decisive {np.mean(study.decided.sum(axis=1) == 1):.1%}",
    ]
    return "; ".join(parts)


def summary(study: Study, rows: Sequence[int] | None = None) -> str:
    """Write what the terminal shows of a report.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        Instances to show; a few telling ones by default.
    """
    ev = study.evidence
    counts = np.bincount(study.answers, minlength=ev.n_classes)
    focus = ev.n_classes - 1 if ev.n_classes == 2 else int(np.argmax(counts))
    if rows is None:
        cases = notable_cases(ev, focus)
    else:
        cases = [Case(row, "asked for") for row in rows[:_MOST_CASES]]
    more = len(rows) - len(cases) if rows is not None else 0
    labels = [label(text) for text in label_texts(ev.classes)]
    named = ", ".join(labels[:6]) + (", …" if len(labels) > 6 else "")
    return "\n".join(
        [
            harmless(study.title),
            *map(harmless, study.about),
            "",
            f"{len(study)} instances, {ev.n_components} components, {len(labels)} classes: {named}",
            _figures(study),
            "",
            case_table(ev, cases, focus) + (f"and {more} more in the report\n" if more > 0 else ""),
            _LEGEND,
        ]
    )
