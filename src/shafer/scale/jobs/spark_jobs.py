"""Jobs on Spark: one task for each item. The function is a broadcast variable."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, final
from uuid import uuid4

from shafer.scale.jobs.job_engine import JobEngine, Work

_ATTEMPTS = 4  # of a task; Spark's own default everywhere but on one machine
_POLL = 0.2  # seconds


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

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        from pyspark import cloudpickle
        from pyspark.sql import SparkSession

        running = SparkSession.getActiveSession()
        session = running or _session(self._master)
        context = session.sparkContext
        try:
            shipped = context.broadcast(cloudpickle.dumps(work))
            found = context.accumulator([], _gathering())
            key = uuid4().hex

            def called(item: Any) -> None:
                found.add([_loaded(key, shipped)(item)])

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
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


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


def _loaded(key: str, shipped: Any) -> Work:
    if key not in _LOADED:
        _LOADED.clear()
        _LOADED[key] = pickle.loads(shipped.value)
    return _LOADED[key]
