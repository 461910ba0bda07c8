"""One trained estimator as a source of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.utils import _safe_indexing, assert_all_finite
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import is_one_label
from shafer._text import listed
from shafer._typing import Array, BoolArray, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.estimators.fitting import Split, fit_weights, gives_evidence, innermost, own_evidence
from shafer.estimators.neighbour_evidence import NeighbourEvidence
from shafer.evidence.discounted_evidence import DiscountedEvidence
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.explain.explainer import Explainer
from shafer.fusion.combine import without_prior
from shafer.rows.access import n_rows
from shafer.rows.checks import gaps_in


@final
@dataclass(frozen=True, eq=False)
class FittedSource:
    """A trained estimator, and how its evidence is computed.

    Attributes
    ----------
    estimator : fitted estimator
    explainer : Explainer or None
        None if the estimator computes its own evidence, or if only its probabilities are known.
    prior : array of shape (K,) or None
        The class prior in its logits; None if there is none.
    floor : float
        The smallest probability that is used, for an estimator of which only the probabilities
        are known. A probability of zero would be infinite evidence.
    component_names : tuple of strings
    """

    estimator: Any
    explainer: Explainer | None
    prior: FloatArray | None
    floor: float
    component_names: tuple[str, ...]

    def evidence(self, view: Any, *, whole: bool = False, with_prior: bool = True) -> MassEvidence:
        """Return the evidence of each row, as one component if ``whole``."""
        evidence, reliability = weighed(self._own(view))
        if whole and evidence.n_components > 1:
            evidence = evidence.grouped("one")
        if not with_prior and self.prior is not None:
            evidence = without_prior(evidence, self.prior)
        return evidence if reliability is None else evidence.discounted(reliability)

    def no_evidence(self, n: int, *, whole: bool = False) -> Evidence:
        """Return vacuous evidence for n rows where the inputs of this source are missing."""
        names = self.component_names
        names = ("all",) if whole and len(names) > 1 else names
        classes = self.estimator.classes_
        return Evidence.from_weights(
            np.zeros((n, len(names), len(classes))), classes=classes, names=names
        )

    def _own(self, view: Any) -> MassEvidence:
        if self.explainer is not None:
            return self.explainer(view)
        if gives_evidence(self.estimator):
            return own_evidence(self.estimator, view)
        return _log_probabilities(self.estimator, view, self.floor)


def check_labels(name: str, source: FittedSource, classes: NDArray[Any]) -> None:
    """Refuse a frozen source whose labels are not those of y."""
    known = classes.tolist()
    own = np.asarray(source.estimator.classes_).tolist()
    if not set(own).isdisjoint(known):
        return
    raise ValueError(
        f"Source {name!r} has the labels {own}, and y has {known}. Classes are matched by label. "
        "Train the models with the same labels. If you cannot, rename the labels of the evidence "
        "and fuse that: shafer.Explainer(model, X, classes=[...]), with the new labels in the "
        "order of the model's own, and shafer.combine."
    )


def weighed(ev: MassEvidence) -> tuple[Evidence, Array | None]:
    """Return the evidence before discounting, and its reliability if it is discounted."""
    if isinstance(ev, DiscountedEvidence):
        return ev.evidence, ev.reliability
    if isinstance(ev, Evidence):
        return ev, None
    raise UnsupportedModelError(
        f"A source must give Evidence or DiscountedEvidence; got {type(ev).__name__}, which has no "
        "weights. Combine the sources inside it by 'dempster' or 'cautious', without reliability."
    )


def fit_present(
    estimator: Any,
    view: Any,
    y: NDArray[Any],
    rows: BoolArray,
    *,
    whole: bool,
    weight: FloatArray | None = None,
) -> FittedSource | None:
    """Train on the rows where the source is present; None if they have only one class."""
    there = np.flatnonzero(rows if weight is None else rows & (weight > 0))
    if len(np.unique(y[there])) < 2:
        return None
    part = view if len(there) == len(y) else rows_of_view(view, there)
    own = None if weight is None else weight[there]
    return fit_source(estimator, part, y[there], whole=whole, weight=own)


def fit_source(
    estimator: Any, view: Any, y: NDArray[Any], *, whole: bool, weight: FloatArray | None = None
) -> FittedSource:
    """Train a copy of an estimator, and find out how its evidence is computed."""
    fitted = clone(estimator)
    fitted.fit(view, y, **fit_weights(fitted, weight))
    prior = training_prior(fitted, y, weight)
    floor = 1.0 / (len(y) + len(np.unique(y)))
    explainer = _explainer(fitted, view, whole, weight)
    if explainer is not None:
        names = explainer.component_names
    elif gives_evidence(fitted):
        names = weighed(own_evidence(fitted, rows_of_view(view, [0])))[0].component_names
    else:
        names = ("output",)
    return FittedSource(fitted, explainer, prior, floor, names)


def _explainer(fitted: Any, view: Any, whole: bool, weight: FloatArray | None) -> Explainer | None:
    if gives_evidence(fitted):
        return None
    try:
        return Explainer(fitted, view, "one" if whole else "source", sample_weight=weight)
    except UnsupportedModelError:
        if not hasattr(fitted, "predict_proba"):
            raise
        return None


def _log_probabilities(estimator: Any, view: Any, floor: float) -> Evidence:
    """Return the logarithms of an estimator's probabilities as one component."""
    logs = np.log(np.clip(np.asarray(estimator.predict_proba(view)), floor, None))
    weights = logs - logs.mean(axis=1, keepdims=True)
    return Evidence.from_weights(weights[:, None, :], classes=estimator.classes_, names=["output"])


