"""The areas that are fuzzed, and how much of the time each gets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import boosters, commands, decisions, doors, engine, files, fusion, properties, saved_models


@dataclass(frozen=True)
class Area:
    """One kind of case."""

    check: Callable[[int], int]
    """From a seed to the number of cases tried."""
    share: float
    """Of the time."""
    short: int
    """How many seeds the short run in ``make test`` tries."""
    alone: bool = False
    """Whether it runs in a process of its own, because a fault could end the process."""


AREAS = {
    "engine": Area(engine.dense, 0.26, 8),
    "linear": Area(engine.linear, 0.08, 6),
    "oracle": Area(properties.oracle, 0.04, 1),
    "decisions": Area(decisions.decisions, 0.13, 4),
    "fusion": Area(fusion.fusion, 0.09, 4),
    "files": Area(files.files, 0.06, 4, alone=True),
    "saved models": Area(saved_models.saved_models, 0.03, 2, alone=True),
    "boosters": Area(boosters.boosters, 0.04, 1, alone=True),
    "commands": Area(commands.commands, 0.08, 4),
    "doors": Area(doors.doors, 0.15, 2),
    "tables": Area(properties.tables, 0.04, 1),
}
EVIDENCE_AREAS = ("engine", "linear")
"""Areas whose cases are evidences through the vectorised path."""
