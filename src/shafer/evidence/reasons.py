"""Reasons: the components with the largest weights for a class, with codes and input values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray, Label
from shafer._validation import one_position, to_numpy
from shafer.evidence.base_rate_components import base_rate_positions
from shafer.evidence.io.frame_table import native_frame
from shafer.evidence.weight_errors.error_intervals import class_std, interval, known_errors

if TYPE_CHECKING:
    from shafer.evidence.weighed_evidence import WeighedEvidence

_KEEP = ("all", "positive", "clear")
_LEVEL = 0.9  # of the intervals


@final
@dataclass(frozen=True)
class ReasonOptions:
    """Which components count as reasons, as in :meth:`shafer.Evidence.reasons`."""

    top: int
    codes: Mapping[str, Any] | None
    distinct: bool
    keep: str

    def __post_init__(self) -> None:
        top: Any = self.top
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top must be an integer of at least 1; got {top!r}.")
        if self.keep not in _KEEP:
            raise ValueError(f"keep must be 'all', 'positive' or 'clear'; got {self.keep!r}.")
        if self.codes is not None and not isinstance(self.codes, Mapping):
            raise ValueError(
                "codes must be a mapping from component to code, or to a pair (code, text); got "
                f"{type(self.codes).__name__}."
            )


@final
@dataclass(frozen=True, eq=False)
class RankedReasons:
    """The reasons of all rows as arrays, one entry for each reason.

    Attributes
    ----------
    row, rank, component, class_ : arrays of positions; the first rank is 0
    weight, share : arrays
    lower, upper : arrays or None
        The interval of the weight, if the evidence has errors.
    codes : dict from component to (code, text), or None
    """

    row: NDArray[np.intp]
    rank: NDArray[np.intp]
    component: NDArray[np.intp]
    class_: NDArray[np.intp]
    weight: FloatArray
    share: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    codes: dict[int, tuple[Any, Any]] | None


def ranked_reasons(
    ev: WeighedEvidence, for_: Label | None, over: Label | None, asked: ReasonOptions
) -> RankedReasons:
    """Return the reasons that :meth:`shafer.Evidence.reasons` documents."""
    if ev.parts:
        raise ValueError(
            "reasons needs the evidence of whole rows; got the evidence of single components "
            "(ev.components). Call reasons on the evidence itself."
        )
    classes, weights = _asked_weights(ev, for_, over)
    apart = base_rate_positions(ev.source, ev.component_names)
    candidates = [g for g in range(ev.n_components) if g not in apart]
    if not candidates:
        raise ValueError("reasons needs a component besides the base rate; there is none.")
    codes = _codes_of(ev, asked.codes, candidates)
    kinds = _kinds(ev, codes, candidates) if asked.distinct else np.arange(len(candidates))
    order = _ranked(weights[:, candidates], kinds, asked.top)
    components = np.asarray(candidates)[order]
    row, rank = (x.ravel() for x in np.indices(components.shape))
    component = components.ravel()
    weight = weights[row, component]
    std = _asked_std(ev, classes, over, asked.keep)[row, component]
    if asked.keep != "all":
        low = weight if asked.keep == "positive" else interval(weight, std, ev.errors, _LEVEL)[0]
        kept = low > 0.0
        row, rank, component, weight, std = (x[kept] for x in (row, rank, component, weight, std))
    total = np.maximum(weights[:, candidates], 0.0).sum(axis=1)[row]
    positive = np.maximum(weight, 0.0)
    share = np.divide(positive, total, out=np.zeros_like(weight), where=total > 0.0)
    lower, upper = None, None
    if ev.errors is not None:
        lower, upper = interval(weight, std, ev.errors, _LEVEL)
    return RankedReasons(row, rank, component, classes[row], weight, share, lower, upper, codes)


def reasons_frame(
    ev: WeighedEvidence,
    for_: Label | None,
    over: Label | None,
    asked: ReasonOptions,
    backend: str | None,
) -> Any:
    """Return the same as a table."""
    found = ranked_reasons(ev, for_, over, asked)
    table: dict[str, Any] = {
        "row": found.row,
        "rank": found.rank + 1,
        "component": [ev.component_names[g] for g in found.component],
        "value": _values(ev, found, backend),
        "weight": found.weight,
        "share": found.share,
        "class": ev.classes[found.class_].tolist(),
    }
    if found.lower is not None:
        table["lower"], table["upper"] = found.lower, found.upper
    if found.codes is not None:
        table["code"] = [found.codes[g][0] for g in found.component]
        table["text"] = [found.codes[g][1] for g in found.component]
    if ev.index is not None:
        table["index"] = [ev.index[i] for i in found.row]
    return native_frame(table, None, backend)


def _asked_weights(
    ev: WeighedEvidence, for_: Label | None, over: Label | None
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the position of the class of each row, and the weights of all components for it."""
    source = ev.unchanged_source()
    n = len(ev)
    against = None if over is None else one_position(over, ev.classes, "over")
    if against is not None and (for_ is None or against == one_position(for_, ev.classes, "for_")):
        raise ValueError(
            f"over needs for_, the class to compare with it, and another one; got for_={for_!r} "
            f"and over={over!r}. Pass two different classes, or leave out over."
        )
    if for_ is None:
        classes: NDArray[np.intp] = np.argmax(to_numpy(ev.logits), axis=1)
    else:
        classes = np.full(n, one_position(for_, ev.classes, "for_"))
    weights = np.empty(source.shape[:2])
    for k in np.unique(classes):
        rows = np.flatnonzero(classes == k)
        part = source if len(rows) == n else source.rows(rows)
        chosen = [int(k)] if against is None else [int(k), against]
        found = to_numpy(part.of_classes(chosen).dense()).astype(np.float64)
        weights[rows] = found[..., 0] - (0.0 if against is None else found[..., 1])
    return classes, weights


