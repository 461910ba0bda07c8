"""``to_onnx``: the evidence of an explainer as an ONNX model."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import narwhals as nw
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_of
from shafer._text import listed, shortened
from shafer._typing import FloatArray
from shafer.decision.policy import AnswerRule, answers, first_largest
from shafer.errors import UnsupportedModelError
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.evidence.evidence import Evidence
from shafer.evidence.least_commitment import AdditivePool, LinearPool
from shafer.evidence.reasons import AskedClasses, asked_weights, row_reasons
from shafer.explain.answered_rows import checked_reasons
from shafer.explain.explainer import Explainer
from shafer.explain.promises import Promises
from shafer.explain.weighing import WeighedModel
from shafer.export.forms import CLASS_FORMS, ROW_FORMS, GraphForms
from shafer.export.nodes import (
    IR_VERSION,
    OPSET,
    OPSET_ML,
    GraphNodes,
    Value,
    grouped_linear_weights,
    grouped_terms,
    linear_weights,
    pooled_linear,
    pooled_weights,
    tensor_info,
)
from shafer.export.terms import ModelTerms, terms_of
from shafer.export.transformers import EncodedRows
from shafer.models.read_model import AdditiveModel, LinearModel, ModelRows
from shafer.rows.access import n_rows, take_rows
from shafer.rows.columns import in_order

_DEFAULT = ("probability", "belief", "plausibility", "ignorance", "conflict", "weights", "answer")
_DTYPES = ("float64", "float32")


def to_onnx(
    explainer: Explainer,
    outputs: Sequence[str] = _DEFAULT,
    *,
    reasons: int = 3,
    dtype: str = "float64",
    check: bool = True,
    rows: Any = None,
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
        ``"weights"``, no array of that shape is held for many rows. And ``"answer"``, (N,): the
        label that :meth:`shafer.Explainer.predict` gives, by the threshold or the losses if there
        are any. Labels that are whole numbers are int64, others are texts. ``"set"``, boolean
        (N, K): the calibrated set of :meth:`shafer.Explainer.predict_set`. ``"reasons"`` and
        ``"reasons_log_odds"``, (N, R): the strongest components for the answer over the most
        probable other class, as in :meth:`shafer.Explainer.answer`, and what they add to the
        log-odds. Where a row has fewer, an empty text and NaN.
    reasons : int
        How many reasons for each row at most, R.
    dtype : {"float64", "float32"}
        The type of the numbers that go in and out. Inside, everything is in double precision: sums
        of large weights need it.
    check : bool
        Compare the model with the explainer on at most 16 rows of the background, and raise an
        error if they differ. A loaded explainer has a few of them, unless it was saved with
        ``rows=False``: then give it ``rows``. This needs ``onnxruntime``.
    rows : as the model takes it, optional
        Rows to compare instead of those of the background; all of them, up to 1,000.

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
    ValueError
        If sets are asked for before :meth:`shafer.Explainer.conformalize`.

    Warns
    -----
    UserWarning
        If the graph should be compared, and there are no rows, or no ``onnxruntime``. A linear
        model of numbers, without transformers, is then compared at the means of its background.

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

    names = _checked_outputs(outputs)
    if dtype not in _DTYPES:
        raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")
    factor = _one_factor(explainer)
    element = TensorProto.DOUBLE if dtype == "float64" else TensorProto.FLOAT
    graph = ExplainerGraph.of(explainer.weighed_model, factor, element)
    clash = [name for name in graph.rows.names if name in names and not graph.rows.is_table]
    if clash:
        raise ValueError(
            f"The columns {listed(clash)} have the names of outputs. Each column is an input of "
            "the graph, so rename these columns before training."
        )
    if "set" in names:
        _check_sets(explainer)
    told = Told(explainer.policy.cutoff, explainer.promises, checked_reasons(reasons))
    model = graph.model(names, element, told, **_properties(explainer, graph.rows.names))
    if rows is not None and not check:
        raise ValueError("rows are for the comparison; got check=False as well. Leave out one.")
    if check:
        check_graph(model, explainer, names, dtype, rows)
    return model


def _check_installed() -> None:
    if importlib.util.find_spec("onnx") is None:
        raise ImportError(
            "to_onnx needs onnx. Run: pip install '.[onnx]' in a copy of the repository"
        )


def _checked_outputs(outputs: Any) -> list[str]:

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
    weighed, calibration = explainer.weighed_model, explainer.calibration
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


def _check_sets(explainer: Explainer) -> None:
    """Refuse sets that do not have the same thresholds for all rows."""
    kept = explainer.promises
    if kept.conformal is not None and kept.conformal.by is None:
        return
    if kept.conformal is None and kept.cross is None:
        raise ValueError(
            "The output 'set' is a calibrated set, and this explainer was not calibrated. Call "
            "conformalize(X, y) on rows that were not used in training, or leave out 'set'."
        )
    made = "groups have thresholds of their own (by=)" if kept.cross is None else "cv= was used"
    raise UnsupportedModelError(
        f"The sets of this explainer are not written to ONNX, because {made}. Call "
        "conformalize(X, y) without it, or leave out the output 'set'."
    )


def _properties(explainer: Explainer, columns: Sequence[str]) -> dict[str, str]:
    classes = [
        x if isinstance(x, int | float | str) else str(x) for x in explainer.classes.tolist()
    ]
    return {
        "classes": json.dumps(classes, ensure_ascii=False),
        "component_names": json.dumps(explainer.component_names, ensure_ascii=False),
        "columns": json.dumps(list(columns), ensure_ascii=False),
    }


# The evidence of an explainer as a graph: inputs, terms, weights, closed forms.

_REASONS = ("reasons", "reasons_log_odds")
OUTPUTS = (*CLASS_FORMS, *ROW_FORMS, "weights", "answer", "set", *_REASONS)
"""What a graph can return."""


@final
@dataclass(frozen=True, eq=False)
class Told:
    """What a graph tells besides the numbers of the evidence.

    Attributes
    ----------
    rule : Cutoff, LeastLoss or None
        What answers; by default the most probable class.
    promises : Promises
        The thresholds of sets.
    reasons : int
        Reasons for each row.
    """

    rule: AnswerRule | None
    promises: Promises
    reasons: int


@final
@dataclass(frozen=True, eq=False)
class ExplainerGraph:
    """The graph of a model with its weights.

    Attributes
    ----------
    graph : GraphNodes
    rows : EncodedRows
    weighed : WeighedModel
    factor : float
        The factor on all weights.
    """

    graph: GraphNodes
    rows: EncodedRows
    weighed: WeighedModel
    factor: float

    @classmethod
    def of(cls, weighed: WeighedModel, factor: float, element: int) -> ExplainerGraph:
        """Start a graph; ``element`` is the type of its numbers."""
        graph = GraphNodes()
        return cls(graph, EncodedRows.of(graph, weighed, element), weighed, factor)

    @property
    def _n_classes(self) -> int:
        return len(self.weighed.pool.classes)

    @cached_property
    def _terms(self) -> ModelTerms:
        return terms_of(self.weighed.model, self.rows)

    @cached_property
    def _weights(self) -> Value:
        """The weights of all components but an own base rate, (n, G, K)."""
        pool, model, groups = self.weighed.pool, self.weighed.model, self.weighed.groups
        value = self._terms.value
        if isinstance(pool, LinearPool):
            return linear_weights(value, *self._head(pool))
        assert isinstance(pool, AdditivePool)  # those with feature maps have no terms
        if not isinstance(model, AdditiveModel):
            return self._grouped_head(pool)
        if not self._terms.centred:
            value = value - value.mean(2)
        if groups is not None:
            value = grouped_terms(value, list(groups.values()))
        shift = _wide(pool.offset) - _wide(pool.means)
        return (value + shift) * self.factor

    def _head(self, pool: LinearPool) -> tuple[FloatArray, FloatArray, FloatArray]:
        beta, offset = _wide(pool.beta) * self.factor, _wide(pool.offset) * self.factor
        return _wide(pool.means), beta, offset

    def _grouped_head(self, pool: AdditivePool) -> Value:
        weighed = self.weighed
        plain = weighed.model.identify(weighed.means, None, None)
        assert isinstance(plain, LinearPool)
        assert weighed.groups is not None
        means, beta, _ = self._head(plain)
        offset = _wide(pool.offset) * self.factor
        groups = list(weighed.groups.values())
        return grouped_linear_weights(self._terms.value, means, beta, offset, groups)

    @cached_property
    def _base_rate(self) -> FloatArray | None:
        found = self.weighed.pool.base_rate
        return None if found is None else _wide(found) * self.factor

    def _pooled(self, *, dense: bool) -> Value:
        pool = self.weighed.pool
        if isinstance(pool, LinearPool) and not dense:
            pooled = pooled_linear(self._terms.value, *self._head(pool))
        else:
            pooled = pooled_weights(self._weights, self._n_classes)
        if self._base_rate is None:
            return pooled
        sides = [np.maximum(self._base_rate, 0.0), np.maximum(-self._base_rate, 0.0)]
        return pooled + np.concatenate(sides)

    def _all_weights(self) -> Value:
        if self._base_rate is None:
            return self._weights
        # The same for all rows: a weight of the first component, without its value.
        first = self._weights.gather(np.asarray([0], dtype=np.int64))
        last = (first - first) + self._base_rate
        return self._weights.op("Concat", last, axis=1)

    def _reasons(self, forms: GraphForms, told: Told) -> tuple[Value, Value]:
        """Return the names of the best components of each row, and their log-odds, (n, R).

        Of components from the same column only the best one is named.
        """
        contrast = (self._weights @ forms.answer_over_rival(told.rule).with_axis(2)).without_axis(2)
        kinds = self._kinds()
        # The members of each kind, the first one repeated: a repetition never comes first.
        most = max(map(len, kinds))
        table = np.array([[*kind, *kind[:1] * (most - len(kind))] for kind in kinds])
        own = contrast.gather(table)  # (n, kinds, members)
        amount, best = own.max(2, keepdims=False).largest(min(told.reasons, len(kinds)))
        member = own.first_largest(2).op("GatherElements", best, axis=1)
        names = np.array(self.weighed.pool.component_names, dtype=object)
        constant = self.graph.constant
        flat = constant(table.ravel()).op("Gather", best * np.asarray(most) + member)
        rounding = contrast.op("Abs").sum() * (16.0 * np.finfo(np.float64).eps)
        clear = amount.op("Greater", rounding)
        nothing = np.array("", dtype=object)
        return (
            clear.op("Where", constant(names).op("Gather", flat), nothing),
            clear.op("Where", amount, np.nan),
        )

    def _kinds(self) -> list[list[int]]:
        """Return the components that count once, because they are from the same column."""
        found: dict[Any, list[int]] = {}
        apart = self._base_rate is not None
        for g in range(len(self.weighed.pool.component_names) - apart):
            columns = self.weighed.columns_of(g)
            found.setdefault(columns[0] if len(columns) == 1 else g, []).append(g)
        return list(found.values())

    def model(
        self, outputs: Sequence[str], element: int, told: Told, **properties: str
    ) -> ModelProto:
        """Return the finished model.

        Parameters
        ----------
        outputs : sequence of names in ``OUTPUTS``
        element : type of the numbers that go out
        told : Told
            The rule that answers, the thresholds of sets, the number of reasons.
        **properties : what is written into the file besides
        """
        dense = not {"weights", *_REASONS}.isdisjoint(outputs)
        forms = GraphForms(self._pooled(dense=dense), self._n_classes)
        made: dict[str, Value] = {}
        if not set(_REASONS).isdisjoint(outputs):
            made = dict(zip(_REASONS, self._reasons(forms, told), strict=True))
        if "answer" in outputs:
            made["answer"] = forms.labels(told.rule, _graph_labels(self.weighed.pool.classes))
        sets = told.promises.conformal
        if "set" in outputs and sets is not None:
            made["set"] = forms.kept(sets.score, sets.threshold, allow_empty=sets.allow_empty)
        if "weights" in outputs:
            made["weights"] = self._all_weights()
        described = [self._described(name, element, told) for name in outputs]
        ends = []
        for info in described:
            value = made[info.name] if info.name in made else getattr(forms, info.name)
            cast = info.type.tensor_type.elem_type == TensorProto.FLOAT
            options: dict[str, Any] = {"to": element} if cast else {}
            kind = "Cast" if cast else "Identity"
            ends.append(helper.make_node(kind, [value.name], [info.name], **options))
        return self._assembled(ends, described, properties)

    def _described(self, name: str, element: int, told: Told) -> ValueInfoProto:
        """Return the type and the shape of an output."""
        whole = _graph_labels(self.weighed.pool.classes).dtype.kind == "i"
        element = {
            "answer": TensorProto.INT64 if whole else TensorProto.STRING,
            "reasons": TensorProto.STRING,
            "set": TensorProto.BOOL,
        }.get(name, element)
        shape: list[int | str] = ["N"]
        if name in _REASONS:
            return tensor_info(name, element, ["N", min(told.reasons, len(self._kinds()))])
        if name == "weights":
            shape.append(len(self.weighed.pool.component_names))
        if name not in (*ROW_FORMS, "answer"):
            shape.append(self._n_classes)
        return tensor_info(name, element, shape)

    def _assembled(
        self, ends: list[NodeProto], outputs: list[ValueInfoProto], properties: dict[str, str]
    ) -> ModelProto:
        nodes = [*self.graph.nodes, *ends]
        constants = list(self.graph.constants.values())
        whole = helper.make_graph(nodes, "evidence", self.rows.inputs, outputs, constants)
        versions = [helper.make_opsetid("", OPSET)]
        if any(node.domain == "ai.onnx.ml" for node in nodes):
            versions.append(helper.make_opsetid("ai.onnx.ml", OPSET_ML))
        model = helper.make_model(whole, opset_imports=versions, producer_name="shafer")
        model.ir_version = IR_VERSION
        helper.set_model_props(model, properties)
        return model


def _graph_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the class labels as a graph can hold them: whole numbers, or texts."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    return np.array([str(label) for label in classes.tolist()], dtype=object)


def _wide(given: Any) -> FloatArray:
    """Return an array of any library in double precision."""
    return np.asarray(to_numpy(given), dtype=np.float64)


# Compare a finished graph with the explainer it was made from.

_MOST_ROWS = 16  # of the background
_MOST_GIVEN = 1000
_TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
_LARGEST_CHECKED = 2**31 - 2**20
"""Bytes; a larger model is checked by ONNX only when it is a file."""


def check_graph(
    model: ModelProto, explainer: Explainer, outputs: Sequence[str], dtype: str, given: Any = None
) -> None:
    """Check the form of a graph, and its numbers on given rows, or those of the background.

    Raises
    ------
    UnsupportedModelError
        If the graph gives other numbers than the explainer.
    """
    if model.ByteSize() < _LARGEST_CHECKED:
        _check_form(model)
    rows = _compared_rows(explainer, given)
    if rows is None:
        warnings.warn(
            "The graph was not compared with the explainer, which has no rows: it was loaded from "
            "a file, or made from an iterator. Pass rows=X, some rows as the model takes them, or "
            "check=False.",
            UserWarning,
            stacklevel=3,
        )
        return
    if importlib.util.find_spec("onnxruntime") is None:
        warnings.warn(
            "The graph was not compared with the explainer, because onnxruntime is not installed. "
            "Run: pip install onnxruntime. Or pass check=False.",
            UserWarning,
            stacklevel=3,
        )
        return
    feed = graph_inputs(model, in_order(rows, explainer.weighed_model.columns))
    found = dict(zip(outputs, _ran(model, feed), strict=True))
    wanted = explainer.observe(_doubled(rows, rounded=dtype == "float32")).bet
    for name, values in found.items():
        if name == "answer":
            _compare_labels(name, values, _answers_of(wanted))
        elif name == "set":
            given = _doubled(rows, rounded=dtype == "float32")
            _compare_labels(name, values, to_numpy(explainer.predict_set(given)))
        elif name not in _REASONS:
            _compare(name, values, to_numpy(getattr(wanted, name)), dtype)
    if not found.keys().isdisjoint(_REASONS):
        _compare_reasons(found, wanted, dtype)


def _compared_rows(explainer: Explainer, given: Any) -> Any:
    """Return rows for the comparison; None if there are none, and none can be made."""
    weighed = explainer.weighed_model
    rows, most = (explainer.background, _MOST_ROWS) if given is None else (given, _MOST_GIVEN)
    rows = explainer.few_rows if rows is None else rows
    if rows is not None:
        return take_rows(rows, list(range(min(most, n_rows(rows)))))
    if not isinstance(weighed.model, LinearModel) or weighed.model.encoders:
        return None
    if not weighed.model.by_column:  # its terms are not the columns
        return None
    means = _wide(weighed.means)
    made = np.stack([means, means + 1.0, means - 1.0, np.zeros_like(means)])
    return made if weighed.columns is None else _framed(made, weighed.columns)


def _framed(rows: FloatArray, columns: Sequence[str]) -> Any:
    import pandas

    return pandas.DataFrame(rows, columns=list(columns))


def _check_form(model: ModelProto) -> None:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        reason = shortened(str(error).strip().split("\n")[0], 200)
        raise UnsupportedModelError(
            "The transformers of this model do not give a valid graph, most often because skl2onnx "
            "has written one of them in single precision. Encode the rows in front of the graph, "
            f"and export an Explainer of the classifier alone. The reason: {reason}"
        ) from error


def _ran(model: ModelProto, feed: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        found: list[NDArray[Any]] = session.run(None, feed)
    except Exception as error:  # its errors have no common type
        raise UnsupportedModelError(
            "ONNX Runtime cannot run this graph, most often because skl2onnx has written a "
            "transformer in single precision. Encode the rows in front of the graph, and export "
            f"an Explainer of the classifier alone. Its message: {error}"
        ) from error
    return found


def _doubled(rows: Any, *, rounded: bool) -> Any:
    """Return rows in double precision, as the graph computes; on request rounded to single."""
    frame = frame_of(rows)
    if frame is not None:
        narrow = [name for name in frame.columns if frame[name].dtype == nw.Float32]
        numbers = [name for name in frame.columns if frame[name].dtype.is_numeric()]
        columns = [nw.col(name) for name in (numbers if rounded else narrow)]
        cast = [column.cast(nw.Float32) if rounded else column for column in columns]
        return frame.with_columns([column.cast(nw.Float64) for column in cast]).to_native()
    dense = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    if dense.dtype.kind not in "biuf":
        return dense
    return (dense.astype(np.float32) if rounded else dense).astype(np.float64)


def _compare(name: str, found: NDArray[Any], wanted: NDArray[Any], dtype: str) -> None:
    expected = wanted.astype(np.float64)
    scale = np.maximum(1.0, np.abs(expected))
    gap = float(np.max(np.abs(found - expected) / scale, initial=0.0))
    if not gap <= _TOLERANCE[dtype]:
        raise UnsupportedModelError(
            f"The graph does not give the numbers of this explainer: {name} differs by {gap:.2g} "
            "on the rows that were compared. Most often skl2onnx writes a transformer in single "
            "precision, or reads categories that are numbers in another way. Encode the rows in "
            "front of the graph, and export an Explainer of the classifier alone."
        )


def _compare_reasons(found: dict[str, NDArray[Any]], wanted: Evidence, dtype: str) -> None:
    """Compare by amount: of components with equal weights, either is the stronger one."""
    count = next(found[name] for name in _REASONS if name in found).shape[1]
    right = row_reasons(wanted, count)
    if "reasons_log_odds" in found:
        pair = np.nan_to_num(found["reasons_log_odds"]), np.nan_to_num(right.log_odds)
        _compare("reasons_log_odds", *pair, dtype)
    if "reasons" in found:
        names = list(wanted.component_names)
        contrast = asked_weights(wanted, AskedClasses(right.classes, right.over))
        amounts = [
            [contrast[row, names.index(name)] if name else 0.0 for name in reasons]
            for row, reasons in enumerate(found["reasons"].tolist())
        ]
        _compare("reasons", np.array(amounts), np.nan_to_num(right.log_odds), dtype)


def _answers_of(wanted: Evidence) -> NDArray[Any]:
    logits, rule = to_numpy(wanted.logits).astype(np.float64), wanted.cutoff
    positions = first_largest(logits) if rule is None else answers(logits, rule)
    return np.asarray(_graph_labels(wanted.classes)[positions])


def _compare_labels(name: str, found: NDArray[Any], expected: NDArray[Any]) -> None:
    wrong = np.flatnonzero((found != expected).reshape(len(found), -1).any(axis=1))
    if len(wrong):
        raise UnsupportedModelError(
            f"The graph does not give the {name} of this explainer: {found[wrong[0]]!r} and not "
            f"{expected[wrong[0]]!r} in row {wrong[0]} of those that were compared. Please report "
            f"it, and leave out the output {name!r}."
        )


def graph_inputs(model: ModelProto, X: Any) -> dict[str, NDArray[Any]]:
    """Return the rows of an array or a data frame as the inputs of a graph."""
    given = model.graph.input
    if sparse.issparse(X):
        X = X.toarray()
    if len(given) == 1 and given[0].name == "X":
        return {"X": _typed(to_numpy(X) if frame_of(X) is None else X, given[0])}
    frame = frame_of(X)
    if frame is None:
        values = np.asarray(X, dtype=object)
        return {info.name: _typed(values[:, [j]], info) for j, info in enumerate(given)}
    columns = [frame[name].to_numpy()[:, None] for name in frame.columns]
    return {info.name: _typed(column, info) for column, info in zip(columns, given, strict=True)}


def _typed(values: Any, info: onnx.ValueInfoProto) -> NDArray[Any]:
    element = info.type.tensor_type.elem_type
    if element == TensorProto.STRING:
        array = np.asarray(values, dtype=object)
        missing = np.vectorize(lambda x: x is None or x != x, otypes=[bool])(array)
        return np.where(missing, "", array.astype(str)).astype(object)
    return np.asarray(values, dtype=np.float64 if element == TensorProto.DOUBLE else np.float32)
