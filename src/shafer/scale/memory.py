"""Frames in memory, of pandas, pyarrow and polars: scored at once, with the same columns."""

from __future__ import annotations

from typing import Any, final

import narwhals as nw

from shafer.rows.background import SumOfPart
from shafer.rows.schema import pandas_of_arrow
from shafer.scale.engines import FrameEngine
from shafer.scale.inputs import ModelColumns
from shafer.scale.scorer import RowScorer


@final
class MemoryFrames(FrameEngine):
    """Frames of pandas, which keep their index, of pyarrow, and of polars."""

    def column_names(self, frame: Any) -> list[str]:
        """Return the columns of a frame."""
        return [str(name) for name in nw.from_native(frame, eager_only=True).columns]

    def scored(self, frame: Any, scorer: RowScorer) -> Any:
        """Return a frame with the scores."""
        if hasattr(frame, "iloc"):
            return scorer.pandas(frame.set_axis(self.column_names(frame), axis=1))
        table = scorer.arrow(nw.from_native(frame, eager_only=True).to_arrow())
        if not nw.dependencies.is_polars_dataframe(frame):
            return table
        import polars

        return polars.DataFrame(table)

    def first_rows(self, frame: Any, columns: list[str], count: int) -> Any:
        """Return the first rows as a pandas frame."""
        return self._pandas(frame, columns).head(count)

    def summed(self, frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
        """Sum all rows."""
        return sum_of_part([inputs.rows(self._pandas(frame, list(inputs.names)))])

    @staticmethod
    def _pandas(frame: Any, columns: list[str]) -> Any:
        if hasattr(frame, "iloc"):
            return frame[columns]
        return pandas_of_arrow(nw.from_native(frame, eager_only=True).to_arrow().select(columns))
