"""MLflow: log, load, serve, and the function for Spark, with MLflow itself."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
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
from sklearn.preprocessing import OneHotEncoder, StandardScaler

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
    assert list(found.columns) == shafer.scale.schema(explainer, evidence=True).names


def test_the_signature_names_all_columns(explainer: shafer.Explainer) -> None:
    signature = pyfunc(explainer, reasons=1, evidence=True).signature
    assert [(spec.name, spec.type.name) for spec in signature.inputs] == [
        ("age", "double"),
        ("sex", "string"),
        ("code", "long"),
    ]
    names = shafer.scale.schema(explainer, reasons=1, evidence=True).names
    assert [spec.name for spec in signature.outputs] == names


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
    assert loaded.input_example is None
    assert "input_example" not in loaded.log_options(tmp_path / "again.shafer")
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
