"""Models of pyspark.ml: parameters from the driver, rows through the stages of the pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import shafer
from spark_session import ml, started_spark

HEART, CHD = shafer.datasets.load_heart(as_frame=True, return_X_y=True)
DATA = HEART[["sbp", "ldl"]].assign(
    family=np.where(HEART["famhist"] == 1, "yes", "no"),
    what=np.where(CHD == 1, "ill", "well"),
    kind=np.array(["c", "a", "b"])[pd.qcut(HEART["obesity"], 3, labels=False)],
)[:120]


def fitted(label: str, classifier: Any) -> tuple[Any, Any]:
    """Return a fitted pipeline, and its own probabilities and predictions."""
    stages = [
        ml.feature.StringIndexer(inputCol=label, outputCol="label", stringOrderType="alphabetAsc"),
        ml.feature.StringIndexer(inputCol="family", outputCol="code"),
        ml.feature.OneHotEncoder(inputCols=["code"], outputCols=["member"]),
        ml.feature.VectorAssembler(inputCols=["sbp", "ldl", "member"], outputCol="features"),
        classifier,
    ]
    table = started_spark().createDataFrame(DATA.to_dict("records"))
    model = ml.Pipeline(stages=stages).fit(table)
    found = model.transform(table).select("probability", "prediction").collect()
    return model, (np.array([row[0].toArray() for row in found]), [row[1] for row in found])


@pytest.fixture(scope="module")
def logistic() -> tuple[Any, Any]:
    started_spark()
    return fitted("what", ml.classification.LogisticRegression(maxIter=8, threshold=0.6))


def test_logistic_regression(logistic: Any) -> None:
    model, (own, predicted) = logistic
    explainer = shafer.Explainer(model, DATA.drop(columns=["what", "kind"]))
    ev = explainer(DATA)
    assert ev.classes.tolist() == ["ill", "well"]
    assert ev.component_names[:2] == ("sbp", "ldl")
    assert_allclose(ev.probability, own, rtol=0, atol=1e-12)
    assert_allclose(ev.weights.sum(axis=1), ev.logits, rtol=0, atol=1e-12)
    labels = np.array(["ill", "well"])[np.array(predicted, dtype=int)]
    assert_array_equal(explainer.predict(DATA), labels)  # by the threshold of the model
    with pytest.raises(ValueError, match="Spark cannot pass X through the pipeline"):
        explainer(DATA[:2].assign(family="cousin"))


@pytest.mark.parametrize("kind", ["gaussian", "complement"])
def test_naive_bayes(kind: str) -> None:
    started_spark()
    model, (own, _) = fitted("kind", ml.classification.NaiveBayes(modelType=kind))
    ev = shafer.Explainer(model, DATA)(DATA)
    assert ev.classes.tolist() == ["a", "b", "c"]
    assert_allclose(ev.probability, own, rtol=0, atol=1e-12)


def test_bernoulli_naive_bayes_alone() -> None:
    session = started_spark()
    rows = (HEART.to_numpy()[:60, :3] > HEART.to_numpy()[:60, :3].mean(axis=0)).astype(float)
    vectors = [(ml.linalg.Vectors.dense(row), int(y)) for row, y in zip(rows, CHD, strict=False)]
    table = session.createDataFrame(vectors, ["features", "label"])
    model = ml.classification.NaiveBayes(modelType="bernoulli").fit(table)
    own = [row[0].toArray() for row in model.transform(table).select("probability").collect()]
    assert_allclose(shafer.Explainer(model, rows)(rows).probability, own, rtol=0, atol=1e-12)


def test_other_classifiers_are_refused() -> None:
    started_spark()
    assembler = ml.feature.VectorAssembler(inputCols=["sbp"], outputCol="features")
    model = ml.PipelineModel([assembler])
    with pytest.raises(shafer.UnsupportedModelError, match="Assembler.*Use LogisticRegression"):
        shafer.Explainer(model, DATA)
