"""``InputValues``: the values of the inputs behind each component, for tables of reasons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array


class InputValues(ABC):
    """The user's rows, and which of their columns each component was computed from."""

    @abstractmethod
    def columns(self, component: int) -> tuple[str, ...]:
        """Return the names of the columns behind a component; empty if they are not known."""

    @abstractmethod
    def values(self, component: int) -> Array | None:
        """Return the values of a component's columns, one for each row; None if not known."""

    @abstractmethod
    def rows(self, positions: NDArray[np.intp]) -> InputValues:
        """Keep some instances."""

    @abstractmethod
    def same_rows(self, other: InputValues) -> bool:
        """Return whether both are about the same table: the same values in the same cells."""

    @abstractmethod
    def grouped(self, groups: Sequence[Sequence[int]]) -> InputValues:
        """Join components; a group of one renames, components in no group are dropped."""
