"""What engines refuse before they start."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from shafer.scale.engines import check_answers, job_engine


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(
        ValueError, match=r"The engine ray needs ray; run: pip install '\.\[ray\]' in a copy"
    ):
        job_engine("ray", None, None)


def test_spark_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(ValueError, match="Spark needs Java, which was not found. Install it"):
        job_engine("spark", None, 2)


def test_this_process_needs_no_engine() -> None:
    assert list(job_engine(None, None, None).run(abs, [-1, 2])) == [1, 2]


# Addresses at which nothing answers, or something else. Libraries would try for minutes.


@pytest.fixture
def closed() -> str:
    """An address of this machine at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def other() -> Iterator[str]:
    """An address at which something answers that is no cluster."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    ("engine", "address"),
    [("Dask", "tcp://{}"), ("Spark", "spark://{}"), ("Ray", "{}"), ("Ray", "ray://{}")],
)
def test_nothing_answers(closed: str, engine: str, address: str) -> None:
    pytest.importorskip({"Dask": "distributed", "Spark": "pyspark"}.get(engine, "ray"))
    given, start = address.format(closed), time.monotonic()
    with pytest.raises(ValueError, match=f"No {engine} cluster answers at {given}: Connection re"):
        job_engine(engine.lower(), given, None)
    assert time.monotonic() - start < 10.0


def test_one_of_several_masters_is_enough(closed: str, other: str) -> None:
    check_answers("Spark", f"spark://{closed},{other}")
    check_answers("Ray", "auto")  # left to the library
    check_answers("Spark", "https://[::1]/path")
    with pytest.raises(ValueError, match="No Spark cluster answers at spark://"):
        check_answers("Spark", f"spark://{closed},{closed}")
    with pytest.raises(ValueError, match="No Ray cluster answers at 127.0.0.1:99999: "):
        check_answers("Ray", "127.0.0.1:99999")


def test_something_else_answers_instead_of_dask(other: str) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed")
    start = time.monotonic()
    with pytest.raises(ValueError, match=f"No Dask scheduler answers at tcp://{other}"):
        list(job_engine("dask", f"tcp://{other}", None).run(abs, [1]))
    assert time.monotonic() - start < 10.0


def test_something_else_answers_instead_of_spark(
    other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark would try for a minute. A server that is silent may be one of Spark."""
    spark = pytest.importorskip("shafer.scale.spark")
    pytest.importorskip("pyspark", reason="Spark is not installed")
    with pytest.raises(ValueError, match=f"No Spark cluster answers at spark://{other}: something"):
        job_engine("spark", f"spark://{other}", None)
    monkeypatch.setattr("shafer.scale.engines._SILENT_FOR", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        job_engine("spark", f"spark://127.0.0.1:{silent.getsockname()[1]}", None)

    def broken(_: str) -> None:
        raise RuntimeError("java.lang.Exception: no memory")

    monkeypatch.setattr(spark, "_session", broken)
    with pytest.raises(ValueError, match="Spark did not start with --address spark://.* no memory"):
        spark._started(f"spark://{other}")


def test_a_master_that_spark_does_not_know() -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    with pytest.raises(ValueError, match="--address must be a Spark master such as spark://host"):
        job_engine("spark", "nonsense", None)
