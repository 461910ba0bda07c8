"""Jobs on Ray: one task for each item. The function lies in the object store."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, final

from shafer.scale.jobs.job_engine import WORKERS_DIE, JobEngine, Work

_RETRIES = 3


@final
class RayJobs(JobEngine):
    """A running cluster, or workers on this machine."""

    def __init__(self, address: str | None, workers: int) -> None:
        self._address, self._workers = address, workers

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        import ray

        running = ray.is_initialized()
        if not running:
            own: dict[str, Any] = {"num_cpus": self._workers, "include_dashboard": False}
            ray.init(
                address=self._address or "local",
                log_to_driver=False,
                logging_level=logging.ERROR,
                **(own if self._address is None else {}),
            )
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


def _called(work: Work, item: Any) -> Any:
    return work(item)
