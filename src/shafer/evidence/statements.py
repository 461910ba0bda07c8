r"""An expert's statements, read as simple mass functions.

A statement names classes and a strength, as words or as a mapping::

    "for A with weight 1.2"                  {"for": "A", "weight": 1.2}
    "against {B, C} with support 0.7"        {"against": ["B", "C"], "support": 0.7}
    "for A with probability 0.7"             {"for": "A", "probability": "70 %"}

The grammar of the words is ``for|against  [class|classes]  LABEL or {LABEL, ...}  with
weight|support|probability  NUMBER``; labels are matched as they are printed. A statement *for* a
set is a simple mass function focused on it, one *against* a set a simple mass function focused on
its complement. ``stated_certainty`` shows how a certainty becomes a weight.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_of, numbered
from shafer._checks.labels import (
    component_names,
    is_missing,
    is_one_label,
    log_prior,
    one_position,
    positions_of,
)
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.decision.acts import is_number

_NOUN = re.compile(r"class(?:es)?\s+")
_NUMBER = re.compile(r" \(\d+\)$")  # after names that are equal
_PERCENT = re.compile(r"\s+%\s*$")
_FORMS = (
    "A statement is a text such as 'for A with weight 1.2' or 'against {B, C} with support 0.7' "
    "or 'for A with probability 0.7', or a mapping such as {'for': 'A', 'weight': 1.2}"
)


class Statement(NamedTuple):
    """One checked statement: for or against a set of classes, by position, and how strongly."""

    favours: bool
    classes: tuple[int, ...]
    weight: float
    name: str
    kind: str = "weight"
    """How the strength was given: as a weight, a support or a probability."""

    def focus(self, n_classes: int) -> list[int]:
        """Return the classes the statement leaves possible."""
        if self.favours:
            return list(self.classes)
        return [k for k in range(n_classes) if k not in self.classes]


def read_statements(
    statements: Any, classes: NDArray[Any], log_prior: FloatArray
) -> list[Statement]:
    """Read one statement or several; a probability is compared with the prior, (K,)."""
    alone = isinstance(statements, str | Mapping)
    if not alone and not isinstance(statements, Iterable):
        raise ValueError(f"statements must be a list of statements; got {statements!r}. {_FORMS}.")
    several = [statements] if alone else statements
    read = [_read(statement, classes, log_prior) for statement in several]
    if not read:
        raise ValueError(f"statements must hold at least one statement; got none. {_FORMS}.")
    return read


def statement_weights(statements: list[Statement], classes: NDArray[Any]) -> FloatArray:
    """Return signed weights, (G, K), of statements on one class or on all but one."""
    n_classes = len(classes)
    weights = np.zeros((len(statements), n_classes))
    for g, statement in enumerate(statements):
        focus = statement.focus(n_classes)
        denied = [k for k in range(n_classes) if k not in focus]
        # With two classes both are true: "for" and "against" decide.
        if len(focus) == 1 and (statement.favours or len(denied) > 1):
            weights[g, focus[0]] = statement.weight
        elif len(denied) == 1:
            weights[g, denied[0]] = -statement.weight
        else:
            raise ValueError(_too_general(statement, classes))
    return weights


def statement_names(statements: list[Statement]) -> list[str]:
    """Name each statement by its side and classes, with a number where two are equal."""
    return numbered([statement.name for statement in statements])


def is_claim(name: str, classes: NDArray[Any]) -> bool:
    """Return whether a component has the name that a statement gets by itself: ``"for A"``."""
    side, _, named = name.partition(" ")
    labels = {str(label) for label in classes.tolist()}
    bare = _NUMBER.sub("", named)
    return side in SIDES and bool({named, bare} & labels or bare.startswith("{"))


def _read(statement: Any, classes: NDArray[Any], log_prior: FloatArray) -> Statement:
    if isinstance(statement, str):
        side, members, kind, value = _from_words(statement, classes)
        name = f"{side} {_set_text(members, classes)}"
    elif isinstance(statement, Mapping):
        side, members, kind, value = _from_mapping(statement, classes)
        name = str(statement.get("name", f"{side} {_set_text(members, classes)}"))
    else:
        raise ValueError(f"The statement {statement!r} cannot be read. {_FORMS}.")
    if not 0 < len(members) < len(classes):
        raise ValueError(
            "A statement must name at least one class, and not all of them; "
            f"{statement!r} names {len(members)} of {len(classes)} classes."
        )
    odds, where = log_odds_of(members, log_prior), f"in the statement {statement!r}"
    weight = signed_weight(side, kind, value, odds, where)
    favours = weight > 0 or (weight == 0 and side == "for")
    return Statement(favours, tuple(members), abs(weight), name, kind)


def _from_words(text: str, classes: NDArray[Any]) -> tuple[str, list[int], str, Any]:
    side, named, kind, value = _words(text)
    by_text = {str(label): k for k, label in enumerate(classes.tolist())}
    if len(by_text) < len(classes):
        raise ValueError(
            f"Several class labels are the same as text: {classes.tolist()}. Give statements as "
            "mappings, such as {'for': label, 'weight': 1.2}."
        )
    texts = _labels(named, by_text)
    unknown = [part for part in texts if part not in by_text]
    if unknown:
        hint = " If a label contains a comma, use a mapping." if len(texts) > 1 else ""
        raise ValueError(
            f"Unknown class {', '.join(map(repr, unknown))} in the statement {text!r}; the classes "
            f"are {', '.join(map(repr, by_text))}.{hint}"
        )
    return side, sorted({by_text[part] for part in texts}), kind, value


def _words(text: str) -> tuple[str, str, str, str]:
    """Split a statement into its side, its classes, its kind and its value.

    From both ends: labels may hold any words, ``with`` among them.
    """
    text = _PERCENT.sub("%", text)  # "70 %" is one word
    side, *rest = text.split(None, 1)[:2] or [""]
    named, *words = rest[0].rsplit(None, 3) if rest else [""]
    if side in SIDES and len(words) == 3 and words[0] == "with":
        _, kind, value = words
        if kind in KINDS:
            return side, named, kind, value
    raise ValueError(f"The statement {text!r} cannot be read. {_FORMS}.")


def _labels(named: str, known: Mapping[str, int]) -> list[str]:
    """Return the labels meant: one as it is, one after the word ``class``, or a set."""
    bare = _NOUN.sub("", named, count=1) if _NOUN.match(named) else named
    for text in (named, bare):
        if text in known:
            return [text]
    if bare.startswith("{") and bare.endswith("}"):
        return [part.strip() for part in bare[1:-1].split(",")]
    return [bare]


def _from_mapping(
    given: Mapping[str, Any], classes: NDArray[Any]
) -> tuple[str, list[int], str, Any]:
    side, kind = side_and_kind(given, ("name",))
    return side, positions_of(given[side], classes), kind, given[kind]


def _set_text(members: list[int], classes: NDArray[Any]) -> str:
    labels = [str(classes.tolist()[k]) for k in members]
    return labels[0] if len(labels) == 1 else "{" + ", ".join(labels) + "}"


def _too_general(statement: Statement, classes: NDArray[Any]) -> str:
    side = "for" if statement.favours else "against"
    claim = f"{side} {_set_text(list(statement.classes), classes)}"
    left = _set_text(statement.focus(len(classes)), classes)
    return (
        f"The statement {claim!r} supports the set {left} as a whole. Evidence can hold only "
        "statements that support one class, or all classes except one. Make a statement about each "
        "class, or use shafer.fusion.FiniteEvidence.from_statements, which accepts any set of up "
        "to 16 classes."
    )


def labels_given(classes: Any) -> list[Any]:
    """Return the classes as a list, so that they can be counted."""
    if classes is None or is_one_label(classes):
        raise ValueError(f"classes must be a sequence of labels; got {classes!r}.")
    return list(classes)


# Experts' opinions about each row of a data frame, read from its columns.

_Read = TypeVar("_Read")
_EXAMPLE = "columns={'doctor': {'for': 'diagnosis', 'probability': 'sure'}}"


def row_weights_of_experts(
    frame: nw.DataFrame[Any],
    columns: Any,
    classes: NDArray[Any],
    log_prior: FloatArray,
    index: Sequence[Any] | None,
) -> FloatArray:
    """Return the weights of each row, expert and class, (n, G, K); see the top of the file."""
    if not isinstance(columns, Mapping) or not columns:
        raise ValueError(
            f"columns must name at least one expert, such as {_EXAMPLE}; got {columns!r}."
        )
    if len(frame) == 0:
        raise ValueError("statements must have at least one row; got an empty data frame.")
    rows = _Rows(frame, classes, index)
    odds = np.array([log_odds_of([k], log_prior) for k in range(len(classes))])
    weights = np.zeros((len(frame), len(columns), len(classes)))
    for g, (name, given) in enumerate(columns.items()):
        for row, (position, weight) in enumerate(rows.opinions(str(name), given, odds)):
            weights[row, g, position] = weight
    return weights


def uses_probabilities(columns: Any) -> bool:
    """Return whether some expert gives probabilities, which are compared with a prior."""
    return any("probability" in given for given in columns.values() if isinstance(given, Mapping))


@final
@dataclass(frozen=True)
class _Rows:
    """The rows of a data frame, and how errors name them."""

    frame: nw.DataFrame[Any]
    classes: NDArray[Any]
    index: Sequence[Any] | None

    def opinions(self, expert: str, given: Any, odds: FloatArray) -> list[tuple[int, float]]:
        """Return the class and the signed weight of one expert in each row; weight 0 if empty."""
        if not isinstance(given, Mapping):
            raise ValueError(
                f"columns[{expert!r}] must be a mapping, such as in {_EXAMPLE}; got {given!r}."
            )
        side, kind = side_and_kind(given)
        labels, label_column = self._labels(given[side], expert)
        values, value_column = self._certainties(given[kind], kind, expert)
        position_of = _remembered(lambda label: one_position(label, self.classes))

        def opinion(row: int) -> tuple[int, float]:
            label, value = labels[row], values[row]
            if self._is_empty(row, (label, label_column), (value, value_column)):
                return 0, 0.0
            try:
                position = position_of(label)
            except ValueError as error:
                raise ValueError(f"{self._where(row, label_column)}: {error}") from error
            where = f"in {self._where(row, value_column, capital=False)}"
            return position, signed_weight(side, kind, value, float(odds[position]), where)

        return [opinion(row) for row in range(len(self.frame))]

    def _labels(self, given: Any, expert: str) -> tuple[list[Any], str | None]:
        """Return the class of each row, and the column it stands in; None for a fixed class."""
        known = given in self.classes.tolist() if isinstance(given, Hashable) else False
        column = isinstance(given, str) and given in self.frame.columns
        if known and column:
            raise ValueError(
                f"columns[{expert!r}] names {given!r}, which is a column and also a class. Rename "
                "the column."
            )
        if column:
            return self.frame[given].to_list(), given
        if known:
            return [given] * len(self.frame), None
        raise ValueError(
            f"columns[{expert!r}] names {given!r}, which is neither a column nor a class. The "
            f"columns are [{listed(self.frame.columns)}], the classes "
            f"[{listed(self.classes.tolist())}]."
        )

    def _certainties(self, given: Any, kind: str, expert: str) -> tuple[list[Any], str | None]:
        """Return the certainty of each row, and the column it stands in; None for a number."""
        if isinstance(given, str) and given in self.frame.columns:
            return self.frame[given].to_list(), given
        if is_number(given):
            return [given] * len(self.frame), None
        raise ValueError(
            f"columns[{expert!r}][{kind!r}] must be a column or a number; got {given!r}. The "
            f"columns are [{listed(self.frame.columns)}]."
        )

    def _is_empty(
        self, row: int, label: tuple[Any, str | None], value: tuple[Any, str | None]
    ) -> bool:
        """Return whether an expert is silent in a row; half an opinion is an error."""
        no_label = label[1] is not None and _is_blank(label[0], self.classes)
        no_value = value[1] is not None and _is_blank(value[0])
        if no_label == no_value or label[1] is None or value[1] is None:
            return no_label or no_value
        given, lacking = (value, label) if no_label else (label, value)
        raise ValueError(
            f"{self._where(row, given[1])} has {given[0]!r}, but column {lacking[1]!r} is empty "
            "there. Fill in both, or leave both empty for a row without an opinion."
        )

    def _where(self, row: int, column: str | None, *, capital: bool = True) -> str:
        label = "" if self.index is None else f" (index {self.index[row]!r})"
        stands = "" if column is None else f", column {column!r}"
        return f"{'Row' if capital else 'row'} {row}{label}{stands}"


def _is_blank(value: Any, classes: NDArray[Any] | None = None) -> bool:
    """Return whether a cell is empty; an empty text is not, if a class is called so."""
    if isinstance(value, str):
        return not value.strip() and (classes is None or value not in classes.tolist())
    return is_missing(value)


def _remembered(read: Callable[[Any], _Read]) -> Callable[[Any], _Read]:
    """Read each distinct value once; 1, 1.0 and True are different values."""
    found: dict[Any, _Read] = {}

    def look_up(value: Any) -> _Read:
        if not isinstance(value, Hashable):
            return read(value)
        key = type(value), value
        if key not in found:
            found[key] = read(value)
        return found[key]

    return look_up


# How sure an expert is, as a weight of evidence.

SIDES = ("for", "against")
KINDS = ("weight", "support", "probability")
_PER_CENT = re.compile(r"([-+.\deE]+)\s*%(?:\s*(?:sure|certain))?")


def side_and_kind(given: Mapping[str, Any], others: Collection[str] = ()) -> tuple[str, str]:
    """Return the keys of a mapping: on which side it is, and what its certainty means."""
    sides = [key for key in SIDES if key in given]
    kinds = [key for key in KINDS if key in given]
    strange = set(given) - {*SIDES, *KINDS, *others}
    if len(sides) != 1 or len(kinds) != 1 or strange:
        optional = f", and may have a {' or '.join(map(repr, others))}" if others else ""
        raise ValueError(
            "A statement given as a mapping must have either 'for' or 'against', and either "
            f"'weight' or 'support' or 'probability'{optional}; got {dict(given)!r}."
        )
    return sides[0], kinds[0]


def log_odds_of(members: Collection[int], log_prior: FloatArray) -> float:
    """Return the prior log-odds of a set of classes, which is neither empty nor the whole frame."""
    inside = np.zeros(len(log_prior), dtype=bool)
    inside[list(members)] = True
    odds = np.logaddexp.reduce(log_prior[inside]) - np.logaddexp.reduce(log_prior[~inside])
    return float(odds)


def signed_weight(side: str, kind: str, value: Any, prior_odds: float, where: str) -> float:
    """Return the weight of a statement about a set: positive for the set, negative against it.

    Parameters
    ----------
    side : {"for", "against"}
    kind : {"weight", "support", "probability"}
    value : number or text
        A text may be a percentage, such as ``"70 %"`` or ``"70 % sure"``, unless it is a weight.
    prior_odds : float
        The log-odds of the set before the statement.
    where : str
        Where the value stands, for errors.
    """
    number = _number(value, kind)
    if math.isnan(number):
        raise ValueError(f"{kind} must be a number; got {value!r} {where}.")
    sign = 1.0 if side == "for" else -1.0
    if kind == "weight":
        return sign * _weight(number, value, where)
    if kind == "support":
        return sign * _support(number, value, where)
    return sign * _log_odds(number, value, where) - prior_odds


def _number(value: Any, kind: str) -> float:
    """Return a number, NaN for anything else."""
    if isinstance(value, bool | np.bool_):
        return math.nan
    per_cent = _PER_CENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if per_cent is not None and kind != "weight":
        return _number(per_cent[1], kind) / 100.0
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _weight(number: float, value: Any, where: str) -> float:
    if not 0.0 <= number < math.inf:
        raise ValueError(
            f"weight must be finite and ≥ 0; got {value!r} {where}. Use 'against' for "
            "evidence against a class."
        )
    return number


def _support(number: float, value: Any, where: str) -> float:
    if number == 1.0:
        raise ValueError(
            f"support must be below 1; got 1 {where}, an infinite weight. Give a "
            "support such as 0.999, which other evidence can outweigh."
        )
    if not 0.0 <= number < 1.0:
        raise ValueError(f"support must be in [0, 1); got {value!r} {where}.{_as_share(number)}")
    return -math.log1p(-number)


def _log_odds(number: float, value: Any, where: str) -> float:
    if number in (0.0, 1.0):
        raise ValueError(
            f"probability must be above 0 and below 1; got {value!r} {where}, an infinite weight. "
            "Give a probability such as 0.99 or 0.01, which other evidence can outweigh."
        )
    if not 0.0 < number < 1.0:
        raise ValueError(
            f"probability must be above 0 and below 1; got {value!r} {where}.{_as_share(number)}"
        )
    return math.log(number) - math.log1p(-number)


def _as_share(number: float) -> str:
    """Say how to write a percentage that was given as a number above 1."""
    if not 1.0 < number <= 100.0:
        return ""
    return f" Write {number:g} % as {number / 100.0:g} or as the text '{number:g} %'."


# Statements of any form as weights of evidence: words and mappings, or columns of a frame.


class StatedWeights(NamedTuple):
    """The weights of each instance, statement or expert and class, (n, G, K)."""

    weights: FloatArray
    names: tuple[str, ...]
    index: Any = None
    """Row labels of a pandas frame."""


def stated_weights(
    statements: Any, classes: NDArray[Any], columns: Any, prior: Any
) -> StatedWeights:
    """Read statements about one case, or with ``columns`` about each row of a data frame."""
    frame = frame_of(statements)
    if columns is None:
        _check_not_rows(frame)
        read = stated(statements, classes, prior)
        return StatedWeights(statement_weights(read, classes)[None], tuple(statement_names(read)))
    if frame is None:
        raise ValueError(
            f"columns= needs a data frame with a row for each case; got statements of type "
            f"{type(statements).__name__}. Leave out columns= for statements about one case."
        )
    index = getattr(statements, "index", None) if hasattr(statements, "iloc") else None
    labels = None if index is None or _counts_rows(index) else index.tolist()
    if isinstance(columns, Mapping):
        _check_prior_is_used(prior, used=uses_probabilities(columns))
    weights = row_weights_of_experts(frame, columns, classes, _logs(prior, classes), labels)
    return StatedWeights(weights, component_names(columns, len(columns)), index)


def stated(statements: Any, classes: NDArray[Any], prior: Any) -> list[Statement]:
    """Read statements about one case."""
    _check_not_rows(frame_of(statements))
    read = read_statements(statements, classes, _logs(prior, classes))
    _check_prior_is_used(prior, used=any(one.kind == "probability" for one in read))
    return read


def _logs(prior: Any, classes: NDArray[Any]) -> FloatArray:
    return np.zeros(len(classes)) if prior is None else log_prior(prior, classes.tolist())


def _counts_rows(index: Any) -> bool:
    return bool(index.tolist() == list(range(len(index))))


def _check_not_rows(frame: Any) -> None:
    if frame is not None:
        raise ValueError(
            f"statements is a data frame of {len(frame)} rows, so say which columns hold the "
            "opinions: Evidence.from_statements(frame, classes=..., columns={'doctor': {'for': "
            "'diagnosis', 'probability': 'sure'}})."
        )


def _check_prior_is_used(prior: Any, *, used: bool) -> None:
    if prior is not None and not used:
        raise ValueError(
            "prior= changes how a stated probability is read, but no statement has a "
            "'probability'. Leave out prior=."
        )
