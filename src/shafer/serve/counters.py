"""Counters and histograms in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import final

from shafer._text import label_value

Labels = tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, eq=False)
class Counter:
    """A number that grows, for each combination of labels."""

    name: str
    text: str
    values: dict[Labels, float] = field(default_factory=dict)

    def add(self, amount: float = 1.0, **labels: str) -> None:
        """Add to the value of some labels."""
        key = tuple(labels.items())
        self.values[key] = self.values.get(key, 0.0) + amount

    def lines(self) -> Iterable[str]:
        """Return the lines of the format."""
        yield f"# HELP {self.name} {self.text}"
        yield f"# TYPE {self.name} counter"
        for labels, value in self.values.items():
            yield f"{self.name}{_written(labels)} {value:.17g}"


@final
class Histogram:
    """How many values are at most as large as each bound.

    Parameters
    ----------
    name, text : str
    bounds : sequence of float, increasing
    """

    def __init__(self, name: str, text: str, bounds: Iterable[float]) -> None:
        self._name = name
        self._text = text
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self) -> Iterable[str]:
        """Return the lines of the format."""
        yield f"# HELP {self._name} {self._text}"
        yield f"# TYPE {self._name} histogram"
        total = 0
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            total += count
            shown = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield f'{self._name}_bucket{{le="{shown}"}} {total}'
        yield f"{self._name}_sum {self._sum:.17g}"
        yield f"{self._name}_count {total}"


def gauge(name: str, text: str, value: float, labels: Mapping[str, str]) -> Iterable[str]:
    """Return the lines of a value that may go up and down."""
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    yield f"{name}{_written(tuple(labels.items()))} {value:.17g}"


def _written(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{label_value(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""
