"""Jobs in this process, one item after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

from shafer.scale.jobs.job_engine import JobEngine, Work


@final
class LocalJobs(JobEngine):
    """No engine: the compiled kernels may use all threads."""

    def run(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        """Give the results in order."""
        return map(work, items)

    def _outcomes(self, work: Work, items: Sequence[Any]) -> Iterator[Any]:
        return map(work, items)
