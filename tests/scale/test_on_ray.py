from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import shafer
from shafer.scale.engines import job_engine

from . import engine_contract as contract

ray = pytest.importorskip("ray", reason="Ray is not installed")
ray_data = pytest.importorskip("ray.data", reason="Ray is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # its own


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    ray_data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    yield
    ray.shutdown()


@pytest.fixture
def lazy(cluster: None) -> Any:
    parts = [contract.rows().iloc[:150], contract.rows().iloc[150:]]
    return ray_data.from_pandas(parts)


def test_scores(lazy: Any) -> None:
    lazy = lazy.map_batches(lambda part: part, batch_format="pandas")  # a plain Dataset
    contract.check_scores(lazy, lambda frame: frame.to_pandas())


def test_nothing_runs_before_it_is_asked_for(lazy: Any, tmp_path: Path) -> None:
    def noted(part: pd.DataFrame) -> pd.DataFrame:
        (tmp_path / "read").touch()
        return part

    shafer.scale.score(lazy, contract.explainer()).map_batches(noted, batch_format="pandas")
    assert not (tmp_path / "read").exists()


def test_bad_rows(cluster: None) -> None:
    frame = ray_data.from_pandas([contract.bad_rows().iloc[:150], contract.bad_rows().iloc[150:]])
    contract.check_bad_rows(frame, lambda found: found.to_pandas(), repeats=True)


def test_background(lazy: Any) -> None:
    contract.check_background(lazy)


def test_refusals(lazy: Any) -> None:
    contract.check_refusals(lazy)


def test_jobs(cluster: None, tmp_path: Path) -> None:
    contract.check_jobs(job_engine("ray", None, 2), tmp_path)


def test_command(cluster: None, tmp_path: Path) -> None:
    contract.check_command(tmp_path, "ray", "--workers", 2)
