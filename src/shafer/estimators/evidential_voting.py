"""``EvidentialVotingClassifier``: combines the evidence of several classifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from shafer._checks.arrays import float_array, row_weights, to_numpy
from shafer._checks.frames import in_row_order
from shafer._checks.labels import log_prior
from shafer._typing import BoolArray, FloatArray
from shafer.conformal.split import ConformalSets
from shafer.decision.policy import Policy, read_answer_rule
from shafer.deferral.control import DeferralControl, deferral_state, restored_deferral
from shafer.estimators.fitting import read_splits
from shafer.estimators.sources import (
    FittedSource,
    SourceFactors,
    check_labels,
    checked_rows,
    class_frequencies,
    fit_present,
    learn_by_presence,
    number_of_rows,
    out_of_fold,
    present_rows,
    rows_of_view,
    view_of,
)
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.explain.predictor import Predictor
from shafer.explain.promises import Promises
from shafer.explain.row_pass import CombinedPass, RowPass
from shafer.fusion.combine import combined, prior_evidence
from shafer.fusion.finite_evidence import COMBINATIONS, FiniteEvidence, check_frame
from shafer.fusion.sources import checked_sources
from shafer.rows.access import with_row_labels


class EvidentialVotingClassifier(Predictor, ClassifierMixin, _BaseComposition):
    """Trains several classifiers, and combines their evidence instead of averaging probabilities.

    A source whose inputs are missing (NaN) in a row contributes nothing in that row, in training
    and in prediction: no imputation, no second model.

    Parameters
    ----------
    estimators : list of (name, estimator) or (name, estimator, columns)
        Any scikit-learn classifiers: those that :class:`Explainer` reads, those with evidence of
        their own (:class:`NeighbourEvidence`, :class:`EvidentialClassifier`), and any other with
        ``predict_proba``, whose log probabilities are then one component. ``columns`` are names,
        positions, a slice or a mask: the part of X that the source uses; all by default. X may
        also be a mapping from source name to that source's own input, or to None where it is
        missing.
    combination : str
        As in :func:`combine`: ``"dempster"`` for sources with independent inputs, ``"cautious"``
        for sources that may share information.
    tempering : "cv", numbers or None
        Factors on the weights of each source: learnt by the log loss of the combination in
        cross-validation, for every set of sources that may be present (of up to six); or given,
        in order or by name; or 1 for all.
    reliability : numbers in [0, 1], optional
        The chance that each source is reliable (discounting), in order or by name, as in
        :func:`combine`.
    prior : {"once", "each"}
        The logits of every classifier contain the class prior. ``"once"`` removes it from each
        source and adds it once, as Bayes' rule does for independent sources; ``"each"`` leaves
        it. Combinations that do not add weights always leave it.
    granularity : {"sources", "components"}
        Each source is one component, best for deciding; or every component of every source
        stays, best for explaining.
    absent_if : {"all", "any"}
        A source is absent from a row if all of its inputs are NaN (the estimator then has to
        accept single NaN), or if any of them is.
    cv : int, splitter or iterable of splits
        Folds for ``tempering="cv"``: the number of stratified and shuffled folds, or splits as
        scikit-learn takes them.
    random_state : int, optional
        Seed of the shuffling, if ``cv`` is a number.
    threshold : float or {class: float}, optional
        From which probability on the answer is the second of two classes, or the class that is
        named, as in :class:`Explainer`.
    loss : array of shape (K, K), mapping or data frame, optional
        Instead of a threshold: what each answer (row) costs under each true class (column), as in
        :class:`Explainer`.

    Attributes
    ----------
    classes_ : array of shape (K,)
    sources_ : dict from name to trained source
        ``sources_[name].estimator`` is the trained estimator.
    tempering_ : array of shape (S,)
        The factors in rows where all sources are present.
    reliability_ : array of shape (S,)
        The reliability of each source, 1 by default.
    prior_ : array of shape (K,)
        The class frequencies of the training data.

    See Also
    --------
    shafer.combine : Combines evidence that exists already.
    shafer.EvidentialClassifier : One classifier.
    shafer.NeighbourEvidence : A source for rows unlike the training data.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> heart = shafer.datasets.load_heart()
    >>> clf = shafer.EvidentialVotingClassifier(
    ...     [("blood", LogisticRegression(), [1, 2, 3]), ("life", GaussianNB(), [0, 5, 7, 8])],
    ...     tempering=None,
    ... ).fit(heart.data, heart.target)
    >>> X = heart.data[:2].copy()
    >>> X[1, [1, 2, 3]] = float("nan")  # no blood test
    >>> clf.evidence(X).weights[1, 0]
    array([0., 0.])
    >>> clf.evidence(X).component_names
    ('blood', 'life', 'base rate')
    """

    def __init__(
        self,
        estimators: Any,
        combination: str = "dempster",
        tempering: Any = "cv",
        reliability: Any = None,
        prior: str = "once",
        granularity: str = "sources",
        absent_if: str = "all",
        cv: Any = 5,
        random_state: int | None = 0,
        threshold: float | dict[Any, float] | None = None,
        loss: Any = None,
    ) -> None:
        self.estimators = estimators
        self.combination = combination
        self.tempering = tempering
        self.reliability = reliability
        self.prior = prior
        self.granularity = granularity
        self.absent_if = absent_if
        self.cv = cv
        self.random_state = random_state
        self.threshold = threshold
        self.loss = loss

    # -- parameters of the estimators, as ``name__parameter`` ------------------------------------

    @property
    def _named(self) -> Any:
        try:
            return [(entry[0], entry[1]) for entry in self.estimators]
        except (TypeError, IndexError):  # fit raises an error that explains it
            return self.estimators

    @_named.setter
    def _named(self, pairs: list[tuple[str, Any]]) -> None:
        rests = [entry[2:] for entry in self.estimators]
        self.estimators = [(*pair, *rest) for pair, rest in zip(pairs, rests, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the estimators, by their names.

        Parameters
        ----------
        deep : bool
            Whether to return the parameters of the estimators as well.

        Returns
        -------
        dict from name to value
        """
        params: dict[str, Any] = self._get_params("_named", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of estimators are ``name__parameter``.

        Parameters
        ----------
        **params
            New values, by name.

        Returns
        -------
        the object itself
        """
        self._set_params("_named", **params)
        return self

    # -- training -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train every source on the rows where it is present, and learn the factors.

        Sample weights are used in the sources, the prior, and the log loss of the factors.

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
            The training rows.
        y : array of shape (n,)
            Their classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        EvidentialVotingClassifier
            The object itself.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y, sample_weight = in_row_order(y, X), in_row_order(sample_weight, X, "sample_weight")
        entries = read_entries(self.estimators)
        check_choices(self.combination, self.prior, self.granularity, self.absent_if)
        names = [name for name, _, _ in entries]
        # Wrong numbers are an error before any training.
        factors = given_tempering(self.tempering, names, self.combination)
        reliability = given_reliability(self.reliability, names)
        X, y = checked_rows(self, X, names, y)
        weight = row_weights(sample_weight, len(y))
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        read_answer_rule(self.threshold, self.loss, self.classes_)  # an error before any training
        self.prior_ = class_frequencies(self.classes_, codes, weight)
        self.sources_ = {entry[0]: self._trained(entry, X, y, weight) for entry in entries}
        self.source_factors_ = (
            self._learnt(X, y, codes, weight) if factors is None else SourceFactors.fixed(factors)
        )
        self.tempering_ = self.source_factors_.all_present
        self.reliability_ = reliability
        self._promises = Promises()
        return self

    def _trained(
        self, entry: Entry, X: Any, y: NDArray[Any], weight: FloatArray | None
    ) -> FittedSource:
        name, estimator, columns = entry
        view = view_of(X, name, columns)
        present = present_rows(view, len(y), absent_if=self.absent_if)
        fitted = fit_present(estimator, view, y, present, whole=self._whole, weight=weight)
        if fitted is None:
            raise ValueError(
                f"Source {name!r} cannot be trained: the rows where it is present have fewer than "
                "two classes. Remove the source, or give more rows."
            )
        check_labels(name, fitted, self.classes_)
        return fitted

    @property
    def _whole(self) -> bool:
        """Whether each source is one component."""
        return self.granularity == "sources"

    @property
    def _apart(self) -> bool:
        """Whether the prior is a source of its own."""
        return self.prior == "once" and self.combination in ("dempster", "yager")

    def _learnt(
        self, X: Any, y: NDArray[Any], codes: NDArray[np.intp], weight: FloatArray | None
    ) -> SourceFactors:
        """Learn the factors from the evidence of held-out rows."""
        splits = read_splits(
            self.cv, y, "tempering='cv'", "set tempering to None or numbers", self.random_state
        )
        labels, entries = self.classes_.tolist(), read_entries(self.estimators)
        pooled = out_of_fold(
            entries,
            X,
            y,
            self.classes_,
            splits,
            # Dempster's rule needs the logits only, which the granularity does not change.
            whole=self._whole or self.combination == "dempster",
            with_prior=not self._apart,
            absent_if=self.absent_if,
            weight=weight,
        )
        start = log_prior(self.prior_, labels) if self._apart else np.zeros(len(labels))
        held_out = np.isin(np.arange(len(y)), np.concatenate([rows for _, rows in splits]))
        views = [view_of(X, name, columns) for name, _, columns in entries]
        present = self._present(views, len(y)) & held_out[:, None]
        return learn_by_presence(
            *pooled,
            start,
            codes,
            cautious=self.combination == "cautious",
            present=present,
            weight=weight,
        )

    def _present(self, views: list[Any], n: int) -> BoolArray:
        """Return which sources are present in each row, (n, S)."""
        return np.stack([present_rows(v, n, absent_if=self.absent_if) for v in views], axis=1)

    # -- prediction -----------------------------------------------------------------------------

    def evidence(self, X: Any) -> MassEvidence:
        """Return the combined evidence of each row; its type depends on the combination.

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
            The rows.

        Returns
        -------
        MassEvidence
        """
        check_is_fitted(self)
        entries = read_entries(self.estimators)
        X, _ = checked_rows(self, X, [name for name, _, _ in entries])
        n = number_of_rows(X)
        views = [view_of(X, name, columns) for name, _, columns in entries]
        present = self._present(views, n)
        tempering = self.source_factors_.for_rows(present)
        reliability = np.broadcast_to(self.reliability_, present.shape)
        evidences: dict[str, Any] = {
            name: self._source_evidence(self.sources_[name], views[s], present[:, s])
            for s, (name, _, _) in enumerate(entries)
        }
        if self._apart:
            evidences[BASE_RATE] = prior_evidence(self.prior_, classes=self.classes_, n=n)
            tempering = np.column_stack([tempering, np.ones(n)])
            reliability = np.column_stack([reliability, np.ones(n)])
        if self.combination not in CHANGED_BY_VACUOUS_SOURCES:
            present = np.ones_like(tempering, dtype=bool)
        combined = combine_present(
            evidences,
            self.combination,
            present,
            tempering,
            reliability,
            self.classes_,
            self.granularity,
        )
        if isinstance(combined, Evidence):
            combined = replace(combined, cutoff=self.policy.cutoff)
        return with_row_labels(combined, X)

    def _source_evidence(self, source: FittedSource, view: Any, present: BoolArray) -> Any:
        """Return the evidence of a source in all rows; where it is absent, its factor is 0."""
        rows = np.flatnonzero(present)
        if not len(rows):
            return source.no_evidence(len(present), whole=self._whole)
        view = view if len(rows) == len(present) else rows_of_view(view, rows)
        own = source.evidence(view, whole=self._whole, with_prior=not self._apart)
        # An absent row gets the evidence of another row, which the factor 0 removes.
        return own if len(rows) == len(present) else own[np.maximum(np.cumsum(present) - 1, 0)]

    def observe(self, X: Any, *, errors: bool = False) -> RowPass:
        """Pass rows through every source once.

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
            The rows.
        errors : bool
            Not used: a combination has no error bars.

        Returns
        -------
        RowPass
        """
        del errors
        return CombinedPass(self.evidence(X))

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels, in the order of every array about classes."""
        check_is_fitted(self)
        return np.asarray(self.classes_)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns of the training data; None if it was not a frame."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(str(name) for name in names)

    @property
    def promises(self) -> Promises:
        """What was promised on held-out rows: prediction sets and deferral."""
        check_is_fitted(self)
        return self._promises

    @property
    def conformal_(self) -> ConformalSets | None:
        """The calibration of the sets; None before :meth:`conformalize`."""
        return self.promises.conformal

    @property
    def deferral_(self) -> DeferralControl | None:
        """The thresholds of :meth:`predict_or_defer`; None before :meth:`control_error`."""
        return self.promises.deferral

    @property
    def policy(self) -> Policy:
        """How evidence becomes a decision: costs are bets if the sources are tempered."""
        rule = read_answer_rule(self.threshold, self.loss, self.classes)
        return Policy(calibrated=self.tempering is not None, cutoff=rule)

    # -- files ----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "_promises" not in state:
            return state
        kept = state["_promises"]
        state = {name: value for name, value in state.items() if name != "_promises"}
        return {
            **state,
            "conformal_": kept.conformal,
            "deferral_state_": deferral_state(kept.deferral),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {"threshold": None, "loss": None, **state}  # earlier files have none
        sets, deferral = state.pop("conformal_", None), state.pop("deferral_state_", None)
        super().__setstate__(state)
        if "classes_" not in state:
            return
        kept = None if deferral is None else restored_deferral(deferral, len(self.classes_))
        self._promises = Promises(sets, deferral=kept)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = [get_tags(estimator) for _, estimator in self._named]
        # Rows where all inputs of a source are NaN are accepted in any case.
        able = all(tag.input_tags.allow_nan for tag in inner)
        tags.input_tags.allow_nan = able or self.absent_if == "any"
        tags.input_tags.sparse = all(tag.input_tags.sparse for tag in inner)
        return tags


# The options of sources, choices, and numbers for each source.

Entry: TypeAlias = tuple[str, Any, Any]
_LEARNT_FOR = ("dempster", "cautious")


def read_entries(estimators: Any) -> list[Entry]:
    """Return (name, estimator, columns) of each source, after checking them."""
    message = (
        "estimators must be a list of (name, estimator) or (name, estimator, columns); got "
        f"{estimators!r}."
    )
    if not isinstance(estimators, list | tuple) or not estimators:
        raise ValueError(message)
    entries: list[Entry] = []
    for entry in estimators:
        if not isinstance(entry, list | tuple) or len(entry) not in (2, 3):
            raise ValueError(message)
        entries.append((entry[0], entry[1], entry[2] if len(entry) == 3 else None))
    _check_names([name for name, _, _ in entries])
    for name, estimator, _ in entries:
        if not hasattr(estimator, "fit"):
            raise ValueError(
                f"The estimator of {name!r} must be a classifier; got {estimator!r}. To drop a "
                "source, remove it from the list."
            )
    return entries


def _check_names(names: list[Any]) -> None:
    if BASE_RATE in names:
        raise ValueError(
            f"An estimator must not be called {BASE_RATE!r}: the class frequencies have that name. "
            "Rename the estimator."
        )
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"Names of estimators must be distinct; given more than once: {twice}.")
    odd = [name for name in names if not isinstance(name, str) or "__" in name]
    if odd:
        raise ValueError(f"Names of estimators must be strings without '__'; got {odd}.")


def check_choices(combination: str, prior: str, granularity: str, absent_if: str) -> None:
    """Raise an error for a choice that is not known."""
    for name, value, known in (
        ("combination", combination, tuple(COMBINATIONS)),
        ("prior", prior, ("once", "each")),
        ("granularity", granularity, ("sources", "components")),
        ("absent_if", absent_if, ("all", "any")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}.")


def given_tempering(
    tempering: Any, names: Sequence[str], combination: str
) -> NDArray[np.float64] | None:
    """Return the factors that the user gave, or None if they are to be learnt."""
    if isinstance(tempering, str):
        if tempering != "cv" or combination not in _LEARNT_FOR:
            raise ValueError(
                "tempering must be 'cv' (for combination='dempster' or 'cautious'), numbers or "
                f"None; got {tempering!r} with combination={combination!r}."
            )
        return None
    return _one_each(tempering, names, "tempering", np.inf)


def given_reliability(reliability: Any, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the reliability of each source, 1 by default."""
    if isinstance(reliability, str):
        raise ValueError(
            f"reliability must be numbers in [0, 1] or None; got {reliability!r}. To learn a "
            "factor for each source from the data, use tempering='cv'."
        )
    return _one_each(reliability, names, "reliability", 1.0)


def _one_each(given: Any, names: Sequence[str], what: str, most: float) -> NDArray[np.float64]:
    """Return one number for each source, given in order or by name; 1 if it is not given."""
    if given is None:
        return np.ones(len(names))
    values = given
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(
                f"{what} names unknown sources {unknown}; the sources are {list(names)}."
            )
        values = [values.get(name, 1.0) for name in names]
    numbers = to_numpy(float_array(values, what)).astype(np.float64)
    if numbers.shape != (len(names),) or not ((numbers >= 0) & (numbers <= most)).all():
        allowed = "a finite number ≥ 0" if most == np.inf else "a number in [0, 1]"
        raise ValueError(
            f"{what} must hold {allowed} for each of the {len(names)} sources; got {given!r}."
        )
    return numbers


# Rows where some sources are missing, for rules where a vacuous source changes the result.

CHANGED_BY_VACUOUS_SOURCES = ("disjunctive", "bold", "dubois_prade")


def combine_present(
    evidences: Mapping[str, Any],
    combination: str,
    present: BoolArray,
    tempering: FloatArray,
    reliability: FloatArray,
    classes: NDArray[Any],
    granularity: str,
) -> MassEvidence:
    """Combine in each row the sources that are present; without any, the result is vacuous.

    Parameters
    ----------
    evidences : mapping from source name to evidence of n rows
    combination : str
    present, tempering, reliability : arrays of shape (n, S)
    classes, granularity : as for :func:`combine`
    """

    def of_rows(rows: NDArray[np.intp] | slice, there: NDArray[np.intp]) -> MassEvidence:
        names = list(evidences)
        return combined(
            checked_sources({names[s]: evidences[names[s]][rows] for s in there}),
            combination,
            tempering=tempering[rows][:, there],
            reliability=reliability[rows][:, there],
            classes=classes,
            granularity=granularity,
        )

    if present.all():
        return of_rows(slice(None), np.arange(len(evidences)))
    check_frame(len(classes), f"sources combined by {combination!r}")
    table = np.zeros((len(present), 1 << len(classes)))
    table[:, -1] = 1.0
    conflict = np.zeros(len(present))
    patterns, where = np.unique(present, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows, there = np.flatnonzero(where.reshape(-1) == number), np.flatnonzero(pattern)
        if len(there):
            part = of_rows(rows, there)
            table[rows], conflict[rows] = part.masses(), part.conflict
    return FiniteEvidence(table, conflict, classes=classes)
