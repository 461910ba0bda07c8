"""statsmodels' ``Logit``, ``MNLogit`` and ``GLM(family=Binomial())``: a component is a column.

The results of ``fit`` are read. A formula makes the design matrix from the user's data frame; its
columns are joined by the columns of the frame. The constant column belongs to the intercept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_columns
from shafer._text import listed, one_line
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.models.heads import LinearHead
from shafer.models.live_parameters import LiveParameters, check_parameters
from shafer.models.read_model import LinearModel, both_probabilities
from shafer.rows.access import values_of
from shafer.rows.checks import check_table, refuse_nan


def adapt(model: Any, *, columns: tuple[str, ...] | None = None) -> LinearModel:
    """Read the results of a fitted model whose probabilities are logistic or a softmax."""
    results = getattr(model, "_results", model)
    kind = type(results.model).__name__
    _check_logistic(results.model, kind)
    params = np.asarray(results.params, dtype=np.float64)
    check_parameters(kind, (params,))
    if kind == "MNLogit":  # the first class is the reference
        coef = np.concatenate([np.zeros((1, len(params))), params.T])
        classes = _labels(results.model)
    else:
        coef = params[None, :]
        classes = _two_labels(results.model)
    design = _design(results, columns)
    constant = results.model.data.const_idx
    intercept = np.zeros(len(coef)) if constant is None else coef[:, constant] * design.constant
    head = LinearHead(coef[:, list(design.kept)], intercept, classes, list(design.names))
    live = LiveParameters.of(partial(_parameters, results))
    return LinearModel(head, features=np.asarray, live=(live,)).behind(design)


def probabilities(model: Any, X: Any) -> FloatArray:
    """Return the probabilities that statsmodels itself computes, (n, K)."""
    return both_probabilities(model.predict(X))


def _parameters(results: Any) -> tuple[Any, ...]:
    return (np.asarray(results.params),)


def _check_logistic(model: Any, kind: str) -> None:
    logistic = kind in ("Logit", "MNLogit")
    if kind == "GLM":
        family = type(model.family).__name__
        logistic = family == "Binomial" and type(model.family.link).__name__ == "Logit"
    if not logistic:
        raise UnsupportedModelError(
            f"{kind} of statsmodels, as it was trained, has no probabilities that are a logistic "
            "or softmax of a sum. Use Logit, MNLogit, or GLM with family=Binomial() and its "
            "default link."
        )
    given = (getattr(model, name, None) for name in ("offset", "exposure", "_offset_exposure"))
    if any(values is not None and np.any(values) for values in given):
        raise UnsupportedModelError(
            f"{kind} was trained with an offset, which is not a column of the rows. Use the offset "
            "as a column, or pass shafer.LinearHead(coef, intercept)."
        )


def _labels(model: Any) -> list[Any]:
    """Return the classes of ``MNLogit``, which keeps their texts, as they were given."""
    texts = [str(model._ynames_map[k]) for k in range(len(model._ynames_map))]
    given = np.asarray(getattr(model.data, "orig_endog", ()))
    one_column = given.ndim == 1 or given.shape[1:] == (1,)  # otherwise one for each class
    known = np.unique(given).tolist() if one_column else []
    whole = [
        int(label) if isinstance(label, float) and label % 1 == 0 else label for label in known
    ]
    by_text = {str(label): label for label in whole}  # statsmodels writes whole numbers like this
    return [by_text.get(text, text) for text in texts]


def _two_labels(model: Any) -> list[Any]:
    """Return 0 and 1, or the two columns that a GLM counts: its first column is a success."""
    names = model.endog_names
    if isinstance(names, str) or len(names) != 2:
        return [0, 1]
    success, failure = (re.sub(r"^.*\[(.*)\]$", r"\1", str(name)) for name in names)
    return [failure, success]


@final
@dataclass(frozen=True, eq=False)
class DesignColumns:
    """The design matrix of a model without its constant, as a transformer that names its columns.

    Attributes
    ----------
    results : results of statsmodels
    names : tuple of strings
        The columns of the design matrix without the constant.
    kept : tuple of positions
        Their places in the design matrix.
    constant : float
        The value of the constant column.
    sources : tuple of tuples of strings
        The columns of the data that each of them is made of.
    by_formula : bool
        Whether a formula makes the design matrix from a data frame.
    given : tuple of strings
        The columns of the data, used or not; also as ``feature_names_in_``.
    """

    results: Any
    names: tuple[str, ...]
    kept: tuple[int, ...]
    constant: float
    sources: tuple[tuple[str, ...], ...]
    by_formula: bool
    given: tuple[str, ...]
    feature_names_in_: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "feature_names_in_", np.array(self.given, dtype=object))

    def transform(self, X: Any) -> FloatArray:
        """Return the design matrix of rows, without the constant."""
        values = self._by_formula(X) if self.by_formula else self._by_position(X)
        all_names = self.results.model.exog_names
        refuse_nan(values, "statsmodels", all_names)
        constant = [j for j in range(values.shape[1]) if j not in self.kept]
        if not np.all(values[:, constant] == self.constant):
            raise ValueError(
                f"X must have the value {self.constant:g} in the column "
                f"{all_names[constant[0]]!r}, the constant of the model. Add it as in training, "
                "with statsmodels.api.add_constant(X, has_constant='add')."
            )
        return values[:, list(self.kept)]

    def get_feature_names_out(self, input_features: Sequence[Any] | None = None) -> NDArray[Any]:
        """Return the names of the columns; with other names for the data, what they are made of."""
        if input_features is None or tuple(input_features) == tuple(self.given):
            return np.array(self.names, dtype=object)
        called = dict(zip(self.given, input_features, strict=True))
        joined = [":".join(called[name] for name in names) for names in self.sources]
        return np.array(joined, dtype=object)

    def _by_formula(self, X: Any) -> FloatArray:
        needed = list(dict.fromkeys(name for names in self.sources for name in names))
        missing = [name for name in needed if name not in (frame_columns(X) or ())]
        if not hasattr(X, "iloc") or missing:
            raise ValueError(
                "A formula of statsmodels takes a pandas data frame with the columns "
                f"[{listed(needed)}]; got {type(X).__name__}"
                f"{f' without {listed(missing)}' if hasattr(X, 'iloc') else ''}. Pass such a frame."
            )
        try:
            values, _ = self.results._transform_predict_exog(X)
        except Exception as error:  # patsy has errors of its own, such as for a new category
            raise ValueError(
                f"The formula of the model cannot read X: {one_line(error)}. Use values of the "
                "kinds that were used in training."
            ) from error
        return np.asarray(values, dtype=np.float64)

    def _by_position(self, X: Any) -> FloatArray:
        names, given = self.given, frame_columns(X)
        check_table(X, len(names), "the statsmodels model")
        trained = hasattr(self.results.model.data.orig_exog, "columns")
        if trained and given is not None and given != names:
            raise ValueError(
                f"X must have the columns [{listed(names)}], in that order, as statsmodels reads "
                f"them by position; got [{listed(given)}]."
            )
        return np.asarray(values_of(X), dtype=np.float64)


def _design(results: Any, columns: tuple[str, ...] | None) -> DesignColumns:
    model = results.model
    every = [str(name) for name in model.exog_names]
    constant = model.data.const_idx
    kept = tuple(j for j in range(len(every)) if j != constant)
    value = 1.0 if constant is None or model.exog is None else float(model.exog[0, constant])
    names = tuple(every[j] for j in kept)
    by_formula = getattr(model, "formula", None) is not None
    if not by_formula:
        alone = tuple((name,) for name in names)
        return DesignColumns(results, names, kept, value, alone, False, tuple(every))
    known = columns or frame_columns(getattr(model.data, "frame", None)) or ()
    made_of = dict(_terms(model.data, known))
    sources = tuple(made_of[j] for j in kept)
    return DesignColumns(results, names, kept, value, sources, True, known)


def _terms(data: Any, known: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Give each column of the design matrix, and the columns of the data that its term names."""
    spec = getattr(data, "model_spec", None) or data.design_info  # before statsmodels 0.15
    slices = spec.term_slices
    for term, places in slices.items():
        code = term.name() if callable(getattr(term, "name", None)) else str(term)
        words = set(re.findall(r"\w+", code)) | set(re.findall(r"['\"`](.*?)['\"`]", code))
        named = tuple(name for name in known if name in words)
        for j in range(places.start, places.stop):
            yield j, named
