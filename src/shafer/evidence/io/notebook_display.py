"""Evidence in a terminal line and in a notebook. Every label is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from shafer._validation import to_numpy
from shafer.evidence.io.frame_table import is_discounted, set_names

if TYPE_CHECKING:
    from shafer.evidence.discounted_evidence import DiscountedEvidence
    from shafer.evidence.evidence import Evidence

_MOST_ROWS = 5
_MOST_CLASSES = 6
# Notebooks would set a name such as $x$ as mathematics.
_OPEN = '<div class="tex2jax_ignore mathjax_ignore">'


def text(evidence: Evidence | DiscountedEvidence) -> str:
    """Return a one-line description."""
    labels = evidence.classes.tolist()
    if evidence.parts:
        size = f"{len(evidence)} instances × {len(evidence.parts)} components, each on its own"
    else:
        size = f"{len(evidence)} instances, {evidence.n_components} components"
    shown = ", ".join(_cut(repr(label)) for label in labels[:_MOST_CLASSES])
    more = ", ..." if len(labels) > _MOST_CLASSES else ""
    reliability = ""
    if is_discounted(evidence) and len(evidence):
        values = to_numpy(evidence.reliability)
        reliability = f", reliability {values.min():.3g} to {values.max():.3g}"
    name = type(evidence).__name__
    return f"<{name}: {size}, {len(labels)} classes ({shown}{more}){reliability}>"


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


def _left_out(evidence: Evidence | DiscountedEvidence) -> str:
    """Say which instances and classes the table shows, if not all."""
    parts = []
    if len(evidence) > _MOST_ROWS:
        parts.append(f"the first {_MOST_ROWS} instances")
    if evidence.n_classes > _MOST_CLASSES:
        parts.append(f"the {_MOST_CLASSES} most probable classes of each")
    return f" Shown: {', '.join(parts)}." if parts else ""


def html(evidence: Evidence | DiscountedEvidence) -> str:
    """Return a table of the first instances and, per instance, the most probable classes."""
    if evidence.parts:
        return f"{_OPEN}<p>{escape(text(evidence))}</p></div>"
    head = evidence[:_MOST_ROWS]
    probability, belief, plausibility = (
        to_numpy(getattr(head, name)) for name in ("probability", "belief", "plausibility")
    )
    scalars = {"ignorance": head.ignorance, "conflict": head.conflict}
    if is_discounted(head):
        scalars["of the source"] = head.epistemic_ignorance
        scalars = {name: scalars[name] for name in ("ignorance", "of the source", "conflict")}
    numbers = np.stack([to_numpy(values) for values in scalars.values()], axis=1)
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
            f"<tr><td>{i}</td><td style='text-align:left'>{cells}</td>"
            + "".join(f"<td>{number:.3f}</td>" for number in numbers[i])
            + f"<td>{escape(_cut(decided[i]))}</td></tr>"
        )
    return (
        f"{_OPEN}<p>{escape(text(evidence))}{_left_out(evidence)}</p><table><thead><tr><th></th>"
        "<th>probability [belief, plausibility]</th>"
        + "".join(f"<th>{name}</th>" for name in scalars)
        + f"<th>decision</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
