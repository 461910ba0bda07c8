"""Spark's ``LogisticRegressionModel`` and ``NaiveBayesModel``, alone or in a ``PipelineModel``.

A component is an entry of the features vector. The parameters are read on the driver. Rows are
pandas frames on the driver, and Spark passes them through the feature stages of the pipeline.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, final

import numpy as np

from shafer._checks.frames import frame_columns
from shafer._text import one_line
from shafer._typing import FloatArray
from shafer.decision.policy import Cutoff
from shafer.errors import UnsupportedModelError
from shafer.models.heads import Contributions, LinearHead
from shafer.models.live_parameters import LiveParameters, check_parameters
from shafer.models.read_model import AdditiveModel, LinearModel, ReadModel
from shafer.rows.access import take_rows, values_of

_KINDS = ("LogisticRegressionModel", "NaiveBayesModel")
_LOGISTIC_PARAMETERS = "coefficientMatrix interceptVector"
_ROW = "__shafer_row"
_FEW = 8


def adapt(model: Any, background: Any = None) -> ReadModel:
    """Read a fitted Spark model, or a pipeline with one."""
    stages, classifier = _parts(model)
    features = SparkFeatures(stages, classifier.getFeaturesCol())
    names = None if background is None else features.names(take_rows(background, slice(0, _FEW)))
    read = _logistic if _kind(classifier) == _KINDS[0] else _bayes
    adapted = read(classifier, _classes(model, classifier), names)
    live = LiveParameters.of(partial(_parameters, classifier))
    # The names of the entries do not tell the columns that they were made of.
    return replace(adapted, by_column=False).behind(features).watching(live)


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that Spark itself computes, (n, K)."""
    stages, classifier = _parts(model)
    found = _transformed([*stages, classifier], X, classifier.getFeaturesCol())
    return _column(found, classifier.getProbabilityCol())


def _kind(stage: Any) -> str:
    return type(stage).__name__


def _parts(model: Any) -> tuple[list[Any], Any]:
    """Return the stages before the classifier that do not make its labels, and the classifier."""
    stages = list(model.stages) if hasattr(model, "stages") else [model]
    places = [i for i, stage in enumerate(stages) if hasattr(stage, "getProbabilityCol")]
    found = stages[places[-1]] if places else stages[-1]
    if _kind(found) not in _KINDS:
        raise UnsupportedModelError(
            f"The classifier of this PipelineModel is {_kind(found)}, which is not read. Use "
            "LogisticRegression or NaiveBayes of pyspark.ml."
        )
    label = found.getLabelCol()
    before = [stage for stage in stages[: places[-1]] if label not in _outputs(stage)]
    return before, found


def _outputs(stage: Any) -> list[str]:
    """Return the names of the columns that a stage makes."""
    found: list[str] = []
    for name in ("outputCol", "outputCols"):
        if stage.hasParam(name) and stage.isDefined(name):
            value = stage.getOrDefault(name)
            found += [value] if isinstance(value, str) else list(value)
    return found


def _classes(model: Any, classifier: Any) -> list[Any]:
    """Return the labels of the indexer that made the label column; otherwise 0..K−1."""
    for stage in getattr(model, "stages", ()):
        if classifier.getLabelCol() in _outputs(stage) and hasattr(stage, "labelsArray"):
            place = _outputs(stage).index(classifier.getLabelCol())
            return list(stage.labelsArray[place])
    return list(range(int(classifier.numClasses)))


def _parameters(classifier: Any) -> tuple[FloatArray, ...]:
    names = "theta pi sigma" if _kind(classifier) != _KINDS[0] else _LOGISTIC_PARAMETERS
    given = [getattr(classifier, name) for name in names.split()]
    return tuple(np.asarray(part.toArray(), dtype=np.float64) for part in given)


def _logistic(model: Any, classes: list[Any], names: list[str] | None) -> LinearModel:
    coef, intercept = _parameters(model)
    check_parameters(_kind(model), (coef, intercept))
    adapted = LinearModel(LinearHead(coef, intercept, classes, names), features=np.asarray)
    if len(classes) == 2:
        threshold = float(model.getThreshold())
        return adapted if threshold == 0.5 else replace(adapted, cutoff=Cutoff(threshold, 1))
    if model.isSet("thresholds"):
        _refuse_thresholds(model)
    return adapted


