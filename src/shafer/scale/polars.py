"""Polars: the rows stay in this process, and stream through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from shafer.rows.background import SumOfPart
from shafer.rows.schema import pandas_of_arrow
from shafer.scale.engines import FrameEngine
from shafer.scale.inputs import ModelColumns
from shafer.scale.scorer import RowScorer

_CHUNK = 100_000


@final
class PolarsFrames(FrameEngine):
    """Lazy frames of polars."""

    def column_names(self, frame: Any) -> list[str]:
        """Return the columns of a frame; no row is read."""
        return list(frame.collect_schema().names())

    def scored(self, frame: Any, scorer: RowScorer) -> Any:
        """Return a lazy frame with the scores."""
        import polars

        known = frame.collect_schema()
        added = polars.DataFrame(scorer.schema.empty_table()).schema
        schema = {**{name: known[name] for name in scorer.keep}, **added}

        def scores(rows: Any) -> Any:
            found, chosen = scorer.evidence(rows.to_arrow())
            kept = rows.select(scorer.keep)
            kept = kept if len(chosen) == len(rows) else kept[chosen]
            return polars.concat([kept, polars.DataFrame(found)], how="horizontal")

        return frame.select(scorer.read).map_batches(scores, schema=schema, streamable=True)

    def first_rows(self, frame: Any, columns: list[str], count: int) -> Any:
        """Return the first rows as a pandas frame."""
        return pandas_of_arrow(frame.select(columns).head(count).collect().to_arrow())

    def summed(self, frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
        """Sum the rows as they are read."""
        return sum_of_part(_batches(frame, inputs))


def _batches(frame: Any, inputs: ModelColumns) -> Iterator[Any]:
    selected = frame.select(inputs.names)
    for part in selected.collect_batches(chunk_size=_CHUNK, engine="streaming"):
        if len(part) > 0:
            yield inputs.rows(pandas_of_arrow(part.to_arrow()))
