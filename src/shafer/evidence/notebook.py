"""Evidence in a terminal line and in a notebook. Every label is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._text import shortened
from shafer.evidence.table import set_names
from shafer.evidence.words import below_belief_words

if TYPE_CHECKING:
    from shafer.evidence.mass_evidence import MassEvidence

_MOST_ROWS = 5
_MOST_CLASSES = 6
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
