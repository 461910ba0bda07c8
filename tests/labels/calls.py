"""The table of calls: which public functions a call covers, and what it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .worlds import World


@dataclass(frozen=True)
class Call:
    """A call of public functions that returns numbers, the same for every name of the classes."""

    run: Callable[[World], Any]
    covers: tuple[str, ...]
    trains: bool  # a model, so that classes are sorted
    compares: bool  # labels with known ones, so that unknown ones must be refused
    allows: tuple[str, ...]  # mismatches that are read by value or by text

    def numbers(self, world: World) -> np.ndarray:
        found = self.run(world)
        parts = found if isinstance(found, list | tuple) else [found]
        return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in parts])


CALLS: dict[str, Call] = {}
PATH_CALLS: dict[str, tuple[Callable[[str | Path], Any], tuple[str, ...]]] = {}


def covers(
    *names: str, trains: bool = False, compares: bool = True, allows: tuple[str, ...] = ()
) -> Callable[[Callable[[World], Any]], Callable[[World], Any]]:
    """Put a call into the table."""

    def listed(run: Callable[[World], Any]) -> Callable[[World], Any]:
        CALLS[run.__name__] = Call(run, names, trains, compares, allows)
        return run

    return listed


def covers_path(*names: str) -> Callable[[Callable[[str | Path], Any]], Any]:
    """Put a call that takes a path into the table."""

    def listed(run: Callable[[str | Path], Any]) -> Any:
        PATH_CALLS[run.__name__] = (run, names)
        return run

    return listed
