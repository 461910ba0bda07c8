"""Rows passed through a graph by onnxruntime, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, helper

from shafer._text import one_line
from shafer.errors import UnsupportedModelError
from shafer.models.onnx.checked import values_taken
from shafer.models.onnx.inputs import GraphInputs
from shafer.rows.access import n_rows

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_ONLY_ERRORS = 4  # onnxruntime writes warnings of each graph to the terminal


def session_of(model: ModelProto) -> InferenceSession:
    """Return a session on the processor; a graph that onnxruntime refuses is an error of one line.

    It runs on the CPU only: results on other devices depend on their kernels.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = _ONLY_ERRORS
    # Otherwise a layer with coefficients of whole numbers is computed coarsely, 0.002 off.
    options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # onnxruntime has an error class for each of its codes
        raise UnsupportedModelError(
            f"onnxruntime cannot load the graph: {_said(error)}. Export the model again, for an "
            "operator set that the installed onnxruntime knows."
        ) from error


def _keep_needed(model: ModelProto, values: Sequence[str]) -> None:
    """Take out the nodes that no value needs: some, as ZipMap, refuse what they are given."""
    needed, kept = set(values), []
    for node in reversed(model.graph.node):  # in topological order
        if any(value in needed for value in node.output):
            needed.update(values_taken(node))
            kept.append(node)
    kept.reverse()
    model.graph.ClearField("node")
    model.graph.node.extend(kept)


def _said(error: Exception) -> str:
    return one_line(error).rstrip(".")


@final
class GraphRun:
    """Some values of a graph, for rows.

    Parameters
    ----------
    model : ModelProto
    inputs : GraphInputs
    values : sequence of str
        Any values of the main graph, also its inputs.
    """

    def __init__(self, model: ModelProto, inputs: GraphInputs, values: Sequence[str]) -> None:
        self._inputs = inputs
        asked = ModelProto()
        asked.CopyFrom(model)
        asked.ClearField("training_info")
        _keep_needed(asked, values)
        del asked.graph.output[:]
        self._names = [f"shafer_value_{k}" for k in range(len(values))]
        for value, name in zip(values, self._names, strict=True):
            asked.graph.node.append(helper.make_node("Identity", [value], [name]))
            asked.graph.output.append(helper.make_empty_tensor_value_info(name))
        self._session = session_of(asked)

    def __call__(self, X: Any) -> Iterator[tuple[int, int, int, list[NDArray[Any]]]]:
        """Yield blocks: the first row, the number of rows, that of rows run, and the values.

        More rows are run where a block must be full: the further ones repeat the last row.
        """
        for start, n, feeds in self._inputs.blocks(X):
            try:
                given = self._session.run(self._names, feeds)
            except Exception as error:
                raise UnsupportedModelError(
                    f"onnxruntime stopped at rows {start} to {start + n - 1}: {_said(error)}. "
                    f"The graph takes {self._inputs.text}."
                ) from error
            yield start, n, n_rows(feeds), [np.asarray(value) for value in given]
