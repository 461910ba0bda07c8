"""One instance for the terminal: a sentence, bars of weights, intervals and sets."""

from __future__ import annotations

import textwrap
from typing import NamedTuple

import numpy as np

from shafer._text import cells
from shafer._typing import FloatArray, Label
from shafer._validation import to_numpy
from shafer.evidence.interval_words import below_belief_words
from shafer.evidence.io.frame_table import label_texts
from shafer.report.answer_and_rival import UNIT, Pair, pair_of_row
from shafer.report.contrast_intervals import LEVEL, contrast_errors, sum_error
from shafer.report.study import Study
from shafer.report.terminal_reasons import ReasonsAsked, reason_lines
from shafer.report.terminal_text import harmless, label, padded

_WIDEST = 24  # cells of a bar
_MOST_BARS = 15
_MOST_CLASSES = 10
_MOST_SETS = 6
_NARROWEST = 8  # cells of a bar where there is little room
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_OWN = "The base rate is the log-odds of a row in which every component has its mean."
_SHARED = "Each component has an equal share of the base rate, as in the paper (prior='shared')."
_ERRORS = f"± is the {LEVEL:.0%} interval. A light bar (░) cannot be told from zero."


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
        for g in (*first, *order[:_MOST_BARS])
    ]
    rest = order[_MOST_BARS:]
    if rest:
        shown.append(_Bar(f"the other {len(rest)}", float(contrast[rest].sum())))
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
    width: int,
) -> list[str]:
    p, bel, pl = readings
    order = np.argsort(-pl, kind="stable")[:_MOST_CLASSES]
    first = max(cells(labels[k]) for k in order)
    room = _room(width, first + 35)
    lines = ["Belief to plausibility (━) and probability (◆)"]
    for k in order:
        chosen = "  decided" if decided[k] else ""
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
        text = "{" + ", ".join(labels[k] for k in members) + "}"
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
    words = harmless(study.sentence(row))
    title = f"{label(study.title)}, row {row}"
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
            *_classes(labels, (p, bel, pl), decided, width),
            "",
            *_sets(study, row, labels, width),
            "",
            f"Ignorance {float(one.ignorance[0]):.3f}, disagreement {disagreement:.3f}",
        ]
    )
