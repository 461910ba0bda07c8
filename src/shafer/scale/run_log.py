"""``RunLog``: what a long command reports while it runs, for people and for programs."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, final

import click

from shafer._terminal import say
from shafer._text import printable

LogFormat: TypeAlias = Literal["text", "json"]
LOG_FORMATS: tuple[LogFormat, ...] = ("text", "json")
_EVERY = 10.0  # seconds between lines of progress


@final
@dataclass(frozen=True)
class RunLog:
    """Writes lines to the error stream: sentences, or one JSON object for each event.

    Attributes
    ----------
    style : {"text", "json"}
    """

    style: LogFormat = "text"

    def event(self, name: str, message: str, /, **fields: Any) -> None:
        """Report what happened, to programs only: people are told by progress and the last line."""
        if self.style == "json":
            now = datetime.now(UTC).isoformat(timespec="milliseconds")
            shown = {"time": now, "event": name, "message": message, **fields}
            click.echo(json.dumps(shown, ensure_ascii=True, allow_nan=False), err=True)

    def done(self, message: str, /, **fields: Any) -> None:
        """Report the result: the last line of a run."""
        self.event("done", message, **fields)
        if self.style == "text":
            say(message)

    @contextmanager
    def refusals(self) -> Iterator[None]:
        """Report errors as events too, where programs read them."""
        try:
            yield
        except click.ClickException as error:
            if self.style == "text":
                raise
            self.event("error", error.format_message(), exit_code=error.exit_code)
            raise SystemExit(error.exit_code) from error

    @contextmanager
    def progress(self, total: int, done: int = 0) -> Iterator[Callable[[int], object]]:
        """Give a function that counts rows: a bar in a terminal, elsewhere a line every 10 s."""
        if self.style == "text" and sys.stderr.isatty():
            from tqdm import tqdm

            with tqdm(total=total, initial=done, unit="row", unit_scale=True) as bar:
                yield bar.update
            return
        ticker = _Ticker(self, total, done)
        ended = threading.Event()
        thread = threading.Thread(target=ticker.run, args=(ended,), daemon=True)
        thread.start()
        try:
            yield ticker.count
        finally:
            ended.set()
            thread.join()


@final
class _Ticker:
    """Reports how far a run is, also while nothing is finished: a line shows that it lives."""

    def __init__(self, log: RunLog, total: int, done: int) -> None:
        self._log, self._total, self._first, self._done = log, total, done, done
        self._start = time.monotonic()

    def count(self, rows: int) -> None:
        self._done += rows

    def run(self, ended: threading.Event) -> None:
        while not ended.wait(_EVERY):
            self._report()

    def _report(self) -> None:
        seconds = time.monotonic() - self._start
        new = self._done - self._first
        speed = new / seconds
        left = None if new == 0 else (self._total - self._done) / speed
        text = f"{self._done:,} of {self._total:,} rows"
        if left is not None:
            text += f", {speed:,.0f} rows per second, about {left:,.0f} s left"
        if self._log.style == "text":
            click.echo(printable(f"shafer: {text}"), err=True)
        self._log.event(
            "progress",
            text,
            rows=self._done,
            total=self._total,
            seconds=round(seconds, 1),
            seconds_left=None if left is None else round(left, 1),
        )
