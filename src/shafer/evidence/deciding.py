"""Deciding with evidence of any type: reading the arguments for the rules of ``decision``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from numpy.typing import NDArray

from shafer._typing import Array
from shafer.decision import choose, chosen_names, read_acts, rule_for_costs
from shafer.opinion import Opinion


class Question(NamedTuple):
    """What the user asked for, as given."""

    rule: str | None
    loss: Any = None
    utility: Any = None
    reject: float | None = None
    alpha: float | None = None
    tolerance: float | str | None = None
    expectation: str | None = None


def question(rule: str | None, options: Mapping[str, Any]) -> Question:
    """Read the options of :meth:`shafer.Evidence.decide` from a mapping."""
    known = Question._fields[1:]
    for name in options:
        if name not in known:
            raise TypeError(f"Unknown option {name!r}; the options are {', '.join(known)}.")
    return Question(rule, **options)


def with_rule(question: Question, *, calibrated: bool) -> Question:
    """Fill in the default rule: interval dominance, or expected loss for costs if calibrated."""
    if question.rule is not None:
        return question
    rule = rule_for_costs(question._asdict(), calibrated=calibrated)
    return question._replace(rule=rule or "interval_dominance")


def decide(opinion: Opinion, classes: NDArray[Any], question: Question) -> Array:
    """Choose classes, (..., K), or acts where a loss or a utility is given, (..., acts)."""
    return _decided(opinion, classes, question)[0]


def named_acts(opinion: Opinion, classes: NDArray[Any], question: Question) -> list[Any]:
    """Choose, and return for each row the names of the acts, or the labels of the classes."""
    chosen, names = _decided(opinion, classes, question)
    return chosen_names(chosen, names)


def _decided(
    opinion: Opinion, classes: NDArray[Any], question: Question
) -> tuple[Array, tuple[Any, ...]]:
    rule, loss, utility, reject, alpha, tolerance, expectation = question
    # Single precision cannot tell risks apart where weights are large.
    opinion = opinion.in_double()
    acts = read_acts(loss, utility, reject, opinion.belief, classes)
    options = {"alpha": alpha, "tolerance": tolerance, "expectation": expectation}
    assert rule is not None  # with_rule has filled it in
    chosen = choose(opinion, rule, acts, reject if acts is None else None, options)
    return chosen, tuple(classes.tolist()) if acts is None else acts.names
