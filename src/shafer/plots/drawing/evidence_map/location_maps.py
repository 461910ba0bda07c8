"""The values that a map shows: evidence for a class, ignorance, or disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._typing import FloatArray, Label
from shafer._validation import to_numpy
from shafer.evidence import Evidence
from shafer.plots.drawing.compared_classes import Compared
from shafer.plots.drawing.evidence_arrays import numbers
from shafer.plots.drawing.evidence_map.location_disagreement import disagreement_with_others
from shafer.plots.drawing.evidence_map.map_words import (
    CONFLICT_TITLE,
    IGNORANCE_TITLE,
    class_title,
    sums_text,
)
from shafer.plots.drawing.own_base_rate import base_rate_position, shares_base_rate

KINDS = ("evidence", "ignorance", "disagreement")


@final
@dataclass(frozen=True, eq=False)
class LocationMap:
    """One map: a value of each component, (G,), and the words around it.

    Attributes
    ----------
    kind : {"evidence", "ignorance", "disagreement"}
    values : array of shape (G,)
    title : str
    caption : str
        Written below the map.
    label, over : class labels, optional
        The class, and the one that it is compared with, of a map of evidence.
    """

    kind: str
    values: FloatArray
    title: str
    caption: str = ""
    label: Label | None = None
    over: Label | None = None


def evidence_map(evidence: Evidence, compared: Compared, probability: FloatArray) -> LocationMap:
    """Return the map of the evidence for a class, maybe over another one, in one instance."""
    values, labels = compared.weights(evidence)[0], evidence.classes.tolist()
    base = base_rate_position(evidence)
    there = values if base is None else np.delete(values, base)
    sums = float(there[there > 0].sum()), float(there[there < 0].sum())
    own = None if base is None else float(values[base])
    mine = float(probability[compared.class_])
    other = None if compared.over is None else float(probability[compared.over])
    label = labels[compared.class_]
    over = None if compared.over is None else labels[compared.over]
    return LocationMap(
        "evidence",
        values,
        class_title(label, over, mine, other),
        sums_text(label, over, sums, own, shares_base_rate(evidence)),
        label,
        over,
    )


def ignorance_map(evidence: Evidence) -> LocationMap:
    """Return the ignorance of each location's own mass function, in one instance."""
    values = np.asarray(to_numpy(evidence.components.ignorance)[0], dtype=np.float64)
    return LocationMap("ignorance", values, IGNORANCE_TITLE)


def disagreement_map(evidence: Evidence) -> LocationMap:
    """Return the conflict of each location with all others together, in one instance."""
    values = disagreement_with_others(numbers(evidence.weights)[0])
    return LocationMap("disagreement", values, CONFLICT_TITLE)


def read_kinds(show: str | Sequence[str]) -> tuple[str, ...]:
    """Return what to show, each once."""
    asked = (show,) if isinstance(show, str) else tuple(show)
    if not asked or any(kind not in KINDS for kind in asked):
        raise ValueError(
            f"show must be one or several of {', '.join(map(repr, KINDS))}; got {show!r}."
        )
    return tuple(dict.fromkeys(asked))
