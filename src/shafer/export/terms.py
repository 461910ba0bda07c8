"""The terms of each family of models as a graph, and why other models are refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from scipy import sparse

from shafer._kernels.pooling import centred_over_classes
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.export.nodes import Value
from shafer.export.transformers import EncodedRows
from shafer.models.boosting.interpret import (
    BinnedColumn,
    binned_columns,
    level_of,
    term_tables,
)
from shafer.models.heads import Contributions
from shafer.models.like_linear import looks_linear
from shafer.models.read_model import AdditiveModel, ReadModel
from shafer.models.sklearn.class_distances import precision_roots

_ELSEWHERE = (
    "To run it in another process, save the explainer with explainer.save(path), or wrap it with "
    "shafer.export.pyfunc(explainer)."
)
_TREES = (
    "has components that are trees, or Shapley values of trees. They need the paths of each tree, "
    "which are not a short graph of standard operators. Export an ExplainableBoostingClassifier "
    "instead. " + _ELSEWHERE
)
_TORCH = (
    "is a torch module, which torch exports itself: write the module up to its last hidden layer "
    "with torch.onnx.export, and export shafer.Explainer(shafer.LinearHead(coef, intercept), "
    "features) for the last layer. " + _ELSEWHERE
)
_ONNX = (
    "is an ONNX graph already: let onnxruntime run it up to its last layer, and export "
    "shafer.Explainer(shafer.LinearHead(coef, intercept), features) for the last layer. "
    + _ELSEWHERE
)
_STATSMODELS = (
    "is a result of statsmodels, whose design matrix has no graph. Export "
    "shafer.Explainer(shafer.LinearHead(coef, intercept), rows) with rows of the design matrix."
)
_SPARK = (
    "is a model of Spark, which makes its features. Export shafer.Explainer(shafer.LinearHead("
    "coef, intercept), rows) with rows of the features."
)
_REASONS = {
    ("pyspark", "PipelineModel"): _SPARK,
    ("pyspark", "LogisticRegressionModel"): _SPARK,
    ("pyspark", "NaiveBayesModel"): _SPARK,
    ("statsmodels", "ResultsWrapper"): _STATSMODELS,
    ("statsmodels", "Results"): _STATSMODELS,
    ("sklearn", "HistGradientBoostingClassifier"): _TREES,
    ("sklearn", "GradientBoostingClassifier"): _TREES,
    ("sklearn", "AdaBoostClassifier"): _TREES,
    ("sklearn", "DecisionTreeClassifier"): _TREES,
    ("xgboost", "XGBClassifier"): _TREES,
    ("xgboost", "Booster"): _TREES,
    ("lightgbm", "LGBMClassifier"): _TREES,
    ("lightgbm", "Booster"): _TREES,
    ("catboost", "CatBoostClassifier"): _TREES,
    ("torch", "Module"): _TORCH,
    ("onnx", "ModelProto"): _ONNX,
}


def terms_of(model: ReadModel, rows: EncodedRows) -> ModelTerms:
    """Write the terms of a model as a graph behind its transformers.

    Raises
    ------
    UnsupportedModelError
        If the model does not fit into a graph of standard operators.
    """
    core = model.core
    kinds = [(base.__module__.partition(".")[0], base.__name__) for base in type(core).__mro__]
    for kind in kinds:
        if kind in _REASONS:
            raise UnsupportedModelError(f"{_named(core)} {_REASONS[kind]}")
        if kind in _FAMILIES:
            return _FAMILIES[kind](model, rows)
    if looks_linear(core):
        return linear_terms(model, rows)
    if isinstance(core, Contributions):
        raise UnsupportedModelError(
            "Contributions are a Python function, which cannot be written to ONNX. Export a "
            f"shafer.LinearHead, or a model of the list in docs/guide/production.md. {_ELSEWHERE}"
        )
    raise UnsupportedModelError(
        f"{_named(core)} cannot be written to ONNX yet. These can: linear models, MLPClassifier, "
        "support vector machines, ExplainableBoostingClassifier, and naive Bayes on numbers. "
        f"{_ELSEWHERE}"
    )


def _named(core: Any) -> str:
    return type(core).__name__


# GaussianNB: a component adds the log-density of its feature.


def gaussian_terms(model: ReadModel, rows: EncodedRows) -> ModelTerms:
    """Return the log-densities, (n, J, K)."""
    bayes = model.core
    mean, variance = (np.asarray(a, dtype=np.float64).T for a in (bayes.theta_, bayes.var_))
    distance = rows.numbers().with_axis(2) - mean
    squares = distance * distance / variance
    return ModelTerms((squares + np.log(2 * np.pi * variance)) * -0.5)


# QuadraticDiscriminantAnalysis: a component adds the share of its feature in the squared distance.


def distance_terms(model: ReadModel, rows: EncodedRows) -> ModelTerms:
    """Return the shares of the features, (n, J, K)."""
    values, parts = rows.numbers(), []
    for mean, root in zip(model.core.means_, precision_roots(model.core), strict=True):
        away = values - np.asarray(mean, dtype=np.float64)
        matrix = np.asarray(root, dtype=np.float64)
        parts.append((((away @ matrix) @ matrix.T) * away).with_axis(2))
    return ModelTerms(rows.graph.op("Concat", *parts, axis=2) * (-0.5 * _additive(model).slope))


# MLPClassifier: the features are the units of the last hidden layer.

_OPERATORS = {"identity": "Identity", "logistic": "Sigmoid", "relu": "Relu", "tanh": "Tanh"}


def hidden_unit_terms(model: ReadModel, rows: EncodedRows) -> ModelTerms:
    """Pass the inputs through the hidden layers."""
    network, values = model.core, rows.numbers()
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        summed = values @ np.asarray(weights, dtype=np.float64) + np.asarray(bias, dtype=np.float64)
        values = summed.op(_OPERATORS[network.activation])
    return ModelTerms(values)


# BernoulliNB: a feature is 1 above the model's threshold.


def indicator_terms(model: ReadModel, rows: EncodedRows) -> ModelTerms:
    """Compare the inputs with the threshold."""
    values, threshold = rows.numbers(), model.core.binarize
    if threshold is None:
        return ModelTerms(values)
    above = values.op("Greater", float(threshold)).cast(TensorProto.DOUBLE)
    # A comparison with NaN is false; what is added keeps it NaN.
    return ModelTerms(above + (values - values))


# Support vector machines: the features are kernels with the support vectors, or the inputs.


def kernel_terms(model: ReadModel, rows: EncodedRows) -> ModelTerms:
    """Return the kernel between each row and each support vector."""
    machine, values = model.core, rows.numbers()
    return ModelTerms(values if model.by_column else _kernel(machine, values))


def _kernel(machine: Any, values: Value) -> Value:
    if machine.kernel == "precomputed":
        return values.gather(np.asarray(machine.support_, dtype=np.int64))
    vectors = machine.support_vectors_
    vectors = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors)
    columns: FloatArray = np.asarray(vectors.T, dtype=np.float64)
    gamma = float(machine._gamma)  # what gamma="scale" came to on the training data
    # Factors belong into the matrix: ONNX Runtime rounds a factor on a product to single precision.
    if machine.kernel == "linear":
        return values @ columns
    if machine.kernel == "rbf":
        squares: Value = (values * values).sum() + np.sum(columns**2, axis=0)
        return ((squares - values @ (2.0 * columns)).at_least(0.0) * -gamma).exp()
    inside = values @ (gamma * columns) + float(machine.coef0)
    if machine.kernel == "sigmoid":
        return inside.op("Tanh")
    return inside.op("Pow", float(machine.degree))  # "poly"; functions are refused by the reader


# What the graph of a model gives: the features of a linear head, or contributions.


@final
@dataclass(frozen=True, eq=False)
class ModelTerms:
    """The terms of a model as a value of a graph.

    Attributes
    ----------
    value : Value of shape (n, J) or (n, G, K)
        The features of a linear head, or what each component adds to the logits.
    centred : bool
        Whether contributions are centred over the classes already.
    """

    value: Value
    centred: bool = False


# Linear models on their inputs: the features are the encoded rows.


def linear_terms(model: ReadModel, rows: EncodedRows) -> ModelTerms:  # noqa: ARG001 - as in each family
    """Return the encoded rows."""
    return ModelTerms(rows.numbers())


# ExplainableBoostingClassifier: every term, also of two features, is a table of bins.


def table_terms(model: ReadModel, rows: EncodedRows) -> ModelTerms:
    """Look up the scores of each term, (n, G, K), centred over the classes."""
    machine = model.core
    columns = binned_columns(machine)
    keys = [(column.feature, column.level) for column in columns]
    n_bins = dict.fromkeys(keys, 0)
    strides = np.zeros((len(keys), len(machine.term_features_)), dtype=np.int64)
    offsets = np.zeros(len(machine.term_features_), dtype=np.int64)
    tables: list[FloatArray] = []
    for t, (features, scores) in enumerate(
        zip(machine.term_features_, term_tables(machine), strict=True)
    ):
        table = centred_over_classes(scores)
        for axis, feature in enumerate(features):
            key = (feature, level_of(machine, feature, len(features)))
            n_bins[key] = table.shape[axis]
            strides[keys.index(key), t] += math.prod(table.shape[axis + 1 : -1])
        offsets[t] = sum(map(len, tables))
        tables.append(table.reshape(-1, table.shape[-1]))
    found = _bin_positions(columns, [n_bins[key] for key in keys], rows)
    whole = np.concatenate(tables) * _additive(model).slope
    places = found @ strides + offsets  # (n, G)
    return ModelTerms(rows.graph.constant(whole).op("Gather", places, axis=0), centred=True)


def _additive(model: ReadModel) -> AdditiveModel:
    assert isinstance(model, AdditiveModel)  # all readers of this family return one
    return model


def _bin_positions(
    columns: Sequence[BinnedColumn], n_bins: Sequence[int], rows: EncodedRows
) -> Value:
    """Return the bin of each row in each binned column, integers (n, B)."""
    numeric = [c for c in columns if not isinstance(c.bins, Mapping)]
    parts: list[Value] = []
    if numeric:
        positions = np.asarray([c.feature for c in numeric], dtype=np.int64)
        parts.append(_intervals(rows.columns(positions), [c.bins for c in numeric]))
    order = [columns.index(c) for c in numeric]
    for place, column in enumerate(columns):
        if isinstance(column.bins, Mapping):
            order.append(place)
            parts.append(_categories(rows.strings(column.feature), column.bins, n_bins[place]))
    joined = parts[0] if len(parts) == 1 else rows.graph.op("Concat", *parts, axis=1)
    return joined.gather(np.argsort(order).astype(np.int64))


def _categories(texts: Value, bins: Mapping[Any, int], n_bins: int) -> Value:
    """Return the bin of each category; an empty text is a missing value."""
    known = {"": 0, **{str(key): position for key, position in bins.items()}}
    return texts.op(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=list(known),
        values_int64s=list(known.values()),
        default_int64=n_bins - 1,
    )


def _intervals(values: Value, cuts: Sequence[NDArray[np.float64]]) -> Value:
    """Return 0 for NaN, and 1 plus the number of cuts that are not above the value."""
    longest = max(1, *map(len, cuts))
    step = max(1, math.isqrt(longest))
    blocks = -(-longest // step)
    padded = np.full((len(cuts), blocks, step), np.inf)
    for j, found in enumerate(cuts):
        padded[j].reshape(-1)[: len(found)] = found
    values = values.at_most(np.finfo(np.float64).max)  # infinity would pass the padding too
    graph, wide = values.graph, values.with_axis(2)  # (n, B, 1)
    # Whole blocks below the value: their last cut is not above it.
    below = wide.op("GreaterOrEqual", padded[:, :, -1]).cast(TensorProto.INT64)
    block = below.sum(2, keepdims=False)  # (n, B)
    more = np.concatenate([padded, np.full((len(cuts), 1, step), np.inf)], axis=1)
    first = np.arange(len(cuts), dtype=np.int64) * (blocks + 1)
    rows = graph.constant(more.reshape(-1, step)).op("Gather", block + first, axis=0)
    inside = wide.op("GreaterOrEqual", rows).cast(TensorProto.INT64).sum(2, keepdims=False)
    position = block * np.asarray(step, dtype=np.int64) + inside
    missing = values.op("IsNaN")
    return missing.op("Where", np.asarray(0, dtype=np.int64), position + np.asarray(1))


# (package, name of the class or a base class) -> the function that writes its terms.
_FAMILIES = {
    ("shafer", "LinearHead"): linear_terms,
    ("sklearn", "LinearClassifierMixin"): linear_terms,
    ("sklearn", "MultinomialNB"): linear_terms,
    ("sklearn", "ComplementNB"): linear_terms,
    ("sklearn", "BernoulliNB"): indicator_terms,
    ("sklearn", "GaussianNB"): gaussian_terms,
    ("sklearn", "NearestCentroid"): linear_terms,
    ("sklearn", "QuadraticDiscriminantAnalysis"): distance_terms,
    ("sklearn", "MLPClassifier"): hidden_unit_terms,
    ("sklearn", "SVC"): kernel_terms,
    ("sklearn", "NuSVC"): kernel_terms,
    ("interpret", "ExplainableBoostingClassifier"): table_terms,
}
