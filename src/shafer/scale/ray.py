"""Ray: the explainer lies in the object store, and each process reads it once."""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, final

from shafer._text import one_line
from shafer.rows.background import SumOfPart
from shafer.rows.schema import pandas_of_arrow
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

_CHUNK = 100_000


@final
class RayDatasets(FrameEngine):
    """Datasets of ``ray.data``."""

    def column_names(self, frame: Any) -> list[str]:
        """Return the columns; Ray may have to look at the first rows."""
        return list(frame.columns())

    def scored(self, frame: Any, scorer: RowScorer) -> Any:
        """Return a dataset with the scores. Ray itself learns their types when it runs."""
        import ray

        return frame.select_columns(scorer.read).map_batches(
            partial(_scored, ray.put(scorer)),
            batch_format="pyarrow",
            batch_size=scorer.chunk,
        )

    def first_rows(self, frame: Any, columns: list[str], count: int) -> Any:
        """Return the first rows as a pandas frame."""
        return frame.select_columns(columns).take_batch(count, batch_format="pandas")

    def summed(self, frame: Any, inputs: ModelColumns, sum_of_part: SumOfPart) -> Any:
        """Sum each batch in its task; the sums are merged as they come."""
        import ray

        shipped = ray.put((inputs, sum_of_part))
        sums = frame.select_columns(list(inputs.names)).map_batches(
            partial(_summed, shipped), batch_format="pyarrow", batch_size=_CHUNK
        )
        found: Any = None
        for row in sums.iter_rows():
            part = pickle.loads(row["sums"])
            found = part if found is None else found.merge(part)
        return found


@lru_cache(maxsize=4)
def _loaded(shipped: Any) -> Any:
    import ray

    return ray.get(shipped)


def _scored(shipped: Any, table: Any) -> Any:
    scorer: RowScorer = _loaded(shipped)
    with one_thread():
        return scorer.arrow(table)


def _summed(shipped: Any, table: Any) -> Any:
    import pyarrow
    from ray import cloudpickle

    inputs, sum_of_part = _loaded(shipped)
    with one_thread():
        sums = sum_of_part(_batches(table, inputs))
    return pyarrow.table({"sums": [cloudpickle.dumps(sums)]})


def _batches(table: Any, inputs: ModelColumns) -> Iterator[Any]:
    if table.num_rows > 0:
        yield inputs.rows(pandas_of_arrow(table))


# Jobs on Ray: one task for each item. The function lies in the object store.

_RETRIES = 3


@final
class RayJobs(JobEngine):
    """A running cluster, or workers on this machine."""

    def __init__(self, address: str | None, workers: int) -> None:
        self._address, self._workers = address, workers
        if address is not None:
            check_answers("Ray", address)
            # Something else may listen there. Ray reads this when it is imported.
            os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", str(round(ANSWERS_WITHIN)))

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        import ray

        running = ray.is_initialized()
        if not running:
            _connect(self._address, self._workers)
        try:
            deaths = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError)
            shipped = ray.put(work)
            call = ray.remote(max_retries=_RETRIES)(_called)
            waiting = [call.remote(shipped, item) for item in items]
            while waiting:
                ready, waiting = ray.wait(waiting)
                try:
                    found = ray.get(ready)
                except deaths as error:
                    raise ValueError(WORKERS_DIE) from error
                yield from found
        finally:
            if not running:
                ray.shutdown()


def _connect(address: str | None, workers: int) -> None:
    """Join a cluster, or start one on this machine."""
    import ray

    own: dict[str, Any] = {"num_cpus": workers, "include_dashboard": False}
    try:
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            **(own if address is None else {}),
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        if address is None:
            raise
        raise ValueError(
            f"No Ray cluster answers at {address}: {one_line(error)} Check --address, and that the "
            "cluster runs."
        ) from error


def _called(work: Work, item: Any) -> Any:
    return work(item)
