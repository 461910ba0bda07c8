"""Jobs on Dask: one future for each item. The function is one future as well."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, final
from uuid import uuid4

from shafer.scale.jobs.job_engine import WORKERS_DIE, JobEngine, Work


@final
class DaskJobs(JobEngine):
    """A running scheduler, or worker processes on this machine."""

    def __init__(self, address: str | None, workers: int) -> None:
        self._address, self._workers = address, workers

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
            try:
                client = open_.enter_context(Client(target))
            except OSError as error:
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
