"""Features of a graph traced to the columns of its inputs: scaled, encoded, filled, not mixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from shafer.models.onnx.graph import GraphIndex, attributes

if TYPE_CHECKING:
    from onnx import NodeProto

TracedColumn: TypeAlias = tuple[int, str]
"""A column of the data by its position, and what was made of it, such as a category."""
TracedColumns: TypeAlias = tuple[TracedColumn, ...]

# Each cell is computed from one cell.
_CELLWISE = {
    "Abs", "Binarizer", "Cast", "Ceil", "Clip", "Dropout", "Elu", "Erf", "Exp", "Floor", "Identity",
    "Imputer", "IsInf", "IsNaN", "LabelEncoder", "LeakyRelu", "Log", "Neg", "Not", "Reciprocal",
    "Relu", "Round", "Scaler", "Sigmoid", "Sign", "Sin", "Cos", "Softplus", "Sqrt",
    "StringNormalizer", "Tanh",
}  # fmt: skip
# Each cell is computed from the cells at its place.
_CELLS = {
    "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min",
    "Mod", "Mul", "Or", "Pow", "Sub", "Where", "Xor",
}  # fmt: skip
# The cells of a row stay in their order.
_SAME_ORDER = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}


@final
class ColumnTracer:
    """Finds the column of the data behind each feature.

    Parameters
    ----------
    index : GraphIndex
    widths : dict from str to int
        The number of columns of each input.
    """

    def __init__(self, index: GraphIndex, widths: dict[str, int]) -> None:
        self._index = index
        self._known: dict[str, TracedColumns | None] = {}
        start = 0
        for name, width in widths.items():
            self._known[name] = tuple((start + j, "") for j in range(width))
            start += width
        for node in index.model.graph.node:  # in topological order
            found = self._made(node)
            for k, value in enumerate(node.output):
                self._known.setdefault(value, found if k == 0 else None)

    def columns(self, value: str) -> TracedColumns | None:
        """Return the column behind each feature in a value; None if some depend on several."""
        return self._known.get(value)

    def _made(self, node: NodeProto) -> TracedColumns | None:
        kind = node.op_type
        given = [value for value in node.input if value and value not in self._index.constants]
        inputs = [self._known.get(value) for value in given]
        if not inputs or any(found is None for found in inputs):
            return None
        found = [columns for columns in inputs if columns is not None]
        if kind in _CELLWISE or kind in _SAME_ORDER:
            return found[0] if len(found) == 1 else None
        if kind in ("Concat", "FeatureVectorizer"):
            return self._joined(node, found)
        if kind in _CELLS:
            return self._cells(node, found)
        if kind == "BatchNormalization":
            return found[0]
        if kind == "OneHotEncoder":
            return _encoded(node, found[0])
        if kind in ("ArrayFeatureExtractor", "Gather"):
            return self._chosen(node, found[0])
        return None

    def _joined(self, node: NodeProto, found: list[TracedColumns]) -> TracedColumns | None:
        axis = attributes(node).get("axis", 1)
        constant = any(value in self._index.constants for value in node.input)
        if axis not in (1, -1, 2) or constant:
            return None
        return tuple(column for columns in found for column in columns)

    def _cells(self, node: NodeProto, found: list[TracedColumns]) -> TracedColumns | None:
        """Join values of equal width, and constants; one column may become several."""
        width = max(map(len, found))
        for value in node.input:
            constant = self._index.constant(value)
            if constant is None:
                continue
            if constant.size > 1 and constant.shape[-1] != constant.size:
                return None
            if constant.size not in (1, width):
                if width > 1:
                    return None
                width = constant.size
        columns = []
        for j in range(width):
            here = {part[j if len(part) > 1 else 0] for part in found if len(part) in (1, width)}
            if len({place for place, _ in here}) != 1 or any(
                len(p) not in (1, width) for p in found
            ):
                return None
            columns.append(min(here))
        return tuple(columns)

    def _chosen(self, node: NodeProto, given: TracedColumns) -> TracedColumns | None:
        places = self._index.constant(node.input[1])
        axis = attributes(node).get("axis", 1 if node.op_type != "Gather" else 0)
        if places is None or axis not in (1, -1):
            return None
        chosen = places.ravel().astype(int)
        if np.any(chosen < -len(given)) or np.any(chosen >= len(given)):
            return None
        return tuple(given[j] for j in chosen)


def _encoded(node: NodeProto, given: TracedColumns) -> TracedColumns | None:
    """Return a column for each category of one column; of several they would lie in two axes."""
    if len(given) != 1:
        return None
    has = attributes(node)
    categories = has.get("cats_strings") or has.get("cats_int64s") or []
    return tuple(
        (place, f"{label}_{category}" if label else str(category))
        for place, label in given
        for category in categories
    )


@final
@dataclass(frozen=True, eq=False)
class GraphColumns:
    """What lies before the last layer, as a transformer that names its outputs.

    Attributes
    ----------
    run : GraphRun
        Gives the features.
    columns : tuple of (int, str)
        The column of the data behind each feature.
    n_features_in_ : int
    own_names : tuple of strings or None
        The names of the columns, if the graph has them: one input for each.
    """

    run: Any
    columns: TracedColumns
    n_features_in_: int
    own_names: tuple[str, ...] | None = None
    feature_names_in_: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        if self.own_names is not None:
            names = np.array(self.own_names, dtype=object)
            object.__setattr__(self, "feature_names_in_", names)

    def transform(self, X: Any) -> Any:
        """Return the features of rows."""
        return self.run(X)

    def get_feature_names_out(self, input_features: Sequence[Any] | None = None) -> NDArray[Any]:
        """Return the names of the features: those of the columns, with their categories."""
        names = self.own_names if input_features is None else input_features
        names = [f"x{j}" for j in range(self.n_features_in_)] if names is None else names
        found = [f"{names[place]}_{label}" if label else str(names[place])
                 for place, label in self.columns]  # fmt: skip
        return np.array(found, dtype=object)
