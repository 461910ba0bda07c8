"""The web service: what it takes, what it answers, what it refuses without showing it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

import shafer
from own_loop import run_apart
from shafer.serve.waiting import WaitingRows

RANDOM = np.random.default_rng(1)
N = 200
ROWS = pd.DataFrame(
    {
        "age": RANDOM.normal(50.0, 10.0, N),
        "visits": RANDOM.integers(0, 9, N),
        "smoker": RANDOM.random(N) < 0.3,
        "colour": RANDOM.choice(["red", "green"], N),
        "site": RANDOM.choice(["north", "south"], N),
    }
)
ILL = np.where(ROWS["age"] + 5 * ROWS["smoker"] + 8 * RANDOM.normal(size=N) > 52, "ill", "well")
INPUTS = ["age", "visits", "smoker", "colour"]
GOOD = {"age": 61.5, "visits": 3, "smoker": True, "colour": "red", "site": "north"}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    encode = make_column_transformer(
        (StandardScaler(), ["age", "visits"]),
        (OneHotEncoder(), ["colour"]),
        ("passthrough", ["smoker"]),
    )
    model = make_pipeline(encode, LogisticRegression()).fit(ROWS[INPUTS], ILL)
    explainer = shafer.Explainer(model, ROWS[INPUTS])
    explainer.conformalize(ROWS, ILL, 0.8, by="site").control_error(ROWS, ILL, 0.3)
    path: Path = tmp_path_factory.mktemp("serve") / "m.shafer"
    explainer.save(path)
    return path


Visit = Callable[[httpx.AsyncClient], Awaitable[Any]]


def visited(service: Any, visit: Visit) -> Any:
    """Start a service, visit it, and stop it."""

    async def go() -> Any:
        transport = httpx.ASGITransport(app=service)
        async with (
            service.router.lifespan_context(service),
            httpx.AsyncClient(transport=transport, base_url="http://test") as client,
        ):
            return await visit(client)

    return run_apart(go())


def posted(service: Any, *bodies: bytes, path: str = "/answer") -> list[httpx.Response]:
    async def visit(client: httpx.AsyncClient) -> list[httpx.Response]:
        return [await client.post(path, content=body) for body in bodies]

    found: list[httpx.Response] = visited(service, visit)
    return found


def test_answers_are_those_of_answer(file: Path) -> None:
    explainer = shafer.Explainer.load(file)
    columns = [*INPUTS, "site"]
    wanted = explainer.answer(ROWS[columns][:5], 2).records()
    rows = ROWS[columns][:5].to_dict(orient="records")

    async def visit(client: httpx.AsyncClient) -> Any:
        many = await client.post("/answer/batch", json=rows)
        each = await asyncio.gather(*(client.post("/answer", json=row) for row in rows))
        return many.json(), [one.json() for one in each]

    many, each = visited(shafer.serve.app(str(file), reasons=2), visit)
    assert many == each == wanted
    assert list(many[0]) == list(wanted[0])
    assert {"answer", "probability", "set", "deferred", "why", "reasons"} < set(many[0])


def test_schema_health_readiness_and_metrics(file: Path) -> None:
    service = shafer.serve.app(file)
    before = run_apart(_before(service))
    assert (before.status_code, before.json()) == (503, {"status": "not ready"})

    async def visit(client: httpx.AsyncClient) -> Any:
        await client.post("/answer", json=GOOD)
        await client.post("/answer", json={})
        await client.get("/favicon.ico")
        paths = ("/health", "/ready", "/schema", "/openapi.json", "/metrics")
        return [await client.get(path) for path in paths]

    health, ready, schema, openapi, metrics = visited(service, visit)
    assert [one.status_code for one in (health, ready, schema, metrics)] == [200] * 4
    told = schema.json()
    assert told["row"]["required"] == [*INPUTS, "site"]
    assert told["row"]["properties"]["age"] == {"type": ["number", "null"]}
    assert told["row"]["properties"]["smoker"] == {"type": ["boolean", "null"]}
    assert told["classes"] == ["ill", "well"]
    assert told["promises"][0] == "the set holds the true class with 80% probability"
    body = openapi.json()["paths"]["/answer"]["post"]["requestBody"]
    assert body["content"]["application/json"]["schema"] == told["row"]
    lines = metrics.text.splitlines()
    assert 'shafer_requests_total{path="/answer",status="200"} 1' in lines
    assert 'shafer_requests_total{path="/answer",status="422"} 1' in lines
    assert 'shafer_requests_total{path="other",status="404"} 1' in lines
    assert "shafer_rows_total 1" in lines
    assert 'shafer_answers_total{answer="ill"} 1' in lines
    assert 'shafer_answer_seconds_bucket{le="+Inf"} 2' in lines
    shape = re.compile(r'[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.e+-]+')
    assert all(line.startswith("# ") or shape.fullmatch(line) for line in lines)


async def _before(service: Any) -> httpx.Response:
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.get("/ready")


WRONG: dict[str, tuple[bytes, list[Any], str]] = {
    "NaN": (b'{"age": NaN}', [], "NaN and Infinity are not JSON"),
    "infinity": (b'{"age": -Infinity}', [], "NaN and Infinity are not JSON"),
    "too large": (json.dumps(GOOD).replace("61.5", "1e999").encode(), ["age"], "a finite number"),
    "whole": (json.dumps(GOOD | {"visits": 10**400}).encode(), ["visits"], "a finite number"),
    "text": (json.dumps(GOOD | {"age": "secret"}).encode(), ["age"], "a finite number"),
    "truth": (json.dumps(GOOD | {"visits": True}).encode(), ["visits"], "a finite number"),
    "number": (json.dumps(GOOD | {"colour": 5}).encode(), ["colour"], "a text"),
    "list": (json.dumps(GOOD | {"smoker": ["secret"]}).encode(), ["smoker"], "true or false"),
    "unknown": (json.dumps(GOOD | {"secret": 1}).encode(), [], "does not know 1 of the columns"),
    "missing": (json.dumps({**GOOD, "age": 0} | {}).encode()[:-1], [], "must be JSON"),
    "no object": (b"[1]", [], "A row must be an object"),
    "no text": (b"\xff\xfe", [], "must be JSON"),
    "deep": (b"[" * 100_000, [], "must be JSON"),
    "empty": (b"", [], "must be JSON"),
    "category": (json.dumps(GOOD | {"colour": "secret"}).encode(), [], "does not take this row"),
    "gap": (json.dumps(GOOD | {"age": None}).encode(), [], "does not take this row"),
}


def test_wrong_rows_are_refused_without_showing_them(file: Path) -> None:
    found = posted(shafer.serve.app(file), *(body for body, _, _ in WRONG.values()))
    for name, answer, (_, place, text) in zip(WRONG, found, WRONG.values(), strict=True):
        assert answer.status_code == 422, name
        problems = answer.json()["detail"]
        assert problems[0]["loc"] == ["body", *place], name
        assert text in problems[0]["msg"], name
        assert "secret" not in answer.text, name
        assert set(problems[0]) == {"loc", "msg"}
    lacking = posted(shafer.serve.app(file), b'{"age": 1}')[0].json()["detail"]
    assert [one["loc"][-1] for one in lacking] == ["visits", "smoker", "colour", "site"]


def test_wrong_batches_and_large_bodies(file: Path) -> None:
    service = shafer.serve.app(file, most_rows=2, most_bytes=500)
    bad = json.dumps([GOOD, GOOD | {"age": "old"}]).encode()
    bodies = (b"[]", b"{}", json.dumps([GOOD] * 3).encode(), bad)
    *sizes, row = posted(service, *bodies, path="/answer/batch")
    assert [one.status_code for one in (*sizes, row)] == [422] * 4
    assert {one.json()["detail"][0]["msg"] for one in sizes} == {
        "A batch must be a list of 1 to 2 rows."
    }
    assert row.json()["detail"][0]["loc"] == ["body", 1, "age"]

    async def visit(client: httpx.AsyncClient) -> list[httpx.Response]:
        async def parts() -> Any:
            for _ in range(100):
                yield b" " * 100

        stated = await client.post("/answer", content=b" " * 501)
        return [stated, await client.post("/answer", content=parts())]

    for answer in visited(service, visit):
        assert answer.status_code == 413
        assert answer.json()["detail"][0]["msg"] == "The body must have at most 500 bytes."


def test_models_of_arrays_and_of_texts() -> None:
    numbers = RANDOM.normal(size=(40, 2))
    model = LogisticRegression().fit(numbers, (numbers[:, 0] > 0).astype(int))
    by_array = shafer.Explainer(model, numbers)
    answer = posted(shafer.serve.app(by_array), b'{"x0": 2.0, "x1": 0.5}')[0].json()
    assert answer == by_array.answer(np.array([[2.0, 0.5]])).records()[0]
    texts = ["good day", "bad day", "good", "bad"]
    words = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    by_text = shafer.Explainer(words, texts)
    answer = posted(shafer.serve.app(by_text), b'{"text": "good"}')[0].json()
    assert answer == by_text.answer(["good"]).records()[0]


@pytest.mark.parametrize("kind", ["frame", "mixed", "array"])
def test_numbers_have_the_digits_of_training(kind: str) -> None:
    """0.3 is above an edge of bins in double precision, and below it in single precision."""
    rng = np.random.default_rng(0)
    dose = (rng.integers(0, 8, 200) / 10).astype(np.float32)
    X: Any = pd.DataFrame({"dose": dose, "size": rng.normal(size=200).astype(np.float32)})
    X = X.astype({"size": float}) if kind == "mixed" else X.to_numpy() if kind == "array" else X
    bins = KBinsDiscretizer(4, quantile_method="averaged_inverted_cdf")
    model = make_pipeline(bins, LogisticRegression()).fit(X, (dose > 0.3).astype(int))
    service, rows = shafer.serve.app(shafer.Explainer(model, X)), pd.DataFrame(X).astype(str)
    names = list(service.state.service.reader.columns)
    body = [dict(zip(names, map(float, row), strict=True)) for row in rows[:20].to_numpy()]
    large = [body[0] | {names[0]: 1e300}]
    given = (json.dumps(body).encode(), json.dumps(large).encode())
    found, refused = posted(service, *given, path="/answer/batch")
    told = [row["probability"]["1"] for row in found.json()]
    np.testing.assert_allclose(told, model.predict_proba(X[:20])[:, 1], atol=1e-6)
    assert refused.status_code == 422
    assert "a finite number" in refused.json()["detail"][0]["msg"]


def test_what_cannot_be_served(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explainer = shafer.Explainer.load(file)
    explainer.control_error(ROWS[INPUTS], ILL, 0.3, by=ROWS["site"].to_numpy())
    with pytest.raises(ValueError, match="control_error was given the groups beside the rows"):
        shafer.serve.app(explainer)
    with pytest.raises(ValueError, match="most_rows must be a whole number of at least 1; got 0"):
        shafer.serve.app(file, most_rows=0)
    with pytest.raises(FileNotFoundError):
        shafer.serve.app("nowhere.shafer")
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(ImportError, match=r"needs FastAPI.*pip install '\.\[serve\]'"):
        shafer.serve.app(file)


def test_rows_that_wait_are_answered_together_and_fail_alone() -> None:
    sizes = []

    def answer(rows: Any) -> list[Any]:
        sizes.append(len(rows))
        time.sleep(0.01)
        if "bad" in rows:
            raise ValueError("bad")
        return [row.upper() for row in rows]

    async def ask() -> list[Any]:
        with ThreadPoolExecutor(1) as executor:
            waiting = WaitingRows(answer, lambda: executor, most=4)
            asked = [waiting.answered(row) for row in ("a", "b", "bad", "c", "d")]
            return await asyncio.gather(*asked, return_exceptions=True)

    found = run_apart(ask())
    assert [str(entry) for entry in found] == ["A", "B", "bad", "C", "D"]
    assert isinstance(found[2], ValueError)
    assert sizes == [4, 1, 1, 1, 1, 1] or sizes[0] == 1


@pytest.fixture
def process(file: Path, tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start uvicorn itself, as the guide says."""
    (tmp_path / "service.py").write_text(
        "import shafer\n\n"
        f"app = shafer.serve.app({str(file)!r}, most_rows=9999, most_bytes=2**24)\n",
        encoding="utf-8",
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    started = subprocess.Popen(
        command, cwd=tmp_path, env=environment, text=True, stderr=subprocess.PIPE
    )
    try:
        yield started, f"http://127.0.0.1:{port}"
    finally:
        started.kill()
        started.communicate()


def test_uvicorn_answers_what_it_has_accepted(process: tuple[Any, str]) -> None:
    started, url = process
    with httpx.Client(base_url=url, timeout=30) as client:
        for _ in range(600):
            try:
                if client.get("/ready").status_code == 200:
                    break
            except httpx.ConnectError:
                assert started.poll() is None, started.communicate()[1]
                time.sleep(0.1)
        assert client.post("/answer", json=GOOD).json()["answer"] == "ill"
        with ThreadPoolExecutor(1) as other:
            rows = [GOOD] * 9999
            last = other.submit(httpx.post, f"{url}/answer/batch", json=rows, timeout=30)
            while "\nshafer_in_progress 1\n" not in client.get("/metrics").text:
                assert not last.done()
            started.send_signal(signal.SIGTERM)
            answers = last.result().json()
    assert [one["answer"] for one in answers] == ["ill"] * 9999
    log = started.communicate(timeout=20)[1]
    assert started.returncode in (0, -signal.SIGTERM), log
    assert "Application shutdown complete" in log