def _asked_std(
    ev: WeighedEvidence, classes: NDArray[np.intp], over: Label | None, keep: str
) -> FloatArray:
    """Return the standard errors of the weights that were asked for; zeros if not known."""
    if ev.errors is None and keep != "clear":
        return np.zeros((len(ev), ev.n_components))
    against = None if over is None else one_position(over, ev.classes, "over")
    return class_std(known_errors(ev.errors), classes, against)


def _codes_of(
    ev: WeighedEvidence, codes: Mapping[str, Any] | None, candidates: list[int]
) -> dict[int, tuple[Any, Any]] | None:
    """Return the (code, text) of each component: by its name, else by its column of the data."""
    if codes is None:
        return None
    found: dict[int, tuple[Any, Any]] = {}
    used = set()
    for g in candidates:
        columns = () if ev.inputs is None else ev.inputs.columns(g)
        names = (ev.component_names[g], *(columns if len(columns) == 1 else ()))
        name = next((name for name in names if name in codes), None)
        used.add(name)
        found[g] = (None, None) if name is None else _pair(codes[name])
    unknown = [name for name in codes if name not in used]
    if len(unknown) == len(codes) > 0:
        raise ValueError(
            f"codes has none of the components; it has {unknown[:5]}, and the components are "
            f"{[ev.component_names[g] for g in candidates[:5]]}. Use the names of components or "
            "columns as keys."
        )
    return found


def _pair(code: Any) -> tuple[Any, Any]:
    if isinstance(code, str) or not isinstance(code, tuple | list):
        return code, None
    if len(code) != 2:
        raise ValueError(f"A code must be one value, or a pair (code, text); got {code!r}.")
    return code[0], code[1]


def _kinds(
    ev: WeighedEvidence, codes: dict[int, tuple[Any, Any]] | None, candidates: list[int]
) -> NDArray[np.intp]:
    """Give numbers to the components so that those that count once have the same number."""
    keys: dict[Any, int] = {}
    numbers = []
    for g in candidates:
        key: Any = ("component", g)
        columns = () if ev.inputs is None else ev.inputs.columns(g)
        if codes is not None and codes[g][0] is not None:
            key = ("code", codes[g][0])
        elif len(columns) == 1 and not (ev.inputs is not None and ev.inputs.is_word(g)):
            key = ("column", columns[0])
        numbers.append(keys.setdefault(key, len(keys)))
    return np.asarray(numbers)


def _ranked(weights: FloatArray, kinds: NDArray[np.intp], top: int) -> NDArray[np.intp]:
    """Return the largest weights of each row (n, G) in order, one of each kind, (n, ≤ top)."""
    count = min(int(top), len(np.unique(kinds)))
    if len(np.unique(kinds)) == len(kinds):
        return np.argsort(-weights, axis=1, kind="stable")[:, :count]
    left = weights.copy()
    order = np.empty((len(left), count), dtype=np.intp)
    for rank in range(count):
        order[:, rank] = np.argmax(left, axis=1)
        left[kinds[None, :] == kinds[order[:, rank]][:, None]] = -np.inf
    return order


def reason_values(ev: WeighedEvidence, found: RankedReasons) -> NDArray[np.object_]:
    """Return the value of the input behind each reason; None where it has none."""
    values = np.full(len(found.row), None, dtype=object)
    if ev.inputs is not None:
        for g in np.unique(found.component):
            column = ev.inputs.values(int(g))
            if column is not None:
                here = np.flatnonzero(found.component == g)
                values[here] = column[found.row[here]]
    return values


def _values(ev: WeighedEvidence, found: RankedReasons, backend: str | None) -> Any:
    """Return the values as numbers if all are numbers, else as the frame library takes them."""
    values = reason_values(ev, found)
    kinds = {type(value) for value in values if value is not None}
    if all(issubclass(kind, float | int | np.number) and kind is not bool for kind in kinds):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if backend == "pandas":
        return values.tolist()
    return [None if value is None else str(value) for value in values]
