"""Reasons: the components with the largest weights for a class, with codes and input values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy.special import softmax

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import is_missing, one_position
from shafer._column import ColumnKind
from shafer._typing import Array, FloatArray, Label
from shafer.decision.policy import answers
from shafer.evidence.contrast import most_probable_but
from shafer.evidence.errors import class_std, interval, known_errors
from shafer.evidence.table import label_texts, native_frame
from shafer.evidence.words import Usual, input_words, reason_words

if TYPE_CHECKING:
    from shafer.evidence.evidence import Evidence
    from shafer.texts.spans import WordSpans


UNITS = ("log_odds", "odds", "probability", "weight")
_KEEP = ("all", "positive", "clear")
_LEVEL = 0.9  # of the intervals
_CELLS = 2**21  # weights (rows, G) in memory at a time
_FEW = 16  # reasons that are found one after the other, faster than by sorting all components
_MOST_COLUMNS = 4  # of one component, whose values are shown together
_OF_EACH = ("row", "rank", "component", "amount", "share", "lower", "upper")


@final
@dataclass(frozen=True)
class ReasonOptions:
    """Which components count as reasons, as in :meth:`shafer.Evidence.reasons`."""

    top: int
    codes: Mapping[str, Any] | None
    distinct: bool
    keep: str
    units: str = "log_odds"

    def __post_init__(self) -> None:
        top: Any = self.top
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise ValueError(f"top must be an integer of at least 1; got {top!r}.")
        if self.keep not in _KEEP:
            raise ValueError(f"keep must be 'all', 'positive' or 'clear'; got {self.keep!r}.")
        if self.units not in UNITS:
            raise ValueError(
                f"units must be one of {', '.join(map(repr, UNITS))}; got {self.units!r}."
            )
        if self.codes is not None and not isinstance(self.codes, Mapping):
            raise ValueError(
                "codes must be a mapping from component to code, or to a pair (code, text); got "
                f"{type(self.codes).__name__}."
            )


@final
@dataclass(frozen=True, eq=False)
class AskedClasses:
    """The class that the reasons of each row are for, and its rival, by position.

    Attributes
    ----------
    class_ : array of shape (n,)
    over : array of shape (n,), or None
        None for the weights of one class.
    """

    class_: NDArray[np.intp]
    over: NDArray[np.intp] | None

    @classmethod
    def of(
        cls,
        ev: Evidence,
        class_: Label | None,
        over: Label | None,
        units: str = "log_odds",
        logits: Array | None = None,
    ) -> AskedClasses:
        """Choose them: by default the answer, over the most probable other class.

        ``logits`` tell what is most probable; by default those of the evidence.
        """
        given = to_numpy(ev.logits if logits is None else logits)
        rival = None if over is None else one_position(over, ev.classes, "over")
        if rival is not None and units == "weight":
            raise ValueError(
                f"over= compares two classes, and units='weight' are of one class; got {over!r}. "
                "Leave out one of them."
            )
        if rival is not None and (
            class_ is None or rival == one_position(class_, ev.classes, "class_")
        ):
            raise ValueError(
                "over needs class_, the class to compare with it, and another one; got "
                f"class_={class_!r} and over={over!r}. Pass two different classes, or leave out "
                "over."
            )
        found = answers(given, ev.cutoff)
        if class_ is not None:
            found = np.full(len(given), one_position(class_, ev.classes, "class_"))
        if units == "weight":
            return cls(found, None)
        if rival is not None:
            return cls(found, np.full(len(given), rival))
        return cls(found, most_probable_but(given, found))

    def rows(self, positions: NDArray[np.intp]) -> AskedClasses:
        """Return those of some rows."""
        return AskedClasses(
            self.class_[positions], None if self.over is None else self.over[positions]
        )

    def pairs(self) -> Iterator[tuple[NDArray[np.intp], int, int | None]]:
        """Yield the rows of each class and rival, with both."""
        if self.over is None:
            for k in np.unique(self.class_).tolist():
                yield np.flatnonzero(self.class_ == k), k, None
            return
        for a, b in np.unique(np.stack([self.class_, self.over], axis=1), axis=0).tolist():
            yield np.flatnonzero((self.class_ == a) & (self.over == b)), a, b


@final
@dataclass(frozen=True, eq=False)
class RankedReasons:
    """The reasons of all rows as arrays, one entry for each reason.

    Attributes
    ----------
    row, rank, component : arrays of positions; the first rank is 0
    amount, share : arrays
        What each adds to the log-odds of the two classes, or its weight for the class; and its
        share of all that is positive.
    lower, upper : arrays or None
        The interval of the amount, if the evidence has errors.
    codes : dict from component to (code, text), or None
    """

    row: NDArray[np.intp]
    rank: NDArray[np.intp]
    component: NDArray[np.intp]
    amount: FloatArray
    share: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    codes: dict[int, tuple[Any, Any]] | None = None


def check_whole(ev: Evidence) -> None:
    """Refuse the evidence of single components."""
    if ev.parts:
        raise ValueError(
            "reasons needs the evidence of whole rows; got the evidence of single components "
            "(ev.components). Call reasons on the evidence itself."
        )


def ranked_reasons(ev: Evidence, pair: AskedClasses, asked: ReasonOptions) -> RankedReasons:
    """Return the reasons that :meth:`shafer.Evidence.reasons` documents."""
    apart = ev.source.base_rates()
    candidates = [g for g in range(ev.n_components) if g not in apart]
    if not candidates:
        raise ValueError("reasons needs a component besides the base rate; there is none.")
    codes = _codes_of(ev, asked.codes, candidates)
    size = max(1, _CELLS // ev.n_components)  # the weights of sparse rows are never all in memory
    if len(ev) <= size:
        return replace(_ranked_reasons(ev, pair, asked, candidates, codes), codes=codes)
    parts = []
    for start in range(0, len(ev), size):
        here = np.arange(start, min(start + size, len(ev)))
        part = _ranked_reasons(ev[here], pair.rows(here), asked, candidates, codes)
        parts.append(replace(part, row=part.row + start))
    joined: dict[str, Any] = {}
    for name in _OF_EACH:
        found = [getattr(part, name) for part in parts]
        joined[name] = None if found[0] is None else np.concatenate(found)
    return RankedReasons(**joined, codes=codes)


def _ranked_reasons(
    ev: Evidence,
    pair: AskedClasses,
    asked: ReasonOptions,
    candidates: list[int],
    codes: dict[int, tuple[Any, Any]] | None,
) -> RankedReasons:
    """Rank the components that may be reasons, in rows whose weights fit in memory."""
    weights = asked_weights(ev, pair)
    components = _best(ev, asked, weights, np.asarray(candidates), codes)
    row, rank = (x.ravel() for x in np.indices(components.shape))
    component = components.ravel()
    amount = weights[row, component]
    std = _asked_std(ev, pair, asked.keep)[row, component]
    if asked.keep != "all":
        low = amount if asked.keep == "positive" else interval(amount, std, ev.errors, _LEVEL)[0]
        kept = low > _rounding(ev, weights)[row]
        row, rank, component = (x[kept] for x in (row, rank, component))
        amount, std = amount[kept], std[kept]
    # A row's numbers lie side by side, so that one row is summed in the same order as many.
    total = np.ascontiguousarray(np.maximum(weights[:, candidates], 0.0)).sum(axis=1)[row]
    positive = np.maximum(amount, 0.0)
    share = np.divide(positive, total, out=np.zeros_like(amount), where=total > 0.0)
    lower, upper = None, None
    if ev.errors is not None:
        lower, upper = interval(amount, std, ev.errors, _LEVEL)
    return RankedReasons(row, rank, component, amount, share, lower, upper)


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
    check_whole(ev)
    pair = AskedClasses.of(ev, class_, over, asked.units)
    found = ranked_reasons(ev, pair, asked)
    inputs = input_values(ev, found)
    labels = np.empty(ev.n_classes, dtype=object)
    labels[:] = ev.classes.tolist()
    table: dict[str, Any] = {
        "row": found.row,
        "rank": found.rank + 1,
        "component": [ev.component_names[g] for g in found.component],
        "value": _values(inputs.values, backend),
    }
    if any(usual is not None for usual in inputs.usual):
        table["usual"] = [None if one is None else one.text for one in inputs.usual]
    amounts = _in_units(ev, pair, found, asked.units)
    table |= amounts
    table |= {"share": found.share, "class": labels[pair.class_[found.row]].tolist()}
    if pair.over is not None:
        table["over"] = labels[pair.over[found.row]].tolist()
    if found.lower is not None and found.upper is not None and asked.units != "probability":
        ends = {"lower": found.lower, "upper": found.upper}
        table |= {n: np.exp(x) if asked.units == "odds" else x for n, x in ends.items()}
    without = amounts.get("probability_without")
    table["words"] = _sentences(ev, pair, found, inputs, without)
    if found.codes is not None:
        table["code"] = [found.codes[g][0] for g in found.component]
        table["text"] = [found.codes[g][1] for g in found.component]
    if ev.index is not None:
        table["index"] = [ev.index[i] for i in found.row]
    return native_frame(table, None, backend)


def _in_units(
    ev: Evidence, pair: AskedClasses, found: RankedReasons, units: str
) -> dict[str, FloatArray]:
    """Return the columns of amounts in the units that were asked for."""
    if units == "odds":
        return {"odds_factor": np.exp(found.amount)}
    if units != "probability":
        return {units: found.amount}
    logits = to_numpy(ev.logits).astype(np.float64)
    own = np.arange(len(ev)), pair.class_
    return {
        "probability": softmax(logits, axis=1)[own][found.row],
        "probability_without": _without_each(ev, pair, found, logits),
    }


def _without_each(
    ev: Evidence, pair: AskedClasses, found: RankedReasons, logits: FloatArray
) -> FloatArray:
    """Return the probability of each reason's class, if its component had no evidence."""
    result = np.empty(len(found.row))
    source = ev.unchanged_source()
    size = max(1, _CELLS // ev.n_classes)
    for g in np.unique(found.component).tolist():
        places = np.flatnonzero(found.component == g)
        for start in range(0, len(places), size):
            here = places[start : start + size]
            rows = found.row[here]
            lost = to_numpy(source.rows(rows).keep([g]).dense())[:, 0, :]
            left = softmax(logits[rows] - lost, axis=1)
            result[here] = left[np.arange(len(rows)), pair.class_[rows]]
    return result


def asked_weights(ev: Evidence, pair: AskedClasses) -> FloatArray:
    """Return the weights of all components for the class of each row, over its rival, (n, G)."""
    source = ev.unchanged_source()
    weights = np.empty(source.shape[:2])
    for rows, a, b in pair.pairs():
        part = source if len(rows) == len(ev) else source.rows(rows)
        found = to_numpy(part.of_classes([a] if b is None else [a, b]).dense()).astype(np.float64)
        weights[rows] = found[..., 0] - (0.0 if b is None else found[..., 1])
    return weights


def _asked_std(ev: Evidence, pair: AskedClasses, keep: str) -> FloatArray:
    """Return the standard errors of the weights that were asked for; zeros if not known."""
    found = np.zeros((len(ev), ev.n_components))
    if ev.errors is None and keep != "clear":
        return found
    errors = known_errors(ev.errors)
    for rows, a, b in pair.pairs():
        part = errors if len(rows) == len(ev) else errors.rows(rows)
        found[rows] = class_std(part, np.full(len(rows), a), b)
    return found


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


def _best(
    ev: Evidence,
    asked: ReasonOptions,
    weights: FloatArray,
    candidates: NDArray[np.intp],
    codes: dict[int, tuple[Any, Any]] | None,
) -> NDArray[np.intp]:
    """Return the best candidates of each row in order, (n, ≤ top)."""
    few = 4 * asked.top  # enough, unless most are of one kind
    if weights.size and len(candidates) > 4 * few:  # to find all columns of a text takes long
        own = weights[:, candidates]
        parts = np.argpartition(own, -few, axis=1)[:, -few:]
        least = np.take_along_axis(own, parts, axis=1).min(axis=1)
        best = _ranked_of(ev, asked, weights, candidates[np.unique(parts)], codes)
        last = weights[np.arange(len(weights)), best[:, -1]]
        if best.shape[1] == asked.top and (last > least).all():  # what is left out is below them
            return best
    return _ranked_of(ev, asked, weights, candidates, codes)


def _ranked_of(
    ev: Evidence,
    asked: ReasonOptions,
    weights: FloatArray,
    candidates: NDArray[np.intp],
    codes: dict[int, tuple[Any, Any]] | None,
) -> NDArray[np.intp]:
    kinds = np.arange(len(candidates))
    if asked.distinct:
        kinds = _kinds(ev, codes, candidates.tolist())
    return candidates[_ranked(weights[:, candidates], kinds, asked.top)]


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


@final
@dataclass(frozen=True, eq=False)
class ReasonInputs:
    """The input behind each reason.

    Attributes
    ----------
    values : array of objects
        Its value, as it was given; None where it is not known.
    read : array of objects
        The same, None also where it is missing.
    known : array of bool
        Whether the evidence has the values of its column.
    usual : list of Usual or None
        What is usual in its column.
    """

    values: NDArray[np.object_]
    read: NDArray[np.object_]
    known: NDArray[np.bool_]
    usual: list[Usual | None]


def input_values(ev: Evidence, found: RankedReasons) -> ReasonInputs:
    """Return the inputs behind reasons."""
    values = np.full(len(found.row), None, dtype=object)
    known = np.zeros(len(found.row), dtype=bool)
    usual: list[Usual | None] = [None] * len(found.row)
    if ev.inputs is None:
        return ReasonInputs(values, values, known, usual)
    for g in np.unique(found.component).tolist():
        column = ev.inputs.values(g)
        if column is None:
            continue
        here = np.flatnonzero(found.component == g)
        values[here] = column[found.row[here]]
        known[here] = True
        of_column = ev.inputs.usual(g)
        if of_column is not None:
            for place in here.tolist():
                usual[place] = of_column
    read = _objects(None if is_missing(value) else value for value in values)
    return ReasonInputs(values, read, known, usual)


def input_cells(ev: Evidence, row: int) -> dict[str, Any] | None:
    """Return the value of each component's input in one row, by name; None if none is known."""
    if ev.inputs is None or isinstance(row, bool) or not isinstance(row, int | np.integer):
        return None
    if not -len(ev) <= row < len(ev):
        return None  # the picture refuses it
    one = ev.inputs.rows(np.arange(len(ev))[[row]])
    found = {}
    for g, name in enumerate(ev.component_names):
        values = one.values(g)
        if values is not None:
            found[name] = None if is_missing(values[0]) else values[0]
    return found or None


def input_numbers(ev: Evidence) -> Any:
    """Return the inputs that are numbers as a data frame named by component; None without any."""
    if ev.inputs is None or ev.parts:
        return None
    found = {}
    for g, name in enumerate(ev.component_names):
        alone = len(ev.inputs.columns(g)) == 1 and not ev.inputs.is_word(g)
        values = ev.inputs.values(g) if alone else None
        if values is not None and np.asarray(values).dtype.kind in "iuf":
            found[name] = np.asarray(values, dtype=np.float64)
    return native_frame(found, None, None) if found else None


def _sentences(
    ev: Evidence,
    pair: AskedClasses,
    found: RankedReasons,
    inputs: ReasonInputs,
    without: FloatArray | None = None,
) -> list[str]:
    """Return each reason as a sentence."""
    labels = label_texts(ev.classes)
    said: dict[int, str] = {}
    for rows, a, b in pair.pairs():
        odds = labels[a] if b is None or ev.n_classes == 2 else f"{labels[a]} over {labels[b]}"
        said |= dict.fromkeys(rows.tolist(), odds)
    plain = pair.over is None
    return [
        reason_words(
            ev.component_names[g],
            inputs.read[i],
            inputs.usual[i],
            amount,
            said[row],
            known=bool(inputs.known[i]),
            plain=plain,
            without=None if without is None else (labels[pair.class_[row]], float(without[i])),
        )
        for i, (row, g, amount) in enumerate(
            zip(found.row.tolist(), found.component.tolist(), found.amount.tolist(), strict=True)
        )
    ]


def _values(values: NDArray[np.object_], backend: str | None) -> Any:
    """Return the values as numbers if all are numbers, else as the frame library takes them."""
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
    component, value, usual, inputs, words, code, text : arrays of shape (n, R)
        Name, value of the input, what is usual, the input in words, the reason as a sentence, and
        the user's code and text; None where there is none.
    log_odds, share : arrays of shape (n, R)
        What the component adds to the log-odds, and its share of all that is added to them; NaN
        where there are fewer reasons.
    lower, upper : arrays of shape (n, R)
        The 90 % interval of the log-odds; NaN if the evidence has no errors.
    has_errors, has_codes : bool
        Whether the evidence has errors, and whether the user gave codes.
    """

    classes: NDArray[np.intp]
    over: NDArray[np.intp]
    component: NDArray[np.object_]
    value: NDArray[np.object_]
    usual: NDArray[np.object_]
    inputs: NDArray[np.object_]
    words: NDArray[np.object_]
    code: NDArray[np.object_]
    text: NDArray[np.object_]
    log_odds: FloatArray
    share: FloatArray
    lower: FloatArray
    upper: FloatArray
    has_errors: bool = False
    has_codes: bool = False


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
    asked = ReasonOptions(top, codes, distinct=True, keep="positive")
    pair = AskedClasses.of(evidence, class_, over, logits=logits)
    assert pair.over is not None
    ranked = ranked_reasons(evidence, pair, asked)
    texts = ("component", "value", "usual", "inputs", "words", "code", "text")
    n = len(evidence)
    found: dict[str, NDArray[Any]] = {name: np.full((n, top), None, dtype=object) for name in texts}
    found |= {name: np.full((n, top), np.nan) for name in ("log_odds", "share", "lower", "upper")}
    for name, values in _filled(evidence, pair, ranked).items():
        found[name][ranked.row, ranked.rank] = values
    given: dict[str, Any] = found
    bars, coded = evidence.errors is not None, codes is not None
    return RowReasons(pair.class_, pair.over, has_errors=bars, has_codes=coded, **given)


def _filled(
    evidence: Evidence, pair: AskedClasses, ranked: RankedReasons
) -> dict[str, NDArray[Any]]:
    """Return an array of one entry for each reason, for each attribute that is known."""
    names = _objects(evidence.component_names)
    inputs = input_values(evidence, ranked)
    filled = {
        "component": names[ranked.component],
        "value": inputs.read,
        "usual": _objects(None if usual is None else usual.text for usual in inputs.usual),
        "inputs": _objects(
            input_words(evidence.component_names[g], value, usual, known=known).rstrip(",")
            for g, value, usual, known in zip(
                ranked.component.tolist(),
                inputs.read,
                inputs.usual,
                inputs.known.tolist(),
                strict=True,
            )
        ),
        "words": _objects(_sentences(evidence, pair, ranked, inputs)),
        "log_odds": ranked.amount,
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

_PARTS = ("value", "log_odds", "share", "words")
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
    """Return the columns: for each rank the component, its value, log-odds, share, words, code.

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
    return columns_of_reasons(found, evidence.classes)


def columns_of_reasons(found: RowReasons, classes: NDArray[Any]) -> dict[str, Any]:
    """Return reasons that are known as the columns of :func:`reason_columns`."""
    labels = np.array(label_texts(classes), dtype=object)
    columns: dict[str, Any] = {
        "reasons_class": labels[found.classes].tolist(),
        "reasons_over": labels[found.over].tolist(),
    }
    for r in range(found.component.shape[1]):
        name = f"reason_{r + 1}"
        columns[name] = found.component[:, r].tolist()
        columns[f"{name}_value"] = [value_text(value) for value in found.value[:, r].tolist()]
        columns[f"{name}_log_odds"] = found.log_odds[:, r]
        columns[f"{name}_share"] = found.share[:, r]
        columns[f"{name}_words"] = found.words[:, r].tolist()
        if found.has_errors:
            columns[f"{name}_lower"] = found.lower[:, r]
            columns[f"{name}_upper"] = found.upper[:, r]
        if found.has_codes:
            columns[f"{name}_code"] = [_text(code) for code in found.code[:, r]]
            columns[f"{name}_text"] = [_text(text) for text in found.text[:, r]]
    return columns


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def value_text(value: Any) -> str | None:
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

    def usual(self, component: int) -> Usual | None:  # noqa: ARG002 - inputs that know it use it
        """Return what is usual in a component's only column; None if it is not known."""
        return None

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
