"""The act of each row, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import label_array
from shafer.decision.acts import REJECT, read_acts
from shafer.decision.rules import PRECISE_RULES, chosen_names
from shafer.evidence.mass_evidence import MassEvidence


def named_acts(
    evidence: MassEvidence,
    rule: str,
    loss: Any,
    reject: float | None,
    utility: Any,
    alpha: float | None,
    tolerance: float | str | None,
    expectation: str | None,
) -> NDArray[Any]:
    """Choose an act for each row by a rule of ``Evidence.decide``, and return its name."""
    chosen = to_numpy(
        evidence.decide(
            rule,
            loss=loss,
            utility=utility,
            reject=reject,
            alpha=alpha,
            tolerance=tolerance,
            expectation=expectation,
        )
    )
    acts = read_acts(loss, utility, reject, evidence.betting_probability, evidence.classes)
    if acts is not None:
        table = loss if utility is None else utility
        return _named(chosen, _act_names(acts.names, table, evidence.classes), rule)
    names = tuple(evidence.classes.tolist())
    if reject is None or rule not in PRECISE_RULES:
        return _named(chosen, names, rule)
    return _named_or_rejected(chosen, names, rule)


def _act_names(names: tuple[Any, ...], table: Any, classes: NDArray[Any]) -> tuple[Any, ...]:
    """Name the acts of an array: its row numbers could be taken for class labels."""
    if isinstance(table, Mapping) or frame_columns(table) is not None:
        return names
    rejecting = names[-1:] if names[-1] == REJECT else ()
    n_acts = len(names) - len(rejecting)
    if n_acts == len(classes):
        return (*classes.tolist(), *rejecting)
    return (*(f"act {k}" for k in range(n_acts)), *rejecting)


def _named_or_rejected(chosen: NDArray[Any], names: tuple[Any, ...], rule: str) -> NDArray[Any]:
    """Write a row that keeps every class as rejected."""
    if REJECT in names:
        raise ValueError(
            f"With reject=, the name {REJECT!r} stands for not deciding, but a class has that "
            "name. Give a loss whose acts have other names."
        )
    rejected = chosen.all(axis=1, keepdims=True)
    acts = np.hstack([chosen & ~rejected, rejected])
    return _named(acts, (*names, REJECT), rule)


def _named(chosen: NDArray[Any], names: tuple[Any, ...], rule: str) -> NDArray[Any]:
    """Name what was chosen in each row: one, or a tuple for rules that may keep several."""
    if rule in PRECISE_RULES:
        named: NDArray[Any] = label_array(list(names), "names")[np.argmax(chosen, axis=1)]
        return named
    several = np.empty(len(chosen), dtype=object)
    several[:] = chosen_names(chosen, names)
    return several
