"""How benchmarks take times, and what they take them of."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import shafer


def best(function: Callable[[], Any], seconds: float = 3.0, calls: int = 3) -> float:
    """Return the shortest time of a call in milliseconds, after one to warm up if several."""
    if calls > 1:
        function()
    times, start = [], time.perf_counter()
    while len(times) < calls or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def everything(evidence: shafer.Evidence) -> tuple[Any, ...]:
    """Compute every quantity that users read, for every row."""
    ev = evidence
    return (
        ev.weights_for,
        ev.weights_against,
        ev.belief,
        ev.plausibility,
        ev.ignorance,
        ev.conflict,
    )
