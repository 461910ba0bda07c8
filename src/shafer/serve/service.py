"""``app``: a web service that answers rows with the model of a saved file."""

# No future annotations: FastAPI reads those of the routes, whose names are local.

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, final

from shafer.evidence.table import label_texts
from shafer.explain.answered_rows import checked_reasons
from shafer.explain.explainer import Explainer
from shafer.explain.predictor import Predictor
from shafer.saving.file import load_object
from shafer.scale.score import explainer_of
from shafer.serve.counters import Counter, Histogram, gauge
from shafer.serve.row_reader import BodyError, RowReader, read_json
from shafer.serve.waiting import WaitingRows

_MOST_TOGETHER = 128
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_LOG = logging.getLogger("shafer.serve")
_REFUSED = "The model does not take this row: a value is missing that it needs, or is unknown."


def app(
    model: str | os.PathLike[str] | Predictor,
    *,
    reasons: int = 3,
    most_rows: int = 1000,
    most_bytes: int = 2**20,
    trusted: Iterable[str] = (),
) -> Any:
    """Return a web service that answers rows: an ASGI application, for uvicorn and others.

    =========================  ===================================================================
    ``POST /answer``           one row, an object with a value for each column: the entry that
                               ``answer(X).records()`` has for it
    ``POST /answer/batch``     a list of rows: a list of entries
    ``GET /schema``            the columns of a row as a JSON schema, the classes, what is promised
    ``GET /health``            200 while the process works
    ``GET /ready``             200 from the first answer until the service is stopped, else 503
    ``GET /metrics``           counters for Prometheus: requests, rows, answers, deferred rows,
                               warnings, seconds
    =========================  ===================================================================

    Parameters
    ----------
    model : str, Path, Explainer or EvidentialClassifier
        The file that ``save`` wrote, or a model at hand.
    reasons : int
        Reasons for each row; 0 for none.
    most_rows : int
        A longer batch is refused with status 422.
    most_bytes : int
        A larger body is refused with status 413, before it is read.
    trusted : sequence of str
        As in :meth:`shafer.Explainer.load`.

    Returns
    -------
    FastAPI
        Run it with ``uvicorn service:app``. When uvicorn is asked to stop, it answers what it has
        accepted.

    Raises
    ------
    ImportError
        Without FastAPI, with the command that installs it.
    ValueError
        If the file cannot be loaded, or does not tell what the columns of a row are.

    See Also
    --------
    shafer.Explainer.save : Writes the file.
    shafer.export.pyfunc : A model for MLflow, which has a server of its own.

    Examples
    --------
    >>> import pandas as pd, shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> rows = pd.DataFrame({"age": [30, 40, 50, 60]})
    >>> model = LogisticRegression().fit(rows, ["no", "no", "yes", "yes"])
    >>> service = shafer.serve.app(shafer.Explainer(model, rows))
    >>> [route.path for route in service.routes if route.path.startswith("/answer")]
    ['/answer', '/answer/batch']
    """
    try:
        from fastapi import FastAPI, Request, Response
    except ImportError:
        raise ImportError(
            "shafer.serve needs FastAPI, and uvicorn to run it. Run: pip install '.[serve]' in a "
            "copy of the source, or: pip install fastapi uvicorn"
        ) from None
    for name, value in (("most_rows", most_rows), ("most_bytes", most_bytes)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}.")
    service = Service.of(model, reasons, trusted)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        await service.start()
        yield
        service.stop()

    made = FastAPI(
        title="shafer",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        version=service.version,
    )
    made.state.service = service

    def written(content: Any, status: int = 200) -> Any:
        body = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return Response(body.encode(), status, media_type="application/json")

    async def guarded(request: Any, work: Callable[[Any], Awaitable[Any]]) -> Any:
        body = await _body(request.stream(), request.headers, most_bytes)
        if body is None:
            text = f"The body must have at most {most_bytes} bytes."
            return written({"detail": [{"loc": ["body"], "msg": text}]}, 413)
        try:
            return written(await work(read_json(body)))
        except BodyError as error:
            return written({"detail": error.detail}, 422)

    row = service.reader.json_schema()

    @made.post("/answer", openapi_extra=_takes(row))
    async def answer(request: Request) -> Any:
        """Answer one row."""
        return await guarded(request, service.one)

    rows = {"type": "array", "items": row, "minItems": 1, "maxItems": most_rows}

    @made.post("/answer/batch", openapi_extra=_takes(rows))
    async def batch(request: Request) -> Any:
        """Answer some rows."""
        return await guarded(request, lambda given: service.many(given, most_rows))

    @made.get("/schema")
    async def schema() -> Any:
        """Return what a row is, and what is promised."""
        return written(service.description)

    @made.get("/health")
    async def health() -> Any:
        """Tell that the process works."""
        return written({"status": "ok"})

    @made.get("/ready")
    async def ready() -> Any:
        """Tell whether rows are answered."""
        if service.is_ready:
            return written({"status": "ready"})
        return written({"status": "not ready"}, 503)

    @made.get("/metrics")
    async def metrics() -> Any:
        """Return the counters."""
        text = "\n".join(service.lines()) + "\n"
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    made.add_middleware(_Timed, service=service)
    return made


