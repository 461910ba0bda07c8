"""``InputValues``: the values of the inputs behind each component, for tables of reasons."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array
from shafer.evidence.word_spans import WordSpans


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

    def is_word(self, component: int) -> bool:  # noqa: ARG002 - inputs that are texts use it
        """Return whether a component is a word of a text, one of many from the same column."""
        return False

    def text_columns(self) -> tuple[str | None, ...]:
        """Return the columns of texts whose words are components; None if each row is a text."""
        return ()

    def word_spans(
        self,
        row: int,  # noqa: ARG002 - inputs that are texts use them
        text: str | None = None,  # noqa: ARG002
        column: str | None = None,  # noqa: ARG002
    ) -> WordSpans | None:
        """Return where the components are in the text of a row; None if it has no texts.

        Parameters
        ----------
        row : int
            Position of the instance.
        text : str, optional
            The text; by default the one that the evidence was computed from.
        column : str, optional
            The column of texts, if there are several.
        """
        return None
