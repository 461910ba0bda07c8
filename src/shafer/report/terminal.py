"""One instance in the terminal: bars of weights, intervals, and a sentence."""

from __future__ import annotations

import unicodedata

import numpy as np

from shafer._typing import FloatArray
from shafer._validation import to_numpy
from shafer.evidence.tables import label_texts
from shafer.report.study import Study

_WIDTH = 24  # cells of a bar
_MOST_BARS = 15
_MOST_CLASSES = 10
_MOST_SETS = 6
_LONGEST = 32
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def _cells(text: str) -> int:
    """Count the terminal cells of a text: an emoji or an ideograph takes two."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    joined = sum(unicodedata.combining(c) > 0 for c in text)
    return len(text) + wide - joined


def _label(text: str) -> str:
    """Make a user's name safe and of bounded length: control characters would move the cursor."""
    clean = "".join(c if c.isprintable() else "�" for c in text)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def _padded(text: str, width: int) -> str:
    return text + " " * max(0, width - _cells(text))


def _bar(share: float) -> str:
    eighths = round(max(0.0, min(share, 1.0)) * _WIDTH * 8)
    partial = _EIGHTHS[eighths % 8] if eighths % 8 else ""
    return "█" * (eighths // 8) + (partial or ("▏" if share > 0 and not eighths else ""))


def _weights(study: Study, row: int, focus: int, label: str) -> list[str]:
    weights = to_numpy(study.evidence[row].weights)[0, :, focus]
    order = np.argsort(-np.abs(weights), kind="stable")
    names = study.evidence.component_names
    shown = [(_label(study.title_of(names[g], row)), float(weights[g])) for g in order[:_MOST_BARS]]
    rest = order[_MOST_BARS:]
    if len(rest):
        shown.append((f"the other {len(rest)}", float(weights[rest].sum())))
    longest = max(abs(weight) for _, weight in shown) or 1.0
    width = max(_cells(title) for title, _ in shown)
    lines = [f"Weights of evidence for (+) and against (−) {label}"]
    for title, weight in shown:
        sign = "−" if weight < 0 else "+"
        bar = _bar(abs(weight) / longest)
        lines.append(f"  {_padded(title, width)}  {sign}{abs(weight):.2f}  {bar}".rstrip())
    return lines


def _interval(low: float, mark: float, high: float) -> str:
    """Draw [belief, plausibility] as a thick part of a line, with the probability on it."""
    place = [round(value * (_WIDTH - 1)) for value in (low, mark, high)]
    cells = ["━" if place[0] <= c <= place[2] else "┈" for c in range(_WIDTH)]
    cells[place[1]] = "◆"
    return "".join(cells)


def _classes(
    labels: list[str], p: FloatArray, bel: FloatArray, pl: FloatArray, decided: FloatArray
) -> list[str]:
    order = np.argsort(-pl, kind="stable")[:_MOST_CLASSES]
    width = max(_cells(labels[k]) for k in order)
    lines = ["Belief to plausibility (━) and probability (◆)"]
    for k in order:
        chosen = "  decided" if decided[k] else ""
        lines.append(
            f"  {_padded(labels[k], width)}  {_interval(bel[k], p[k], pl[k])}  "
            f"{p[k]:.3f} [{bel[k]:.3f}, {pl[k]:.3f}]{chosen}"
        )
    if len(labels) > len(order):
        lines.append(f"  and {len(labels) - len(order)} less plausible classes")
    return lines


def _sets(study: Study, row: int, labels: list[str]) -> list[str]:
    found = study.evidence[row].focal_sets(_MOST_SETS)[0]
    place = {label: k for k, label in enumerate(study.evidence.classes.tolist())}
    named = []
    for focal in found:
        members = sorted(place[label] for label in focal.classes)
        whole = len(members) == len(labels)
        text = "{" + ", ".join(labels[k] for k in members) + "}"
        named.append(("all classes" if whole else _label(text), focal.mass))
    width = max(_cells(text) for text, _ in named)
    lines = ["Where the mass lies"]
    lines += [
        f"  {_padded(text, width)}  {mass:.3f}  {_bar(mass)}".rstrip() for text, mass in named
    ]
    return lines


def explained(study: Study, row: int) -> str:
    """Write one instance for the terminal.

    Parameters
    ----------
    study : Study
    row : int
        Which instance.
    """
    if not 0 <= row < len(study):
        raise ValueError(f"row must lie between 0 and {len(study) - 1}; got {row}.")
    one = study.evidence[row]
    labels = [_label(label) for label in label_texts(one.classes)]
    focus = int(study.answers[row])
    p, bel, pl, decided = (
        to_numpy(array)[0]
        for array in (one.probability, one.belief, one.plausibility, one.decide())
    )
    words = study.sentence(row)
    title = f"{_label(study.title)}, row {row}"
    if study.truth is not None:
        title += f": true class {labels[int(study.truth[row])]}"
    return "\n".join(
        [
            title,
            "",
            words[:1].upper() + "".join(c if c.isprintable() else "�" for c in words[1:]),
            "",
            *_weights(study, row, focus, labels[focus]),
            "",
            *_classes(labels, p, bel, pl, decided),
            "",
            *_sets(study, row, labels),
            "",
            f"Ignorance {float(one.ignorance[0]):.3f}, conflict {float(one.conflict[0]):.3f}",
        ]
    )
