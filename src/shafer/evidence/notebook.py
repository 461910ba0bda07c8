"""Evidence in a terminal line and in a notebook. Every label is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, final

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._text import harmless, shortened
from shafer.decision.policy import Cutoff
from shafer.evidence.reasons import row_reasons
from shafer.evidence.table import label_texts, set_names
from shafer.evidence.words import below_belief_words

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence
    from shafer.evidence.mass_evidence import MassEvidence

_MOST_ROWS = 5
_MOST_CLASSES = 6
_REASONS = 3
# Notebooks would set a name such as $x$ as mathematics.
_OPEN = '<div class="tex2jax_ignore mathjax_ignore">'


def text(evidence: MassEvidence, size: str) -> str:
    """Return a one-line description; ``size`` counts instances and components in words."""
    labels = evidence.classes.tolist()
    shown = ", ".join(shortened(repr(label)) for label in labels[:_MOST_CLASSES])
    more = ", ..." if len(labels) > _MOST_CLASSES else ""
    name = type(evidence).__name__
    return f"<{name}: {size}, {len(labels)} classes ({shown}{more})>"


def paragraph(content: str) -> str:
    """Return a text as HTML that a notebook does not set as mathematics."""
    return f"{_OPEN}<p>{escape(content)}</p></div>"


def _interval(low: float, probability: float, high: float) -> str:
    """Draw [bel, pl] as a bar with a tick at the probability."""
    return (
        '<div style="position:relative;width:8em;height:.8em;border:1px solid #8888">'
        f'<div style="position:absolute;left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%;'
        'top:0;bottom:0;background:#0072b288"></div>'
        f'<div style="position:absolute;left:{100 * probability:.1f}%;width:2px;top:0;bottom:0;'
        'background:#d55e00"></div></div>'
    )


def _why_outside(probability: float, belief: float) -> str:
    """Return why the probability lies outside the interval, if it does."""
    why = below_belief_words(float(probability), float(belief))
    return f"<div style='font-size:85%;opacity:.75'>{why}</div>" if why else ""


def _left_out(evidence: MassEvidence) -> str:
    """Name the instances and classes that the table shows, if not all."""
    parts = []
    if len(evidence) > _MOST_ROWS:
        parts.append(f"the first {_MOST_ROWS} instances")
    if evidence.n_classes > _MOST_CLASSES:
        parts.append(f"the {_MOST_CLASSES} most probable classes of each")
    return f" Shown: {', '.join(parts)}." if parts else ""


def html(evidence: MassEvidence, scalars: Sequence[str]) -> str:
    """Return a table of the first instances and, per instance, the most probable classes.

    ``scalars`` are the names of the arrays (n,) of the evidence that the table shows.
    """
    head = evidence[:_MOST_ROWS]
    probability, belief, plausibility = (
        to_numpy(values) for values in (head.betting_probability, head.belief, head.plausibility)
    )
    numbers = np.stack([to_numpy(getattr(head, name)) for name in scalars], axis=1)
    decided = set_names(to_numpy(head.decide("interval_dominance")), head.classes)
    names = range(len(head)) if head.index is None else head.index
    rows = []
    for i, name in enumerate(names):
        order = np.argsort(-probability[i], kind="stable")[:_MOST_CLASSES]
        cells = "".join(
            f"<div style='display:flex;gap:.5em'>"
            f"{_interval(belief[i, k], probability[i, k], plausibility[i, k])}"
            f"{escape(shortened(str(evidence.classes[k])))} {probability[i, k]:.3f} "
            f"[{belief[i, k]:.3f}, {plausibility[i, k]:.3f}]</div>"
            f"{_why_outside(probability[i, k], belief[i, k])}"
            for k in order
        )
        rows.append(
            f"<tr><td>{escape(shortened(str(name)))}</td><td style='text-align:left'>{cells}</td>"
            + "".join(f"<td>{number:.3f}</td>" for number in numbers[i])
            + f"<td>{escape(shortened(decided[i]))}</td></tr>"
        )
    return (
        f"{_OPEN}<p>{escape(repr(evidence))}{_left_out(evidence)}</p><table><thead><tr><th></th>"
        "<th>betting probability [belief, plausibility]</th>"
        + "".join(f"<th>{name.replace('_', ' ')}</th>" for name in scalars)
        + f"<th>decision</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


# Evidence with weights: the answer of each row, its probability, and the strongest reasons.


@final
@dataclass(frozen=True)
class AnsweredRow:
    """A row as it is shown.

    Attributes
    ----------
    name : str
        Its label in the index, else its position.
    answer : str
    probability : float
        Of the answer.
    reasons : tuple of pairs
        What each multiplies the odds by, and the input in words.
    """

    name: str
    answer: str
    probability: float
    reasons: tuple[tuple[str, str], ...]


def answered_rows(evidence: Evidence) -> list[AnsweredRow]:
    """Return the first rows with their answers and reasons."""
    head = evidence[: min(_MOST_ROWS, len(evidence))]
    names = range(len(head)) if head.index is None else head.index
    found = row_reasons(head, _REASONS)
    labels, probability = label_texts(head.classes), to_numpy(head.probability)
    return [
        AnsweredRow(
            shortened(harmless(str(name))),
            shortened(harmless(labels[k])),
            float(probability[i, k]),
            tuple(
                (_factor(float(found.log_odds[i, r])), harmless(found.inputs[i, r]))
                for r in range(_REASONS)
                if found.component[i, r] is not None
            ),
        )
        for i, (name, k) in enumerate(zip(names, found.classes.tolist(), strict=True))
    ]


def _factor(log_odds: float) -> str:
    if log_odds > 13.8:
        return "× over a million"
    factor = float(np.exp(log_odds))
    return (
        f"× {factor:.2f}"
        if factor < 1.1
        else f"× {factor:.1f}"
        if factor < 10
        else f"× {factor:.0f}"
    )


_LEGEND = (
    "The strongest reasons for the answer, as factors on its odds over the most probable other "
    "class: × 2 doubles them. What counts against it is not shown."
)


def _rule(evidence: Evidence) -> str:
    """Say how the answer is found, if it is not the most probable class."""
    if evidence.cutoff is None:
        return ""
    if isinstance(evidence.cutoff, Cutoff):
        label = shortened(label_texts(evidence.classes)[evidence.cutoff.position])
        return f" The answer is {label} from a probability of {evidence.cutoff.threshold:.3g} on."
    return " The answer is the class of least expected loss."


def answers_html(evidence: Evidence) -> str:
    """Return a table of the first rows: the answer, its probability, three reasons."""
    try:
        rows = answered_rows(evidence)
    except ValueError:  # the weights are lost, or there is nothing but the base rate
        return paragraph(repr(evidence))
    left = f" Shown: the first {_MOST_ROWS} instances." if len(evidence) > len(rows) else ""
    lines = []
    for row in rows:
        reasons = "".join(
            f"<div><strong>{escape(factor)}</strong>&ensp;{escape(words)}</div>"
            for factor, words in row.reasons
        )
        lines.append(
            f"<tr><td>{escape(row.name)}</td><td style='text-align:left'>{escape(row.answer)}</td>"
            f"<td>{row.probability:.3f}</td>"
            f"<td style='text-align:left'>{reasons or 'no component favours it'}</td></tr>"
        )
    head = "<th></th><th style='text-align:left'>answer</th><th>probability</th>"
    head += "<th style='text-align:left'>reasons</th>"
    return (
        f"{_OPEN}<p>{escape(repr(evidence) + left + _rule(evidence))}</p><table><thead><tr>{head}"
        f"</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        f"<p style='font-size:85%;opacity:.75'>{_LEGEND}</p></div>"
    )


def answers_text(evidence: Evidence) -> str:
    """Return the same as lines of text."""
    try:
        rows = answered_rows(evidence)
    except ValueError:
        return repr(evidence)
    lines = [repr(evidence) + _rule(evidence)]
    width = max((len(row.name) for row in rows), default=0)
    wide = max((len(row.answer) for row in rows), default=0)
    factors = [factor for row in rows for factor, _ in row.reasons]
    long = max(map(len, factors), default=0)
    for row in rows:
        start = f"{row.name:<{width}}  {row.answer:<{wide}}  {row.probability:.3f}  "
        reasons = [f"{factor:<{long}} {words}" for factor, words in row.reasons]
        for reason in reasons or ["no component favours it"]:
            lines.append(start + reason)
            start = " " * len(start)
    if len(evidence) > len(rows):
        lines.append("...")
    if factors:
        lines.append("× 2 doubles the odds of the answer over the most probable other class.")
    return "\n".join(lines)
