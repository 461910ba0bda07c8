"""One truth: ten kinds of models have the same numbers and answers at every door."""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import dask
import dask.dataframe
import numpy as np
import onnxruntime
import pandas as pd
import pytest
from interpret.glassbox import ExplainableBoostingClassifier
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

import shafer
from cli.running import run
from export.graph_runs import feed

N, ROWS = 120, 5
RANDOM = np.random.default_rng(4)
NUMBERS = ["age", "ldl", "size"]
TABLE = pd.DataFrame(RANDOM.normal(size=(N, 3)), columns=NUMBERS)
MIXED = TABLE.assign(colour=pd.Categorical(RANDOM.choice(["red", "green", "blue"], N)))
SIGNAL = TABLE["age"] + 0.5 * TABLE["ldl"] + 0.7 * RANDOM.normal(size=N)
SIGNAL += (MIXED["colour"] == "red").to_numpy() * 0.8
ILL = np.where(SIGNAL > 0.2, "ill", "well")
THREE = np.array(["low", "middle", "high"])[np.digitize(SIGNAL, [-0.5, 0.6])]
WORDS = np.array(["good", "bad", "day", "night", "tea", "rain"])
TEXTS = pd.DataFrame({"text": [" ".join(RANDOM.choice(WORDS, 5)) for _ in range(N)]})
GLAD = np.where(TEXTS["text"].str.count("good") > TEXTS["text"].str.count("bad"), "glad", "sad")
ENCODE = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["colour"]))
LINEAR = LogisticRegression()


def _mixed(model: Any) -> Any:
    return make_pipeline(ENCODE, model)


MODELS: dict[str, tuple[Callable[[], Any], pd.DataFrame, Any]] = {
    "linear": (lambda: LINEAR, TABLE, ILL),
    "one-hot pipeline": (lambda: _mixed(LINEAR), MIXED, ILL),
    "thresholded": (
        lambda: FixedThresholdClassifier(LINEAR, threshold=0.8, pos_label="ill"),
        TABLE,
        ILL,
    ),
    "three classes": (lambda: _mixed(LINEAR), MIXED, THREE),
    "network": (lambda: MLPClassifier((4,), max_iter=30, random_state=0), TABLE, ILL),
    "text": (lambda: make_pipeline(TfidfVectorizer(), LINEAR), TEXTS, GLAD),
    "EBM": (
        lambda: ExplainableBoostingClassifier(
            outer_bags=1, interactions=1, max_rounds=20, n_jobs=1, random_state=0
        ),
        MIXED,
        ILL,
    ),
    "XGBoost": (
        lambda: XGBClassifier(n_estimators=6, max_depth=2, enable_categorical=True, n_jobs=1),
        MIXED,
        (ILL == "ill").astype(int),
    ),
    "LightGBM": (
        lambda: LGBMClassifier(n_estimators=6, num_leaves=4, verbose=-1, n_jobs=1),
        MIXED,
        ILL,
    ),
    "histogram boosting": (
        lambda: HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=4),
        TABLE,
        THREE,
    ),
}
IN_SINGLE = ("XGBoost",)
TREES = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"


@dataclass(frozen=True)
class World:
    """A trained model, its explainer, and five rows; each door is asked once."""

    name: str
    model: Any
    explainer: shafer.Explainer
    X: pd.DataFrame
    folder: Path

    @property
    def given(self) -> Any:
        """The rows as the model takes them."""
        return self.X["text"].tolist() if "text" in self.X else self.X

    @property
    def rtol(self) -> float:
        return 1e-6 if self.name in IN_SINGLE else 1e-12

    @cached_property
    def python(self) -> pd.DataFrame:
        return self.explainer(self.given).to_frame("pandas").reset_index(drop=True)

    @cached_property
    def command(self) -> pd.DataFrame:
        out = self.folder / "scored.parquet"
        given = ("score", self.folder / "rows.parquet", "--out", out, "--evidence", "--reasons", 2)
        _ran(*given, *self.stored)
        return pd.read_parquet(out)

    @cached_property
    def payload(self) -> dict[str, Any]:
        page = self.folder / "page.html"
        _ran("report", *self.data, "--out", page)
        found = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page.read_text(), re.S)
        assert found is not None
        content: dict[str, Any] = json.loads(found.group(1))
        return content

    @property
    def data(self) -> tuple[Any, ...]:
        return ("--data", self.folder / "rows.parquet", *self.stored)

    @property
    def stored(self) -> tuple[Any, ...]:
        return ("--model", self.folder / "m.shafer", "--trust", TREES)

    @cached_property
    def pyfunc(self) -> pd.DataFrame:
        wrapped = shafer.export.pyfunc(self.explainer, reasons=2, evidence=True)
        return wrapped.predict(None, self.X)

    @cached_property
    def answered(self) -> pd.DataFrame:
        found: pd.DataFrame = self.explainer.answer(self.given, 2).to_frame("pandas")
        return found.reset_index(drop=True)

    @cached_property
    def dask(self) -> pd.DataFrame:
        frame = dask.dataframe.from_pandas(self.X, npartitions=2)
        columns = "text" if "text" in self.X else None
        lazy = shafer.scale.score(frame, self.explainer, columns, reasons=2, evidence=True)
        with dask.config.set(scheduler="synchronous"):
            return lazy.compute()


