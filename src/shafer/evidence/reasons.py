"""Reasons: the components with the largest weights for a class, with codes and input values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import one_position
from shafer._column import ColumnKind
from shafer._typing import Array, FloatArray, Label
from shafer.decision.policy import answers
from shafer.evidence.base_rate import base_rate_positions
from shafer.evidence.contrast import most_probable_but
from shafer.evidence.errors import class_std, interval, known_errors
from shafer.evidence.table import label_texts, native_frame

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence
    from shafer.texts.spans import WordSpans


_KEEP = ("all", "positive", "clear")
_LEVEL = 0.9  # of the intervals
_CELLS = 2**21  # weights (rows, G) in memory at a time
_FEW = 16  # reasons that are found one after the other, faster than by sorting all components
_MOST_COLUMNS = 4  # of one component, whose values are shown together
_OF_EACH = ("row", "rank", "component", "class_", "weight", "share", "lower", "upper")


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
    codes: dict[int, tuple[Any, Any]] | None = None


def ranked_reasons(
    ev: Evidence, class_: Label | None, over: Label | None, asked: ReasonOptions
) -> RankedReasons:
    """Return the reasons that :meth:`shafer.Evidence.reasons` documents."""
    if ev.parts:
        raise ValueError(
            "reasons needs the evidence of whole rows; got the evidence of single components "
            "(ev.components). Call reasons on the evidence itself."
        )
    apart = base_rate_positions(ev.source, ev.component_names)
    candidates = [g for g in range(ev.n_components) if g not in apart]
    if not candidates:
        raise ValueError("reasons needs a component besides the base rate; there is none.")
    codes = _codes_of(ev, asked.codes, candidates)
    kinds = _kinds(ev, codes, candidates) if asked.distinct else np.arange(len(candidates))
    size = max(1, _CELLS // ev.n_components)  # the weights of sparse rows are never all in memory
    if len(ev) <= size:
        return replace(_ranked_reasons(ev, class_, over, asked, candidates, kinds), codes=codes)
    parts = []
    for start in range(0, len(ev), size):
        some = ev[np.arange(start, min(start + size, len(ev)))]
        part = _ranked_reasons(some, class_, over, asked, candidates, kinds)
        parts.append(replace(part, row=part.row + start))
    joined: dict[str, Any] = {}
    for name in _OF_EACH:
        found = [getattr(part, name) for part in parts]
        joined[name] = None if found[0] is None else np.concatenate(found)
    return RankedReasons(**joined, codes=codes)


def _ranked_reasons(
    ev: Evidence,
    class_: Label | None,
    over: Label | None,
    asked: ReasonOptions,
    candidates: list[int],
    kinds: NDArray[np.intp],
) -> RankedReasons:
    """Rank the components that may be reasons, in rows whose weights fit in memory."""
    classes, weights = _asked_weights(ev, class_, over)
    order = _ranked(weights[:, candidates], kinds, asked.top)
    components = np.asarray(candidates)[order]
    row, rank = (x.ravel() for x in np.indices(components.shape))
    component = components.ravel()
    weight = weights[row, component]
    std = _asked_std(ev, classes, over, asked.keep)[row, component]
    if asked.keep != "all":
        low = weight if asked.keep == "positive" else interval(weight, std, ev.errors, _LEVEL)[0]
        kept = low > _rounding(ev, weights)[row]
        row, rank, component, weight, std = (x[kept] for x in (row, rank, component, weight, std))
    total = np.maximum(weights[:, candidates], 0.0).sum(axis=1)[row]
    positive = np.maximum(weight, 0.0)
    share = np.divide(positive, total, out=np.zeros_like(weight), where=total > 0.0)
    lower, upper = None, None
    if ev.errors is not None:
        lower, upper = interval(weight, std, ev.errors, _LEVEL)
    return RankedReasons(row, rank, component, classes[row], weight, share, lower, upper)


def _rounding(ev: Evidence, weights: FloatArray) -> FloatArray:
    """Return how far rounding can move a weight of each row, (n,): it is no reason below that."""
    eps = float(array_namespace(ev.logits).finfo(ev.logits.dtype).eps)
    return np.asarray(16.0 * eps * np.abs(weights).sum(axis=1))


def reasons_frame(
    ev: Evidence,
    class_: Label | None,
    over: Label | None,
    asked: ReasonOptions,
    backend: str | None,
) -> Any:
    """Return the same as a table."""
    found = ranked_reasons(ev, class_, over, asked)
    table: dict[str, Any] = {
        "row": found.row,
        "rank": found.rank + 1,
        "component": [ev.component_names[g] for g in found.component],
        "value": _values(ev, found, backend),
        "weight" if over is None else "log_odds": found.weight,
        "share": found.share,
        "class": ev.classes[found.class_].tolist(),
    }
    if over is not None:
        position = one_position(over, ev.classes, "over")
        table["over"] = [ev.classes[position]] * len(found.row)
    if found.lower is not None:
        table["lower"], table["upper"] = found.lower, found.upper
    if found.codes is not None:
        table["code"] = [found.codes[g][0] for g in found.component]
        table["text"] = [found.codes[g][1] for g in found.component]
    if ev.index is not None:
        table["index"] = [ev.index[i] for i in found.row]
    return native_frame(table, None, backend)


def _asked_weights(
    ev: Evidence, class_: Label | None, over: Label | None
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the position of the class of each row, and the weights of all components for it."""
    source = ev.unchanged_source()
    n = len(ev)
    against = None if over is None else one_position(over, ev.classes, "over")
    if against is not None and (
        class_ is None or against == one_position(class_, ev.classes, "class_")
    ):
        raise ValueError(
            "over needs class_, the class to compare with it, and another one; got "
            f"class_={class_!r} and over={over!r}. Pass two different classes, or leave out over."
        )
    if class_ is None:
        classes = answers(to_numpy(ev.logits), ev.cutoff)
    else:
        classes = np.full(n, one_position(class_, ev.classes, "class_"))
    weights = np.empty(source.shape[:2])
    for k in np.unique(classes):
        rows = np.flatnonzero(classes == k)
        part = source if len(rows) == n else source.rows(rows)
        chosen = [int(k)] if against is None else [int(k), against]
        found = to_numpy(part.of_classes(chosen).dense()).astype(np.float64)
        weights[rows] = found[..., 0] - (0.0 if against is None else found[..., 1])
    return classes, weights


