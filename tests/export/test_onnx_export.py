"""``to_onnx``: what it writes, what it refuses, and how fast a row is."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
)

import shafer
from shafer.export import onnx as graph_check
from shafer.export import to_onnx

from .graph_runs import check, feed, session

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def explainer() -> shafer.Explainer:
    model = LogisticRegression(max_iter=500).fit(X, Y)
    return shafer.Explainer(model, X, prior="shared")


def test_names_shapes_and_properties(explainer: shafer.Explainer) -> None:
    model = to_onnx(explainer)
    onnx.checker.check_model(model, full_check=True)
    assert [(info.name, _shape(info)) for info in model.graph.input] == [("X", ["N", 4])]
    assert {info.name: _shape(info) for info in model.graph.output} == {
        "probability": ["N", 3],
        "belief": ["N", 3],
        "plausibility": ["N", 3],
        "ignorance": ["N"],
        "conflict": ["N"],
        "weights": ["N", 4, 3],
        "answer": ["N"],
    }
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 19)]
    properties = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert properties == {
        "classes": [0, 1, 2],
        "component_names": ["x0", "x1", "x2", "x3"],
        "columns": ["x0", "x1", "x2", "x3"],
    }


def _shape(info: Any) -> list[Any]:
    return [axis.dim_param or axis.dim_value for axis in info.type.tensor_type.shape.dim]


@pytest.mark.parametrize(
    "rule", [{}, {"threshold": 0.2}, {"threshold": {"b": 0.9}}, {"loss": True}]
)
@pytest.mark.parametrize("labels", [["a", "b"], [7, -3], ["a", "b", "c"], [0, 2, 1]])
def test_the_answer_is_that_of_predict(rule: dict[str, Any], labels: list[Any]) -> None:
    k = len(labels)
    y = np.asarray(labels)[Y % k]
    model = LogisticRegression(max_iter=500).fit(X, y)
    classes = model.classes_.tolist()
    if "loss" in rule:
        costs = {
            a: {c: float(a != c) * (1 + 3 * j) for c in classes} for j, a in enumerate(classes)
        }
        rule = {"loss": costs}
    elif k > 2 and rule:
        return
    elif rule and isinstance(rule["threshold"], dict):
        rule = {"threshold": {classes[0]: 0.9}}
    explainer = shafer.Explainer(model, X, **rule)
    run = session(to_onnx(explainer, ["answer"]))
    rows = np.vstack([X, np.full((1, 4), np.nan)])
    (found,) = run.run(["answer"], {"X": rows})
    assert found[:-1].tolist() == explainer.predict(X).tolist()
    assert found[-1] in ("", np.iinfo(np.int64).min)


def _told(
    explainer: shafer.Explainer, rows: Any, reasons: int
) -> tuple[list[Any], shafer.explain.answered_rows.AnsweredRows]:
    outputs = ["set", "reasons", "reasons_log_odds"]
    model = to_onnx(explainer, outputs, reasons=reasons)
    return session(model).run(outputs, feed(model, rows)), explainer.answer(rows, reasons=reasons)


@pytest.mark.parametrize("score", ["plausibility", "dominance"])
@pytest.mark.parametrize("prior", ["own", "shared"])
@pytest.mark.parametrize(
    "options", [{}, {"allow_empty": False, "coverage": 0.6}, {"class_conditional": True}]
)
def test_sets_and_reasons_are_those_of_answer(
    score: str, prior: str, options: dict[str, Any]
) -> None:
    rng = np.random.default_rng(0)
    for n_classes, size in ((2, 3.0), (3, 1e-3), (5, 100.0)):  # 100: weights of many hundreds
        head = shafer.LinearHead(rng.normal(size=(n_classes, 4)) * size, np.zeros(n_classes))
        rows = rng.normal(size=(300, 4))
        explainer = shafer.Explainer(head, rows, prior=prior)
        p = explainer(rows).probability
        truth = (p.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1).clip(max=n_classes - 1)
        explainer.conformalize(rows, truth, score=score, **options)
        far = np.vstack([rows, 1e3 * rows[:3], rows.mean(axis=0, keepdims=True)])
        (sets, names, amounts), told = _told(explainer, far, 3)
        assert sets.dtype == bool
        assert sets.tolist() == told.sets.tolist()
        assert 0 < sets.sum() < sets.size
        assert np.where(names == "", None, names).tolist() == told.reasons.component.tolist()
        right = told.reasons.log_odds
        assert np.isnan(amounts).tolist() == np.isnan(right).tolist()
        np.testing.assert_allclose(amounts, right, rtol=1e-12, atol=1e-12)


def test_reasons_name_a_column_once() -> None:
    frame = pd.DataFrame({"colour": list("abcd") * 30, "x": np.tile([0.0, 1.0, 0.5], 40)})
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["x"]))
    y = (frame["colour"].isin(["a", "b"]) ^ (frame["x"] > 0.7)).to_numpy().astype(int)
    model = make_pipeline(encode, LogisticRegression()).fit(frame, y)
    explainer = shafer.Explainer(model, frame, groups=None).conformalize(frame, y)
    assert len(explainer.component_names) > 3
    (_, names, _), told = _told(explainer, frame[:12], 4)
    assert names.shape == (12, 2)
    expected = told.reasons.component[:, :2]
    assert np.where(names == "", None, names).tolist() == expected.tolist()


def test_a_row_with_nan_keeps_all_classes_and_has_no_reason(explainer: shafer.Explainer) -> None:
    calibrated = shafer.Explainer(explainer.model, X).conformalize(X, Y)
    run = session(to_onnx(calibrated, ["set", "reasons", "reasons_log_odds"]))
    sets, names, amounts = run.run(None, {"X": np.full((1, 4), np.nan)})
    assert sets.all()
    assert set(names.ravel()) == {""}
    assert np.isnan(amounts).all()


def test_sets_that_a_graph_cannot_give() -> None:
    explainer = _linear()
    with pytest.raises(ValueError, match="was not calibrated. Call conformalize"):
        to_onnx(explainer, ["set"])
    explainer.conformalize(X, Y, by=np.tile(["a", "b"], 75))
    with pytest.raises(shafer.UnsupportedModelError, match="groups have thresholds of their own"):
        to_onnx(explainer, ["set"])
    to_onnx(explainer, ["answer"])


def test_other_reasons_than_those_of_the_explainer_are_noticed(
    explainer: shafer.Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = graph_check.ExplainerGraph._kinds
    monkeypatch.setattr(graph_check.ExplainerGraph, "_kinds", lambda self: wrong(self)[1:])
    with pytest.raises(shafer.UnsupportedModelError, match="numbers of this explainer: reasons"):
        to_onnx(explainer, ["reasons"])


@pytest.mark.parametrize("rows", [1, 2, 150])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_any_number_of_rows(explainer: shafer.Explainer, rows: int, dtype: str) -> None:
    check(explainer, X[:rows], dtype=dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_backgrounds_of_every_kind_are_compared(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    compare = graph_check._compare
    monkeypatch.setattr(
        graph_check, "_compare", lambda name, *rest: (compared.append(name), compare(name, *rest))
    )
    large = X * [1e6, 1.0, 1.0, 1.0] + 1e9  # not exact in single precision
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(large, Y)
    frame = pd.DataFrame(large, columns=list("abcd"))
    plain = LogisticRegression(max_iter=500).fit(sparse.csr_array(X), Y)
    for explainer in (
        shafer.Explainer(model, large),
        shafer.Explainer(clone(model).fit(frame, Y), frame),
        shafer.Explainer(plain, sparse.csr_array(X)),
    ):
        to_onnx(explainer, ["belief"], dtype=dtype)
    assert compared == ["belief"] * 3


def test_a_graph_that_cannot_run_is_refused(
    explainer: shafer.Explainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_check, "graph_inputs", lambda model, rows: {"Y": rows})
    with pytest.raises(shafer.UnsupportedModelError, match="cannot run this graph.*Its message"):
        to_onnx(explainer)


def test_labels_and_columns_are_those_of_training() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    labels = np.array(["setosa", "versicolor", "virginica"])[Y]
    explainer = shafer.Explainer(LogisticRegression(max_iter=500).fit(frame, labels), frame)
    shuffled = shafer.Explainer(explainer.model, frame[["d", "b", "a", "c"]])
    model = check(explainer, frame)
    assert to_onnx(shuffled).graph.input == model.graph.input
    check(shuffled, frame)
    properties = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert properties["columns"] == ["a", "b", "c", "d"]
    assert properties["classes"] == ["setosa", "versicolor", "virginica"]


@pytest.mark.parametrize("names", [("0", "1"), ("a b", "a_b"), ("Größe", "é"), ("x.y", "x y")])
def test_transformed_columns_may_have_any_names(names: tuple[str, str]) -> None:
    """skl2onnx gives columns names of its own: "a b" and "a_b" are both a_b to it."""
    columns = {names[0]: X[:, 2], names[1]: X[:, 0], "kind": np.where(X[:, 1] > 3, "wide", "slim")}
    frame = pd.DataFrame(columns)
    encode = make_column_transformer((StandardScaler(), [*names]), (OneHotEncoder(), ["kind"]))
    model = make_pipeline(encode, LogisticRegression()).fit(frame, Y)
    check(shafer.Explainer(model, frame), frame)


def test_nan_does_not_become_a_number(explainer: shafer.Explainer) -> None:
    rows = X[:2].copy()
    rows[1, 2] = np.nan
    for outputs in (["belief", "conflict", "weights"], ["belief", "conflict", "ignorance"]):
        found = session(to_onnx(explainer, outputs)).run(None, {"X": rows})
        for values in found:
            assert np.isfinite(values[0]).all()
            assert np.isnan(values[1]).any()
        assert np.isnan(found[0][1]).all()
        assert np.isnan(found[1][1])


def test_one_row_takes_less_than_100_microseconds(explainer: shafer.Explainer) -> None:
    run = session(to_onnx(explainer)).run
    row = {"X": X[:1]}
    times = []
    for _ in range(200):
        start = time.perf_counter()
        run(None, row)
        times.append(time.perf_counter() - start)
    assert min(times) < 100e-6


def test_a_saved_explainer_can_be_written(explainer: shafer.Explainer, tmp_path: Any) -> None:
    explainer.save(tmp_path / "model.shafer")
    loaded = shafer.Explainer.load(tmp_path / "model.shafer")
    assert to_onnx(loaded) == to_onnx(explainer)


def test_a_wrong_transformer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    explainer = shafer.Explainer(pipeline, X)
    to_onnx(explainer)
    monkeypatch.setattr(
        "shafer.export.transformers.transformer_graph",
        lambda graph, encoders, inputs, texts, width: inputs["X"],
    )
    with pytest.raises(shafer.UnsupportedModelError, match="does not give the numbers.*differs by"):
        to_onnx(explainer)
    to_onnx(explainer, check=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"outputs": ["beliefs"]}, "outputs 'beliefs' are not known; choose from probability"),
        ({"outputs": []}, "must be at least one"),
        ({"outputs": ["belief", "belief"]}, "each once"),
        ({"reasons": -1}, "reasons must be a whole number"),
        ({"dtype": "float16"}, "dtype must be 'float64' or 'float32'; got 'float16'"),
    ],
)
def test_wrong_options(explainer: shafer.Explainer, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_onnx(explainer, **options)


def test_a_single_output_is_enough(explainer: shafer.Explainer) -> None:
    assert [info.name for info in to_onnx(explainer, "belief").graph.output] == ["belief"]


def test_only_an_explainer_is_taken() -> None:
    classifier = shafer.EvidentialClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    with pytest.raises(TypeError, match="got EvidentialClassifier. Pass its explainer"):
        to_onnx(classifier)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs a shafer.Explainer; got LogisticRegression"):
        to_onnx(classifier.estimator_)  # type: ignore[arg-type]
    to_onnx(classifier.explainer_)


def _linear(**options: Any) -> shafer.Explainer:
    return shafer.Explainer(LogisticRegression(max_iter=500).fit(X, Y), X, **options)


def _behind(step: Any) -> shafer.Explainer:
    return shafer.Explainer(make_pipeline(step, LogisticRegression(max_iter=500)).fit(X, Y), X)


def _texts() -> shafer.Explainer:
    words = ["good day", "bad day", "good", "bad"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(words, [1, 0, 1, 0])
    return shafer.Explainer(model, words)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _linear(moderate="laplace"), "moderates.*without moderate="),
        (lambda: _linear(missing="vacuous"), "missing='vacuous'.*SimpleImputer"),
        (
            lambda: shafer.Explainer(HistGradientBoostingClassifier(max_iter=2).fit(X, Y), X),
            "Shapley values of trees.*ExplainableBoostingClassifier",
        ),
        (
            lambda: shafer.Explainer(shafer.models.Contributions(np.square), X),
            "a Python function, which cannot be written",
        ),
        (
            lambda: shafer.Explainer(CategoricalNB().fit(X.astype(int), Y), X.astype(int)),
            "CategoricalNB cannot be written to ONNX yet.*explainer.save",
        ),
        (lambda: _behind(SplineTransformer()), "skl2onnx cannot write.*SplineTransformer"),
        (lambda: _behind(PowerTransformer()), "skl2onnx cannot write.*PowerTransformer"),
        (_texts, "takes texts.*Vectorize the texts in front"),
    ],
    ids=["moderated", "missing", "trees", "function", "categories", "spline", "power", "texts"],
)
def test_what_does_not_fit_is_refused(make: Any, message: str) -> None:
    with pytest.raises(shafer.UnsupportedModelError, match=message):
        to_onnx(make())


def test_torch_modules_are_refused_with_a_way_out() -> None:
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.ReLU(), torch.nn.Linear(5, 3))
    explainer = shafer.Explainer(network, X.astype(np.float32))
    with pytest.raises(shafer.UnsupportedModelError, match="torch.onnx.export.*LinearHead"):
        to_onnx(explainer)


def test_a_column_must_not_be_named_like_an_output() -> None:
    frame = pd.DataFrame({"belief": ["a", "b", "a", "b"], "x": [0.0, 1.0, 2.0, 3.0]})
    encode = make_column_transformer((OneHotEncoder(), ["belief"]), (StandardScaler(), ["x"]))
    model = make_pipeline(encode, LogisticRegression()).fit(frame, [0, 1, 0, 1])
    explainer = shafer.Explainer(model, frame)
    with pytest.raises(ValueError, match="columns 'belief' have the names of outputs"):
        to_onnx(explainer)
    assert len(to_onnx(explainer, ["ignorance"]).graph.input) == 2
