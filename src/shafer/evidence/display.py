"""Evidence in a terminal line and in a notebook. Every label is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence.tables import set_names

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence

_MOST_ROWS = 5
_MOST_CLASSES = 6


def text(evidence: Evidence) -> str:
    """Return a one-line description."""
    labels = evidence.classes.tolist()
    if evidence.parts:
        size = f"{len(evidence)} instances × {len(evidence.parts)} components, each on its own"
    else:
        size = f"{len(evidence)} instances, {evidence.n_components} components"
    shown = ", ".join(repr(label) for label in labels[:_MOST_CLASSES])
    more = ", ..." if len(labels) > _MOST_CLASSES else ""
    return f"<Evidence: {size}, {len(labels)} classes ({shown}{more})>"


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _interval(low: float, probability: float, high: float) -> str:
    """Draw [bel, pl] as a bar with a tick at the probability."""
    return (
        '<div style="position:relative;width:8em;height:.8em;border:1px solid #8888">'
        f'<div style="position:absolute;left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%;'
        'top:0;bottom:0;background:#0072b288"></div>'
        f'<div style="position:absolute;left:{100 * probability:.1f}%;width:2px;top:0;bottom:0;'
        'background:#d55e00"></div></div>'
    )


def html(evidence: Evidence) -> str:
    """Return a table of the first instances and, per instance, the most probable classes."""
    if evidence.parts:
        return f"<p>{escape(text(evidence))}</p>"
    head = evidence[:_MOST_ROWS]
    probability, belief, plausibility = (
        to_numpy(getattr(head, name)) for name in ("probability", "belief", "plausibility")
    )
    ignorance, conflict = to_numpy(head.ignorance), to_numpy(head.conflict)
    decided = set_names(to_numpy(head.decide("interval_dominance")), head.classes)
    rows = []
    for i in range(len(head)):
        order = np.argsort(-probability[i], kind="stable")[:_MOST_CLASSES]
        cells = "".join(
            f"<div style='display:flex;gap:.5em'>"
            f"{_interval(belief[i, k], probability[i, k], plausibility[i, k])}"
            f"{escape(_cut(str(evidence.classes[k])))} {probability[i, k]:.3f} "
            f"[{belief[i, k]:.3f}, {plausibility[i, k]:.3f}]</div>"
            for k in order
        )
        rows.append(
            f"<tr><td>{i}</td><td style='text-align:left'>{cells}</td><td>{ignorance[i]:.3f}</td>"
            f"<td>{conflict[i]:.3f}</td><td>{escape(_cut(decided[i]))}</td></tr>"
        )
    return (
        f"<p>{escape(text(evidence))}</p><table><thead><tr><th></th>"
        "<th>probability [belief, plausibility]</th><th>ignorance</th><th>conflict</th>"
        f"<th>decision</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )
