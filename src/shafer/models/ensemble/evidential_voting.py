"""``EvidentialVotingClassifier``: combines the evidence of several classifiers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from shafer._typing import BoolArray, FloatArray
from shafer._validation import log_prior, row_weights, to_numpy
from shafer.decision import PRECISE_RULES, rule_for_costs
from shafer.evidence import MassEvidence
from shafer.fusion import prior_evidence
from shafer.models.deciding.row_decisions import RowDecisions
from shafer.models.ensemble.calibrated_voting import CalibratedVoting
from shafer.models.ensemble.fitted_source import FittedSource, check_labels, fit_present
from shafer.models.ensemble.missing_sources import CHANGED_BY_VACUOUS_SOURCES, combine_present
from shafer.models.ensemble.named_estimators import NamedEstimators
from shafer.models.ensemble.source_factors import SourceFactors, learn_by_presence, out_of_fold
from shafer.models.ensemble.source_views import (
    checked_rows,
    number_of_rows,
    present_rows,
    rows_of_view,
    view_of,
)
from shafer.models.ensemble.training_prior import class_frequencies
from shafer.models.ensemble.voting_options import (
    Entry,
    check_choices,
    given_reliability,
    given_tempering,
    read_entries,
)
from shafer.models.fitting.folds import read_splits
from shafer.models.inputs.row_labels import with_row_labels
from shafer.models.saving.savable import Savable


class EvidentialVotingClassifier(
    RowDecisions, CalibratedVoting, Savable, ClassifierMixin, NamedEstimators
):
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
    conformal_ : ConformalSets or None
        The calibration of the sets, after :meth:`conformalize`.
    deferral_ : DeferralControl or None
        The thresholds of :meth:`predict_or_defer`, after :meth:`control_error`.

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
    ('blood', 'life', 'prior')
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
        self.prior_ = class_frequencies(self.classes_, codes, weight)
        self.sources_ = {entry[0]: self._trained(entry, X, y, weight) for entry in entries}
        self.source_factors_ = (
            self._learnt(X, y, codes, weight) if factors is None else SourceFactors.fixed(factors)
        )
        self.tempering_ = self.source_factors_.all_present
        self.reliability_ = reliability
        self._forget_calibration()
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
            evidences["prior"] = prior_evidence(self.prior_, classes=self.classes_, n=n)
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

    def predict(self, X: Any, rule: str = "plausibility") -> NDArray[Any]:
        """Predict one class for each row.

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
        rule : {"plausibility", "belief", "pignistic", "expected_loss", "hurwicz", "minimax_regret"}
            For costs, use :meth:`decide`.

        Returns
        -------
        array of shape (n,)
            Class labels.
        """
        if rule not in PRECISE_RULES:
            raise ValueError(
                f"predict returns one class, so rule must be one of "
                f"{', '.join(map(repr, PRECISE_RULES))}; got {rule!r}. "
                "Use predict_set for rules that return several classes."
            )
        chosen = to_numpy(self.evidence(X).decide(rule))
        return np.asarray(self.classes_[np.argmax(chosen, axis=1)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes: normalised plausibilities of the combination.

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
            The rows.

        Returns
        -------
        array of shape (n, K)
            Each row sums to 1.
        """
        return np.asarray(to_numpy(self.evidence(X).betting_probability))

    def predict_set(
        self, X: Any, rule: str | None = None, *, groups: Any = None, **options: Any
    ) -> BoolArray:
        """Predict a set of classes for each row, boolean (n, K).

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
        rule : str, optional
            As in :meth:`Evidence.decide`, with its options. By default the calibrated sets after
            :meth:`conformalize`; otherwise ``"interval_dominance"``, but ``"expected_loss"`` if
            costs are given and the sources are tempered.
        groups : array of shape (n,), optional
            The group of each row, if :meth:`conformalize` was given labels.
        **options
            Options of the rule, such as ``loss``, ``reject`` and ``tolerance``.

        Returns
        -------
        boolean array of shape (n, K)
        """
        sets = self._calibrated_sets(X, groups, wanted=rule is None and not options)
        if sets is not None:
            return sets
        if rule is None:
            costs = rule_for_costs(options, calibrated=self.tempering is not None)
            rule = costs or "interval_dominance"
        return np.asarray(to_numpy(self.evidence(X).decide(rule, **options)))

    def _evidence_for(self, X: Any, rule: str) -> MassEvidence:
        del rule  # the discounts of the sources are part of the combination
        return self.evidence(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = [get_tags(estimator) for _, estimator in self._named]
        # Rows where all inputs of a source are NaN are accepted in any case.
        able = all(tag.input_tags.allow_nan for tag in inner)
        tags.input_tags.allow_nan = able or self.absent_if == "any"
        tags.input_tags.sparse = all(tag.input_tags.sparse for tag in inner)
        return tags
