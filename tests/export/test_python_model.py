"""MLflow: log, load, serve, and the function for Spark, with MLflow itself."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

import shafer
from own_loop import run_apart
from shafer.export import pyfunc

import mlflow  # isort: skip - shafer.export loads it without its own warnings

RNG = np.random.default_rng(2)
N = 60
ROWS = pd.DataFrame(
    {
        "age": RNG.normal(40.0, 10.0, N),
        "sex": RNG.choice(["f", "m"], N),
        "code": RNG.choice([1, 2, 3], N),
    }
)
ILL = np.where(RNG.random(N) + ROWS.age / 100 > 0.9, "yes", "no")


@pytest.fixture(scope="module")
def explainer() -> shafer.Explainer:
    encode = make_column_transformer(
        (StandardScaler(), ["age"]), (OneHotEncoder(), ["sex", "code"])
    )
    model = make_pipeline(encode, LogisticRegression()).fit(ROWS, ILL)
    return shafer.Explainer(model, ROWS, groups="source")


@pytest.fixture(scope="module")
def saved(explainer: shafer.Explainer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mlflow")
    path: Path = folder / "evidence"
    options = pyfunc(explainer, reasons=2, evidence=True).log_options(folder / "model.shafer")
    mlflow.pyfunc.save_model(path, **options)
    return path


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if MLflow logs a warning; its logger does not pass messages on by itself."""
    logger = logging.getLogger("mlflow")
    logger.addHandler(caplog.handler)
    yield
    logger.removeHandler(caplog.handler)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING] == []


def test_the_table_is_that_of_the_engines(explainer: shafer.Explainer) -> None:
    found = pyfunc(explainer, evidence=True).predict(None, ROWS)
    plain = explainer(ROWS).to_frame(backend="pandas")
    pd.testing.assert_frame_equal(found[list(plain.columns)], plain)
    names = shafer.scale.schema(explainer, evidence=True).names
    assert list(found.columns) == ["prediction", *names]
    assert found["prediction"].tolist() == found["answer"].tolist()


def test_the_signature_names_all_columns(explainer: shafer.Explainer) -> None:
    signature = pyfunc(explainer, reasons=1, evidence=True).signature
    assert [(spec.name, spec.type.name) for spec in signature.inputs] == [
        ("age", "double"),
        ("sex", "string"),
        ("code", "long"),
    ]
    names = shafer.scale.schema(explainer, reasons=1, evidence=True).names
    assert [spec.name for spec in signature.outputs] == ["prediction", *names]


