"""What engines refuse before they start."""

from __future__ import annotations

import pytest

from shafer.scale.engines import job_engine


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
