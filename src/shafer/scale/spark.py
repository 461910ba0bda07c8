"""Spark: the explainer is a broadcast variable, and record batches stream through each task."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from hashlib import sha256
from typing import Any, final
from uuid import uuid4

from shafer.rows.background import SumOfPart
from shafer.rows.schema import pandas_of_arrow
from shafer.scale.engines import (
    FrameEngine,
    JobEngine,
    Work,
    check_answers,
    one_thread,
)
from shafer.scale.inputs import ModelColumns
from shafer.scale.scorer import RowScorer

_DEPTH = 2  # of the tree in which sums are merged


@final
class SparkFrames(FrameEngine):
    """Frames of ``pyspark.sql``."""

    def column_names(self, frame: Any) -> list[str]:
        """Return the columns of a frame; no row is read."""
        return list(frame.columns)

    def scored(self, frame: Any, scorer: RowScorer) -> Any:
        """Return a Spark frame with the scores."""
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        fields = [frame.schema[name] for name in scorer.keep]
        fields += from_arrow_schema(scorer.schema).fields
        shipped = _shipped(frame, scorer)

        def scores(batches: Iterator[Any]) -> Iterator[Any]:
            return _scores(shipped.value, batches)

        return _selected(frame, scorer.read).mapInArrow(scores, StructType(fields))

    def first_rows(self, frame: Any, columns: list[str], count: int) -> Any:
        """Return the first rows as a pandas frame."""
        rows = pandas_of_arrow(_selected(frame, columns).limit(count).toArrow())
        return rows.set_axis(columns, axis=1)

    def summed(self, frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
        """Sum each partition in its task, and merge the sums in a tree."""
        from pyspark import cloudpickle

        shipped = _shipped(frame, (inputs, sum_of_part))

        def sums(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow

            columns, task = shipped.value
            names = list(columns.names)
            tables = (_table([batch], names) for batch in batches if batch.num_rows > 0)
            rows = map(columns.rows, map(pandas_of_arrow, tables))
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


# Jobs on Spark: one task for each item. The function is a broadcast variable.

_ATTEMPTS = 4  # of a task; Spark's own default everywhere but on one machine
_POLL = 0.2  # seconds
_OPENING = b"\0\0\0\0\0\0\0\x15\r\n\r\n"
"""The length of a message and its beginning: Spark waits for the rest, others refuse it."""
_MASTERS = re.compile(r"local(\[.*\])?|yarn|k8s://.+|spark://.+")


@final
class SparkJobs(JobEngine):
    """A Spark master, or workers on this machine."""

    def __init__(self, address: str | None, workers: int) -> None:
        if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            raise ValueError(
                "Spark needs Java, which was not found. Install it, such as with: apt-get install "
                "openjdk-17-jre-headless"
            )
        self._master = _with_attempts(address or f"local[{workers}]")
        if _MASTERS.fullmatch(self._master) is None:
            raise ValueError(
                f"--address must be a Spark master such as spark://host:7077, yarn or "
                f"k8s://https://host:443; got {address}."
            )
        if not self._master.startswith("local"):
            spoken = self._master.startswith("spark://")
            check_answers("Spark", self._master.removeprefix("k8s://"), _OPENING if spoken else b"")

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        from pyspark import cloudpickle
        from pyspark.sql import SparkSession

        running = SparkSession.getActiveSession()
        session = running or _started(self._master)
        context = session.sparkContext
        try:
            shipped = context.broadcast(cloudpickle.dumps(work))
            found = context.accumulator([], _gathering())
            key = uuid4().hex

            def called(item: Any) -> None:
                found.add([_loaded_job(key, shipped)(item)])

            rows = context.parallelize(list(items), len(items))
            yield from _while_running(lambda: rows.foreach(called), found)
        finally:
            if running is None:
                session.stop()


def _session(master: str) -> Any:
    from pyspark.sql import SparkSession

    if master.startswith("local"):
        # Workers on this machine run the Python of this process, unless the user chose another.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("shafer")
    builder = builder.config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.log.level", "OFF")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _started(master: str) -> Any:
    """Start a session."""
    if master.startswith("local"):
        return _session(master)
    try:
        return _session(master)
    except Exception as error:  # of Java
        raise ValueError(
            f"Spark did not start with --address {master}: {_reason(error)}"
        ) from error


def _with_attempts(master: str) -> str:
    """Let Spark repeat tasks on one machine too, where by default one death ends the job."""
    plain = re.fullmatch(r"local(?:\[([^],]+)\])?", master)
    return master if plain is None else f"local[{plain[1] or 1},{_ATTEMPTS}]"


def _gathering() -> Any:
    from pyspark.accumulators import AccumulatorParam

    class Gathering(AccumulatorParam):  # type: ignore[misc]
        """Collects results of tasks while the job runs; those of repeated tasks count once."""

        def zero(self, value: list[Any]) -> list[Any]:  # noqa: ARG002 - Spark's signature
            return []

        def addInPlace(  # noqa: N802 - Spark's name
            self, value1: list[Any], value2: list[Any]
        ) -> list[Any]:
            value1.extend(value2)
            return value1

    return Gathering()


def _while_running(job: Any, found: Any) -> Iterator[Any]:
    """Run a job in another thread, and give its results as they come."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            job()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    given = 0
    while True:
        ended = not thread.is_alive()
        results = found.value
        while given < len(results):
            yield results[given]
            given += 1
        if ended:
            break
        thread.join(_POLL)
    if errors:
        raise ValueError(f"Spark could not finish the job: {_reason(errors[0])}") from errors[0]


def _reason(error: BaseException) -> str:
    """Return the line of Spark's long message that says what happened."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    with suppress(StopIteration):
        return next(line for line in reversed(lines) if re.match(r"\w+(Error|Exception):", line))
    return lines[0] if lines else type(error).__name__


_LOADED: dict[str, Work] = {}
"""The function of the last job, in a worker process."""


def _loaded_job(key: str, shipped: Any) -> Work:
    if key not in _LOADED:
        _LOADED.clear()
        _LOADED[key] = pickle.loads(shipped.value)
    return _LOADED[key]
