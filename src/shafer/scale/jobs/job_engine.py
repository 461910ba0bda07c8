"""``JobEngine``: calls one function on many items, on the workers of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from shafer.scale.worker_threads import one_thread

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
