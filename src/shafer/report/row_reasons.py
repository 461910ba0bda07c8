"""The reasons of each row for a class over another, in log-odds: the answer over the runner-up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray, Label
from shafer._validation import one_position, to_numpy
from shafer.evidence import Evidence
from shafer.report.answer_and_rival import Positions, most_probable_but


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

    classes: Positions
    over: Positions
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
    for a, b in np.unique(np.stack([classes, rivals], axis=1), axis=0).tolist():
        rows = np.flatnonzero((classes == a) & (rivals == b))
        part = evidence if len(rows) == n else evidence[rows]
        table = part.reasons(labels[a], top, codes, over=labels[b], keep="positive")
        place = rows[table["row"].to_numpy()], table["rank"].to_numpy() - 1
        for name in found.keys() & set(table.columns):
            found[name][place] = _plain(table[name], found[name].dtype)
    return RowReasons(classes, rivals, **found)


def _plain(column: Any, dtype: Any) -> NDArray[Any]:
    """Return a column of a pandas frame as numbers, or as objects with None for missing values."""
    if dtype.kind != "O":
        return np.asarray(column, dtype=dtype)
    values = np.empty(len(column), dtype=object)
    values[:] = [None if value is None or value != value else value for value in column]
    return values
