"""``WaitingRows``: rows that wait at the same time are answered together.

While rows are in the model, others arrive. They are passed through it together: a pass of sixteen
rows takes hardly longer than one of a single row. Nobody waits for others to come, and each row has
the same result alone and among others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, final

Answer = Callable[[Sequence[Any]], list[Any]]


@final
class WaitingRows:
    """Rows of several requests, and who waits for each.

    Parameters
    ----------
    answer : callable
        Returns an entry for each row, in another thread.
    executor : callable
        Returns the executor, of one thread.
    most : int
        Rows that are answered together.
    """

    def __init__(self, answer: Answer, executor: Callable[[], Executor], most: int) -> None:
        self._answer = answer
        self._executor = executor
        self._most = most
        self._waiting: list[tuple[Any, asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def answered(self, row: Any) -> Any:
        """Return the entry of one row, or raise what the model raised."""
        waits: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, waits))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return await waits

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            now, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            rows = [row for row, _ in now]
            found = await loop.run_in_executor(self._executor(), self._each, rows)
            for (_, waits), (entry, error) in zip(now, found, strict=True):
                if waits.cancelled():  # the client has gone
                    continue
                if error is None:
                    waits.set_result(entry)
                else:
                    waits.set_exception(error)

    def _each(self, rows: list[Any]) -> list[tuple[Any, Exception | None]]:
        """Answer rows together; if the model refuses them, one by one: the others are right."""
        try:
            return [(entry, None) for entry in self._answer(rows)]
        except Exception as error:
            if len(rows) == 1:
                return [(None, error)]
        return [self._each([row])[0] for row in rows]
