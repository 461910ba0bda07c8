"""The reasons of each row for a class over another, in log-odds: the answer over the runner-up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray, Label
from shafer._validation import one_position, to_numpy
from shafer.evidence.evidence import Evidence
from shafer.evidence.most_probable import most_probable_but
from shafer.evidence.reasons import RankedReasons, ReasonOptions, ranked_reasons, reason_values


@final
@dataclass(frozen=True, eq=False)
class RowReasons:
    """At most R reasons for each of n rows, the strongest first.

    Attributes
    ----------
    classes, over : arrays of shape (n,)
        Positions of the class that the reasons are for, and of the class it is compared with.
    component, value, code, text : arrays of shape (n, R)
        Name, value of the input, and the user's code and text; None where there is none.
    weight, share : arrays of shape (n, R)
        What the component adds to the log-odds, and its share of all that is added to them; NaN
        where there are fewer reasons.
    lower, upper : arrays of shape (n, R)
        The 90 % interval of the weight; NaN if the evidence has no errors.
    """

    classes: NDArray[np.intp]
    over: NDArray[np.intp]
    component: NDArray[np.object_]
    value: NDArray[np.object_]
    code: NDArray[np.object_]
    text: NDArray[np.object_]
    weight: FloatArray
    share: FloatArray
    lower: FloatArray
    upper: FloatArray


def row_reasons(
    evidence: Evidence,
    top: int,
    *,
    class_: Label | None = None,
    over: Label | None = None,
    codes: Mapping[str, Any] | None = None,
) -> RowReasons:
    """Return the components with the largest positive contrasts of each row.

    Parameters
    ----------
    evidence : Evidence
    top : int
        Reasons for each row, R.
    class_ : class label, optional
        By default the most probable class of each row.
    over : class label, optional
        By default the most probable other class of each row.
    codes : mapping, optional
        As in :meth:`shafer.Evidence.reasons`.
    """
    logits = to_numpy(evidence.logits)
    n = len(evidence)
    classes = np.argmax(logits, axis=1)
    if class_ is not None:
        classes = np.full(n, one_position(class_, evidence.classes, "class_"))
    rivals = most_probable_but(logits, classes)
    if over is not None:
        rivals = np.full(n, one_position(over, evidence.classes, "over"))
    found: dict[str, NDArray[Any]] = {
        name: np.full((n, top), None, dtype=object)
        for name in ("component", "value", "code", "text")
    }
    numbers = ("weight", "share", "lower", "upper")
    found |= {name: np.full((n, top), np.nan) for name in numbers}
    labels = evidence.classes.tolist()
    asked = ReasonOptions(top, codes, distinct=True, keep="positive")
    for a, b in np.unique(np.stack([classes, rivals], axis=1), axis=0).tolist():
        rows = np.flatnonzero((classes == a) & (rivals == b))
        part = evidence if len(rows) == n else evidence[rows]
        ranked = ranked_reasons(part, labels[a], labels[b], asked)
        place = rows[ranked.row], ranked.rank
        for name, values in _filled(part, ranked).items():
            found[name][place] = values
    return RowReasons(classes, rivals, **found)


def _filled(evidence: Evidence, ranked: RankedReasons) -> dict[str, NDArray[Any]]:
    """Return an array of one entry for each reason, for each attribute that is known."""
    names = _objects(evidence.component_names)
    values = reason_values(evidence, ranked)
    values[values != values] = None  # missing inputs
    filled = {
        "component": names[ranked.component],
        "value": values,
        "weight": ranked.weight,
        "share": ranked.share,
    }
    if ranked.lower is not None and ranked.upper is not None:
        filled |= {"lower": ranked.lower, "upper": ranked.upper}
    if ranked.codes is not None:
        codes = [ranked.codes.get(g, (None, None)) for g in range(len(names))]
        filled["code"] = _objects(code for code, _ in codes)[ranked.component]
        filled["text"] = _objects(text for _, text in codes)[ranked.component]
    return filled


def _objects(values: Iterable[Any]) -> NDArray[np.object_]:
    given = list(values)
    found = np.empty(len(given), dtype=object)
    found[:] = given
    return found