def _ran(*arguments: Any) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module", params=MODELS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> World:
    make, X, y = MODELS[request.param]
    folder = tmp_path_factory.mktemp("truth")
    rows = X["text"].tolist() if "text" in X else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(rows, y)
    explainer = shafer.Explainer(model, rows)
    explainer.save(folder / "m.shafer")
    few = X[:ROWS].reset_index(drop=True)
    few.to_parquet(folder / "rows.parquet")
    return World(request.param, model, explainer, few, folder)


def test_answers_are_the_models_own(world: World) -> None:
    own = [str(label) for label in world.model.predict(world.given)]
    answers = {
        "predict": world.explainer.predict(world.given),
        "to_frame": world.python["answer"],
        "score": world.command["answer"],
        "answer": world.answered["answer"],
        "pyfunc": world.pyfunc["answer"],
        "Dask": world.dask["answer"],
        "report": [world.payload["classes"][k] for k in world.payload["rows"]["answer"]],
        "reasons": world.command["reasons_class"],
    }
    assert {door: [str(x) for x in found] for door, found in answers.items()} == dict.fromkeys(
        answers, own
    )


def test_numbers_of_every_door_are_equal(world: World) -> None:
    probability = world.model.predict_proba(world.given)
    for k, label in enumerate(world.explainer.classes):
        name = f"probability_{label}"
        tables = (world.python, world.command, world.answered, world.pyfunc, world.dask)
        for table in tables:
            np.testing.assert_allclose(table[name], probability[:, k], rtol=0, atol=1e-6)
    numbers = world.python.select_dtypes("number").columns.drop("answer", errors="ignore")
    for table in (world.command, world.pyfunc, world.dask):
        for name in numbers:
            np.testing.assert_allclose(
                table[name], world.python[name], rtol=world.rtol, atol=world.rtol, err_msg=name
            )
    for table in (world.answered, world.pyfunc, world.dask):
        for name in world.command.columns.drop("row").intersection(table.columns):
            here, there = world.command[name], table[name]
            if here.dtype.kind == "f":
                np.testing.assert_allclose(there, here, rtol=world.rtol, atol=world.rtol)
            else:
                assert there.fillna("").tolist() == here.fillna("").tolist(), name


def test_answer_has_all_columns_but_those_of_the_mass_functions(world: World) -> None:
    columns = shafer.scale.schema(world.explainer, reasons=2).names
    assert list(world.answered) == [*columns, "warnings"]


def test_reasons_are_those_of_python(world: World) -> None:
    scored = world.command
    labels = {str(label): label for label in world.explainer.classes.tolist()}
    for row in range(ROWS):
        evidence = world.explainer(world.given)[[row]]
        pair = [labels[scored.loc[row, name]] for name in ("reasons_class", "reasons_over")]
        table = evidence.reasons(pair[0], 2, over=pair[1], keep="positive", backend="pandas")
        for entry in table.to_dict("records"):
            start = f"reason_{entry['rank']}"
            assert scored.loc[row, start] == entry["component"]
            found = scored.loc[row, f"{start}_log_odds"]
            np.testing.assert_allclose(found, entry["log_odds"], rtol=world.rtol, atol=world.rtol)


def test_the_report_and_the_terminal(world: World) -> None:
    """Probabilities of the page are exact; its other numbers, and the terminal, have few digits."""
    evidence = world.explainer(world.given)
    stored = base64.b64decode(world.payload["rows"]["probability"]["f8"])
    probability = np.asarray(evidence.betting_probability)
    found = np.frombuffer(stored, "<f8").reshape(probability.shape)
    np.testing.assert_allclose(found, probability, rtol=world.rtol, atol=world.rtol)
    positions = world.payload["rows"]["answer"]
    p = evidence.betting_probability[np.arange(ROWS), positions]
    disagreement = evidence.weighed.disagreement
    for name, values in (
        ("p", p),
        ("ignorance", evidence.ignorance),
        ("disagreement", disagreement),
    ):
        found = world.payload["rows"][name]
        np.testing.assert_allclose(found, values, rtol=1e-4, atol=1e-6, err_msg=name)
    shown = _ran("explain", *world.data, "--row", 2)
    belief, plausibility = evidence.belief[2], evidence.plausibility[2]
    for k in range(len(world.explainer.classes)):
        interval = f"[{belief[k]:.3f}, {plausibility[k]:.3f}]"
        assert f"{evidence.betting_probability[2, k]:.3f}" in shown
        assert interval in shown


def test_graphs_give_the_same(world: World) -> None:
    """Where a graph can be written; what cannot be is refused."""
    outputs = ("answer", "probability", "belief", "plausibility", "ignorance", "conflict")
    if world.name in ("text", "XGBoost", "LightGBM", "histogram boosting"):
        with pytest.raises(shafer.UnsupportedModelError):
            shafer.export.to_onnx(world.explainer, outputs)
        return
    graph = shafer.export.to_onnx(world.explainer, outputs)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    answer, *found = session.run(None, feed(graph, world.X))
    assert [str(label) for label in answer] == [str(x) for x in world.model.predict(world.given)]
    evidence = world.explainer(world.given)
    for name, values in zip(outputs[1:], found, strict=True):
        wanted = np.asarray(getattr(evidence, name))
        np.testing.assert_allclose(values, wanted, rtol=1e-12, atol=1e-12, err_msg=name)
