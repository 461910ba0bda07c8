"""``WeightErrors``: how uncertain the weights of evidence are, and what can be asked of it.

A covariance of all weights would have (n·G·K)² entries. So errors keep what they are made of, and
give standard deviations of combinations of one component's weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from shafer._typing import Array, FloatArray
from shafer.evidence.weight_sources.weight_source import Positions

_BLOCK = 2**21  # numbers in memory at a time


@dataclass(frozen=True, eq=False)
class WeightErrors(ABC):
    """Standard errors of weights of evidence w_gk, given on demand.

    The weights are random, because the model was trained on a sample. Errors follow the weights:
    rows and components are taken, grouped and multiplied in the same way.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """The shape (n, G, K) of the weights."""

    @property
    @abstractmethod
    def degrees_of_freedom(self) -> float:
        """Of Student's t, for intervals: infinite if the standard deviations are not estimates."""

    @abstractmethod
    def std_of(self, combinations: FloatArray) -> FloatArray:
        """Return the standard deviations of Σ_k c_mk w_gk, (n, G, M).

        Parameters
        ----------
        combinations : array of shape (M, K)
            c: unit vectors ask for the weights, e_a − e_b for the contrast of two classes.
        """

    @abstractmethod
    def rows(self, positions: Positions) -> Self:
        """Keep some instances."""

    @abstractmethod
    def keep(self, components: Positions) -> Self:
        """Keep some components."""

    @abstractmethod
    def grouped(self, groups: Sequence[Positions]) -> Self:
        """Take the sums of the weights inside each group."""

    @abstractmethod
    def scaled(self, factor: float | Array) -> Self:
        """Multiply all weights by a factor ≥ 0, one for all instances or one for each."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the errors, by name, for a file."""


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """Split n rows, so that a block of ``width`` numbers for each row stays small."""
    size = max(1, _BLOCK // max(1, width))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
