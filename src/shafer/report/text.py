"""A table of instances for the terminal: what is believed, what is open, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence import Evidence
from shafer.evidence.tables import set_names

_STRONGEST = 3


@final
@dataclass(frozen=True)
class Case:
    """A row worth showing, and the reason."""

    row: int
    reason: str


def notable_cases(evidence: Evidence, focus: int) -> list[Case]:
    """Pick rows that differ in kind: sure, ignorant, conflicting. ``focus`` is a class position."""
    label = evidence.classes[focus]
    probability = to_numpy(evidence.probability)[:, focus]
    openness = np.abs(probability - 0.5)
    ignorance, conflict = to_numpy(evidence.ignorance), to_numpy(evidence.conflict)
    # Among the cases that the probability calls undecided, the two kinds of indecision.
    undecided = openness <= max(0.1, float(np.quantile(openness, 0.05)))
    picks = [
        (f"{label} most probable", np.argmax(probability)),
        (f"{label} least probable", np.argmin(probability)),
        ("undecided: evidence is lacking", np.argmax(np.where(undecided, ignorance, -1.0))),
        ("undecided: evidence conflicts", np.argmax(np.where(undecided, conflict, -1.0))),
        ("median probability", np.argsort(probability, kind="stable")[len(probability) // 2]),
    ]
    chosen: dict[int, str] = {}
    for reason, row in picks:
        chosen.setdefault(int(row), reason)
    return [Case(row, reason) for row, reason in chosen.items()]


def _strongest(evidence: Evidence, row: int, focus: int) -> tuple[str, str]:
    """Name the components that speak most for and most against the class in focus."""
    weights = to_numpy(evidence[row].weights)[0, :, focus]
    order = np.argsort(-np.abs(weights), kind="stable")
    names = evidence.component_names

    def listed(sign: int) -> str:
        chosen = [g for g in order if sign * weights[g] > 0][:_STRONGEST]
        return ", ".join(f"{names[g]} {weights[g]:+.2f}" for g in chosen) or "nothing"

    return listed(+1), listed(-1)


def case_table(evidence: Evidence, cases: list[Case], focus: int) -> str:
    """Write the cases as a table, two lines each.

    Parameters
    ----------
    evidence : Evidence
        All instances, of which the cases are rows.
    cases : list of Case
        The rows to show.
    focus : int
        Position of the class the table is about.
    """
    labels = [str(label) for label in evidence.classes.tolist()]
    header = ["row", "why shown", f"p({labels[focus]})"]
    header += [f"{label} [bel, pl]" for label in labels]
    header += ["ignorance", "conflict", "decided"]
    body, notes = [], []
    for case in cases:
        one = evidence[case.row]
        bel, pl = to_numpy(one.belief)[0], to_numpy(one.plausibility)[0]
        line = [str(case.row), case.reason, f"{float(one.probability[0, focus]):.3f}"]
        line += [f"[{low:.3f}, {high:.3f}]" for low, high in zip(bel, pl, strict=True)]
        line += [f"{float(one.ignorance[0]):.3f}", f"{float(one.conflict[0]):.3f}"]
        line += set_names(to_numpy(one.decide("interval_dominance")), one.classes)
        body.append(line)
        support, doubt = _strongest(evidence, case.row, focus)
        notes.append(f"for {labels[focus]}: {support}  |  against: {doubt}")
    widths = [max(map(len, column)) for column in zip(header, *body, strict=True)]

    def joined(cells: list[str]) -> str:
        return "  ".join(
            cell.ljust(width) for cell, width in zip(cells, widths, strict=True)
        ).rstrip()

    indent = " " * (widths[0] + 2)
    lines = [joined(header), "-" * len(joined(["-" * width for width in widths]))]
    for line, note in zip(body, notes, strict=True):
        lines += [joined(line), indent + note, ""]
    return "\n".join(lines[:-1]) + "\n"