def _refuse_thresholds(model: Any) -> None:
    raise UnsupportedModelError(
        f"{_kind(model)} has thresholds={list(model.getThresholds())}, which are not read. Clear "
        "them, model.clear(model.thresholds), and state loss= to the Explainer."
    )


def _bayes(model: Any, classes: list[Any], names: list[str] | None) -> ReadModel:
    if model.isSet("thresholds"):
        _refuse_thresholds(model)
    theta, prior, variance = _parameters(model)
    check_parameters(_kind(model), (theta, prior))
    kind = model.getModelType()
    if kind == "gaussian":
        function = partial(_log_densities, theta.T, variance.T)
        return AdditiveModel(Contributions(function, prior, classes, names))
    if kind == "bernoulli":
        absent = np.log1p(-np.exp(theta))
        theta, prior = theta - absent, prior + absent.sum(axis=1)
    if kind == "complement":
        prior = np.zeros_like(prior)  # which leaves the prior out
    return LinearModel(LinearHead(theta, prior, classes, names), features=np.asarray)


def _log_densities(mean: FloatArray, variance: FloatArray, values: FloatArray) -> FloatArray:
    away = values[:, :, None] - mean
    found: FloatArray = -0.5 * (away * away / variance + np.log(2.0 * np.pi * variance))
    return found


@final
@dataclass(frozen=True, eq=False)
class SparkFeatures:
    """The stages of a pipeline before its classifier, as a transformer of frames on the driver.

    Attributes
    ----------
    stages : list of Spark transformers
    column : str
        The column of the features vector.
    """

    stages: list[Any]
    column: str

    def transform(self, X: Any) -> FloatArray:
        """Return the features vectors of rows, (n, J)."""
        return _column(_transformed(self.stages, X, self.column), self.column)

    def names(self, X: Any) -> list[str] | None:
        """Return the names of the entries, from the metadata of the column; None without any."""
        found = _transformed(self.stages, X, self.column)
        attributes = found.schema[self.column].metadata.get("ml_attr", {}).get("attrs", {})
        entries = sorted(
            (entry["idx"], entry["name"])
            for kind in attributes.values()
            for entry in kind
            if "name" in entry
        )
        whole = len(entries) == sum(map(len, attributes.values()))
        return [name for _, name in entries] if entries and whole else None


def _transformed(stages: Sequence[Any], X: Any, features: str) -> Any:
    """Return a Spark frame of the rows of X, behind the stages, in their order."""
    frame = _spark_frame(X, features)
    try:
        for stage in stages:
            frame = stage.transform(frame)
        return frame.orderBy(_ROW)
    except Exception as error:  # Spark refuses columns in words of its own
        raise _unreadable(error) from error


def _column(frame: Any, name: str) -> FloatArray:
    try:
        rows = frame.select(name).collect()
    except Exception as error:  # such as a category that the indexer does not know
        raise _unreadable(error) from error
    return np.array([row[0].toArray() for row in rows], dtype=np.float64)


def _unreadable(error: Exception) -> ValueError:
    return ValueError(
        f"Spark cannot pass X through the pipeline: {one_line(error)[:300]}. Pass a pandas frame "
        "with the columns of training."
    )


def _spark_frame(X: Any, features: str) -> Any:
    """Return rows as a Spark frame with their numbers; an array is one of features vectors."""
    from pyspark.ml.linalg import Vectors
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    if frame_columns(X) is None:
        rows = [(i, Vectors.dense(row)) for i, row in enumerate(np.asarray(values_of(X)))]
        return session.createDataFrame(rows, [_ROW, features])
    if not hasattr(X, "iloc"):
        raise ValueError(
            f"A Spark model takes a pandas frame on the driver; got {type(X).__name__}. Pass a "
            "pandas frame, such as frame.limit(1000).toPandas()."
        )
    with warnings.catch_warnings():  # of Spark, about the newest pandas
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        return session.createDataFrame(X.assign(**{_ROW: np.arange(len(X))}))