def _asked_std(
    ev: Evidence, classes: NDArray[np.intp], over: Label | None, keep: str
) -> FloatArray:
    """Return the standard errors of the weights that were asked for; zeros if not known."""
    if ev.errors is None and keep != "clear":
        return np.zeros((len(ev), ev.n_components))
    against = None if over is None else one_position(over, ev.classes, "over")
    return class_std(known_errors(ev.errors), classes, against)


def _codes_of(
    ev: Evidence, codes: Mapping[str, Any] | None, candidates: list[int]
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
    ev: Evidence, codes: dict[int, tuple[Any, Any]] | None, candidates: list[int]
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
    n_kinds = len(np.unique(kinds))
    count, alone = min(int(top), n_kinds), n_kinds == len(kinds)
    if alone and count > _FEW:
        return np.argsort(-weights, axis=1, kind="stable")[:, :count]
    left = weights.copy()
    order = np.empty((len(left), count), dtype=np.intp)
    for rank in range(count):
        order[:, rank] = np.argmax(left, axis=1)
        if alone:
            left[np.arange(len(left)), order[:, rank]] = -np.inf
        else:
            left[kinds[None, :] == kinds[order[:, rank]][:, None]] = -np.inf
    return order


def reason_values(ev: Evidence, found: RankedReasons) -> NDArray[np.object_]:
    """Return the value of the input behind each reason; None where it has none."""
    values = np.full(len(found.row), None, dtype=object)
    if ev.inputs is not None:
        for g in np.unique(found.component):
            column = ev.inputs.values(int(g))
            if column is not None:
                here = np.flatnonzero(found.component == g)
                values[here] = column[found.row[here]]
    return values


def _values(ev: Evidence, found: RankedReasons, backend: str | None) -> Any:
    """Return the values as numbers if all are numbers, else as the frame library takes them."""
    values = reason_values(ev, found)
    kinds = {type(value) for value in values if value is not None}
    if all(issubclass(kind, float | int | np.number) and kind is not bool for kind in kinds):
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if backend == "pandas":
        return values.tolist()
    return [None if value is None else str(value) for value in values]


# The reasons of each row for a class over another, in log-odds: the answer over the runner-up.


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
    log_odds, share : arrays of shape (n, R)
        What the component adds to the log-odds, and its share of all that is added to them; NaN
        where there are fewer reasons.
    lower, upper : arrays of shape (n, R)
        The 90 % interval of the log-odds; NaN if the evidence has no errors.
    """

    classes: NDArray[np.intp]
    over: NDArray[np.intp]
    component: NDArray[np.object_]
    value: NDArray[np.object_]
    code: NDArray[np.object_]
    text: NDArray[np.object_]
    log_odds: FloatArray
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
    logits: Array | None = None,
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
    logits : array of shape (n, K), optional
        The logits that tell what is most probable; by default those of the evidence.
    """
    given = to_numpy(evidence.logits if logits is None else logits)
    n = len(evidence)
    classes = answers(given, evidence.cutoff)
    if class_ is not None:
        classes = np.full(n, one_position(class_, evidence.classes, "class_"))
    rivals = most_probable_but(given, classes)
    if over is not None:
        rivals = np.full(n, one_position(over, evidence.classes, "over"))
    found: dict[str, NDArray[Any]] = {
        name: np.full((n, top), None, dtype=object)
        for name in ("component", "value", "code", "text")
    }
    numbers = ("log_odds", "share", "lower", "upper")
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
        "log_odds": ranked.weight,
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


# The reasons of each row as columns of a table: texts and numbers, the same in every chunk.

_PARTS = ("value", "log_odds", "share")
_NUMBERS = ("log_odds", "share", "lower", "upper")


def reason_column_kinds(top: int, *, errors: bool, codes: bool) -> dict[str, ColumnKind]:
    """Return the names of the columns, and what they hold, before there is any row.

    Parameters
    ----------
    top : int
        Reasons for each row.
    errors, codes : bool
        Whether the evidence has errors, and whether there are codes.
    """
    parts = (*_PARTS, *(("lower", "upper") if errors else ()), *(("code", "text") if codes else ()))
    kinds: dict[str, ColumnKind] = {"reasons_class": "text", "reasons_over": "text"}
    for rank in range(1, top + 1):
        kinds[f"reason_{rank}"] = "text"
        for part in parts:
            kinds[f"reason_{rank}_{part}"] = "number" if part in _NUMBERS else "text"
    return kinds


def reason_columns(
    evidence: Evidence,
    top: int,
    *,
    class_: Label | None = None,
    over: Label | None = None,
    codes: Mapping[str, Any] | None = None,
    logits: Array | None = None,
) -> dict[str, Any]:
    """Return the columns: for each rank the component, its value, log-odds, share and code.

    Evidence with error bars also gives the ends of an interval of the log-odds. Texts are lists,
    numbers are arrays. Values are texts, so that all chunks of a table have the same types. Cells
    are empty where a row has fewer reasons.

    Parameters
    ----------
    evidence : Evidence
    top : int
        Reasons for each row.
    class_ : class label, optional
        The class that the reasons are for; by default each row's answer.
    over : class label, optional
        The class it is compared with; by default the most probable other class of each row.
    codes : mapping, optional
        Component -> (code, text).
    logits : array of shape (n, K), optional
        As in :func:`row_reasons`.
    """
    found = row_reasons(evidence, top, class_=class_, over=over, codes=codes, logits=logits)
    labels = np.array(label_texts(evidence.classes), dtype=object)
    columns: dict[str, Any] = {
        "reasons_class": labels[found.classes].tolist(),
        "reasons_over": labels[found.over].tolist(),
    }
    for r in range(top):
        name = f"reason_{r + 1}"
        columns[name] = found.component[:, r].tolist()
        columns[f"{name}_value"] = [_value(value) for value in found.value[:, r].tolist()]
        columns[f"{name}_log_odds"] = found.log_odds[:, r]
        columns[f"{name}_share"] = found.share[:, r]
        if evidence.errors is not None:
            columns[f"{name}_lower"] = found.lower[:, r]
            columns[f"{name}_upper"] = found.upper[:, r]
        if codes is not None:
            columns[f"{name}_code"] = [_text(code) for code in found.code[:, r]]
            columns[f"{name}_text"] = [_text(text) for text in found.text[:, r]]
    return columns


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _value(value: Any) -> str | None:
    """Write a value of an input: whole numbers without a point, missing ones as nothing."""
    if value is None or value != value:
        return None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


# The values of the inputs behind each component, for tables of reasons.


class InputValues(ABC):
    """The user's rows, and which of their columns each component was computed from."""

    @abstractmethod
    def columns(self, component: int) -> tuple[str, ...]:
        """Return the names of the columns behind a component; empty if they are not known."""

    @property
    @abstractmethod
    def order(self) -> tuple[str, ...]:
        """The names of all columns, in the order of the model's input."""

    @property
    @abstractmethod
    def is_sparse(self) -> bool:
        """Whether the rows are a sparse table, whose columns should not be listed in full."""

    @abstractmethod
    def column(self, name: str) -> Array | None:
        """Return the values of a column; None if they are not known."""

    def values(self, component: int) -> Array | None:
        """Return the values of a component's columns, one for each row; None if not known."""
        names = self.columns(component)
        if not 1 <= len(names) <= _MOST_COLUMNS:
            return None
        columns = [self.column(name) for name in names]
        if any(column is None for column in columns):
            return None
        if len(columns) == 1:
            return columns[0]
        rows = zip(*columns, strict=True)
        texts = [", ".join(f"{n} = {v}" for n, v in zip(names, row, strict=True)) for row in rows]
        return np.array(texts, dtype=object)

    @abstractmethod
    def rows(self, positions: NDArray[np.intp]) -> InputValues:
        """Keep some instances."""

    @abstractmethod
    def same_rows(self, other: InputValues) -> bool:
        """Return whether both are about the same table: the same values in the same cells."""

    @abstractmethod
    def grouped(self, groups: Sequence[Sequence[int]]) -> InputValues:
        """Join components; a group of one renames, components in no group are dropped."""

    def is_word(self, component: int) -> bool:  # noqa: ARG002 - inputs that are texts use it
        """Return whether a component is a word of a text, one of many from the same column."""
        return False

    def text_columns(self) -> tuple[str | None, ...]:
        """Return the columns of texts whose words are components; None if each row is a text."""
        return ()

    def word_spans(
        self,
        row: int,  # noqa: ARG002 - inputs that are texts use them
        text: str | None = None,  # noqa: ARG002
        column: str | None = None,  # noqa: ARG002
    ) -> WordSpans | None:
        """Return where the components are in the text of a row; None if it has no texts.

        Parameters
        ----------
        row : int
            Position of the instance.
        text : str, optional
            The text; by default the one that the evidence was computed from.
        column : str, optional
            The column of texts, if there are several.
        """
        return None
