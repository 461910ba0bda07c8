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

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer._validation import is_one_label, numbered, positions_of
from shafer.evidence.statements.stated_certainty import (
    KINDS,
    SIDES,
    log_odds_of,
    side_and_kind,
    signed_weight,
)

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