# Learning a factor for each source, from its evidence on held-out rows.

_PULL = 1.0  # as much as a few rows
_LARGEST = 10.0
_MOST_SOURCES = 6  # 63 sets of sources that may be present
_ENOUGH_ROWS = 30  # for each source


@final
@dataclass(frozen=True, eq=False)
class SourceFactors:
    """The factors on the weights of S sources, for each set of sources that may be present.

    Attributes
    ----------
    present : boolean array of shape (P, S)
        The sets; the first one has all sources.
    factors : array of shape (P, S)
        Their factors, 0 for sources that are not in the set.
    """

    present: BoolArray
    factors: FloatArray

    @classmethod
    def fixed(cls, factors: FloatArray) -> SourceFactors:
        """Use the same factors, whichever sources are present."""
        return cls(np.ones((1, len(factors)), dtype=bool), factors[None])

    @property
    def all_present(self) -> FloatArray:
        """The factors of rows where all sources are present, (S,)."""
        return np.asarray(self.factors[0])

    def for_rows(self, present: BoolArray) -> FloatArray:
        """Return the factors of each row, (n, S), given the sources that are present in it."""
        known = {row.tobytes(): number for number, row in enumerate(self.present)}
        patterns, where = np.unique(present, axis=0, return_inverse=True)
        number = [known.get(pattern.tobytes(), 0) for pattern in patterns]
        return np.asarray((self.factors[number] * patterns)[where.reshape(-1)])


