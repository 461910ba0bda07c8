"""``FrameEngine``: what is asked of every kind of lazy frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from shafer.models.inputs.background_parts import SumOfPart
from shafer.scale.model_columns import ModelColumns
from shafer.scale.row_scorer import RowScorer


class FrameEngine(ABC):
    """Works on frames of one kind, where their rows are."""

    @abstractmethod
    def column_names(self, frame: Any) -> list[str]:
        """Return the columns of a frame; no row is read."""

    @abstractmethod
    def scored(self, frame: Any, scorer: RowScorer) -> Any:
        """Return a frame of the same kind with the scores, lazily."""

    @abstractmethod
    def first_rows(self, frame: Any, columns: list[str], count: int) -> Any:
        """Return the first rows as a pandas frame."""

    @abstractmethod
    def summed(self, frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
        """Sum each partition where it is, and merge the sums."""
