"""``OneHotEncoder`` and ``OrdinalEncoder`` in ONNX: a value is compared with all categories.

skl2onnx cuts off the digits of categories that are numbers, and knows a missing category by the
text ``None`` or ``nan``. Here numbers are compared as they are, and an empty text is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from shafer._validation import is_missing
from shafer.export.graph.step_nodes import add_node, constant


def one_hot_shape(operator: Any) -> None:
    """Set the type of the output of a ``OneHotEncoder``."""
    kept = _kept_categories(operator.raw_operator)
    _set_output(operator, sum(int(places.sum()) for places in kept))


def ordinal_shape(operator: Any) -> None:
    """Set the type of the output of an ``OrdinalEncoder``."""
    _set_output(operator, len(operator.raw_operator.categories_))


def write_one_hot(scope: Any, operator: Any, container: Any) -> None:
    """Write a 1 for the category of each column, and 0 for all others."""
    encoder = operator.raw_operator
    refuses = encoder.handle_unknown == "error"
    if any(rare is not None for rare in _infrequent(encoder)):
        raise NotImplementedError("Infrequent categories are not written.")
    parts = []
    for same, kept in zip(
        _matches(scope, operator, container), _kept_categories(encoder), strict=True
    ):
        hot = same
        if not kept.all():
            places = constant(scope, container, np.flatnonzero(kept).astype(np.int64))
            hot = add_node(scope, container, "Gather", [same, places], axis=1)
        hot = add_node(scope, container, "Cast", [hot], to=TensorProto.DOUBLE)
        parts.append(_or_else(scope, container, same, hot, np.nan) if refuses else hot)
    _join(operator, scope, container, parts)


def write_ordinal(scope: Any, operator: Any, container: Any) -> None:
    """Write the number of the category of each column."""
    encoder = operator.raw_operator
    known = encoder.handle_unknown == "use_encoded_value"
    unknown = float(encoder.unknown_value) if known else np.nan
    parts = []
    for same, codes in zip(_matches(scope, operator, container), _codes(encoder), strict=True):
        column = constant(scope, container, codes[:, None])
        hot = add_node(scope, container, "Cast", [same], to=TensorProto.DOUBLE)
        found = add_node(scope, container, "MatMul", [hot, column])
        parts.append(_or_else(scope, container, same, found, unknown))
    _join(operator, scope, container, parts)


def _infrequent(encoder: Any) -> list[Any]:
    """Return the infrequent categories of each column; None where there are none."""
    found = getattr(encoder, "infrequent_categories_", None)
    return [None] * len(encoder.categories_) if found is None else found


def _codes(encoder: Any) -> list[NDArray[np.float64]]:
    """Return the numbers of the categories of each column of an ``OrdinalEncoder``."""
    found = []
    for categories, rare in zip(encoder.categories_, _infrequent(encoder), strict=True):
        gaps = [value != value for value in categories.tolist()]  # NaN; None is a usual category
        joined = np.isin(categories, [] if rare is None else rare)  # they come last, as one
        codes = np.where(joined, np.sum(~joined), np.cumsum(~joined) - 1).astype(np.float64)
        codes[gaps] = encoder.encoded_missing_value
        found.append(codes)
    return found


def _matches(scope: Any, operator: Any, container: Any) -> list[str]:
    """Return for each column whether its value is one of the categories, (n, categories)."""
    encoder = operator.raw_operator
    columns = []
    for variable in operator.inputs:
        width, texts = int(variable.type.shape[1]), "String" in type(variable.type).__name__
        for j in range(width):
            place = constant(scope, container, np.asarray([j], dtype=np.int64))
            one = add_node(scope, container, "Gather", [variable.full_name, place], axis=1)
            columns.append((one if width > 1 else variable.full_name, texts))
    return [
        _match(scope, container, column, categories, texts)
        for (column, texts), categories in zip(columns, encoder.categories_, strict=True)
    ]


def _match(scope: Any, container: Any, column: str, categories: Any, texts: bool) -> str:
    known = _texts(categories) if texts else np.asarray(categories, dtype=np.float64)
    same = add_node(scope, container, "Equal", [column, constant(scope, container, known[None, :])])
    if texts or not np.isnan(known).any():
        return same
    gap = add_node(scope, container, "IsNaN", [column])
    missing = constant(scope, container, np.isnan(known)[None, :])
    both = add_node(scope, container, "And", [gap, missing])
    return add_node(scope, container, "Or", [same, both])


def _texts(categories: NDArray[Any]) -> NDArray[Any]:
    """Return categories as texts; the missing one is empty."""
    values = ["" if is_missing(value) else value for value in categories.tolist()]
    if not all(isinstance(value, str) for value in values):
        raise NotImplementedError("A column with texts and numbers as categories is not written.")
    if values.count("") > 1:
        raise NotImplementedError("A column with several kinds of missing texts is not written.")
    return np.asarray(values, dtype=str)


def _kept_categories(encoder: Any) -> list[NDArray[np.bool_]]:
    """Return for each column which categories have a column of their own: not those dropped."""
    kept = [np.ones(len(categories), dtype=bool) for categories in encoder.categories_]
    dropped = [None] * len(kept) if encoder.drop_idx_ is None else encoder.drop_idx_
    for places, place in zip(kept, dropped, strict=True):
        if place is not None:
            places[int(place)] = False
    return kept


def _or_else(scope: Any, container: Any, same: str, found: str, unknown: float) -> str:
    """Return what was found, or a number where no category fits."""
    whole = add_node(scope, container, "Cast", [same], to=TensorProto.DOUBLE)
    axis = constant(scope, container, np.asarray([1], dtype=np.int64))
    some = add_node(scope, container, "ReduceMax", [whole, axis], keepdims=1)
    fits = add_node(scope, container, "Cast", [some], to=TensorProto.BOOL)
    other = constant(scope, container, np.asarray(unknown))
    return add_node(scope, container, "Where", [fits, found, other])


def _set_output(operator: Any, width: int) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    rows = operator.inputs[0].type.shape[0]
    operator.outputs[0].type = DoubleTensorType([rows, width])


def _join(operator: Any, scope: Any, container: Any, parts: list[str]) -> None:
    add_node(scope, container, "Concat", parts, output=operator.outputs[0].full_name, axis=1)