def out_of_fold(
    entries: Sequence[tuple[str, Any, Any]],
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    splits: Sequence[Split],
    *,
    whole: bool,
    with_prior: bool,
    absent_if: str = "all",
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the pooled weights of held-out rows, for and against, (S, n, K) each.

    Parameters
    ----------
    entries : sequence of (name, estimator, columns)
    X, y : the training data
    classes : array of shape (K,)
        The sorted labels.
    splits : sequence of (training rows, held-out rows)
    whole : bool
        Whether each source is one component.
    with_prior : bool
        Whether the class prior stays in the logits.
    absent_if : {"all", "any"}
        Whether a source is absent from a row if all of its inputs are NaN, or if any is.
    weight : array of shape (n,), optional
        Sample weights.
    """
    shape = (len(entries), len(y), len(classes))
    weights_for, weights_against = np.zeros(shape), np.zeros(shape)
    for train, held_out in splits:
        for s, (name, estimator, columns) in enumerate(entries):
            view = view_of(X, name, columns)
            present = present_rows(view, len(y), absent_if=absent_if)
            training, asked = (np.isin(np.arange(len(y)), rows) for rows in (train, held_out))
            fitted = fit_present(estimator, view, y, present & training, whole=whole, weight=weight)
            there = np.flatnonzero(present & asked)
            if fitted is None or not len(there):
                continue
            own = fitted.evidence(rows_of_view(view, there), whole=whole, with_prior=with_prior)
            evidence, _ = weighed(own)
            at = np.ix_(there, np.searchsorted(classes, evidence.classes))
            weights_for[s][at] = to_numpy(evidence.weights_for)
            weights_against[s][at] = to_numpy(evidence.weights_against)
    return weights_for, weights_against


def learn_by_presence(
    weights_for: FloatArray,
    weights_against: FloatArray,
    start: FloatArray,
    truth: NDArray[np.intp],
    *,
    cautious: bool,
    present: BoolArray | None = None,
    weight: FloatArray | None = None,
) -> SourceFactors:
    """Learn the factors for each set of sources that may be present.

    The right factor depends on the other sources: of two that agree, each counts half, but one
    alone counts in full. So each set is learnt from the rows where all of its sources are
    ``present``, (n, S), if there are enough of them. With more than six sources only the set of
    all sources is learnt, from all rows.
    """
    n_sources = len(weights_for)
    everyone = (True,) * n_sources
    sets = product((True, False), repeat=n_sources) if n_sources <= _MOST_SOURCES else [everyone]
    listed = np.array(list(sets), dtype=bool)
    factors = np.zeros(listed.shape)
    for number, there in enumerate(listed):
        if not there.any():
            continue
        rows = _rows_to_learn_from(there, present)
        factors[number, there] = learn_factors(
            weights_for[there][:, rows],
            weights_against[there][:, rows],
            start,
            truth[rows],
            cautious=cautious,
            weight=None if weight is None else weight[rows],
        )
    return SourceFactors(listed, factors)


def _rows_to_learn_from(there: BoolArray, present: BoolArray | None) -> NDArray[np.intp] | slice:
    """Return the rows where a set of sources is present; all rows if there are few of them."""
    if present is None or len(there) > _MOST_SOURCES:
        return slice(None)
    rows = np.flatnonzero(present[:, there].all(axis=1))
    return rows if len(rows) >= _ENOUGH_ROWS * there.sum() else slice(None)


def learn_factors(
    weights_for: FloatArray,
    weights_against: FloatArray,
    start: FloatArray,
    truth: NDArray[np.intp],
    *,
    cautious: bool,
    weight: FloatArray | None = None,
) -> NDArray[np.float64]:
    """Return one factor ≥ 0 for each source.

    Parameters
    ----------
    weights_for, weights_against : arrays of shape (S, n, K)
        Pooled weights of each source; zeros where it is missing.
    start : array of shape (K,)
        The logits without any source: the class prior.
    truth : array of shape (n,)
        Positions of the true classes.
    cautious : bool
        Whether the sources are combined by the cautious rule, rather than Dempster's.
    weight : array of shape (n,), optional
        Of the rows; 1 for each by default.
    """
    n_sources, n, n_classes = weights_for.shape
    hot = np.eye(n_classes)[truth]
    count = np.ones((n, 1)) if weight is None else weight[:, None]
    total = max(1.0, float(count.sum()))
    if cautious and n_classes == 2:  # against the one is for the other
        weights_for = weights_for + weights_against[:, :, ::-1]
        weights_against = np.zeros_like(weights_for)
    sides = (weights_for, weights_against)

    def loss(factors: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits, slopes = _combined(factors, sides, cautious)
        logs = log_softmax(start + logits, axis=1)
        residual = count * (np.exp(logs) - hot)
        pull = factors - 1.0 / n_sources
        value = -np.sum(count * logs * hot) + _PULL * np.sum(pull**2)
        gradient = np.einsum("snk,nk->s", slopes, residual) + 2.0 * _PULL * pull
        return float(value / total), gradient / total

    first = np.full(n_sources, 1.0 / n_sources)
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=[(0.0, _LARGEST)] * n_sources)
    factors: NDArray[np.float64] = np.asarray(found.x, dtype=np.float64)
    return factors


def _combined(
    factors: NDArray[np.float64], sides: tuple[FloatArray, FloatArray], cautious: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the logits (n, K) and their slopes in each factor (S, n, K)."""
    if not cautious:
        slopes = sides[0] - sides[1]
        return np.tensordot(factors, slopes, axes=1), slopes
    logits, slopes = np.zeros(sides[0].shape[1:]), np.zeros_like(sides[0])
    for sign, side in ((1.0, sides[0]), (-1.0, sides[1])):
        scaled = factors[:, None, None] * side
        winner = scaled.argmax(axis=0)[None]
        logits = logits + sign * np.take_along_axis(scaled, winner, axis=0)[0]
        own = np.take_along_axis(side, winner, axis=0)
        won = np.arange(len(factors))[:, None, None] == winner
        slopes = slopes + sign * np.where(won, own, 0.0)
    return logits, slopes


# The part of X that each source uses, and the rows where it is missing.


def checked_rows(
    estimator: Any, X: Any, names: Sequence[str], y: Any = None
) -> tuple[Any, NDArray[Any] | None]:
    """Check X, and y in training, except for what the sources check themselves.

    The sources check NaN. Of a data frame only the column names are checked here.
    """
    labels = None if y is None else column_or_1d(y, warn=True)
    if labels is not None:
        assert_all_finite(labels, input_name="y")
    if _has_views(X):
        _check_views(X, names, labels)
    elif frame_columns(X) is not None:
        validate_data(estimator, X, reset=y is not None, skip_check_array=True)
    else:
        X = validate_data(
            estimator,
            X,
            reset=y is not None,
            accept_sparse="csr",
            ensure_all_finite="allow-nan",
            ensure_min_samples=1 if y is None else 2,
        )
    if labels is not None and not _has_views(X):
        check_consistent_length(X, labels)
    return X, labels


def _check_views(X: Mapping[str, Any], names: Sequence[str], labels: NDArray[Any] | None) -> None:
    unknown = [name for name in X if name not in names]
    if unknown:
        raise ValueError(
            f"X has inputs for unknown sources {unknown}; the sources are {list(names)}."
        )
    n = number_of_rows(X)
    if labels is not None and len(labels) != n:
        raise ValueError(f"y must have one label for each of the {n} rows of X; got {len(labels)}.")


def view_of(X: Any, name: str, columns: Any) -> Any:
    """Return a source's part of X: its columns, or the entry of its name; None if it is missing."""
    view = X.get(name) if _has_views(X) else X
    if view is None or columns is None:
        return view
    _check_columns(view, name, columns)
    return _safe_indexing(view, columns, axis=1)


def _check_columns(view: Any, name: str, columns: Any) -> None:
    """Raise an error for columns that X does not have; slices may go beyond its end."""
    if isinstance(columns, slice):
        return
    wanted = [columns] if is_one_label(columns) else list(columns)
    known = frame_columns(view)
    shape: tuple[int, ...] = getattr(view, "shape", ())
    if all(isinstance(column, str) for column in wanted):
        unknown = [column for column in wanted if known is None or column not in known]
        there = "no column names" if known is None else f"the columns {listed(known)}"
    elif len(shape) < 2 or any(isinstance(column, bool | np.bool_) for column in wanted):
        return
    else:
        unknown = [j for j in wanted if not -shape[1] <= j < shape[1]]
        there = f"{shape[1]} columns"
    if unknown:
        raise ValueError(
            f"Source {name!r} uses the columns {listed(unknown)}, but X has {there}. Change the "
            "columns of this source, or give X with these columns."
        )


def _has_views(X: Any) -> bool:
    return isinstance(X, Mapping) and not sparse.issparse(X)  # dok_matrix is a mapping, too


def number_of_rows(X: Any) -> int:
    """Return the number of rows of X, or of its views."""
    if _has_views(X):
        there = [view for view in X.values() if view is not None]
        if not there:
            raise ValueError(
                "X must hold the input of at least one source; got None for every source."
            )
        counts = {n_rows(view) for view in there}
        if len(counts) > 1:
            raise ValueError(
                f"All inputs in X must have the same number of rows; got {sorted(counts)}."
            )
        return counts.pop()
    return n_rows(X)


def present_rows(view: Any, n: int, *, absent_if: str = "all") -> BoolArray:
    """Return in which of n rows a source is present, boolean (n,).

    A source is absent if "all" of its inputs are missing, or if "any" is. Missing means NaN, or
    None in columns of objects.
    """
    if view is None:
        return np.zeros(n, dtype=bool)
    if sparse.issparse(view):
        return np.ones(n, dtype=bool)
    absent = _absent(view).reshape(n, -1)
    if absent.shape[1] == 0:
        return np.ones(n, dtype=bool)
    return np.logical_not(absent.any(axis=1) if absent_if == "any" else absent.all(axis=1))


def _absent(view: Any) -> BoolArray:
    """Return which entries are missing, in the shape of the view."""
    native = nw.from_native(view, pass_through=True, eager_only=True, allow_series=True)
    if isinstance(native, nw.Series):
        native = native.alias("input").to_frame()
    if isinstance(native, nw.DataFrame):
        return gaps_in(native.to_native())
    array = view if hasattr(view, "shape") else _entries(view)
    values = to_numpy(array)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    flat = [v is None or (isinstance(v, Real) and v != v) for v in values.ravel().tolist()]
    return np.array(flat, dtype=bool).reshape(values.shape)


def _entries(view: Any) -> NDArray[Any]:
    """Return a list of rows, or of single inputs such as texts, as an array of objects."""
    rows = list(view)
    try:
        return np.array(rows, dtype=object)
    except ValueError:  # rows of different lengths: each is one input
        entries = np.empty(len(rows), dtype=object)
        entries[:] = rows
        return entries


def rows_of_view(view: Any, rows: Any) -> Any:
    """Take rows of a view by position."""
    return _safe_indexing(view, rows)


# The class prior that is part of a trained classifier's logits.


def training_prior(fitted: Any, y: NDArray[Any], weight: FloatArray | None) -> FloatArray | None:
    """Return the prior in the logits of a fitted classifier, (K,), or None if there is none.

    Parameters
    ----------
    fitted : fitted estimator
    y : array of shape (n,)
        The labels it was trained on.
    weight : array of shape (n,), optional
        The sample weights it was trained with.
    """
    model = innermost(fitted)
    if isinstance(model, NeighbourEvidence):
        return None
    known = _own_prior(model)
    if known is not None:
        return known
    counts: FloatArray = np.ones(len(y)) if weight is None else weight
    classes = model.get_params(deep=False).get("class_weight") if _has_parameters(model) else None
    if classes is not None:
        named = "balanced" if classes == "balanced_subsample" else classes
        counts = counts * compute_sample_weight(named, y)
    _, codes = np.unique(y, return_inverse=True)
    totals = np.bincount(codes, weights=counts)
    return np.asarray(totals / totals.sum())


def _own_prior(model: Any) -> FloatArray | None:
    """Return the prior that a model keeps as an attribute: naive Bayes, discriminant analysis."""
    for name in ("class_prior_", "priors_"):
        if hasattr(model, name):
            prior: FloatArray = np.asarray(getattr(model, name), dtype=np.float64)
            break
    else:
        if not hasattr(model, "class_log_prior_"):
            return None
        prior = np.exp(np.asarray(model.class_log_prior_, dtype=np.float64))
    return prior if prior.ndim == 1 and (prior > 0).all() else None


def _has_parameters(model: Any) -> bool:
    return callable(getattr(model, "get_params", None))


def class_frequencies(
    classes: NDArray[Any], codes: NDArray[np.intp], weight: FloatArray | None
) -> FloatArray:
    """Return the (weighted) share of each class among rows with positions ``codes``, (K,)."""
    counts = np.bincount(codes, weights=weight)
    if len(counts) < 2:
        raise ValueError(f"Evidence needs at least two classes; y has one class, {classes[0]}.")
    if not (counts > 0).all():
        empty = classes[counts == 0].tolist()
        raise ValueError(
            f"sample_weight is zero for all rows of the classes {empty}. Give them a positive "
            "weight, or remove these rows."
        )
    return np.asarray(counts / counts.sum())
