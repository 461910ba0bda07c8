"""The terminal's summary of a report: a few figures and a table of instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._text import cells, listed
from shafer._typing import BoolArray, FloatArray, Label
from shafer._validation import one_position, to_numpy
from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.evidence.interval_words import below_belief_words
from shafer.evidence.io.frame_table import label_texts, set_names
from shafer.evidence.most_probable import most_probable_but
from shafer.evidence.own_base_rate import base_rate_position
from shafer.report.grouped_study import grouped_study
from shafer.report.overview import OVERLAP, overview
from shafer.report.study import Study
from shafer.report.terminal_text import harmless, label, padded

_STRONGEST = 3
_MOST_INTERVALS = 3  # classes; of more, only the one in focus is shown
_MOST_CASES = 20
_LONGEST = 40

_LEGEND = """\
p             the probability: the normalised plausibilities, equal to the model's own
[bel, pl]     belief: how far the evidence supports the class; plausibility: 1 − belief in others
ignorance     mass on all classes together: what the evidence leaves open
disagreement  how far the components contradict each other, the base rate among them
decided       the classes that no other class dominates (interval dominance)
for, against  the components that change the log-odds most. +1 multiplies the odds by 2.7
"""
_BASE_RATE = """\
base rate     the log-odds of a row in which every component has its mean
"""
_BELOW = """\
*             p is below the belief: in p, mass on several classes counts once for each of them
"""


@final
@dataclass(frozen=True)
class Case:
    """The position of a row to show, and the reason for showing it.

    Attributes
    ----------
    row : int
        The position of the row.
    reason : str
        Why it is shown.

    See Also
    --------
    notable_cases : Finds some.
    case_table : Shows them.

    Examples
    --------
    >>> from shafer.report import Case
    >>> Case(3, "close call").reason
    'close call'
    """

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
    """Return rows of different kinds: confident, with little evidence, with disagreement.

    A row is called undecided if its decided set has several classes. If no row is, the rows whose
    probability is nearest to one half are called close calls.

    Parameters
    ----------
    evidence : Evidence or DiscountedEvidence
    class_ : class label
        The class that the rows are about.

    Returns
    -------
    list of Case

    See Also
    --------
    case_table : Shows them.

    Examples
    --------
    >>> import shafer
    >>> from shafer.report import notable_cases
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]], [[0.1, -0.1]]], classes=["no", "yes"])
    >>> [(case.row, case.reason) for case in notable_cases(ev, "no")]
    [(0, 'no most probable'), (1, 'no least probable')]
    """
    focus = one_position(class_, evidence.classes)
    name = label(label_texts(evidence.classes)[focus])
    probability = to_numpy(evidence.betting_probability)[:, focus]
    ignorance = to_numpy(evidence.ignorance)
    disagreement = to_numpy(with_weights(evidence).disagreement)
    hard, word = _open_rows(to_numpy(evidence.decide("interval_dominance")), probability)
    picks = [
        (f"{name} most probable", np.argmax(probability)),
        (f"{name} least probable", np.argmin(probability)),
        (f"{word}, most ignorance", np.argmax(np.where(hard, ignorance, -1.0))),
        (f"{word}, most disagreement", np.argmax(np.where(hard, disagreement, -1.0))),
        ("median probability", np.argsort(probability, kind="stable")[len(probability) // 2]),
    ]
    chosen: dict[int, str] = {}
    for reason, row in picks:
        chosen.setdefault(int(row), reason)
    return [Case(row, reason) for row, reason in chosen.items()]


def _note(evidence: Evidence, row: int, focus: int, labels: Sequence[str]) -> str:
    """Return the base rate, and the components that change the log-odds of the class most."""
    rival = int(most_probable_but(to_numpy(evidence.logits)[[row]], np.array([focus]))[0])
    weights = to_numpy(evidence[row].weights)[0].astype(np.float64)
    contrast = weights[:, focus] - weights[:, rival]
    base_rate = base_rate_position(evidence[row])
    order = [g for g in np.argsort(-np.abs(contrast), kind="stable") if g != base_rate]
    names = [label(name, _LONGEST) for name in evidence.component_names]

    def side(sign: int) -> str:
        chosen = [g for g in order if sign * contrast[g] > 0][:_STRONGEST]
        return ", ".join(f"{names[g]} {contrast[g]:+.2f}" for g in chosen) or "nothing"

    whom = labels[focus] if len(labels) == 2 else f"{labels[focus]} over {labels[rival]}"
    start = "" if base_rate is None else f"base rate {contrast[base_rate]:+.2f}  |  "
    return f"{start}for {whom}: {side(+1)}  |  against: {side(-1)}"


def _is_below(evidence: MassEvidence, row: int, focus: int) -> bool:
    """Return whether the probability of the class lies below its belief."""
    one = evidence[row]
    p, belief = one.betting_probability[0, focus], one.belief[0, focus]
    return bool(below_belief_words(float(p), float(belief)))


def _line(evidence: MassEvidence, case: Case, focus: int, with_interval: list[int]) -> list[str]:
    """Return the cells of the first line of a row."""
    one = evidence[case.row]
    bel, pl = to_numpy(one.belief)[0], to_numpy(one.plausibility)[0]
    star = "*" if _is_below(evidence, case.row, focus) else ""
    disagreement = float(with_weights(one).disagreement[0])
    decided = set_names(to_numpy(one.decide("interval_dominance")), one.classes)[0]
    return [
        str(case.row),
        case.reason,
        f"{float(one.betting_probability[0, focus]):.3f}{star}",
        *(f"[{bel[k]:.3f}, {pl[k]:.3f}]" for k in with_interval),
        f"{float(one.ignorance[0]):.3f}",
        f"{disagreement:.3f}",
        label(decided, _LONGEST),
    ]


def case_table(evidence: MassEvidence, cases: Sequence[Case], class_: Label) -> str:
    """Return a table of some rows, two lines each.

    The second line has the components' contrasts, in log-odds: for the class over the most
    probable other class, with the base rate apart if it is a component of its own. A star marks a
    probability below its belief.

    Parameters
    ----------
    evidence : Evidence or DiscountedEvidence
        All instances.
    cases : sequence of Case
        The rows to show.
    class_ : class label
        The class that the table is about.

    Returns
    -------
    str

    See Also
    --------
    notable_cases : Finds rows to show.
    summary : The table of a study.

    Examples
    --------
    >>> import shafer
    >>> from shafer.report import Case, case_table
    >>> ev = shafer.Evidence.from_weights([[[0.9, -0.9]]], classes=["no", "yes"], names=["age"])
    >>> print(case_table(ev, [Case(0, "confident")], "no"))
    row  why shown  p(no)  no [bel, pl]    yes [bel, pl]   ignorance  disagreement  decided
    ---------------------------------------------------------------------------------------
    0    confident  0.858  [0.835, 1.000]  [0.000, 0.165]  0.165      0.000         {no}
         for no: age +1.80  |  against: nothing
    """
    focus = one_position(class_, evidence.classes)
    weighted = with_weights(evidence)
    labels = [label(text) for text in label_texts(evidence.classes)]
    with_interval = list(range(len(labels))) if len(labels) <= _MOST_INTERVALS else [focus]
    header = ["row", "why shown", f"p({labels[focus]})"]
    header += [f"{labels[k]} [bel, pl]" for k in with_interval]
    header += ["ignorance", "disagreement", "decided"]
    body = [_line(evidence, case, focus, with_interval) for case in cases]
    notes = [_note(weighted, case.row, focus, labels) for case in cases]
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
        f"evidence lacking {figures.lacking:.1%}, components disagreeing "
        f"{figures.disagreeing:.1%}. {OVERLAP}",
    ]


def summary(study: Study, rows: Sequence[int] | None = None, *, cases: bool = True) -> str:
    """Return what the terminal shows of a report.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        Positions of the instances to show; by default a few that differ in kind. More than 12
        components are shown in groups, as in the report.
    cases : bool
        Whether to show instances at all; the figures of the whole study are always shown.

    Returns
    -------
    str

    See Also
    --------
    write_report : The same as a page.
    make_study : Makes the study.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> study = shafer.report.make_study(shafer.Explainer(([1.0, -2.0], 0.5), X), X)
    >>> shafer.report.summary(study, cases=False).splitlines()[2]
    '2 instances, 2 components, 2 classes: 0, 1'
    """
    labels = [label(text) for text in label_texts(study.evidence.classes)]
    features = study.undiscounted.n_components - (study.base_rate is not None)
    apart = "" if study.base_rate is None else " and the base rate"
    grouped = grouped_study(study)
    joined = "" if grouped is None else f" (shown in {grouped.n_groups} groups)"
    size = f"{len(study)} instances, {features} components{joined}{apart}"
    shown = study if grouped is None else grouped.study
    lines = [
        harmless(study.title),
        *map(harmless, study.about),
        "",
        f"{size}, {len(labels)} classes: {listed(labels, 6, written=str)}",
        *_figures(shown),
    ]
    if cases:
        lines += ["", _cases(shown, rows)]
    return "\n".join(lines) + ("" if cases else "\n")


def _cases(study: Study, rows: Sequence[int] | None) -> str:
    """Return the table of some instances, and how to read it."""
    ev = study.evidence
    counts = np.bincount(study.answers, minlength=ev.n_classes)
    focus = ev.n_classes - 1 if ev.n_classes == 2 else int(np.argmax(counts))
    class_ = ev.classes.tolist()[focus]
    if rows is None:
        shown = notable_cases(ev, class_)
    else:
        shown = [Case(row, "asked for") for row in rows[:_MOST_CASES]]
    more = len(rows) - len(shown) if rows is not None else 0
    note = f"and {more} more in the report\n" if more > 0 else ""
    below = any(_is_below(ev, case.row, focus) for case in shown)
    apart = study.base_rate is not None
    legend = _LEGEND + (_BASE_RATE if apart else "") + (_BELOW if below else "")
    return f"{case_table(ev, shown, class_)}{note}\n{legend}"
