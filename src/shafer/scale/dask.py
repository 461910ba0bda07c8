"""Dask: the explainer is one key of the graph, so each worker gets it once."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, final
from uuid import uuid4

from shafer.rows.background import SumOfPart
from shafer.scale.engines import (
    ANSWERS_WITHIN,
    WORKERS_DIE,
    FrameEngine,
    JobEngine,
    Work,
    check_answers,
    one_thread,
)
from shafer.scale.inputs import ModelColumns
from shafer.scale.scorer import RowScorer

_MERGED = 8  # sums that are merged at a time
_CHUNK = 100_000


@final
class DaskFrames(FrameEngine):
    """Frames of ``dask.dataframe``."""

    def column_names(self, frame: Any) -> list[str]:
        """Return the columns of a frame; no row is read."""
        return [str(name) for name in frame.columns]

    def scored(self, frame: Any, scorer: RowScorer) -> Any:
        """Return a Dask frame with the scores and the same index."""
        selected = _named(frame)[scorer.read]
        meta = scorer.pandas(selected._meta)
        return selected.map_partitions(_scored, _as_key(scorer), meta=meta)

    def first_rows(self, frame: Any, columns: list[str], count: int) -> Any:
        """Return the first rows, of as many partitions as are needed."""
        return _named(frame)[columns].head(count, npartitions=-1)

    def summed(self, frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
        """Sum each partition on its worker, and merge the sums in a tree."""
        from dask.delayed import delayed

        task = _as_key(sum_of_part)
        sums = [
            delayed(_summed, pure=False)(part, inputs, task)
            for part in _named(frame)[list(inputs.names)].to_delayed()
        ]
        merge = delayed(_merged, pure=False)
        while len(sums) > 1:
            sums = [merge(sums[i : i + _MERGED]) for i in range(0, len(sums), _MERGED)]
        return sums[0].compute()


def _named(frame: Any) -> Any:
    """Return a frame whose columns have texts for names; those of an array are numbers."""
    plain = all(isinstance(name, str) for name in frame.columns)
    return frame if plain else frame.rename(columns={name: str(name) for name in frame.columns})


def _as_key(value: Any) -> Any:
    from dask.delayed import delayed

    return delayed(value, name=f"shafer-{uuid4().hex}", traverse=False)


def _scored(frame: Any, scorer: RowScorer) -> Any:
    with one_thread():
        return scorer.pandas(frame)


def _summed(frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
    with one_thread():
        return sum_of_part(_batches(frame, inputs))


def _batches(frame: Any, inputs: ModelColumns) -> Iterator[Any]:
    for start in range(0, len(frame), _CHUNK):
        yield inputs.rows(frame.iloc[start : start + _CHUNK])


def _merged(sums: list[Any]) -> Any:
    first, *others = sums
    for other in others:
        first.merge(other)
    return first


# Jobs on Dask: one future for each item. The function is one future as well.


@final
class DaskJobs(JobEngine):
    """A running scheduler, or worker processes on this machine."""

    def __init__(self, address: str | None, workers: int) -> None:
        self._address, self._workers = address, workers
        if address is not None:
            check_answers("Dask", address)

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        from distributed import Client, KilledWorker, LocalCluster, as_completed

        with ExitStack() as open_:
            target: Any = self._address
            if target is None:
                target = open_.enter_context(
                    LocalCluster(
                        n_workers=self._workers,
                        threads_per_worker=1,
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
                )
            client = Client.__new__(Client)
            try:
                client.__init__(target, timeout=ANSWERS_WITHIN)
                open_.enter_context(client)
            except (OSError, MemoryError, ValueError) as error:  # something else may answer
                client.close()  # collected later, it may close while Dask holds the lock it needs
                raise ValueError(
                    f"No Dask scheduler answers at {target}. Check --address. ({error})"
                ) from error
            # A task, not scattered data: Dask makes it again if the worker that holds it dies.
            shipped = client.submit(_same, work, key=f"shafer-{uuid4().hex}")
            futures = [client.submit(_called, shipped, item, pure=False) for item in items]
            for future in as_completed(futures):
                try:
                    yield future.result()
                except KilledWorker as error:
                    raise ValueError(WORKERS_DIE) from error


def _same(value: Any) -> Any:
    return value


def _called(work: Work, item: Any) -> Any:
    return work(item)
