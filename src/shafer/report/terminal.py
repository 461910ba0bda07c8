"""A study as text for the terminal: one instance in full, or figures and a table of instances."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import one_position
from shafer._text import cells, harmless, listed, shortened
from shafer._typing import BoolArray, FloatArray, Label
from shafer.decision.policy import Cutoff
from shafer.evidence.base_rate import base_rate_position
from shafer.evidence.contrast import (
    UNIT,
    Pair,
    answer_and_rival,
    most_probable_but,
    pair_of_row,
)
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.reasons import row_reasons
from shafer.evidence.table import label_texts, members_text, set_names
from shafer.evidence.words import below_belief_words, close_call
from shafer.report.sentences import BARS, LEVEL, OVERLAP, contrast_errors, overview, sum_error
from shafer.report.study import Study

_WIDEST = 24  # cells of a bar
_MOST_CLASSES = 10
_MOST_SETS = 6
_NARROWEST = 8  # cells of a bar where there is little room
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_OWN = "The base rate is the log-odds of a row in which every component has its mean."
_SHARED = "Each component has an equal share of the base rate, as in the paper (prior='shared')."
_ERRORS = f"± is the {100 * LEVEL:.0f} % interval. A light bar (░) cannot be told from zero."


def _room(width: int, taken: int) -> int:
    """Return the cells left for a bar when ``taken`` are in use; ``width`` 0 means no limit."""
    return _WIDEST if width == 0 else min(_WIDEST, max(_NARROWEST, width - taken))


def _names(width: int) -> int:
    """Return how many characters a name may have."""
    return 32 if width == 0 else min(32, max(8, width // 3))


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text into lines that fit the terminal."""
    if not width:
        return [indent + text]
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _bar(share: float, room: int) -> str:
    eighths = round(max(0.0, min(share, 1.0)) * room * 8)
    partial = _EIGHTHS[eighths % 8] if eighths % 8 else ""
    return "█" * (eighths // 8) + (partial or ("▏" if share > 0 and not eighths else ""))


class _Bar(NamedTuple):
    """One line of the list of weights; the half-width of its interval, if that is known."""

    title: str
    weight: float
    half: float | None = None

    @property
    def number(self) -> str:
        """The weight, and how far its interval reaches."""
        sign = " " if abs(self.weight) < 0.005 else "−" if self.weight < 0 else "+"
        reach = "" if self.half is None else f" ±{self.half:.2f}"
        return f"{sign}{abs(self.weight):.2f}{reach}"

    def drawn(self, strongest: float, room: int) -> str:
        """Return the bar; it is light if the weight cannot be told from zero."""
        bar = _bar(abs(self.weight) / strongest, room)
        return bar if self.half is None or abs(self.weight) > self.half else "░" * len(bar)


def _bars(study: Study, row: int, pair: Pair, longest: int) -> list[_Bar]:
    """Return the bars: the base rate first, then the strongest, then all others as one."""
    one = study.undiscounted[row]
    weights = to_numpy(one.weights)[0].astype(np.float64)
    contrast = weights[:, pair.class_] - weights[:, pair.over]
    half = contrast_errors(one, pair)
    base_rate = study.base_rate
    titles = study.titles(row)
    order = [g for g in np.argsort(-np.abs(contrast), kind="stable") if g != base_rate]
    first = [] if base_rate is None else [base_rate]
    shown = [
        _Bar(
            label(titles[g], longest),
            float(contrast[g]),
            None if half is None else float(half[g]),
        )
        for g in (*first, *order[:BARS])
    ]
    rest = order[BARS:]
    if rest:
        inputs = "input" if len(rest) == 1 else "inputs"
        shown.append(_Bar(f"the other {len(rest)} {inputs}", float(contrast[rest].sum())))
    return shown


def _weights(study: Study, row: int, pair: Pair, labels: list[str], width: int) -> list[str]:
    shown = _bars(study, row, pair, _names(width))
    one = study.undiscounted[row]
    total = _Bar("sum", sum(bar.weight for bar in shown), sum_error(one, pair))
    strongest = max(abs(bar.weight) for bar in shown) or 1.0
    first = max(cells(bar.title) for bar in (*shown, total))
    figures = max(len(bar.number) for bar in (*shown, total))
    room = _room(width, first + figures + 6)

    def line(bar: _Bar, end: str) -> str:
        return f"  {padded(bar.title, first)}  {bar.number.ljust(figures)}  {end}".rstrip()

    p = to_numpy(one.probability)[0]
    notes = [_OWN] if study.base_rate is not None else [_SHARED] if study.shares_base_rate else []
    notes += [] if total.half is None else [_ERRORS]
    return [
        *_wrapped(
            f"Why {labels[pair.class_]} rather than {labels[pair.over]}, in log-odds: {UNIT}", width
        ),
        *(line(bar, bar.drawn(strongest, room)) for bar in shown),
        line(total, f"= ln({p[pair.class_]:.3f} / {p[pair.over]:.3f})"),
        *(text for note in notes for text in _wrapped(note, width)),
    ]


def _interval(low: float, mark: float, high: float, room: int) -> str:
    """Draw [belief, plausibility] as a thick part of a line, with the probability on it."""
    place = [round(value * (room - 1)) for value in (low, mark, high)]
    cells = ["━" if place[0] <= c <= place[2] else "┈" for c in range(room)]
    cells[place[1]] = "◆"
    return "".join(cells)


def _classes(
    labels: list[str],
    readings: tuple[FloatArray, FloatArray, FloatArray],
    decided: FloatArray,
    word: str,
    width: int,
) -> list[str]:
    p, bel, pl = readings
    order = np.argsort(-pl, kind="stable")[:_MOST_CLASSES]
    first = max(cells(labels[k]) for k in order)
    room = _room(width, first + 35)
    lines = ["Belief to plausibility (━) and probability (◆)"]
    for k in order:
        chosen = f"  {word}" if decided[k] else ""
        lines.append(
            f"  {padded(labels[k], first)}  {_interval(bel[k], p[k], pl[k], room)}  "
            f"{p[k]:.3f} [{bel[k]:.3f}, {pl[k]:.3f}]{chosen}"
        )
        why = below_belief_words(float(p[k]), float(bel[k]))
        lines += _wrapped(why, width, "    ") if why else []
    if len(labels) > len(order):
        lines.append(f"  and {len(labels) - len(order)} less plausible classes")
    return lines


def _sets(study: Study, row: int, labels: list[str], width: int) -> list[str]:
    found = study.evidence[row].focal_sets(_MOST_SETS)[0]
    place = {label: k for k, label in enumerate(study.evidence.classes.tolist())}
    named = []
    for focal in found:
        members = sorted(place[label] for label in focal.classes)
        whole = len(members) == len(labels)
        text = members_text(labels[k] for k in members)
        named.append(("all classes" if whole else label(text, _names(width)), focal.mass))
    first = max(cells(text) for text, _ in named)
    room = _room(width, first + 11)
    lines = ["Where the mass lies"]
    lines += [
        f"  {padded(text, first)}  {mass:.3f}  {_bar(mass, room)}".rstrip() for text, mass in named
    ]
    return lines


def explained(
    study: Study,
    row: int,
    width: int = 0,
    *,
    class_: Label | None = None,
    over: Label | None = None,
    reasons: ReasonsAsked | None = None,
) -> str:
    """Return one instance as text for the terminal.

    Parameters
    ----------
    study : Study
    row : int
        Position of the instance.
    width : int
        Columns of the terminal; 0 means no limit.
    class_, over : class labels, optional
        Show why ``class_`` rather than ``over``; by default the answer and the runner-up.
    reasons : ReasonsAsked, optional
        Also list the reasons for ``class_``.
    """
    if not 0 <= row < len(study):
        raise ValueError(f"row must lie between 0 and {len(study) - 1}; got {row}.")
    one = study.evidence[row]
    labels = [label(text, _names(width)) for text in label_texts(one.classes)]
    pair = pair_of_row(study.undiscounted[row], class_, over)
    p, bel, pl, decided = (
        to_numpy(array)[0]
        for array in (
            one.betting_probability,
            one.belief,
            one.plausibility,
            one.decide("interval_dominance"),
        )
    )
    word = "close call" if study.close_call(row) else "decided"
    if study.undiscounted.cutoff is not None:  # the answer is the user's own
        decided = np.arange(len(labels)) == study.answers[row]
        word = word if word == "close call" else "answer"
    words = harmless(study.sentence(row))
    title = f"{label(study.title)}, {label(study.row_name(row))}"
    if study.truth is not None:
        title += f": true class {labels[int(study.truth[row])]}"
    disagreement = float(study.undiscounted[row].disagreement[0])
    return "\n".join(
        [
            title,
            "",
            *_wrapped(words[:1].upper() + words[1:], width),
            "",
            *_weights(study, row, pair, labels, width),
            "",
            *([] if reasons is None else [*reason_lines(study, row, pair, reasons), ""]),
            *_classes(labels, (p, bel, pl), decided, word, width),
            "",
            *_sets(study, row, labels, width),
            "",
            f"Ignorance {float(one.ignorance[0]):.3f}, disagreement {disagreement:.3f}",
            *(_wrapped(harmless(study.of_groups), width) if study.of_groups else []),
            *_promised(study, row, width),
        ]
    )


def _promised(study: Study, row: int, width: int) -> list[str]:
    lines = [] if study.promised is None else study.promised(row)
    if not lines:
        return []
    texts = (text for line in lines for text in _wrapped(harmless(line), width))
    return ["", "Promised, as shafer score writes it", *texts]


# The terminal's summary of a report: a few figures and a table of instances.

_STRONGEST = 3
_MOST_INTERVALS = 3  # classes; of more, only the one in focus is shown
_MOST_CASES = 20
_LONGEST = 40

_LEGEND = """\
p             the probability: the normalised plausibilities, equal to the model's own
[bel, pl]     belief: how far the evidence supports the class; plausibility: 1 − belief in others
ignorance     mass on all classes together: what the evidence leaves open
disagreement  how far the components contradict each other, the base rate among them
{decided}
for, against  the components that change the log-odds most. +1 multiplies the odds by 2.7
"""
_DECIDED = """\
decided       the classes that no other class dominates (interval dominance); a close call if one
              class is decided and the two most probable differ by less than 5 points"""
_ANSWERED = """\
decided       the answer, by the threshold or the losses of the model; or a close call"""
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
    >>> Case(3, "median probability").reason
    'median probability'
    """

    row: int
    reason: str


def _open_rows(
    evidence: MassEvidence, probability: FloatArray, focus: int
) -> tuple[BoolArray, str]:
    """Return the rows that are hard to decide, and the words for them."""
    rule = evidence.weighed.cutoff
    if not isinstance(rule, Cutoff):
        undecided: BoolArray = to_numpy(evidence.decide("interval_dominance")).sum(axis=1) > 1
        if undecided.any():
            return undecided, "undecided" if rule is None else "several left open"
        rule = Cutoff(0.5, focus)
    limit = rule.threshold if rule.position == focus else 1.0 - rule.threshold
    middle = "one half" if limit == 0.5 else f"{limit:.3g}"
    distance = np.abs(probability - limit)
    return distance <= max(0.1, float(np.quantile(distance, 0.05))), f"p near {middle}"


def notable_cases(evidence: MassEvidence, class_: Label) -> list[Case]:
    """Return rows of different kinds: confident, with little evidence, with disagreement.

    A row is called undecided if its decided set has several classes. If no row is, rows whose
    probability is near one half are shown.

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
    disagreement = to_numpy(evidence.weighed.disagreement)
    hard, word = _open_rows(evidence, probability, focus)
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


def _row_label(evidence: MassEvidence, row: int) -> str:
    """Return the number of a row, or its label if the rows have labels of their own."""
    index = evidence.index
    own = index is not None and type(index).__name__ != "RangeIndex"
    return label(str(index[row]), _LONGEST) if own else str(row)


def _line(evidence: MassEvidence, case: Case, focus: int, with_interval: list[int]) -> list[str]:
    """Return the cells of the first line of a row."""
    one = evidence[case.row]
    bel, pl = to_numpy(one.belief)[0], to_numpy(one.plausibility)[0]
    star = "*" if _is_below(evidence, case.row, focus) else ""
    disagreement = float(one.weighed.disagreement[0])
    return [
        _row_label(evidence, case.row),
        case.reason,
        f"{float(one.betting_probability[0, focus]):.3f}{star}",
        *(f"[{bel[k]:.3f}, {pl[k]:.3f}]" for k in with_interval),
        f"{float(one.ignorance[0]):.3f}",
        f"{disagreement:.3f}",
        label(_decision(one), _LONGEST),
    ]


def _decision(one: MassEvidence) -> str:
    """Return the decided set of a row, its answer by a threshold or losses, or a close call."""
    labels, weighted = label_texts(one.classes), one.weighed
    close = close_call(to_numpy(weighted.probability)[0], labels, weighted.cutoff)
    if weighted.cutoff is not None:
        return close or labels[int(answer_and_rival(weighted)[0][0])]
    decided = to_numpy(one.decide("interval_dominance"))
    return close if close and decided[0].sum() == 1 else set_names(decided, one.classes)[0]


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
    weighted = evidence.weighed
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
    known = [f"{name} {100 * share:.1f} %" for name, share in errors.items() if share is not None]
    return [
        *(["; ".join(known)] if known else []),
        f"one class decided {100 * figures.decided:.1f} %, several left open "
        f"{100 * figures.left_open:.1f} %",
        f"evidence lacking {100 * figures.lacking:.1f} %, components disagreeing "
        f"{100 * figures.disagreeing:.1f} %. {OVERLAP}",
    ]


def summary(study: Study, rows: Sequence[int] | None = None, *, cases: bool = True) -> str:
    """Return what the terminal shows of a report.

    Parameters
    ----------
    study : Study
    rows : sequence of int, optional
        Positions of the instances to show; by default a few that differ in kind.
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
    '2 instances, 2 components and the base rate, 2 classes: 0, 1'
    """
    labels = [label(text) for text in label_texts(study.evidence.classes)]
    features = study.undiscounted.n_components - (study.base_rate is not None)
    apart = "" if study.base_rate is None else " and the base rate"
    size = f"{len(study)} instances, {features} components{apart}"
    lines = [
        harmless(study.title),
        *map(harmless, study.about),
        "",
        f"{size}, {len(labels)} classes: {listed(labels, 6, written=str)}",
        *([harmless(study.of_groups)] if study.of_groups else []),
        *_figures(study),
    ]
    if cases:
        lines += ["", _cases(study, rows)]
    return "\n".join(lines) + ("" if cases else "\n")


def _cases(study: Study, rows: Sequence[int] | None) -> str:
    """Return the table of some instances, and how to read it."""
    ev = study.evidence
    counts = np.bincount(study.answers, minlength=ev.n_classes)
    cutoff = study.undiscounted.cutoff
    if isinstance(cutoff, Cutoff):  # the class that the user's threshold is about
        focus = cutoff.position
    else:
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
    legend = (
        _LEGEND.format(decided=_DECIDED if cutoff is None else _ANSWERED)
        + (_BASE_RATE if apart else "")
        + (_BELOW if below else "")
    )
    return f"{case_table(ev, shown, class_)}{note}\n{legend}"


# The reasons of one instance as a short list for the terminal.


@final
@dataclass(frozen=True)
class ReasonsAsked:
    """How many reasons to list, and the user's codes for them."""

    top: int
    codes: Mapping[str, Any] | None = None


def reason_lines(study: Study, row: int, pair: Pair, asked: ReasonsAsked) -> list[str]:
    """Return the reasons for a class over another: in words, log-odds, share, code, text.

    The base rate is not a reason, nor is a component that favours the other class.
    """
    one = study.undiscounted[row]
    labels = one.classes.tolist()
    first, second = (label(label_texts(one.classes)[k]) for k in pair)
    found = row_reasons(
        one, asked.top, class_=labels[pair.class_], over=labels[pair.over], codes=asked.codes
    )
    head = f"Reasons for {first} over {second}, in log-odds: {UNIT}"
    count = sum(name is not None for name in found.component[0])
    if not count:
        return [head, "  none: no component favours it"]
    lines = []
    for rank in range(count):
        unclear = "cannot be told from zero" if found.lower[0, rank] <= 0 else None
        notes = [unclear, found.code[0, rank], found.text[0, rank]]
        note = "  ".join(harmless(str(part)) for part in notes if part is not None)
        lines.append(
            f"  {rank + 1}. {harmless(found.words[0, rank])} (+{found.log_odds[0, rank]:.2f}, "
            f"{100 * found.share[0, rank]:.0f} % of what favours {first})  {note}".rstrip()
        )
    return [head, *lines]


# The user's names for a terminal: without control characters, short, and aligned.

_LONGEST_NAME = 32


def label(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name without control characters, at most ``longest`` characters long."""
    return shortened(harmless(text) if text.strip() else "(blank)", longest)


def padded(text: str, width: int) -> str:
    """Return the text, filled with blanks to ``width`` cells."""
    return text + " " * max(0, width - cells(text))
