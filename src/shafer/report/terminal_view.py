"""One instance for the terminal: a sentence, bars of weights, intervals and sets."""

from __future__ import annotations

import textwrap

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence.io.frame_table import label_texts
from shafer.report.study import Study
from shafer.report.terminal_text import cells, harmless, label, padded

_WIDEST = 24  # cells of a bar
_MOST_BARS = 15
_MOST_CLASSES = 10
_MOST_SETS = 6
_NARROWEST = 8  # cells of a bar where there is little room
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def _room(width: int, taken: int) -> int:
    """Return the cells left for a bar when ``taken`` are in use; ``width`` 0 means no limit."""
    return _WIDEST if width == 0 else min(_WIDEST, max(_NARROWEST, width - taken))


def _names(width: int) -> int:
    """Return how many characters a name may have."""
    return 32 if width == 0 else min(32, max(8, width // 3))


def _bar(share: float, room: int) -> str:
    eighths = round(max(0.0, min(share, 1.0)) * room * 8)
    partial = _EIGHTHS[eighths % 8] if eighths % 8 else ""
    return "█" * (eighths // 8) + (partial or ("▏" if share > 0 and not eighths else ""))


def _weights(study: Study, row: int, focus: int, name: str, width: int) -> list[str]:
    weights = to_numpy(study.undiscounted[row].weights)[0, :, focus]
    order = np.argsort(-np.abs(weights), kind="stable")
    names = study.undiscounted.component_names
    longest = _names(width)
    shown = [
        (label(study.title_of(names[g], row), longest), float(weights[g]))
        for g in order[:_MOST_BARS]
    ]
    rest = order[_MOST_BARS:]
    if len(rest):
        shown.append((f"the other {len(rest)}", float(weights[rest].sum())))
    strongest = max(abs(weight) for _, weight in shown) or 1.0
    first = max(cells(title) for title, _ in shown)
    figures = max(len(f"{abs(weight):.2f}") for _, weight in shown)
    room = _room(width, first + figures + 7)
    lines = [f"Weights of evidence for (+) and against (−) {name}"]
    for title, weight in shown:
        sign = "−" if weight < 0 else "+"
        bar = _bar(abs(weight) / strongest, room)
        number = f"{abs(weight):.2f}".ljust(figures)
        lines.append(f"  {padded(title, first)}  {sign}{number}  {bar}".rstrip())
    return lines


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


def explained(study: Study, row: int, width: int = 0) -> str:
    """Return one instance as text for the terminal.

    Parameters
    ----------
    study : Study
    row : int
        Position of the instance.
    width : int
        Columns of the terminal; 0 means no limit.
    """
    if not 0 <= row < len(study):
        raise ValueError(f"row must lie between 0 and {len(study) - 1}; got {row}.")
    one = study.evidence[row]
    labels = [label(text, _names(width)) for text in label_texts(one.classes)]
    focus = int(study.answers[row])
    p, bel, pl, decided = (
        to_numpy(array)[0]
        for array in (
            study.evidence[row].betting_probability,
            one.belief,
            one.plausibility,
            one.decide("interval_dominance"),
        )
    )
    words = harmless(study.sentence(row))
    sentence = words[:1].upper() + words[1:]
    title = f"{label(study.title)}, row {row}"
    if study.truth is not None:
        title += f": true class {labels[int(study.truth[row])]}"
    return "\n".join(
        [
            title,
            "",
            textwrap.fill(sentence, width, break_on_hyphens=False) if width else sentence,
            "",
            *_weights(study, row, focus, labels[focus], width),
            "",
            *_classes(labels, (p, bel, pl), decided, width),
            "",
            *_sets(study, row, labels, width),
            "",
            f"Ignorance {float(one.ignorance[0]):.3f}, conflict {float(one.conflict[0]):.3f}",
        ]
    )
