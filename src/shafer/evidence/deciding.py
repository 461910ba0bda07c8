"""Deciding with evidence, plain or discounted: the arguments are read here, the rules below."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from shafer._typing import Array
from shafer.decision import Opinion, choose, names_of, read_acts, read_loss


class Question(NamedTuple):
    """What the user asked for, as given."""

    rule: str
    loss: Any = None
    utility: Any = None
    reject: float | None = None
    alpha: float | None = None
    tolerance: float | str | None = None
    expectation: str | None = None


def question(rule: str, options: Mapping[str, Any]) -> Question:
    """Read the options of :meth:`shafer.Evidence.decide` from a mapping."""
    known = Question._fields[1:]
    for name in options:
        if name not in known:
            raise TypeError(f"Unknown option {name!r}; the options are {', '.join(known)}.")
    return Question(rule, **options)


def decide(opinion: Opinion, question: Question) -> Array:
    """Choose classes, (..., K), or acts where a loss or a utility is given, (..., acts)."""
    return _decided(opinion, question)[0]


def named_acts(opinion: Opinion, classes: NDArray[Any], question: Question) -> list[Any]:
    """Choose, and say it in words: per row the names of the acts, or the labels of the classes."""
    chosen, names = _decided(opinion, question)
    return names_of(chosen, tuple(classes.tolist()) if names is None else names)


def _decided(opinion: Opinion, question: Question) -> tuple[Array, tuple[Any, ...] | None]:
    rule, loss, utility, reject, alpha, tolerance, expectation = question
    acts = read_acts(loss, utility, reject, opinion.logits)
    options = {"alpha": alpha, "tolerance": tolerance, "expectation": expectation}
    chosen = choose(opinion, rule, acts, reject if acts is None else None, options)
    return chosen, None if acts is None else acts.names


def lower_risk(opinion: Opinion, loss: Any) -> Array:
    """Return the lower expected loss of each act, (..., acts)."""
    return opinion.lower_risk(read_loss(loss, opinion.logits).loss)


def upper_risk(opinion: Opinion, loss: Any) -> Array:
    """Return the upper expected loss of each act, (..., acts)."""
    return opinion.upper_risk(read_loss(loss, opinion.logits).loss)
