from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.scale.engines import job_engine

from . import engine_contract as contract

dask = pytest.importorskip("dask", reason="Dask is not installed")
distributed = pytest.importorskip("distributed", reason="Dask is not installed")
dask_frames = pytest.importorskip("dask.dataframe", reason="Dask is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=1,  # each imports the libraries
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield cluster


def lazy() -> Any:
    return dask_frames.from_pandas(contract.rows(), npartitions=3)


def test_scores(cluster: Any) -> None:
    scored = contract.check_scores(lazy(), lambda frame: frame.compute())
    assert scored.npartitions == 3
    assert scored.compute().index.tolist() == contract.rows().index.tolist()


def test_bad_rows() -> None:
    frame = dask_frames.from_pandas(contract.bad_rows(), npartitions=2)
    contract.check_bad_rows(frame, lambda found: found.compute(scheduler="synchronous"))


def test_background(cluster: Any) -> None:
    contract.check_background(lazy())


def test_names_that_are_numbers() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    frame = dask_frames.from_pandas(pd.DataFrame(X), npartitions=2)
    with dask.config.set(scheduler="synchronous"):
        explainer = shafer.scale.background(frame, model, [0, 1])  # type: ignore[list-item]
        found = shafer.scale.score(frame, explainer, ["0", "1"])["probability_True"].compute()
    np.testing.assert_allclose(found, model.predict_proba(X)[:, 1], atol=1e-12)


def test_nothing_runs_before_it_is_asked_for() -> None:
    def fails(part: pd.DataFrame) -> pd.DataFrame:
        raise RuntimeError("a row was read")

    broken = lazy().map_partitions(fails, meta=contract.rows().iloc[:0])
    scored = shafer.scale.score(broken, contract.explainer(), keep="key")
    assert scored.dtypes["probability_perhaps"].kind == "f"
    with pytest.raises(RuntimeError, match="a row was read"):
        scored.compute(scheduler="synchronous")


def test_threads_of_one_process() -> None:
    scored = shafer.scale.score(lazy(), contract.explainer(), reasons=0, evidence=True)
    found = scored.compute(scheduler="threads")
    assert found["ignorance"].tolist() == contract.expected()["ignorance"].tolist()


def test_refusals() -> None:
    contract.check_refusals(lazy())


def test_jobs(cluster: Any, tmp_path: Path) -> None:
    contract.check_jobs(job_engine("dask", cluster.scheduler_address, None), tmp_path)


def test_command(cluster: Any, tmp_path: Path) -> None:
    contract.check_command(tmp_path, "dask", "--address", cluster.scheduler_address)


def test_a_wrong_address() -> None:
    with pytest.raises(ValueError, match="No Dask cluster answers at tcp://127"):
        job_engine("dask", "tcp://127.0.0.1:1", None)
