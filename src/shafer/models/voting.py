"""``EvidentialVotingClassifier``: several classifiers, or several views, pooled as evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import Tags, assert_all_finite, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from shafer._typing import BoolArray, FloatArray
from shafer._validation import frame_columns, to_numpy
from shafer.decision import PRECISE_RULES
from shafer.fusion import combine, prior_evidence
from shafer.fusion.combination import Combined
from shafer.fusion.prior import log_prior
from shafer.models.fitted_source import FittedSource, fit_present
from shafer.models.panel import check_choices, given_factors, read_entries
from shafer.models.reliability import factors_for, learn_by_presence, out_of_fold
from shafer.models.views import present_rows, rows_of, take, view_of


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
    cv : int
        Folds of the cross-validation.
    random_state : int, optional
        Of the shuffling of the folds.

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
        cv: int = 5,
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

    def fit(self, X: Any, y: Any) -> Self:
        """Train every source on the rows where it is present, and learn the reliabilities."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        entries = read_entries(self.estimators)
        check_choices(self.rule, self.prior, self.components, self.missing)
        X, y = self._checked(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        counts = np.bincount(codes)
        if len(counts) < 2:
            raise ValueError(f"Evidence needs at least two classes; y has one class, {y[0]}.")
        self.prior_ = counts / counts.sum()
        names = [name for name, _, _ in entries]
        given = given_factors(self.reliability, names, self.rule)  # refused before any training
        whole = self.components == "sources"
        self.sources_: dict[str, FittedSource] = {}
        for name, estimator, columns in entries:
            view = view_of(X, name, columns)
            present = present_rows(view, len(y), missing=self.missing)
            fitted = fit_present(estimator, view, y, present, whole=whole)
            if fitted is None:
                raise ValueError(
                    f"source {name!r} is present in rows of fewer than two classes; it cannot be "
                    "trained."
                )
            self.sources_[name] = fitted
        everyone = (True,) * len(entries)
        self._by_presence = {everyone: given} if given is not None else self._learnt(X, y, codes)
        self.reliability_ = self._by_presence[everyone]
        return self

    def _checked(self, X: Any, y: Any = None) -> Any:
        """Check X as far as the sources will not do it themselves; NaN is for them."""
        labels = None if y is None else column_or_1d(y, warn=True)
        if labels is not None:
            assert_all_finite(labels, input_name="y")
        if isinstance(X, Mapping):
            n = rows_of(X)
            if labels is not None and len(labels) != n:
                raise ValueError(
                    f"y must have one label for each of the {n} rows of X; got {len(labels)}."
                )
        elif frame_columns(X) is not None:  # frames may hold anything: only names are checked
            validate_data(self, X, reset=y is not None, skip_check_array=True)
            if labels is not None:
                check_consistent_length(X, labels)
        else:
            X = validate_data(
                self,
                X,
                reset=y is not None,
                accept_sparse="csr",
                ensure_all_finite="allow-nan",
                ensure_min_samples=1 if y is None else 2,
            )
            if labels is not None:
                check_consistent_length(X, labels)
        return X if y is None else (X, labels)

    @property
    def _apart(self) -> bool:
        """Whether the prior is a source of its own."""
        return self.prior == "once" and self.rule in ("dempster", "yager")

    def _learnt(
        self, X: Any, y: NDArray[Any], codes: NDArray[np.intp]
    ) -> dict[tuple[bool, ...], NDArray[np.float64]]:
        """Learn the reliabilities from what sources say about rows they were not trained on."""
        smallest = int(np.bincount(codes).min())
        if smallest < 2:
            raise ValueError(
                "reliability='cv' needs at least two rows of every class; the rarest class has "
                f"{smallest}, n_samples={len(y)}. Give reliability=None or numbers."
            )
        labels = self.classes_.tolist()
        # Dempster's rule needs the logits only, which the components do not change.
        said = out_of_fold(
            read_entries(self.estimators),
            X,
            y,
            self.classes_,
            StratifiedKFold(min(self.cv, smallest), shuffle=True, random_state=self.random_state),
            whole=self.rule == "dempster" or self.components == "sources",
            with_prior=not self._apart,
            missing=self.missing,
        )
        start = log_prior(self.prior_, labels) if self._apart else np.zeros(len(labels))
        return learn_by_presence(*said, start, codes, cautious=self.rule == "cautious")

    # -- prediction -----------------------------------------------------------------------------

    def evidence(self, X: Any) -> Combined:
        """Return the combined evidence of each row; an ``Evidence`` unless the rule leaves it."""
        check_is_fitted(self)
        X = self._checked(X)
        n = rows_of(X)
        whole = self.components == "sources"
        entries = read_entries(self.estimators)
        seen = [view_of(X, name, columns) for name, _, columns in entries]
        present = np.stack([present_rows(v, n, missing=self.missing) for v in seen], axis=1)
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
        return combine(
            said,
            self.rule,
            tempering=factors,
            classes=self.classes_,
            components=self.components,
        )

    def predict(self, X: Any, rule: str = "plausibility") -> NDArray[Any]:
        """Predict one class for each row.

        Parameters
        ----------
        X : array, data frame, or mapping from source name to its input
        rule : {"plausibility", "belief", "pignistic"}
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
