"""``ExplainableBoostingClassifier``: every term, also of two features, is a table of bins.

A feature has the bin of missing values, its own bins, and the bin of unknown categories. The bin
of a number is found in two steps: first among some of the cuts, then among those in between.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from shafer._typing import FloatArray
from shafer.export.graph.encoded_rows import EncodedRows
from shafer.export.graph.graph_values import Value
from shafer.export.graph.terms.model_terms import ModelTerms
from shafer.kernels import centred_over_classes
from shafer.models.readers.adapted_model import AdaptedModel, AdditiveModel, both_classes


@final
@dataclass(frozen=True, eq=False)
class _BinnedColumn:
    """The bins of one feature, as finely as terms of one or of two features use them."""

    feature: int
    bins: Any  # cut points, or category -> position
    level: int


def terms(model: AdaptedModel, rows: EncodedRows) -> ModelTerms:
    """Look up the scores of each term, (n, G, K), centred over the classes."""
    machine = model.core
    columns = _binned_columns(machine)
    keys = [(column.feature, column.level) for column in columns]
    n_bins = dict.fromkeys(keys, 0)
    strides = np.zeros((len(keys), len(machine.term_features_)), dtype=np.int64)
    offsets = np.zeros(len(machine.term_features_), dtype=np.int64)
    tables: list[FloatArray] = []
    for t, (features, scores) in enumerate(
        zip(machine.term_features_, machine.term_scores_, strict=True)
    ):
        table = _both_classes(np.asarray(scores, dtype=np.float64), len(features))
        for axis, feature in enumerate(features):
            key = (feature, _level(machine, feature, len(features)))
            n_bins[key] = table.shape[axis]
            strides[keys.index(key), t] += math.prod(table.shape[axis + 1 : -1])
        offsets[t] = sum(map(len, tables))
        tables.append(table.reshape(-1, table.shape[-1]))
    found = _bin_positions(columns, [n_bins[key] for key in keys], rows)
    whole = np.concatenate(tables) * _additive(model).slope
    places = found @ strides + offsets  # (n, G)
    return ModelTerms(rows.graph.constant(whole).op("Gather", places, axis=0), centred=True)


def _additive(model: AdaptedModel) -> AdditiveModel:
    assert isinstance(model, AdditiveModel)  # all readers of this family return one
    return model


def _level(machine: Any, feature: int, n_features: int) -> int:
    return min(len(machine.bins_[feature]), n_features) - 1


def _binned_columns(machine: Any) -> list[_BinnedColumn]:
    found = {
        (feature, _level(machine, feature, len(term)))
        for term in machine.term_features_
        for feature in term
    }
    return [_BinnedColumn(f, machine.bins_[f][level], level) for f, level in sorted(found)]


def _both_classes(scores: FloatArray, n_features: int) -> FloatArray:
    """Return a table with the classes on its last axis, centred over them."""
    if scores.ndim == n_features:
        flat = both_classes(scores.reshape(1, -1))[0]
        scores = flat.reshape(*scores.shape, 2)
    centred: FloatArray = centred_over_classes(scores)
    return centred


def _bin_positions(
    columns: Sequence[_BinnedColumn], n_bins: Sequence[int], rows: EncodedRows
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
