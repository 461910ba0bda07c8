"""``to_onnx``: the evidence of an explainer as an ONNX model."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shafer._errors import UnsupportedModelError
from shafer._text import listed
from shafer.models import EvidentialClassifier, Explainer
from shafer.models.readers.model_rows import ModelRows

if TYPE_CHECKING:
    from onnx import ModelProto

_DEFAULT = ("probability", "belief", "plausibility", "ignorance", "conflict", "weights")
_DTYPES = ("float64", "float32")


def to_onnx(
    explainer: Explainer,
    outputs: Sequence[str] = _DEFAULT,
    *,
    dtype: str = "float64",
    check: bool = True,
) -> ModelProto:
    """Write an explainer as an ONNX model: rows in, evidence out, without Python.

    The model has standard operators only: those of ONNX itself, and for columns and categories of
    pipelines those of ``ai.onnx.ml``.
    Linear models, pipelines, ``MLPClassifier``, support vector machines, naive Bayes and
    ``ExplainableBoostingClassifier`` can be written, with groups, prior and tempering.

    Parameters
    ----------
    explainer : Explainer
    outputs : sequence of str
        Attributes of :class:`~shafer.Evidence`, which name the outputs: ``"probability"``,
        ``"belief"``, ``"plausibility"``, ``"pignistic"``, ``"logits"``, ``"weights_for"`` and
        ``"weights_against"`` of shape (N, K), ``"ignorance"``, ``"conflict"`` and
        ``"weight_of_conflict"`` of shape (N,), ``"weights"`` of shape (N, G, K). Without
        ``"weights"``, no array of that shape is held for many rows.
    dtype : {"float64", "float32"}
        The type of the numbers that go in and out. Inside, everything is in double precision: sums
        of large weights need it.
    check : bool
        Compare the model with the explainer on at most 16 rows of the background, if the explainer
        has them and ``onnxruntime`` is installed, and raise an error if they differ.

    Returns
    -------
    onnx.ModelProto
        Save it with ``onnx.save(model, path)``. A model on numbers has one input, ``"X"`` of shape
        (N, number of columns). If some columns are texts, there is one input of shape (N, 1) for
        each column, with its name. The properties ``classes``, ``component_names`` and ``columns``
        name the axes, as JSON. NaN in, NaN out: ONNX cannot raise an error.

    Raises
    ------
    UnsupportedModelError
        If the model, or what the explainer does with its weights, does not fit into a graph.

    See Also
    --------
    pyfunc : A model for MLflow.
    shafer.Explainer.save : A file for Python.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> heart = shafer.datasets.load_heart()
    >>> model = LogisticRegression(max_iter=1000).fit(heart.data, heart.target)
    >>> explainer = shafer.Explainer(model, heart.data)
    >>> graph = shafer.export.to_onnx(explainer, outputs=["belief", "ignorance"])
    >>> [output.name for output in graph.graph.output]
    ['belief', 'ignorance']
    """
    _check_installed()
    from onnx import TensorProto

    from shafer.export.graph.explainer_graph import ExplainerGraph
    from shafer.export.graph.graph_check import check_graph

    names = _checked_outputs(outputs)
    if dtype not in _DTYPES:
        raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")
    factor = _one_factor(explainer)
    element = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
    graph = ExplainerGraph.of(explainer._weighed, factor, element)
    clash = [name for name in graph.rows.names if name in names and not graph.rows.is_table]
    if clash:
        raise ValueError(
            f"The columns {listed(clash)} have the names of outputs. Each column is an input of "
            "the graph, so rename these columns before training."
        )
    model = graph.model(names, element, **_properties(explainer, graph.rows.names))
    if check:
        check_graph(model, explainer, names, dtype)
    return model


def _check_installed() -> None:
    if importlib.util.find_spec("onnx") is None:
        raise ImportError("to_onnx needs onnx. Run: pip install 'shafer[onnx]'")


def _checked_outputs(outputs: Any) -> list[str]:
    from shafer.export.graph.explainer_graph import OUTPUTS

    names = [outputs] if isinstance(outputs, str) else list(outputs)
    wrong = [name for name in names if name not in OUTPUTS]
    if wrong or not names or len(set(names)) < len(names):
        problem = "are not known" if wrong else "must be at least one, each once"
        raise ValueError(
            f"outputs {listed(wrong or names)} {problem}; choose from {', '.join(OUTPUTS)}."
        )
    return names


def _one_factor(explainer: Any) -> float:
    """Return the factor on all weights; refuse what is not one factor for all rows."""
    if not isinstance(explainer, Explainer):
        hint = ""
        if isinstance(explainer, EvidentialClassifier):
            hint = " Pass its explainer, classifier.explainer_."
        raise TypeError(f"to_onnx needs a shafer.Explainer; got {type(explainer).__name__}.{hint}")
    weighed, calibration = explainer._weighed, explainer.calibration
    weighed.model.check_current()
    if calibration.moderates:
        raise UnsupportedModelError(
            "This explainer moderates the weights of each row by the distance from the background "
            "(moderate=), which is not a short graph. Make an Explainer without moderate=; "
            "explainer.temper(X, y) gives one factor for all rows."
        )
    if weighed.missing is not None:
        raise UnsupportedModelError(
            f"This explainer fills missing inputs, missing={weighed.missing.how!r}, which is not "
            "written to ONNX. Make an Explainer with missing='error', with a SimpleImputer in the "
            "model's pipeline if rows have gaps."
        )
    factor = calibration.factor(ModelRows(None, None))  # the same for all rows
    assert isinstance(factor, float)
    return factor


def _properties(explainer: Explainer, columns: Sequence[str]) -> dict[str, str]:
    classes = [
        x if isinstance(x, int | float | str) else str(x) for x in explainer.classes.tolist()
    ]
    return {
        "classes": json.dumps(classes, ensure_ascii=False),
        "component_names": json.dumps(explainer.component_names, ensure_ascii=False),
        "columns": json.dumps(list(columns), ensure_ascii=False),
    }