@pytest.mark.usefixtures("quiet")
def test_log_and_load_without_a_warning(
    explainer: shafer.Explainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # no database needed
    monkeypatch.setenv("MLFLOW_ALLOW_PICKLE_DESERIALIZATION", "false")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    wrapped = pyfunc(explainer)
    with mlflow.start_run():
        logged = mlflow.pyfunc.log_model(
            name="evidence", **wrapped.log_options(tmp_path / "model.shafer")
        )
    loaded = mlflow.pyfunc.load_model(logged.model_uri)
    shuffled = ROWS[["code", "age", "sex"]].assign(patient=7)
    pd.testing.assert_frame_equal(loaded.predict(shuffled), wrapped.predict(None, ROWS))
    assert not list(tmp_path.rglob("*.pkl"))


def test_serve(saved: Path, explainer: shafer.Explainer) -> None:
    from mlflow.pyfunc import scoring_server

    app = scoring_server.init(mlflow.pyfunc.load_model(str(saved)))

    async def post(body: Any) -> httpx.Response:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post("/invocations", json=body)

    answer = run_apart(post({"dataframe_split": ROWS[:2].to_dict(orient="split")}))
    assert answer.status_code == 200
    first = answer.json()["predictions"][0]
    assert first["belief_yes"] == explainer(ROWS[:1]).belief[0, 1]
    wrong = run_apart(post({"dataframe_split": ROWS[["age"]][:1].to_dict(orient="split")}))
    assert wrong.status_code == 400
    assert "missing inputs ['sex', 'code']" in wrong.json()["message"]


def test_models_serve(saved: Path, explainer: shafer.Explainer) -> None:
    """The command of the guide, in the environment of the tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [str(Path(sys.executable).with_name("mlflow")), "models", "serve", "-m", str(saved)]
    started = subprocess.Popen(
        [*command, "--env-manager", "local", "--port", port],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{Path(sys.executable).parent}:/bin"},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # the command starts uvicorn, which would outlive it
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            for _ in range(600):
                try:
                    client.get("/ping")
                    break
                except httpx.ConnectError:
                    assert started.poll() is None, started.communicate()[1]
                    time.sleep(0.1)
            rows = {"dataframe_records": ROWS[:2].to_dict(orient="records")}
            told = client.post("/invocations", json=rows).json()["predictions"]
    finally:
        os.killpg(started.pid, signal.SIGTERM)
        started.communicate(timeout=20)
    assert [row["prediction"] for row in told] == explainer.predict(ROWS[:2]).tolist()
    assert [row["belief_yes"] for row in told] == explainer(ROWS[:2]).belief[:, 1].tolist()


@pytest.mark.parametrize("way", ["labels only", "a function", "a column"])
def test_evaluate(
    way: str, explainer: shafer.Explainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    data, model, given = ROWS.assign(ill=ILL), None, {}
    if way == "labels only":
        model = str(tmp_path / "labels")
        wrapped = pyfunc(explainer, labels_only=True)
        assert [spec.name for spec in wrapped.signature.outputs] == ["prediction"]
        mlflow.pyfunc.save_model(model, **wrapped.log_options(tmp_path / "m.shafer"))
    elif way == "a function":
        model = lambda rows: pyfunc(explainer).predict(None, rows)["prediction"]  # noqa: E731
    else:
        data["prediction"] = pyfunc(explainer).predict(None, ROWS)["prediction"]
        given = {"predictions": "prediction"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MLflow and matplotlib
        found = mlflow.models.evaluate(
            model,
            data,
            targets="ill",
            model_type="classifier",
            evaluator_config={
                "log_model_explainability": False,
                "log_metrics_with_dataset_info": False,
            },
            **given,
        )
    assert found.metrics["accuracy_score"] == np.mean(explainer.predict(ROWS) == ILL)


def test_requirements_are_complete_and_can_be_installed(
    explainer: shafer.Explainer, tmp_path: Path
) -> None:
    options = pyfunc(explainer).log_options(tmp_path / "m.shafer")
    own, *others = options["pip_requirements"]
    assert own.startswith("shafer @ file:///")  # it is installed from a copy here
    names = {line.partition("==")[0] for line in others}
    assert names == {"mlflow-skinny", "numpy", "pandas", "scikit-learn", "skops"}
    numbers = ROWS[["age", "code"]]
    y = (ILL == "yes").astype(int)
    boosters = {
        "lightgbm": LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1),
        "xgboost-cpu": make_pipeline(StandardScaler(), XGBClassifier(n_estimators=2, n_jobs=1)),
    }
    wheel = tmp_path / "shafer-1-py3-none-any.whl"
    wheel.touch()
    for name, booster in boosters.items():
        wrapped = pyfunc(shafer.Explainer(booster.fit(numbers, y), numbers))
        options = wrapped.log_options(tmp_path / "b.shafer", source=wheel)
        assert options["pip_requirements"][0] == f"shafer @ {wheel.as_uri()}"
        assert any(line.startswith(f"{name}==") for line in options["pip_requirements"])
    with pytest.raises(ValueError, match="source must be a wheel or a folder.*does not exist"):
        pyfunc(explainer).log_options(tmp_path / "m.shafer", source=tmp_path / "none.whl")


def test_a_model_of_arrays(tmp_path: Path) -> None:
    features = RNG.normal(size=(30, 2))
    y = (features[:, 0] > 0).astype(int)
    explainer = shafer.Explainer(LogisticRegression().fit(features, y), features)
    path = tmp_path / "evidence"
    mlflow.pyfunc.save_model(
        path, **pyfunc(explainer, evidence=True).log_options(tmp_path / "m.shafer")
    )
    loaded = mlflow.pyfunc.load_model(str(path))
    found = loaded.predict(features[:3])
    np.testing.assert_array_equal(found["belief_1"], explainer(features[:3]).belief[:, 1])
    assert len(loaded.predict(pd.DataFrame(features[:3], columns=["u", "v"]))) == 3


def test_a_model_of_texts(tmp_path: Path) -> None:
    texts = ["good day", "bad day", "good", "bad"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    explainer = shafer.Explainer(model, texts)
    path = tmp_path / "evidence"
    mlflow.pyfunc.save_model(
        path, **pyfunc(explainer, evidence=True).log_options(tmp_path / "m.shafer")
    )
    found = mlflow.pyfunc.load_model(str(path)).predict(pd.DataFrame({"text": ["good", "bad day"]}))
    np.testing.assert_array_equal(found["belief_1"], explainer(["good", "bad day"]).belief[:, 1])


def test_a_loaded_explainer_and_a_classifier(explainer: shafer.Explainer, tmp_path: Path) -> None:
    explainer.save(tmp_path / "m.shafer")
    loaded = pyfunc(shafer.Explainer.load(tmp_path / "m.shafer"))
    assert loaded.input_example["sex"].tolist() == ROWS["sex"][:2].tolist()
    explainer.save(tmp_path / "bare.shafer", rows=False)
    bare = pyfunc(shafer.Explainer.load(tmp_path / "bare.shafer"))
    assert bare.input_example is None
    assert "input_example" not in bare.log_options(tmp_path / "again.shafer")
    types = [(spec.name, spec.type.name) for spec in loaded.signature.inputs]
    assert types == [("age", "double"), ("sex", "string"), ("code", "long")]
    classifier = shafer.EvidentialClassifier(LogisticRegression(), moderate="laplace+discount")
    numbers = ROWS[["age", "code"]]
    wrapped = pyfunc(classifier.fit(numbers, ILL), reasons=0, evidence=True)
    found = wrapped.predict(None, numbers)
    assert list(found.columns) == [spec.name for spec in wrapped.signature.outputs]
    np.testing.assert_array_equal(found["belief_yes"], classifier.evidence(numbers).belief[:, 1])


def test_a_pickle_holds_the_saved_file(explainer: shafer.Explainer) -> None:
    wrapped = pyfunc(explainer)
    copy = pickle.loads(pickle.dumps(wrapped))
    pd.testing.assert_frame_equal(copy.predict(None, ROWS), wrapped.predict(None, ROWS))


def test_wrong_input(explainer: shafer.Explainer) -> None:
    with pytest.raises(TypeError, match="must be a shafer.Explainer.*got LogisticRegression"):
        pyfunc(LogisticRegression())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="reasons must be a whole number.*got -1"):
        pyfunc(explainer, reasons=-1)
    with pytest.raises(ValueError, match="has no explainer yet.*pyfunc"):
        shafer.export.EvidencePythonModel().predict(None, ROWS)


def test_a_background_with_categories_gives_an_example() -> None:
    rows = pd.DataFrame({"kind": pd.Categorical(["u", "v", "u", "v"])})
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(rows, [0, 1, 0, 1])
    wrapped = shafer.export.pyfunc(shafer.Explainer(model, rows))
    assert wrapped.input_example["kind"].tolist() == ["u", "v"]
    assert str(wrapped.input_example["kind"].dtype) != "category"
