"""``pyfunc``: an explainer as a model for MLflow."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path
from typing import Any, final

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_of
from shafer.estimators.evidential_classifier import EvidentialClassifier
from shafer.explain.explainer import Explainer
from shafer.rows.access import n_rows, take_rows
from shafer.rows.schema import ColumnSchema
from shafer.saving.file import load_object, loaded_bytes, saved_bytes
from shafer.scale.score import listed_columns
from shafer.scale.scorer import ScoredRows
from shafer.texts.inputs import first_vectorizer

try:
    import pandas as pd

    with warnings.catch_warnings():  # MLflow warns about type hints of its own
        warnings.simplefilter("ignore")
        from mlflow.models import ModelSignature
        from mlflow.pyfunc.model import PythonModel
        from mlflow.types import ColSpec, DataType, Schema, TensorSpec
except ImportError:
    raise ImportError(
        "pyfunc needs MLflow and pandas. Run: pip install '.[mlflow]' in a copy of the repository"
    ) from None


_ARTIFACT = "explainer"
_CODE = Path(__file__).with_name("mlflow_code.py")
_REASONS = 3


def pyfunc(
    explainer: Explainer | EvidentialClassifier,
    *,
    reasons: int = _REASONS,
    evidence: bool = False,
    labels_only: bool = False,
) -> EvidencePythonModel:
    """Wrap an explainer as a model for MLflow, which returns a table of answers and reasons.

    Parameters
    ----------
    explainer : Explainer or fitted EvidentialClassifier
    reasons : int
        Reasons for each row; 0 for none.
    evidence : bool
        Also belief, plausibility, pignistic probability, ignorance and conflict.
    labels_only : bool
        ``predict`` returns the labels only, a series named ``prediction``. This is what
        ``mlflow.models.evaluate`` takes from a model.

    Returns
    -------
    EvidencePythonModel
        Log it with ``mlflow.pyfunc.log_model(name=..., **model.log_options(path))``.

    See Also
    --------
    to_onnx : A model that runs without Python.
    shafer.Explainer.save : A file for Python.

    Examples
    --------
    >>> import pandas as pd, shafer
    >>> rows = pd.DataFrame({"u": [1.0, -1.0], "v": [0.0, 0.0]})
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), rows)
    >>> wrapped = shafer.export.pyfunc(explainer, reasons=1)
    >>> wrapped.predict(None, rows)[["prediction", "probability_1", "reason_1"]].round(3)
       prediction  probability_1 reason_1
    0           1          0.818        u
    1           0          0.378        u
    """
    if isinstance(reasons, bool) or not isinstance(reasons, int) or reasons < 0:
        raise ValueError(f"reasons must be a whole number of at least 0; got {reasons!r}.")
    columns = listed_columns(explainer, reasons, _explainer_of(explainer).columns or ())[1]
    if columns.left_out:
        warnings.warn(columns.left_out, UserWarning, stacklevel=2)
    return EvidencePythonModel(explainer, reasons, evidence, labels_only)


def _explainer_of(given: Any) -> Explainer:
    """Return an explainer, or the one inside a fitted classifier."""
    if isinstance(given, EvidentialClassifier) and hasattr(given, "explainer_"):
        return given.explainer_
    if not isinstance(given, Explainer):
        raise TypeError(
            "explainer must be a shafer.Explainer or a fitted EvidentialClassifier; got "
            f"{type(given).__name__}. Make one with shafer.Explainer(model, X_train)."
        )
    return given


@final
class EvidencePythonModel(PythonModel):
    """An explainer as a model for MLflow; make one with :func:`pyfunc`.

    Its table has the column ``prediction``, the label under the name that MLflow uses, and then
    the columns of :func:`shafer.scale.score`, whose ``answer`` is the same label. Groups of sets
    and promises must be a column that the model takes.

    Parameters
    ----------
    explainer : Explainer or fitted EvidentialClassifier, optional
        With a classifier, its guard, its prediction sets and its promises hold. Without
        one, ``load_context`` reads the file that :meth:`log_options` wrote.
    reasons : int
    evidence : bool
    labels_only : bool

    See Also
    --------
    pyfunc : Makes one.
    shafer.scale.score : The same table for a lazy frame.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)), names=["u", "v"])
    >>> model = shafer.export.EvidencePythonModel(explainer, reasons=0)
    >>> import pandas as pd
    >>> model.predict(None, pd.DataFrame({"u": [1.0], "v": [0.0]})).round(3)
       prediction  answer  probability_0  probability_1
    0           1       1          0.182          0.818
    """

    def __init__(
        self,
        explainer: Explainer | EvidentialClassifier | None = None,
        reasons: int = _REASONS,
        evidence: bool = False,
        labels_only: bool = False,
    ) -> None:
        self._model = explainer
        self._reasons = reasons
        self._evidence = evidence
        self._labels_only = labels_only

    @property
    def explainer(self) -> Explainer:
        """The explainer behind this model."""
        return _explainer_of(self._answering)

    @property
    def _answering(self) -> Explainer | EvidentialClassifier:
        """The explainer, or the classifier whose sets, guard and promises hold."""
        if self._model is None:
            raise ValueError(
                "This model has no explainer yet. MLflow loads it in load_context; to make a model "
                "yourself use shafer.export.pyfunc(explainer)."
            )
        return self._model

    @property
    def signature(self) -> ModelSignature:
        """The columns that go in and out, and their types."""
        found = model_signature(self._answering, self._reasons, self._evidence)
        if self._labels_only:
            return ModelSignature(found.inputs, Schema(found.outputs.inputs[:1]))
        return found

    @property
    def input_example(self) -> Any:
        """Two rows of the background; None if the explainer kept none of them."""
        return input_example(self.explainer)

    def log_options(
        self,
        path: str | os.PathLike[str],
        *,
        trusted: Iterable[str] = (),
        source: str | os.PathLike[str] | None = None,
    ) -> dict[str, Any]:
        """Save the explainer, and return what MLflow needs to log or save it without pickle.

        Parameters
        ----------
        path : str or Path
            The file to write, such as ``"model.shafer"``. MLflow copies it.
        trusted : sequence of str
            Full names of classes that :meth:`shafer.Explainer.load` may load besides those known
            to be safe.
        source : str or Path, optional
            What installs shafer where the model is served: a wheel, or a copy of the source. By
            default what it was installed from here, or its version if that was an index.

        Returns
        -------
        dict
            Arguments of ``mlflow.pyfunc.log_model`` and ``mlflow.pyfunc.save_model``.
        """
        self._answering.save(path)
        options: dict[str, Any] = {
            "python_model": str(_CODE),
            "artifacts": {_ARTIFACT: str(Path(path).resolve())},
            "model_config": {
                "reasons": self._reasons,
                "evidence": self._evidence,
                "labels_only": self._labels_only,
                "trusted": list(trusted),
            },
            "signature": self.signature,
            "pip_requirements": _requirements(self.explainer, source),
        }
        example = self.input_example
        return options if example is None else {**options, "input_example": example}

    def load_context(self, context: Any) -> None:
        """Read the explainer from the files of MLflow.

        Parameters
        ----------
        context : PythonModelContext
            From MLflow; it knows the paths of the files.
        """
        if self._model is None:
            settings = context.model_config or {}
            self._reasons = int(settings.get("reasons", _REASONS))
            self._evidence = bool(settings.get("evidence", False))
            self._labels_only = bool(settings.get("labels_only", False))
            path, trusted = context.artifacts[_ARTIFACT], settings.get("trusted", ())
            self._model = load_object(path, trusted=trusted)
            _explainer_of(self._model)  # an error for other objects

    def predict(
        self,
        context: Any,  # noqa: ARG002 - the interface of MLflow
        model_input: pd.DataFrame,
        params: dict[str, Any] | None = None,  # noqa: ARG002 - the same
    ) -> pd.DataFrame | pd.Series[Any]:
        """Return the answers about rows, one row of the table for each; or the labels only.

        Parameters
        ----------
        context : PythonModelContext or None
            Not used.
        model_input : pandas data frame of n rows
            As the model takes them.
        params : dict, optional
            Not used.

        Returns
        -------
        pandas data frame of n rows, or series
        """
        reasons = 0 if self._labels_only else self._reasons
        evidence = self._evidence and not self._labels_only
        table = score_table(self._answering, model_input, reasons, evidence)
        return table[_LABEL] if self._labels_only else table

    def __getstate__(self) -> dict[str, Any]:
        saved = None if self._model is None else saved_bytes(self._model)
        kept = {"explainer": saved, "reasons": self._reasons, "evidence": self._evidence}
        return {**kept, "labels_only": self._labels_only}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved, self._reasons = state["explainer"], state["reasons"]
        self._evidence = state["evidence"]
        self._labels_only = state.get("labels_only", False)
        self._model = None if saved is None else loaded_bytes(saved)


def _requirements(explainer: Explainer, source: Any) -> list[str]:
    """Return what pip installs where the model is served."""
    names = ["mlflow-skinny", "numpy", "pandas", "scikit-learn", "skops"]
    found = [f"{name}=={version(name)}" for name in names + _libraries(explainer)]
    return [_own_requirement(source), *dict.fromkeys(found)]


def _own_requirement(source: Any) -> str:
    """Return shafer as a requirement: where it comes from, as versions may not be published."""
    if source is not None:
        place = Path(source).resolve()
        if not place.exists():
            raise ValueError(f"source must be a wheel or a folder; {str(source)!r} does not exist.")
        return f"shafer @ {place.as_uri()}"
    told = distribution("shafer").read_text("direct_url.json")
    url = json.loads(told).get("url", "") if told else ""
    return f"shafer @ {url}" if url.startswith("file:") else f"shafer=={version('shafer')}"


def _libraries(explainer: Explainer) -> list[str]:
    """Return the packages of the model and its transformers, such as that of a booster."""
    read = explainer.weighed_model.model
    parts = [explainer.model, read.core, *read.encoders]
    for part in list(parts):
        if hasattr(part, "get_params"):
            parts += part.get_params(deep=True).values()
    modules = {base.__module__.partition(".")[0] for part in parts for base in type(part).__mro__}
    if "torch" in modules:
        modules.add("safetensors")
    known = packages_distributions()
    inside = {"builtins", "shafer", "mlflow"}
    names = {name for module in modules - inside for name in known.get(module, ())[:1]}
    return sorted(names)


# The scores of rows as a pandas table, and the names and types of its columns for MLflow.

_TYPES = {"b": DataType.boolean, "i": DataType.long, "u": DataType.long, "f": DataType.double}
_KINDS = {
    "number": DataType.double,
    "text": DataType.string,
    "truth": DataType.boolean,
    "whole": DataType.long,
}
_LABEL = "prediction"
"""The column of labels, as MLflow and Spark name it."""
_TEXT = "text"
"""The column of a model that takes texts."""


def score_table(
    answering: Explainer | EvidentialClassifier, rows: Any, reasons: int, evidence: bool
) -> pd.DataFrame:
    """Return the scores of rows, with their index.

    A text is empty where a row has fewer reasons.
    """
    explainer = _explainer_of(answering)
    frame = isinstance(rows, pd.DataFrame)
    given = rows
    if _takes_texts(explainer) and frame:
        given = rows[_TEXT if _TEXT in rows else rows.columns[0]].tolist()
    # MLflow passes on the columns of the signature only.
    known = explainer.columns or ()
    model, columns = listed_columns(answering, reasons, known, evidence=evidence)
    table = ScoredRows(model, given, rows).table(columns)
    # MLflow turns a missing text into the text "nan" on Spark, so there are none.
    plain = {name: _texts(x) if isinstance(x, list) else x for name, x in table.items()}
    plain = {_LABEL: plain["answer"], **plain}
    return pd.DataFrame(plain, index=rows.index if frame else None)


def _texts(values: list[str | None]) -> list[str]:
    return ["" if value is None else value for value in values]


def _takes_texts(explainer: Explainer) -> bool:
    return first_vectorizer(explainer.weighed_model.model.encoders) is not None


def model_signature(
    answering: Explainer | EvidentialClassifier, reasons: int, evidence: bool
) -> ModelSignature:
    """Return the columns that go in and out, and their types."""
    known = _explainer_of(answering).columns or ()
    columns = listed_columns(answering, reasons, known, evidence=evidence)[1]
    outputs: list[ColSpec | TensorSpec] = [
        ColSpec(_KINDS[column.kind], column.name) for column in columns
    ]
    outputs.insert(0, ColSpec(_KINDS[columns.listed[0].kind], _LABEL))  # that of the answer
    return ModelSignature(inputs=_inputs(_explainer_of(answering)), outputs=Schema(outputs))


def input_example(explainer: Explainer) -> Any:
    """Return two rows of the background, or of those a file keeps; None if there are none."""
    given = explainer.few_rows if explainer.background is None else explainer.background
    if given is None:
        return None
    rows = take_rows(given, list(range(min(2, n_rows(given)))))
    if _takes_texts(explainer):
        return _named(pd.DataFrame({_TEXT: [str(text) for text in rows]}))
    frame = frame_of(rows)
    if frame is None:
        if str(getattr(rows, "dtype", "")) == "torch.bfloat16":  # NumPy does not have it
            rows = rows.float()
        return np.asarray(to_numpy(rows.toarray() if hasattr(rows, "toarray") else rows))
    table = frame.select(list(explainer.weighed_model.columns or frame.columns)).to_pandas()
    kinds = {name: object for name, kind in table.dtypes.items() if str(kind) == "category"}
    return _named(table.astype(kinds))  # MLflow has no type for categories


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose names are Python objects: MLflow compares them with numbers."""
    return table.set_axis(pd.Index(list(table.columns), dtype=object), axis=1)


def _inputs(explainer: Explainer) -> Schema:
    if _takes_texts(explainer):
        return Schema([ColSpec(DataType.string, _TEXT)])
    columns, rows = explainer.weighed_model.columns, input_example(explainer)
    schema = explainer.weighed_model.schema
    if columns is None:
        width = explainer.weighed_model.means.shape[0] if rows is None else rows.shape[1]
        return Schema([TensorSpec(np.dtype(np.float64), (-1, int(width)))])
    if rows is None or not hasattr(rows, "dtypes"):  # the model's names, and rows without
        assert schema is not None  # columns have names
        kinds = [_signature_kind(column) for column in schema.columns]
    else:
        kinds = [getattr(kind, "kind", "O") for kind in rows.dtypes]
    types = [_TYPES.get(kind, DataType.string) for kind in kinds]
    return Schema([ColSpec(kind, name) for kind, name in zip(types, columns, strict=True)])


def _signature_kind(column: ColumnSchema) -> str:
    """Return the letter of the NumPy type of a column of the background."""
    if column.holds_texts or column.kind == "written":
        return "O"
    letters = {"whole": "i", "truth": "b", "category": "O", "values": "O"}
    return letters.get(column.kind, "f")
