from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import shafer
from shafer.scale.engines import job_engine
from spark_session import started_spark

from . import engine_contract as contract

pytest.importorskip("pyspark.sql", reason="Spark is not installed")
pytestmark = [
    pytest.mark.skipif(
        shutil.which("java") is None, reason="Spark needs Java, which was not found"
    ),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]


@pytest.fixture(scope="module")
def session() -> Any:
    return started_spark()


@pytest.fixture(scope="module")
def lazy(session: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("rows")
    contract.rows().iloc[:150].to_parquet(folder / "first.parquet")
    contract.rows().iloc[150:].to_parquet(folder / "second.parquet")
    rows = session.read.parquet(str(folder))
    assert rows.rdd.getNumPartitions() == 2
    return rows


def test_scores(lazy: Any) -> None:
    scored = contract.check_scores(lazy, lambda frame: frame.toArrow().to_pandas())
    assert scored.schema["probability_perhaps"].dataType.simpleString() == "double"
    assert scored.schema["reason_1"].dataType.simpleString() == "string"


def test_names_with_dots_and_backticks(session: Any) -> None:
    X = pd.DataFrame({"petal.length": [1.0, 2.0, 3.0, 4.0], "a`b": [0.5, 0.1, 0.2, 0.9]})
    model = LogisticRegression().fit(X, [0, 1, 0, 1])
    frame = session.createDataFrame(X.assign(**{"the.key": range(4)}))
    explainer = shafer.scale.background(frame, model)
    scores = shafer.scale.score(frame, explainer, keep="the.key", reasons=0).toArrow().to_pandas()
    found = scores.sort_values("the.key")["probability_1"]
    np.testing.assert_allclose(found, model.predict_proba(X)[:, 1], atol=1e-12)


def test_nothing_runs_before_it_is_asked_for(session: Any) -> None:
    broken = session.range(3).selectExpr("raise_error('a row was read') as age", "id as size")
    broken = broken.selectExpr("int(age) as age", "double(size) as size", "'red' as colour")
    scored = shafer.scale.score(broken, contract.explainer())
    assert scored.columns[:2] == ["answer", "probability_certain"]
    with pytest.raises(Exception, match="a row was read"):
        scored.collect()


def test_bad_rows(session: Any) -> None:
    frame = session.createDataFrame(contract.bad_rows())
    contract.check_bad_rows(frame, lambda found: found.toArrow().to_pandas(), repeats=True)


def test_a_stream(session: Any, lazy: Any, tmp_path: Path) -> None:
    """``foreachBatch`` as in the guide: each batch is written once, also if it comes again."""
    explainer, folder = contract.explainer(), tmp_path / "rows"
    folder.mkdir()

    def scored(batch: Any, number: int) -> None:
        scores = shafer.scale.score(batch, explainer, keep="key", on_error="quarantine")
        scores.write.mode("overwrite").parquet(f"{tmp_path}/scores/batch={number}")

    for first in (0, 150):
        contract.rows().iloc[first : first + 150].to_parquet(folder / f"{first}.parquet")
        stream = session.readStream.schema(lazy.schema).parquet(str(folder))
        writer = stream.writeStream.foreachBatch(scored)
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
    found = pd.read_parquet(tmp_path / "scores").sort_values("key").reset_index(drop=True)
    assert found["batch"].value_counts().to_dict() == {0: 150, 1: 150}
    whole = shafer.scale.score(contract.rows().iloc[:300], explainer, keep="key")
    pd.testing.assert_frame_equal(found[whole.columns].astype(object), whole.astype(object))
    assert found["error"].isna().all()


def test_background(lazy: Any) -> None:
    contract.check_background(lazy)


def test_refusals(lazy: Any) -> None:
    contract.check_refusals(lazy)


def test_jobs(session: Any, tmp_path: Path) -> None:
    contract.check_jobs(job_engine("spark", None, 2), tmp_path)


def test_command(session: Any, tmp_path: Path) -> None:
    contract.check_command(tmp_path, "spark", "--workers", 2)


def test_the_function_of_mlflow_gives_the_same_columns(
    session: Any, lazy: Any, tmp_path: Path
) -> None:
    wrapped = shafer.export.pyfunc(contract.explainer())
    import mlflow  # after shafer.export, which loads it without its own warnings

    mlflow.pyfunc.save_model(tmp_path / "m", **wrapped.log_options(tmp_path / "m.shafer"))
    function = mlflow.pyfunc.spark_udf(session, str(tmp_path / "m"), env_manager="local")
    inputs = [spec.name for spec in wrapped.signature.inputs]
    found = lazy.select(function(*inputs).alias("evidence")).select("evidence.*")
    scored = shafer.scale.score(lazy, contract.explainer())
    assert [(field.name, field.dataType) for field in found.schema][1:] == [
        (field.name, field.dataType) for field in scored.schema
    ]
    first, second = (frame.toArrow().to_pandas() for frame in (found, scored))
    texts = second.select_dtypes("str").columns
    second[texts] = second[texts].fillna("")  # MLflow passes no missing texts
    pd.testing.assert_frame_equal(first[second.columns], second)
    assert first["prediction"].tolist() == second["answer"].tolist()
