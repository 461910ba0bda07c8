"""The terminal's summary of a report: a few figures and a table of instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._text import listed
from shafer._typing import BoolArray, FloatArray, Label
from shafer._validation import one_position, to_numpy
from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.evidence.io.frame_table import label_texts, set_names
from shafer.report.overview import OVERLAP, overview
from shafer.report.study import Study
from shafer.report.terminal_text import cells, harmless, label, padded

_STRONGEST = 3
_MOST_INTERVALS = 3  # classes; of more, only the one in focus is shown
_MOST_CASES = 20
_LONGEST = 40

_LEGEND = """\
p          the probability: the normalised plausibilities, equal to the model's own
[bel, pl]  belief: how far the evidence supports the class; plausibility: 1 − belief in the others
ignorance  mass on all classes together: what the evidence leaves open
conflict   how far the components contradict each other
decided    the classes that no other class dominates (interval dominance)
for, against: the components with the largest weights of evidence. """


def _unit(n_classes: int) -> str:
    """Explain the unit of the weights."""
    factor = "7.4" if n_classes == 2 else "2.7"
    over = "" if n_classes == 2 else ", against the geometric mean of all classes"
    return f"+1 multiplies the odds of the class by {factor}{over}.\n"


@final
@dataclass(frozen=True)
class Case:
    """The position of a row to show, and the reason for showing it."""

    row: int
    reason: str


def _open_rows(decided: BoolArray, probability: FloatArray) -> tuple[BoolArray, str]:
    """Return the rows that are hard to decide, and the word for them."""
    undecided: BoolArray = decided.sum(axis=1) > 1
    if undecided.any():
        return undecided, "undecided"
    distance = np.abs(probability - 0.5)
    return distance <= max(0.1, float(np.quantile(distance, 0.05))), "close call"


def notable_cases(evidence: MassEvidence, class_: Label) -> list[Case]:
    """Return rows of different kinds: confident, with little evidence, with conflicting evidence.

    A row is called undecided if its decided set has several classes. If no row is, the rows whose
    probability is nearest to one half are called close calls.

    Parameters
    ----------
    evidence : Evidence or DiscountedEvidence
    class_ : class label
        The class that the rows are about.
    """
    focus = one_position(class_, evidence.classes)
    name = label(label_texts(evidence.classes)[focus])
    probability = to_numpy(evidence.betting_probability)[:, focus]
    ignorance, conflict = to_numpy(evidence.ignorance), to_numpy(evidence.conflict)
    hard, word = _open_rows(to_numpy(evidence.decide("interval_dominance")), probability)
    picks = [
        (f"{name} most probable", np.argmax(probability)),
        (f"{name} least probable", np.argmin(probability)),
        (f"{word}, most ignorance", np.argmax(np.where(hard, ignorance, -1.0))),
        (f"{word}, most conflict", np.argmax(np.where(hard, conflict, -1.0))),
        ("median probability", np.argsort(probability, kind="stable")[len(probability) // 2]),
    ]
    chosen: dict[int, str] = {}
    for reason, row in picks:
        chosen.setdefault(int(row), reason)
    return [Case(row, reason) for row, reason in chosen.items()]


def _strongest(evidence: Evidence, row: int, focus: int) -> tuple[str, str]:
    """Return the components with the largest weights for the class, and against it."""
    weights = to_numpy(evidence[row].weights)[0, :, focus]
    order = np.argsort(-np.abs(weights), kind="stable")
    names = [label(name, _LONGEST) for name in evidence.component_names]

    def side(sign: int) -> str:
        chosen = [g for g in order if sign * weights[g] > 0][:_STRONGEST]
        return ", ".join(f"{names[g]} {weights[g]:+.2f}" for g in chosen) or "nothing"

    return side(+1), side(-1)


def case_table(evidence: MassEvidence, cases: Sequence[Case], class_: Label) -> str:
    """Return a table of some rows, two lines each.

    Parameters
    ----------
    evidence : Evidence or DiscountedEvidence
        All instances.
    cases : sequence of Case
        The rows to show.
    class_ : class label
        The class that the table is about.
    """
    focus = one_position(class_, evidence.classes)
    weighted = with_weights(evidence)
    labels = [label(text) for text in label_texts(evidence.classes)]
    with_interval = list(range(len(labels))) if len(labels) <= _MOST_INTERVALS else [focus]
    header = ["row", "why shown", f"p({labels[focus]})"]
    header += [f"{labels[k]} [bel, pl]" for k in with_interval]
    header += ["ignorance", "conflict", "decided"]
    body, notes = [], []
    for case in cases:
        one = evidence[case.row]
        bel, pl = to_numpy(one.belief)[0], to_numpy(one.plausibility)[0]
        line = [str(case.row), case.reason, f"{float(weighted.probability[case.row, focus]):.3f}"]
        line += [f"[{bel[k]:.3f}, {pl[k]:.3f}]" for k in with_interval]
        line += [f"{float(one.ignorance[0]):.3f}", f"{float(one.conflict[0]):.3f}"]
        decided = set_names(to_numpy(one.decide("interval_dominance")), one.classes)[0]
        line.append(label(decided, _LONGEST))
        body.append(line)
        support, doubt = _strongest(weighted, case.row, focus)
        notes.append(f"for {labels[focus]}: {support}  |  against: {doubt}")
    widths = [max(map(cells, column)) for column in zip(header, *body, strict=True)]

    def joined(line: list[str]) -> str:
        return "  ".join(map(padded, line, widths)).rstrip()

    indent = " " * (widths[0] + 2)
    lines = [joined(header), "-" * len(joined(["-" * width for width in widths]))]
    for line, note in zip(body, notes, strict=True):
        lines += [joined(line), indent + note, ""]
    return "\n".join(lines[:-1]) + "\n"


def _figures(study: Study) -> list[str]:
    """Return the lines with the error of the model and the state of its evidence."""
    figures = overview(study)
    errors = {
        "error on held-out rows": figures.held_out_error,
        "error on these rows": figures.error,
    }
    known = [f"{name} {share:.1%}" for name, share in errors.items() if share is not None]
    return [
        *(["; ".join(known)] if known else []),
        f"one class decided {figures.decided:.1%}, several left open {figures.left_open:.1%}",
        f"evidence lacking {figures.lacking:.1%}, conflicting {figures.conflicting:.1%}. {OVERLAP}",
    ]


def summary(study: Study, rows: Sequence[int] | None = None) -> str:
    """Return what the terminal shows of a report.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        Positions of the instances to show; by default a few that differ in kind.
    """
    ev = study.evidence
    counts = np.bincount(study.answers, minlength=ev.n_classes)
    focus = ev.n_classes - 1 if ev.n_classes == 2 else int(np.argmax(counts))
    class_ = ev.classes.tolist()[focus]
    if rows is None:
        cases = notable_cases(ev, class_)
    else:
        cases = [Case(row, "asked for") for row in rows[:_MOST_CASES]]
    more = len(rows) - len(cases) if rows is not None else 0
    labels = [label(text) for text in label_texts(ev.classes)]
    size = f"{len(study)} instances, {study.undiscounted.n_components} components"
    return "\n".join(
        [
            harmless(study.title),
            *map(harmless, study.about),
            "",
            f"{size}, {len(labels)} classes: {listed(labels, 6, written=str)}",
            *_figures(study),
            "",
            case_table(ev, cases, class_)
            + (f"and {more} more in the report\n" if more > 0 else ""),
            _LEGEND + _unit(ev.n_classes),
        ]
    )
