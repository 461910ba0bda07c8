"""Transformers that skl2onnx cannot write, or not exactly; they are written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures

from shafer.export.graph.category_converters import (
    one_hot_shape,
    ordinal_shape,
    write_one_hot,
    write_ordinal,
)
from shafer.export.graph.step_nodes import add_node, constant

_Shape: TypeAlias = Callable[[Any], None]
_Convert: TypeAlias = Callable[[Any, Any, Any], None]


def _rows(scope: Any, operator: Any, container: Any) -> str:
    """Return the input of a step; columns that come one by one are joined."""
    names = [variable.full_name for variable in operator.inputs]
    return names[0] if len(names) == 1 else add_node(scope, container, "Concat", names, axis=1)


def _width(operator: Any) -> int:
    return sum(int(variable.type.shape[1]) for variable in operator.inputs)


def _imputer_shape(operator: Any) -> None:
    kept = _kept_columns(operator.raw_operator)
    kind = type(operator.inputs[0].type)
    operator.outputs[0].type = kind([operator.inputs[0].type.shape[0], len(kept)])


def _kept_columns(imputer: SimpleImputer) -> list[int]:
    """Return the columns that an imputer does not drop for being empty in training."""
    filled = imputer.statistics_.tolist()
    empty = [isinstance(value, float) and np.isnan(value) for value in filled]
    return [j for j, dropped in enumerate(empty) if not dropped]


def _write_imputer(scope: Any, operator: Any, container: Any) -> None:
    imputer, rows = operator.raw_operator, _rows(scope, operator, container)
    if imputer.add_indicator:
        raise NotImplementedError("SimpleImputer(add_indicator=True) is not written.")
    kept = _kept_columns(imputer)
    if len(kept) < len(imputer.statistics_):
        columns = constant(scope, container, np.asarray(kept, dtype=np.int64))
        rows = add_node(scope, container, "Gather", [rows, columns], axis=1)
    values = np.asarray(imputer.statistics_[kept])
    texts = any(isinstance(value, str) for value in values.tolist())
    filled = constant(scope, container, values.astype(str if texts else np.float64)[None, :])
    missing = imputer.missing_values
    if not texts and isinstance(missing, float) and np.isnan(missing):
        gaps = add_node(scope, container, "IsNaN", [rows])
    else:  # a text cannot be NaN: an empty one stands for it
        mark = np.asarray(
            ("" if not isinstance(missing, str) else missing) if texts else float(missing)
        )
        gaps = add_node(scope, container, "Equal", [rows, constant(scope, container, mark)])
    output = operator.outputs[0].full_name
    add_node(scope, container, "Where", [gaps, filled, rows], output=output)


def _polynomial_shape(operator: Any) -> None:
    first = operator.inputs[0].type
    operator.outputs[0].type = type(first)(
        [first.shape[0], operator.raw_operator.n_output_features_]
    )


def _write_polynomial(scope: Any, operator: Any, container: Any) -> None:
    """Multiply for each output the inputs in it; a column of ones fills the rest."""
    powers = operator.raw_operator.powers_  # (outputs, inputs)
    width = _width(operator)
    degree = max(1, int(powers.sum(axis=1).max()))
    factors = np.full((len(powers), degree), width, dtype=np.int64)
    for row, counts in zip(factors, powers, strict=True):
        members = np.repeat(np.arange(width), counts)
        row[: len(members)] = members
    rows = _rows(scope, operator, container)
    first = add_node(
        scope, container, "Gather", [rows, constant(scope, container, np.asarray([0]))], axis=1
    )
    none = add_node(scope, container, "Sub", [first, first])
    ones = add_node(scope, container, "Add", [none, constant(scope, container, np.asarray(1.0))])
    wide = add_node(scope, container, "Concat", [rows, ones], axis=1)
    parts = add_node(
        scope, container, "Gather", [wide, constant(scope, container, factors)], axis=1
    )
    last = constant(scope, container, np.asarray([2]))
    output = operator.outputs[0].full_name
    add_node(scope, container, "ReduceProd", [parts, last], output=output, keepdims=0)


CONVERTERS: dict[type, tuple[_Shape, _Convert]] = {
    SimpleImputer: (_imputer_shape, _write_imputer),
    PolynomialFeatures: (_polynomial_shape, _write_polynomial),
    OneHotEncoder: (one_hot_shape, write_one_hot),
    OrdinalEncoder: (ordinal_shape, write_ordinal),
}
"""Transformer -> the shape of its output, and its nodes."""