def _takes(schema: Mapping[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


async def _body(parts: AsyncIterator[bytes], headers: Mapping[str, str], most: int) -> bytes | None:
    """Return a body; None if it is too large: then no more of it is read."""
    stated = headers.get("content-length", "")
    if stated.isdigit() and int(stated[:20]) > most:
        return None
    body = b""
    async for part in parts:
        body += part
        if len(body) > most:
            return None
    return body


@final
class Service:
    """A model, its rows and its counters.

    Parameters
    ----------
    predictor : Explainer or EvidentialClassifier
    explainer : Explainer
        The one inside.
    reasons : int
    name : str
        The file.
    """

    def __init__(self, predictor: Predictor, explainer: Explainer, reasons: int, name: str) -> None:
        self.reader = RowReader.of(predictor, explainer)
        self.is_ready = False
        self.version = _version()
        self._predictor = predictor
        self._explainer = explainer
        self._reasons = reasons
        self._name = name
        self._executor: ThreadPoolExecutor | None = None
        self._waiting = WaitingRows(self.records, self._thread, _MOST_TOGETHER)
        self._labels = label_texts(predictor.classes)
        self.requests = Counter("shafer_requests_total", "Requests, by path and status.")
        self.seconds = Histogram(
            "shafer_answer_seconds", "Seconds from a request for an answer to the answer.", _SECONDS
        )
        self.in_progress = 0
        self._together = Histogram(
            "shafer_rows_together", "Rows that passed through the model together.", _ROWS
        )
        self._rows = Counter("shafer_rows_total", "Rows that were answered.")
        self._answers = Counter("shafer_answers_total", "Answers, by class.")
        self._deferred = Counter("shafer_deferred_total", "Rows for a person, by reason.")
        self._warned = Counter("shafer_warned_rows_total", "Rows with a warning.")
        self._sets = Counter("shafer_sets_total", "Calibrated sets, by their number of classes.")

    @classmethod
    def of(
        cls, model: str | os.PathLike[str] | Predictor, reasons: Any, trusted: Iterable[str]
    ) -> Self:
        """Load a model, or take one at hand."""
        name = ""
        if isinstance(model, str | os.PathLike):
            name = Path(model).name
            model = load_object(model, trusted=trusted)
        explainer = explainer_of(model)
        assert isinstance(model, Predictor)  # both types are
        return cls(model, explainer, checked_reasons(reasons), name)

    async def start(self) -> None:
        """Answer a few rows, so that the first request waits for nothing."""
        rows = self._explainer.few_rows
        if rows is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread(), self._warmed_up, rows)
        self.is_ready = True

    def _warmed_up(self, rows: Any) -> None:
        try:
            self._predictor.answer(rows, self._reasons)
        except ValueError:  # groups need a column that the background does not have
            self._predictor.observe(rows).warnings()

    def stop(self) -> None:
        """Take no more rows."""
        self.is_ready = False
        if self._executor is not None:
            self._executor.shutdown(wait=True)
        self._executor = None

    def _thread(self) -> ThreadPoolExecutor:
        """Return the one thread that the model works in."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, "shafer")
        return self._executor

    async def one(self, given: Any) -> Any:
        """Answer a row of a body."""
        row = self.reader.checked(given)
        try:
            record = await self._waiting.answered(row)
        except ValueError as error:
            raise self._refusal(error) from None
        self._count([record])
        return record

    async def many(self, given: Any, most: int) -> Any:
        """Answer the rows of a body."""
        if not isinstance(given, list) or not 1 <= len(given) <= most:
            raise BodyError([((), f"A batch must be a list of 1 to {most} rows.")])
        problems: list[Any] = []
        rows = []
        for place, row in enumerate(given):
            try:
                rows.append(self.reader.checked(row, (place,)))
            except BodyError as error:
                problems += error.problems
        if problems:
            raise BodyError(problems[:100])
        loop = asyncio.get_running_loop()
        try:
            records = await loop.run_in_executor(self._thread(), self.records, rows)
        except ValueError as error:
            raise self._refusal(error) from None
        self._count(records)
        return records

    def records(self, rows: Sequence[Any]) -> list[dict[str, Any]]:
        """Return the entries of rows that were checked."""
        self._together.add(len(rows))
        return self._predictor.answer(self.reader.table(rows), self._reasons).records()

    def _refusal(self, error: ValueError) -> BodyError:
        # The text may have values of the row: it is for the log of those who ask for it.
        _LOG.debug("the model refused a row: %s", error)
        return BodyError([((), _REFUSED)])

    def _count(self, records: Sequence[Mapping[str, Any]]) -> None:
        self._rows.add(len(records))
        for record in records:
            self._answers.add(answer=str(record["answer"]))
            if record.get("deferred"):
                self._deferred.add(why=record["why"])
            if record["warnings"]:
                self._warned.add()
            if "set" in record:
                self._sets.add(classes=str(len(record["set"])))

    @property
    def description(self) -> dict[str, Any]:
        """What a row is, what comes back, and what is promised."""
        kept = self._predictor.promises
        sets = getattr(self._predictor, "conformal_", kept.conformal)
        promises = []
        if sets is not None:
            promises.append(f"the set holds the true class with {sets.coverage:.0%} probability")
        if kept.deferral is not None:
            promises.append(kept.deferral.text)
        return {
            "row": self.reader.json_schema(),
            "classes": self._labels,
            "promises": promises,
            "reasons": self._reasons,
            "file": self._name,
            "version": self.version,
        }

    def lines(self) -> Iterable[str]:
        """Return the metrics."""
        labels = {"file": self._name, "version": self.version}
        yield from gauge("shafer_ready", "1 if rows are answered.", float(self.is_ready), labels)
        text = "Requests for answers that were accepted, and are not answered yet."
        yield from gauge("shafer_in_progress", text, float(self.in_progress), {})
        counters = (self.requests, self._rows, self._answers, self._deferred, self._warned)
        for counter in (*counters, self._sets):
            yield from counter.lines()
        yield from self.seconds.lines()
        yield from self._together.lines()


def _version() -> str:
    from shafer import __version__

    return __version__


@final
class _Timed:
    """Counts requests, around an ASGI application."""

    _PATHS = ("/answer", "/answer/batch", "/schema", "/health", "/ready", "/metrics")

    def __init__(self, inside: Any, service: Service) -> None:
        self._inside = inside
        self._service = service

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._inside(scope, receive, send)
            return
        path = scope["path"] if scope["path"] in self._PATHS else "other"
        asks = int(path.startswith("/answer"))
        start, status = time.perf_counter(), "500"

        async def told(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        self._service.in_progress += asks
        try:
            await self._inside(scope, receive, told)
        finally:
            self._service.in_progress -= asks
            self._service.requests.add(path=path, status=status)
            if asks:
                self._service.seconds.add(time.perf_counter() - start)
