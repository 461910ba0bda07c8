"""``FrameEngine``: what is asked of every kind of lazy frame; ``JobEngine``: of workers."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, final

from shafer.rows.background import SumOfPart
from shafer.scale.inputs import ModelColumns
from shafer.scale.scorer import RowScorer


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


# Which engine a frame belongs to, by the names of its classes: no engine is imported for this.

# The library and the class of a frame -> the class that works on it.
_ENGINES = {
    ("dask", "DataFrame"): "dask.DaskFrames",
    ("pyspark", "DataFrame"): "spark.SparkFrames",
    ("ray", "Dataset"): "ray.RayDatasets",
    ("polars", "LazyFrame"): "polars.PolarsFrames",
    ("polars", "DataFrame"): "memory.MemoryFrames",
    ("pandas", "DataFrame"): "memory.MemoryFrames",
    ("pyarrow", "Table"): "memory.MemoryFrames",
}


def engine_of(frame: Any) -> FrameEngine:
    """Return what works on a frame.

    Raises
    ------
    ValueError
        If it is not a frame of one of the engines.
    """
    for kind in type(frame).__mro__:
        library = kind.__module__.partition(".")[0]
        found = _ENGINES.get((library, kind.__name__))
        if found is not None:
            module, _, name = found.partition(".")
            engine: FrameEngine = getattr(importlib.import_module(f"shafer.scale.{module}"), name)()
            return engine
    given = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
    instead = ""
    if given.partition(".")[0] == "numpy":
        instead = " For the rows of an array, call the explainer: explainer(X).to_frame()."
    raise ValueError(
        "frame must be a frame of Dask, Spark, Ray, polars, pandas or pyarrow; got "
        f"{given}.{instead}"
    )


# One function called on many items, on the workers of an engine.

Work: TypeAlias = Callable[[Any], Any]

WORKERS_DIE = (
    "Workers died several times on the same part, probably for lack of memory. Use fewer rows at a "
    "time (--chunk), fewer workers, or more memory for each."
)


class JobEngine(ABC):
    """Calls a function on items and gives the results as they come, in any order.

    A worker that dies does not end the job: its items are given to another.
    """

    def run(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        """Give the results, and raise the first error that a user can cause.

        Parameters
        ----------
        work : callable
            Sent to each worker once. It may be called again on an item, after a worker died.
        items : sequence
        """
        if not items:
            return
        for outcome in self._outcomes(Careful(work), items):
            if isinstance(outcome, Refusal):
                raise ValueError(outcome.reason)
            yield outcome

    @abstractmethod
    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        """Call the function on the workers; items may be done in any order."""


@final
@dataclass(frozen=True)
class Refusal:
    """An error that would come again on every worker."""

    reason: str


@final
@dataclass(frozen=True, eq=False)
class Careful:
    """A function on a worker: in one thread, and errors of the user are sent back."""

    work: Work

    def __call__(self, item: Any) -> Any:
        """Call the function on an item."""
        try:
            with one_thread():
                return self.work(item)
        except (TypeError, ValueError) as error:
            return Refusal(str(error))


# The engines that a job may run on, by name.

# The name that users give -> module, class, the library that is needed.
_JOB_ENGINES = {
    "dask": ("dask", "DaskJobs", "distributed"),
    "spark": ("spark", "SparkJobs", "pyspark"),
    "ray": ("ray", "RayJobs", "ray"),
}
ENGINES = tuple(_JOB_ENGINES)


def job_engine(name: str | None, address: str | None, workers: int | None) -> JobEngine:
    """Return an engine.

    Parameters
    ----------
    name : {"dask", "spark", "ray"} or None
        None for this process.
    address : str, optional
        A running cluster; by default workers are started on this machine.
    workers : int, optional
        How many to start; by default one for each processor.
    """
    if name is None:
        return LocalJobs()
    module, class_name, library = _JOB_ENGINES[name]
    if importlib.util.find_spec(library) is None:
        raise ValueError(
            f"The engine {name} needs {library}; "
            f"run: pip install '.[{name}]' in a copy of the repository"
        )
    engine = getattr(importlib.import_module(f"shafer.scale.{module}"), class_name)
    made: JobEngine = engine(address, workers or os.cpu_count() or 1)
    return made


# Addresses of clusters. The libraries try for minutes where nothing answers, so we knock first.

ANSWERS_WITHIN = 5.0  # seconds, for all hosts of an address together
_SILENT_FOR = 1.0
_HOST = re.compile(r"(?:[a-z]+://)?(\[[0-9a-f:]+\]|[^\s:/,]+):([0-9]+)", re.IGNORECASE)


def check_answers(engine: str, address: str, opening: bytes = b"") -> None:
    """Refuse an address at which nothing listens, or something else than a cluster.

    Parameters
    ----------
    engine : str
        The name for messages.
    address : str
        Hosts with ports, such as ``spark://one:7077,two:7077``; one of them must answer. Anything
        else, such as ``yarn`` or ``auto``, is left to the library.
    opening : bytes
        What a cluster waits silently after, and other servers answer.
    """
    places = [_HOST.fullmatch(part) for part in address.rstrip("/").split(",")]
    hosts = [(found[1].strip("[]"), int(found[2])) for found in places if found is not None]
    if len(hosts) < len(places):
        return
    reasons = []
    for host in hosts:
        try:
            with socket.create_connection(host, timeout=ANSWERS_WITHIN / len(hosts)) as peer:
                if not opening or _is_silent(peer, opening):
                    return
            reasons.append("something else listens there")
        except (OSError, OverflowError) as error:
            reasons.append(getattr(error, "strerror", None) or str(error))
    raise ValueError(
        f"No {engine} cluster answers at {address}: {reasons[0]}. Check --address, and that the "
        "cluster runs."
    )


def _is_silent(peer: socket.socket, opening: bytes) -> bool:
    peer.settimeout(_SILENT_FOR)
    peer.sendall(opening)
    try:
        peer.recv(1)
    except TimeoutError:
        return True
    return False


# Jobs in this process, one item after the other.


@final
class LocalJobs(JobEngine):
    """No engine: the compiled kernels may use all threads."""

    def run(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        """Give the results in order."""
        return map(work, items)

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        return map(work, items)


# One thread for each task: the workers of an engine run side by side already.

_IN_TURN = threading.Lock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let compiled kernels use one thread, in this thread of the process."""
    if importlib.util.find_spec("numba") is None:
        yield
        return
    import numba

    before = numba.get_num_threads()
    with _turns():
        numba.set_num_threads(1)
        try:
            yield
        finally:
            numba.set_num_threads(before)


@cache
def _takes_threads() -> bool:
    """Return whether numba may be called from several threads at once."""
    pools = ("numba.np.ufunc.tbbpool", "numba.np.ufunc.omppool")
    return any(_loads(name) for name in pools)


def _loads(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _turns() -> Any:
    # Without OpenMP and TBB, two calls at the same time would end the process.
    return nullcontext() if _takes_threads() else _IN_TURN
