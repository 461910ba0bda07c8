"""The transformers of a pipeline as a graph: skl2onnx writes them, in double precision."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto
from sklearn.pipeline import Pipeline

from shafer._errors import UnsupportedModelError
from shafer._text import shortened
from shafer.export.graph.graph_values import GraphNodes, Value
from shafer.export.graph.graph_version import OPSET
from shafer.export.graph.step_converters import CONVERTERS
from shafer.models.inputs.encoded_columns import leaf_transformers

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
            "The transformers of a pipeline need skl2onnx. Run: pip install 'shafer[onnx]'"
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
    names = {name: value.name for name, value in inputs.items()}

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
