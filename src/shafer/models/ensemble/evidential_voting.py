"""``EvidentialVotingClassifier``: several classifiers, or several views, pooled as evidence."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from shafer._typing import BoolArray, FloatArray
from shafer._validation import row_weights, to_numpy
from shafer.decision import PRECISE_RULES
from shafer.fusion import combine, prior_evidence
from shafer.fusion.class_prior import log_prior
from shafer.fusion.combine_sources import Combined
from shafer.models.ensemble.fitted_source import FittedSource, fit_present
from shafer.models.ensemble.missing_sources import RULES_WITHOUT_SILENCE, combine_present
from shafer.models.ensemble.source_factors import factors_for, learn_by_presence, out_of_fold
from shafer.models.ensemble.source_views import checked_rows, present_rows, rows_of, take, view_of
from shafer.models.ensemble.voting_options import (
    check_choices,
    given_factors,
    read_entries,
    read_folds,
)


class EvidentialVotingClassifier(ClassifierMixin, _BaseComposition):
    """Trains several classifiers, and pools their evidence instead of averaging probabilities.

    A source whose inputs are missing (NaN) for a row contributes nothing for that row, in training
    and in prediction: no imputation, no second model.

    Parameters
    ----------
    estimators : list of (name, estimator) or (name, estimator, columns)
        Any scikit-learn classifiers: those :class:`Explainer` reads, those with evidence of their
        own (:class:`NeighbourEvidence`, :class:`EvidentialClassifier`), and any other with
        ``predict_proba``, whose log probabilities are then one component. ``columns`` are names,
        positions, a slice or a mask: what the source sees of X; all by default. X may also be a
        mapping from source name to that source's own input, or to None where it is missing.
    rule : str
        As in :func:`combine`: ``"dempster"`` for sources that see different things,
        ``"cautious"`` for sources that may share what they know.
    reliability : "cv", numbers or None
        Factors on the weights of each source: learnt by the log loss of the combination in
        cross-validation, for every set of sources that may be there (of up to six); or given, in
        order or by name; or 1 for all.
    prior : {"once", "each"}
        Every classifier's logits hold the class frequencies. ``"once"`` takes them out of each
        source and counts them once, as Bayes' rule asks for independent sources; ``"each"``
        leaves them where they are. The cautious rule and others that do not add weights always
        leave them.
    components : {"sources", "all"}
        What counts as a piece of evidence: each source as a whole, best for deciding, or every
        component of every source, best for explaining.
    missing : {"all", "any"}
        When a source is missing for a row: if all of its inputs are NaN (NaN among others is then
        for the estimator), or if any of them is.
    cv : int, splitter or iterable of splits
        Folds of the cross-validation: how many, stratified and shuffled, or as scikit-learn takes
        them.
    random_state : int, optional
        Of the shuffling of the folds, if their number is given.

    Attributes
    ----------
    classes_ : array of shape (K,)
    sources_ : dict from name to trained source
        ``sources_[name].estimator`` is the trained estimator.
    reliability_ : array of shape (S,)
        The factors in force where all sources are there.
    prior_ : array of shape (K,)
        Class frequencies of the training data.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> heart = shafer.datasets.load_heart()
    >>> clf = shafer.EvidentialVotingClassifier(
    ...     [("blood", LogisticRegression(), [1, 2, 3]), ("life", GaussianNB(), [0, 5, 7, 8])],
    ...     reliability=None,
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
        rule: str = "dempster",
        reliability: Any = "cv",
        prior: str = "once",
        components: str = "sources",
        missing: str = "all",
        cv: Any = 5,
        random_state: int | None = 0,
    ) -> None:
        self.estimators = estimators
        self.rule = rule
        self.reliability = reliability
        self.prior = prior
        self.components = components
        self.missing = missing
        self.cv = cv
        self.random_state = random_state

    # -- the estimators by name, as in ColumnTransformer ----------------------------------------

    @property
    def _named(self) -> Any:
        try:
            return [(entry[0], entry[1]) for entry in self.estimators]
        except (TypeError, IndexError):  # whatever it is, fit will say what is wrong
            return self.estimators

    @_named.setter
    def _named(self, pairs: list[tuple[str, Any]]) -> None:
        rests = [entry[2:] for entry in self.estimators]
        self.estimators = [(*pair, *rest) for pair, rest in zip(pairs, rests, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of the estimators, by their names."""
        params: dict[str, Any] = self._get_params("_named", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of estimators as ``name__parameter``."""
        self._set_params("_named", **params)
        return self

    # -- training -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train every source on the rows where it is present, and learn the reliabilities.

        Weights reach the sources, the prior and the log loss of the reliabilities.
        """
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        entries = read_entries(self.estimators)
        check_choices(self.rule, self.prior, self.components, self.missing)
        names = [name for name, _, _ in entries]
        X, y = checked_rows(self, X, names, y)
        weight = row_weights(sample_weight, len(y))
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        counts = np.bincount(codes, weights=weight)
        if len(counts) < 2:
            raise ValueError(f"Evidence needs at least two classes; y has one class, {y[0]}.")
        if not (counts > 0).all():
            empty = self.classes_[counts == 0].tolist()
            raise ValueError(f"sample_weight is zero for all rows of the classes {empty}.")
        self.prior_ = counts / counts.sum()
        given = given_factors(self.reliability, names, self.rule)  # refused before any training
        whole = self.components == "sources"
        self.sources_: dict[str, FittedSource] = {}
        for name, estimator, columns in entries:
            view = view_of(X, name, columns)
            present = present_rows(view, len(y), missing=self.missing)
            fitted = fit_present(estimator, view, y, present, whole=whole, weight=weight)
            if fitted is None:
                raise ValueError(
                    f"source {name!r} is present in rows of fewer than two classes; it cannot be "
                    "trained."
                )
            self.sources_[name] = fitted
        everyone = (True,) * len(entries)
        self._by_presence = (
            {everyone: given} if given is not None else self._learnt(X, y, codes, weight)
        )
        self.reliability_ = self._by_presence[everyone]
        return self

    @property
    def _apart(self) -> bool:
        """Whether the prior is a source of its own."""
        return self.prior == "once" and self.rule in ("dempster", "yager")

    def _learnt(
        self, X: Any, y: NDArray[Any], codes: NDArray[np.intp], weight: FloatArray | None
    ) -> dict[tuple[bool, ...], NDArray[np.float64]]:
        """Learn the reliabilities from what sources say about rows they were not trained on."""
        folds = read_folds(self.cv, codes, self.random_state)
        labels, entries = self.classes_.tolist(), read_entries(self.estimators)
        # Dempster's rule needs the logits only, which the components do not change.
        said = out_of_fold(
            entries,
            X,
            y,
            self.classes_,
            folds,
            whole=self.rule == "dempster" or self.components == "sources",
            with_prior=not self._apart,
            missing=self.missing,
            weight=weight,
        )
        start = log_prior(self.prior_, labels) if self._apart else np.zeros(len(labels))
        seen = [view_of(X, name, columns) for name, _, columns in entries]
        held_out = np.isin(
            np.arange(len(y)), np.concatenate([test for _, test in folds.split(codes, codes)])
        )
        present = self._present(seen, len(y)) & held_out[:, None]
        return learn_by_presence(
            *said,
            start,
            codes,
            cautious=self.rule == "cautious",
            present=present,
            weight=weight,
        )

    def _present(self, views: list[Any], n: int) -> BoolArray:
        """Say which sources are there in each row, (n, S)."""
        return np.stack([present_rows(v, n, missing=self.missing) for v in views], axis=1)

    # -- prediction -----------------------------------------------------------------------------

    def evidence(self, X: Any) -> Combined:
        """Return the combined evidence of each row; an ``Evidence`` unless the rule leaves it."""
        check_is_fitted(self)
        entries = read_entries(self.estimators)
        X, _ = checked_rows(self, X, [name for name, _, _ in entries])
        n = rows_of(X)
        whole = self.components == "sources"
        seen = [view_of(X, name, columns) for name, _, columns in entries]
        present = self._present(seen, n)
        factors = factors_for(present, self._by_presence)
        said: dict[str, Any] = {}
        for s, (name, _, _) in enumerate(entries):
            rows = np.flatnonzero(present[:, s])
            source = self.sources_[name]
            view = source.example if not len(rows) else seen[s]
            view = view if len(rows) in (0, n) else take(view, rows)
            own = source.evidence(view, whole=whole, with_prior=not self._apart)
            # A row where the source is missing borrows any other, and counts it zero times.
            borrowed = np.maximum(np.cumsum(present[:, s]) - 1, 0)
            said[name] = own if len(rows) == n else own[borrowed]
        if self._apart:
            said["prior"] = prior_evidence(self.prior_, classes=self.classes_, n=n)
            factors = np.column_stack([factors, np.ones(n)])
        if self.rule in RULES_WITHOUT_SILENCE and not present.all():
            return combine_present(
                said, self.rule, present, factors, self.classes_, self.components
            )
        return combine(
            said,
            self.rule,
            tempering=factors,
            classes=self.classes_,
            granularity="sources" if self.components == "sources" else "components",
        )

    def predict(self, X: Any, rule: str = "plausibility") -> NDArray[Any]:
        """Predict one class for each row.

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
        rule : {"plausibility", "belief", "pignistic", "hurwicz", "minimax_regret"}
        """
        if rule not in PRECISE_RULES:
            raise ValueError(
                f"predict returns one class, so rule must be one of "
                f"{', '.join(map(repr, PRECISE_RULES))}; got {rule!r}. "
                "Rules that return several classes belong to predict_set."
            )
        chosen = to_numpy(self.evidence(X).decide(rule))
        return np.asarray(self.classes_[np.argmax(chosen, axis=1)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the normalised plausibilities of the combination."""
        return np.asarray(to_numpy(self.evidence(X).probability))

    def predict_set(self, X: Any, rule: str = "interval_dominance", **options: Any) -> BoolArray:
        """Predict a set of classes for each row, boolean (n, K); see :meth:`Evidence.decide`."""
        return np.asarray(to_numpy(self.evidence(X).decide(rule, **options)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = [get_tags(estimator) for _, estimator in self._named]
        # A row without any input of a source is always taken; NaN among others is for the source.
        able = all(tag.input_tags.allow_nan for tag in inner)
        tags.input_tags.allow_nan = able or self.missing == "any"
        tags.input_tags.sparse = all(tag.input_tags.sparse for tag in inner)
        return tags
