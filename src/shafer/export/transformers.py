"""The transformers of a pipeline as a graph: skl2onnx writes them, in double precision."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, PolynomialFeatures

from shafer._checks.frames import numbered
from shafer._checks.labels import is_missing
from shafer._text import shortened
from shafer.errors import UnsupportedModelError
from shafer.explain.weighing import WeighedModel
from shafer.export.nodes import OPSET, GraphNodes, Value, add_node, constant, tensor_info
from shafer.rows.columns import leaf_transformers
from shafer.scale.inputs import selects_by_name, text_columns
from shafer.texts.inputs import first_vectorizer

# Operators of ai.onnx.ml that do not round. The others compute in single precision.
_EXACT = ("ArrayFeatureExtractor", "CategoryMapper", "LabelEncoder", "OneHotEncoder")


def transformer_graph(
    graph: GraphNodes,
    encoders: Sequence[Any],
    inputs: Mapping[str, Value],
    texts: frozenset[str],
    width: int,
) -> Value:
    """Return the encoded rows, double precision (n, J).

    Parameters
    ----------
    graph : GraphNodes
        Gets the nodes of the transformers.
    encoders : sequence of fitted transformers
    inputs : mapping from name to Value of shape (n, width)
        The rows, or their columns by name.
    texts : names of the inputs that are texts
    width : int
    """
    written = _written(encoders, {name: name in texts for name in inputs}, width)
    return _included(graph, written, inputs, encoders)


def _written(encoders: Sequence[Any], is_text: Mapping[str, bool], width: int) -> ModelProto:
    try:
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import DoubleTensorType, StringTensorType
    except ImportError:
        raise ImportError(
            "The transformers of a pipeline need skl2onnx. "
            "Run: pip install '.[onnx]' in a copy of the repository"
        ) from None
    kinds = {False: DoubleTensorType, True: StringTensorType}
    types = [(name, kinds[text]([None, width])) for name, text in is_text.items()]
    steps = Pipeline([(f"step{i}", encoder) for i, encoder in enumerate(encoders)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            written: ModelProto = convert_sklearn(
                steps,
                initial_types=types,
                target_opset=OPSET,
                custom_conversion_functions={kind: found[1] for kind, found in CONVERTERS.items()},
                custom_shape_calculators={kind: found[0] for kind, found in CONVERTERS.items()},
            )
    except Exception as error:  # skl2onnx raises errors of many types
        reason = shortened(str(error).strip().split("\n")[0], 200)
        raise UnsupportedModelError(
            f"skl2onnx cannot write the transformers {_names(encoders)} in double precision: "
            f"{reason} Replace the transformer, or encode the rows in front of the graph and "
            "export an Explainer of the classifier alone."
        ) from error
    return written


def _names(encoders: Sequence[Any]) -> str:
    leaves = [type(leaf).__name__ for encoder in encoders for leaf in leaf_transformers(encoder)]
    return ", ".join(dict.fromkeys(leaves))


def _included(
    graph: GraphNodes, written: ModelProto, inputs: Mapping[str, Value], encoders: Sequence[Any]
) -> Value:
    """Copy the nodes and constants of another graph, under new names."""
    # skl2onnx makes other names of "0" and "a b"; the order of the inputs is as given.
    given = [value.name for value in inputs.values()]
    names = {found.name: name for found, name in zip(written.graph.input, given, strict=True)}

    def renamed(name: str) -> str:
        if name and name not in names:
            names[name] = graph.name()
        return names.get(name, name)

    for tensor in written.graph.initializer:
        tensor.name = renamed(tensor.name)
        graph.constants[("transformers", tensor.name)] = tensor
    for node in written.graph.node:
        graph.nodes.append(_copied(node, renamed))
    (output,) = written.graph.output
    result = graph.value(renamed(output.name))
    element = output.type.tensor_type.elem_type
    rounds = any(node.domain == "ai.onnx.ml" and node.op_type not in _EXACT for node in graph.nodes)
    if rounds or (element == TensorProto.FLOAT and not _gives_whole_numbers(encoders[-1])):
        raise UnsupportedModelError(
            f"skl2onnx writes the transformers {_names(encoders)} in single precision only. Encode "
            "the rows in front of the graph, and export an Explainer of the classifier alone."
        )
    return result if element == TensorProto.DOUBLE else result.cast(TensorProto.DOUBLE)


def _gives_whole_numbers(encoder: Any) -> bool:
    """Say whether all outputs are small whole numbers, which single precision does not round."""
    names = {type(leaf).__name__ for leaf in leaf_transformers(encoder)}
    return names <= {"OneHotEncoder", "OrdinalEncoder"}


def _copied(node: NodeProto, renamed: Any) -> NodeProto:
    copy = NodeProto()
    copy.CopyFrom(node)
    del copy.input[:], copy.output[:]
    copy.input.extend(renamed(name) for name in node.input)
    copy.output.extend(renamed(name) for name in node.output)
    copy.name = ""
    return copy


# ``OneHotEncoder`` and ``OrdinalEncoder`` in ONNX: a value is compared with all categories.


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


# Transformers that skl2onnx cannot write, or not exactly; they are written here.

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


# The inputs of a graph, and the rows behind the transformers of a pipeline.

ROWS = "X"
"""The name of the input, where there is one."""


@final
@dataclass(frozen=True, eq=False)
class EncodedRows:
    """The rows of a graph, as the model behind the transformers takes them.

    There is one input for rows of numbers, or of texts. Rows with both have an input for each
    column.

    Attributes
    ----------
    graph : GraphNodes
    inputs : list of descriptions of the inputs
    names : tuple of names of the columns
    texts : frozenset of the positions of columns of texts
    encoders : tuple of fitted transformers
    """

    graph: GraphNodes
    inputs: list[ValueInfoProto]
    names: tuple[str, ...]
    texts: frozenset[int]
    encoders: tuple[Any, ...]

    @classmethod
    def of(cls, graph: GraphNodes, weighed: WeighedModel, element: int) -> EncodedRows:
        """Name the inputs of a model; ``element`` is the type of its numbers."""
        model = weighed.model
        if first_vectorizer(model.encoders) is not None:
            raise UnsupportedModelError(
                "This model takes texts. ONNX has no operator that splits a text into words as "
                "scikit-learn does. Vectorize the texts in front of the graph, and export an "
                "Explainer of the classifier alone."
            )
        n_columns = _n_columns(weighed)
        texts = text_columns(model, weighed.columns, n_columns)
        known = weighed.columns
        names = known if known is not None and len(known) == n_columns else None
        names = names or tuple(f"x{j}" for j in range(n_columns))
        if element == TensorProto.FLOAT:
            _check_narrow(model.encoders)
        kinds = [TensorProto.STRING if j in texts else element for j in range(n_columns)]
        if len(set(kinds)) == 1:
            inputs = [tensor_info(ROWS, kinds[0], ["N", n_columns])]
        else:
            names = tuple(numbered(list(names)))
            inputs = [tensor_info(n, k, ["N", 1]) for n, k in zip(names, kinds, strict=True)]
        return cls(graph, inputs, names, texts, model.encoders)

    @property
    def is_table(self) -> bool:
        """Whether all columns are one input."""
        return self.inputs[0].name == ROWS and len(self.inputs) == 1

    def numbers(self) -> Value:
        """Return the encoded rows, numbers in double precision (n, J)."""
        if not self.encoders:
            return self._whole()
        texts = frozenset(self.names[j] for j in self.texts)
        if not self.is_table:
            return transformer_graph(self.graph, self.encoders, self._columns(), texts, 1)
        if not selects_by_name(self.encoders[0]):
            known = frozenset([ROWS] if texts else [])
            given, width = {ROWS: self._whole()}, len(self.names)
            return transformer_graph(self.graph, self.encoders, given, known, width)
        n = len(self.names)
        parts = self.graph.ops("Split", [self._whole()], n, axis=1, num_outputs=n)
        given = dict(zip(self.names, parts, strict=True))
        return transformer_graph(self.graph, self.encoders, given, texts, 1)

    def columns(self, positions: NDArray[np.int64]) -> Value:
        """Return some columns of encoded rows, or of numbers that the model takes itself."""
        if self.encoders or not self.texts:
            return self.numbers().gather(positions)
        found = self._columns()
        chosen = [found[self.names[j]] for j in positions]
        return chosen[0] if len(chosen) == 1 else self.graph.op("Concat", *chosen, axis=1)

    def strings(self, position: int) -> Value:
        """Return a column of texts, (n, 1)."""
        if self.encoders:
            raise UnsupportedModelError(
                "This model has categories behind transformers, whose output in ONNX is numbers. "
                "Train it without the transformers."
            )
        if self.is_table:
            return self._whole().gather(np.asarray([position], dtype=np.int64))
        return self._columns()[self.names[position]]

    def _whole(self) -> Value:
        return self._wide(self.inputs[0])

    def _columns(self) -> Mapping[str, Value]:
        return {info.name: self._wide(info) for info in self.inputs}

    def _wide(self, info: ValueInfoProto) -> Value:
        """Return an input, numbers in double precision."""
        value = self.graph.value(info.name)
        narrow = info.type.tensor_type.elem_type == TensorProto.FLOAT
        return value.cast(TensorProto.DOUBLE) if narrow else value


def _check_narrow(encoders: tuple[Any, ...]) -> None:
    """Refuse categories that no number in single precision would be equal to."""
    for leaf in (leaf for encoder in encoders for leaf in leaf_transformers(encoder)):
        for category in (x for known in getattr(leaf, "categories_", ()) for x in known.tolist()):
            if isinstance(category, int | float) and _is_rounded(category):
                raise UnsupportedModelError(
                    f"The category {category!r} is not a number in single precision, so "
                    "dtype='float32' cannot find it. Use dtype='float64'."
                )


def _is_rounded(number: float) -> bool:
    with np.errstate(over="ignore"):
        return abs(float(np.float32(number)) - number) > 0.0  # not for NaN


def _n_columns(weighed: WeighedModel) -> int:
    model = weighed.model
    first = model.encoders[0] if model.encoders else model.core
    found = getattr(first, "n_features_in_", None)
    if found is None and weighed.columns is not None:
        found = len(weighed.columns)
    return int(weighed.means.shape[0] if found is None else found)
