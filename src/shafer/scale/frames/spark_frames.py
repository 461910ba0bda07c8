"""Spark: the explainer is a broadcast variable, and record batches stream through each task."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from hashlib import sha256
from typing import Any, final

from shafer.models.inputs.background_parts import SumOfPart
from shafer.scale.frames.frame_engine import FrameEngine
from shafer.scale.model_columns import ModelColumns
from shafer.scale.row_scorer import RowScorer
from shafer.scale.worker_threads import one_thread

_DEPTH = 2  # of the tree in which sums are merged


@final
class SparkFrames(FrameEngine):
    """Frames of ``pyspark.sql``."""

    def column_names(self, frame: Any) -> list[str]:
        """Return the columns of a frame; no row is read."""
        return list(frame.columns)

    def scored(self, frame: Any, scorer: RowScorer) -> Any:
        """Return a Spark frame with the scores."""
        from pyspark.sql.types import DoubleType, StringType, StructField, StructType

        fields = [frame.schema[name] for name in scorer.keep]
        for field in scorer.evidence_schema():
            kind = DoubleType() if str(field.type) == "double" else StringType()
            fields.append(StructField(field.name, kind))
        shipped = _shipped(frame, scorer)

        def scores(batches: Iterator[Any]) -> Iterator[Any]:
            return _scores(shipped.value, batches)

        return _selected(frame, scorer.read).mapInArrow(scores, StructType(fields))

    def first_rows(self, frame: Any, columns: list[str], count: int) -> Any:
        """Return the first rows as a pandas frame."""
        rows = _selected(frame, columns).limit(count).toArrow().to_pandas()
        return rows.set_axis(columns, axis=1)

    def summed(self, frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
        """Sum each partition in its task, and merge the sums in a tree."""
        from pyspark import cloudpickle

        shipped = _shipped(frame, (inputs, sum_of_part))

        def sums(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            columns, task = shipped.value
            names = list(columns.names)
            rows = (columns.rows(_table([b], names).to_pandas()) for b in batches if b.num_rows > 0)
            with one_thread():
                found = cloudpickle.dumps(task(rows))
            yield pyarrow.RecordBatch.from_pydict({"sums": [found]})

        parts = _selected(frame, list(inputs.names)).mapInArrow(sums, "sums binary")
        if not hasattr(frame.sparkSession, "_sc"):  # Spark Connect has no RDDs
            return reduce(_merged, (pickle.loads(row.sums) for row in parts.collect()))
        return parts.rdd.map(lambda row: pickle.loads(row.sums)).treeReduce(_merged, _DEPTH)


def _scores(scorer: RowScorer, batches: Iterator[Any]) -> Iterator[Any]:
    """Give the scores of record batches, which Spark makes small; few rows are in memory."""
    for held in _gathered(batches, scorer.chunk):
        with one_thread():
            scored = scorer.arrow(_table(held, scorer.read))
        yield from scored.to_batches()


def _gathered(batches: Iterator[Any], rows: int) -> Iterator[list[Any]]:
    """Join record batches until they have so many rows."""
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        if sum(part.num_rows for part in held) >= rows:
            yield held
            held = []
    if held:
        yield held


def _merged(first: Any, second: Any) -> Any:
    return first.merge(second)


def _selected(frame: Any, columns: list[str]) -> Any:
    """Select columns and number them: ``mapInArrow`` cannot take names with dots or backticks."""
    chosen = frame.select(*("`" + name.replace("`", "``") + "`" for name in columns))
    return chosen.toDF(*(f"c{i}" for i in range(len(columns))))


def _table(batches: list[Any], columns: list[str]) -> Any:
    """Return record batches of numbered columns as a table with the names of the columns."""
    import pyarrow

    return pyarrow.Table.from_batches(batches).rename_columns(columns)


@final
@dataclass(frozen=True)
class _Shipped:
    """An object on its way to the workers; each process reads it once.

    Attributes
    ----------
    digest : str
    content : Broadcast or bytes
        Bytes for Spark Connect, which has no broadcast variables.
    """

    digest: str
    content: Any

    @cached_property
    def value(self) -> Any:
        return _loaded(self)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shipped) and other.digest == self.digest


@lru_cache(maxsize=4)
def _loaded(shipped: _Shipped) -> Any:
    content = shipped.content
    return pickle.loads(content if isinstance(content, bytes) else content.value)


def _shipped(frame: Any, value: Any) -> _Shipped:
    from pyspark import cloudpickle

    content: Any = cloudpickle.dumps(value)
    digest = sha256(content).hexdigest()
    session = frame.sparkSession
    if hasattr(session, "_sc"):
        content = session.sparkContext.broadcast(content)
    return _Shipped(digest, content)
