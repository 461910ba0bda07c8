"""``EvidentialClassifier``: a scikit-learn classifier that can also show its evidence."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags, column_or_1d, get_tags
from sklearn.utils.validation import check_is_fitted

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import in_row_order
from shafer._checks.labels import label_positions
from shafer._typing import BoolArray, FloatArray
from shafer.asking.guard import guard
from shafer.conformal.cross import CrossConformalSets, cross_conformal
from shafer.conformal.scores import class_scores
from shafer.conformal.split import ConformalSets
from shafer.decision.policy import Policy
from shafer.decision.temperature import tempering_factor
from shafer.deferral.control import DeferralControl, deferral_state, restored_deferral
from shafer.estimators.bootstrap_refits import bootstrap_refits
from shafer.estimators.fitting import (
    check_fold_count,
    fit_weights,
    fold_explainers,
    stratified_folds,
)
from shafer.evidence.mass_evidence import MassEvidence
from shafer.explain.explainer import Explainer
from shafer.explain.predictor import Predictor, one_class_rule
from shafer.explain.promises import Promises
from shafer.explain.row_pass import GuardedPass, RowPass
from shafer.rows.access import take_rows

_FOLDS = 5


class EvidentialClassifier(Predictor, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Trains a scikit-learn classifier, shows its evidence and predicts sets of classes.

    ``temper`` calibrates the weights (temperature scaling), and ``moderate`` accounts for
    coefficient uncertainty. ``docs/guide/calibrating.md`` has figures. With ``groups=None`` and
    ``prior="shared"`` the weights are the paper's.

    Parameters
    ----------
    estimator : estimator, optional
        Any scikit-learn classifier that :class:`Explainer` accepts, such as a pipeline, an
        ``MLPClassifier`` or a boosted model; a ``LogisticRegression()`` by default.
    groups : "source", mapping, sequence, "auto", "one" or None
        What counts as one component, as in :class:`Explainer`. Fine components explain; for
        deciding, ``"one"`` or few groups are better: inside a group, evidence for and against a
        class cancels.
    temper : {"cv"} or float, optional
        Multiply all weights by a factor (temperature scaling): ``"cv"`` fits it by the log loss
        of cross-validated predictions. The order of the classes stays the same.
    moderate : {"laplace", "laplace+discount"}, optional
        Shrink the weights of rows whose logits are poorly determined, and discount the mass
        functions of out-of-distribution rows, as in :class:`Explainer`. Unless ``temper`` is a
        number, a factor is fitted too. Experimental for networks.
    missing : {"error", "vacuous", "conditional"}
        How a linear model predicts rows with NaN, as in :class:`Explainer`. Training rows must
        be complete.
    prior : {"own", "shared"}
        Whether the base rate is a component ``"base rate"`` of its own, or the components share
        it, as in :class:`Explainer`.
    errors : {"sandwich", "laplace", "bags", "bootstrap"}, optional
        Error bars on the weights, as in :class:`Explainer`. ``"bootstrap"`` trains the classifier
        50 times more, on rows drawn again.
    guard : bool
        Guard predictions against wrong inputs, as ``explainer.ask.guard`` does: ``predict``,
        ``predict_proba`` and ``predict_set`` answer as if an incredible value were missing. For
        linear models whose features each depend on one column, and dense rows. NaN is an error
        unless ``missing`` allows it. ``evidence`` shows rows as given.
    threshold : float or {class: float}, optional
        From which probability on the answer is the second of two classes, or the class that is
        named, as in :class:`Explainer`. By default that of the inner classifier, if it has one.
    loss : array of shape (K, K), mapping or data frame, optional
        Instead of a threshold: what each answer (row) costs under each true class (column), as in
        :class:`Explainer`.

    Attributes
    ----------
    estimator_ : estimator
        The trained classifier.
    explainer_ : Explainer
        Computes the evidence. Its background is the training data, and ``explainer_.factor`` is
        the factor on its weights.
    classes_ : array of shape (K,)

    See Also
    --------
    shafer.Explainer : For a model that is trained already.
    shafer.EvidentialVotingClassifier : Several classifiers, combined.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = shafer.EvidentialClassifier(LogisticRegression(max_iter=1000)).fit(X, y)
    >>> clf.predict_set(X, "interval_dominance")[[0, 106]]
    array([[ True, False, False],
           [False,  True, False]])
    """

    explainer_: Explainer

    def __init__(
        self,
        estimator: Any = None,
        groups: Any = "source",
        temper: Any = None,
        moderate: str | None = None,
        missing: str = "error",
        prior: str = "own",
        errors: str | None = None,
        guard: bool = False,
        threshold: float | dict[Any, float] | None = None,
        loss: Any = None,
    ) -> None:
        self.estimator = estimator
        self.groups = groups
        self.temper = temper
        self.moderate = moderate
        self.missing = missing
        self.prior = prior
        self.errors = errors
        self.guard = guard
        self.threshold = threshold
        self.loss = loss

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the inner classifier, and compute the background means from the same rows.

        Sample weights are used for both. In a pipeline they are passed to the last step, as
        ``laststep__sample_weight`` would be. With scikit-learn's metadata routing the steps
        decide: ``set_fit_request(sample_weight=True)``.

        Parameters
        ----------
        X : array or data frame of shape (n, J)
            The training rows.
        y : array of shape (n,)
            Their classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        EvidentialClassifier
            The object itself.
        """
        self._check_temper()
        self._check_guard()
        y, sample_weight = in_row_order(y, X), in_row_order(sample_weight, X, "sample_weight")
        inner = self._trained(X, y, sample_weight)
        factor = self._tempering_factor(X, y, sample_weight, inner.classes_)
        self.estimator_, self.classes_ = inner, inner.classes_
        bars: dict[str, Any] = {"errors": self.errors}
        if self.errors == "bootstrap":
            bars["refits"] = bootstrap_refits(self._inner(), X, y, sample_weight=sample_weight)
        self.explainer_ = self._explained(inner, X, sample_weight, self.moderate, factor, **bars)
        if self.guard:
            self.explainer_.ask.guard(take_rows(X, [0]))  # an error now if it cannot be asked
        for known in ("n_features_in_", "feature_names_in_"):  # text has neither
            if hasattr(self.estimator_, known):
                setattr(self, known, getattr(self.estimator_, known))
        return self

    def _inner(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _trained(self, X: Any, y: Any, sample_weight: Any) -> Any:
        """Train a copy of the inner classifier."""
        inner = clone(self._inner())
        inner.fit(X, y, **fit_weights(inner, sample_weight))
        if len(inner.classes_) < 2:
            raise ValueError(
                f"Evidence needs at least two classes; y has one class, {inner.classes_}."
            )
        return inner

    def _explained(
        self,
        inner: Any,
        X: Any,
        sample_weight: Any,
        moderate: str | None,
        factor: float,
        check: bool = True,
        **bars: Any,
    ) -> Explainer:
        return Explainer(
            inner,
            X,
            self.groups,
            sample_weight=sample_weight,
            moderate=moderate,
            missing=self.missing,
            temper=factor,
            prior=self.prior,
            check=check,
            threshold=self.threshold,
            loss=self.loss,
            **bars,
        )

    def _fold_explainer(
        self, X: Any, y: Any, sample_weight: Any = None, factor: float = 1.0
    ) -> Explainer:
        """Train on some of the rows; predictions of other rows do not need the discount."""
        inner = self._trained(X, y, sample_weight)
        moderate = None if self.moderate is None else "laplace"
        return self._explained(inner, X, sample_weight, moderate, factor, check=False)

    def _check_temper(self) -> None:
        number = isinstance(self.temper, Real) and not isinstance(self.temper, bool)
        named = isinstance(self.temper, str) and self.temper == "cv"
        if self.temper is None or named or (number and 0.0 < self.temper < np.inf):
            return
        raise ValueError(f"temper must be 'cv', None or a positive number; got {self.temper!r}.")

    def _check_guard(self) -> None:
        if not isinstance(self.guard, bool | np.bool_):
            raise ValueError(f"guard must be True or False; got {self.guard!r}.")

    def _tempering_factor(self, X: Any, y: Any, sample_weight: Any, classes: NDArray[Any]) -> float:
        """Return the given factor, or fit it to cross-validated predictions."""
        if self.temper is None and self.moderate is None:
            return 1.0
        if isinstance(self.temper, Real):
            return float(self.temper)
        y = column_or_1d(y)  # the inner classifier has already warned about a column vector
        folds = stratified_folds(y, _FOLDS, "temper='cv'", "give temper a number, or None")
        logits = np.empty((len(folds), len(classes)))
        models = fold_explainers(self._fold_explainer, X, y, folds, sample_weight)
        for fold, (explainer, rows) in enumerate(models):
            logits[folds == fold] = to_numpy(explainer.observe(rows).bet.logits)
        return tempering_factor(logits, y, sample_weight, classes=classes)

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels, in the order of every array about classes."""
        check_is_fitted(self)
        return np.asarray(self.classes_)

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The columns of the training data; None if it was not a frame."""
        check_is_fitted(self)
        return self.explainer_.columns

    @property
    def promises(self) -> Promises:
        """What was promised on held-out rows, of guarded predictions if they are guarded."""
        check_is_fitted(self)
        kept = self.explainer_.promises
        return kept.about_guarded() if self.guard else kept

    @property
    def conformal_(self) -> ConformalSets | CrossConformalSets | None:
        """The calibration of the sets; None before :meth:`conformalize`."""
        kept = self.promises
        return kept.conformal if kept.cross is None else kept.cross

    @property
    def deferral_(self) -> DeferralControl | None:
        """The thresholds of :meth:`predict_or_defer`; None before :meth:`control_error`."""
        return self.promises.deferral

    @property
    def policy(self) -> Policy:
        """How evidence becomes a decision: a guarded prediction is a bet."""
        check_is_fitted(self)
        policy = self.explainer_.policy
        return Policy.of_bets(policy.cutoff) if self.guard else policy

    def observe(self, X: Any, *, errors: bool = False) -> RowPass:
        """Pass rows through the model once; with a guard, the bet is the guarded prediction.

        Parameters
        ----------
        X : array or data frame of shape (n, J)
            The rows.
        errors : bool
            Whether the evidence has error bars, if there are any.

        Returns
        -------
        RowPass
        """
        check_is_fitted(self)
        return self._observed(self.explainer_, X, errors=errors)

    def _observed(self, explainer: Explainer, X: Any, *, errors: bool = False) -> RowPass:
        seen = explainer.observe(X, errors=errors)
        if not self.guard:
            return seen
        # The pass has refused NaN unless ``missing`` allows it; the guard takes it as missing.
        guarded = guard(explainer.ask.model(), X, seen.rows).evidence
        return GuardedPass(seen, guarded)

    def evidence(self, X: Any) -> MassEvidence:
        """Return the evidence of each row.

        Parameters
        ----------
        X : array or data frame of shape (n, J)
            The rows.

        Returns
        -------
        MassEvidence
            ``Evidence``, or ``DiscountedEvidence`` with ``moderate="laplace+discount"``.

        Examples
        --------
        >>> import shafer
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> ev = shafer.EvidentialClassifier().fit(X, y).evidence([[4.0]])
        >>> ev.belief.round(3), ev.ignorance.round(3)
        (array([[0.   , 0.762]]), array([0.238]))
        """
        check_is_fitted(self)
        return self.explainer_(X)

    def conformalize(
        self,
        X: Any,
        y: Any,
        coverage: float = 0.9,
        *,
        score: str = "plausibility",
        class_conditional: bool = False,
        allow_empty: bool = True,
        cv: int | None = None,
        by: Any = None,
    ) -> Self:
        """Calibrate :meth:`predict_set`: prediction sets with guaranteed coverage, for any model.

        Parameters
        ----------
        X, y : as in :meth:`fit`
            Rows that were not used in :meth:`fit`; with ``cv``, the training rows themselves.
        coverage, score, class_conditional, allow_empty
            As in :func:`shafer.decision.split_conformal`.
        cv : int, optional
            For small data: train ``cv`` models, each without a part of the rows, and calibrate on
            all rows (:func:`shafer.decision.cross_conformal`). Predicting uses every model. A
            class without any row here is in no set, or in all if ``class_conditional``.
        by : str or array of shape (n,), optional
            A column of X, or a label for each row: the coverage then holds in each group. Not
            with ``cv``.

        Returns
        -------
        EvidentialClassifier
            The object itself.

        Examples
        --------
        >>> import shafer
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = shafer.EvidentialClassifier().fit(X[::2], y[::2])
        >>> clf = clf.conformalize(X[1::2], y[1::2], coverage=0.9)
        >>> clf.predict_set(X[:1])
        array([[ True, False, False]])
        """
        options: dict[str, Any] = {
            "coverage": coverage,
            "score": score,
            "class_conditional": class_conditional,
            "allow_empty": allow_empty,
        }
        if cv is None:
            return super().conformalize(X, y, by=by, **options)
        check_is_fitted(self)
        check_fold_count(cv)
        if by is not None:
            raise ValueError(
                "by needs held-out rows; got cv as well. Leave out cv and pass rows that were "
                "not used in fit."
            )
        y = column_or_1d(in_row_order(y, X))
        label_positions(y, self.classes_, len(y))  # an error for classes of other data
        folds = stratified_folds(y, int(cv), "conformalize(cv=)", "calibrate on held-out rows")
        scores = np.empty((len(folds), len(self.classes_)))
        train = partial(self._fold_explainer, factor=self.explainer_.factor)
        explainers: list[Explainer] = []
        for fold, (explainer, rows) in enumerate(fold_explainers(train, X, y, folds)):
            explainers.append(explainer)
            scores[folds == fold] = self._fold_scores(explainer, rows, score)
        sets = cross_conformal(scores, folds, y, classes=self.classes_, **options)
        # Kept last, so that an error above leaves the earlier calibration complete.
        self.promises.promise_cross(sets, explainers)
        return self

    def _fold_scores(self, explainer: Explainer, X: Any, score: str) -> FloatArray:
        """Return the scores of each class, (n, K); infinite for a class without training rows."""
        own = to_numpy(class_scores(self._observed(explainer, X).bet, score))
        scores = np.full((len(own), len(self.classes_)), np.inf)
        scores[:, label_positions(explainer.classes, self.classes_, own.shape[1])] = own
        return scores

    def predict(self, X: Any, rule: str | None = None) -> NDArray[Any]:
        """Predict one class for each row.

        Parameters
        ----------
        X : array or data frame of shape (n, J)
        rule : {"plausibility", "belief", "pignistic", "expected_loss", "hurwicz", "minimax_regret"}
            By default the answer of the inner classifier, or that of ``threshold``. For costs, use
            :meth:`decide`.

        Returns
        -------
        array of shape (n,)
            Class labels.

        Examples
        --------
        >>> import shafer
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> shafer.EvidentialClassifier().fit(X, y).predict([[0.0], [5.0]])
        array(['no', 'yes'], dtype='<U3')
        """
        check_is_fitted(self)
        plain = self.missing == "error" and not self.guard
        # Calibrated probabilities cross a threshold in other rows than those of the classifier.
        alike = self.policy.cutoff is None or (
            self.threshold is None and self.loss is None and self.explainer_.calibration.is_plain
        )
        if one_class_rule(rule) is None and plain and alike:
            return np.asarray(self.estimator_.predict(X))
        return super().predict(X, rule)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes: the inner classifier's own by default.

        They are the normalised plausibilities. Tempering and moderation change them; the discount
        does not.

        Parameters
        ----------
        X : array or data frame of shape (n, J)
            The rows.

        Returns
        -------
        array of shape (n, K)
            Each row sums to 1.
        """
        check_is_fitted(self)
        untempered = self.explainer_.factor == 1.0
        plain = self.missing == "error" and not self.guard
        if untempered and self.moderate is None and plain:
            probability: FloatArray = self.estimator_.predict_proba(X)
            return probability
        return super().predict_proba(X)

    def predict_set(
        self, X: Any, rule: str | None = None, *, by: Any = None, **options: Any
    ) -> BoolArray:
        """Return the calibrated set of classes of each row, boolean (n, K).

        Parameters
        ----------
        X : array or data frame of shape (n, J)
        rule : str, optional
            Instead of the calibrated sets: those of a rule of :meth:`Evidence.decide`, with its
            options, without a promise about their coverage. With options alone, such as ``loss``,
            the rule is that of :meth:`Evidence.decide`.
        by : array of shape (n,), optional
            The group of each row, if :meth:`conformalize` was given labels. A column is found by
            its name.
        **options
            Options of the rule, such as ``loss``, ``reject`` and ``tolerance``.

        Returns
        -------
        boolean array of shape (n, K)

        Examples
        --------
        >>> import shafer
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> clf = shafer.EvidentialClassifier().fit(X, y)
        >>> clf.predict_set([[0.0], [2.5]], "interval_dominance")
        array([[ True, False],
               [ True,  True]])
        """
        cross = self.promises.cross
        if rule is None and not options and cross is not None:
            folds = self.promises.folds
            return cross.sets(self._fold_scores(fold, X, cross.score) for fold in folds)
        return to_numpy(super().predict_set(X, rule, by=by, **options))

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if "explainer_" not in state:
            return state
        kept = self.promises  # without a guard the explainer stores its own
        state["conformal_"] = self.conformal_
        if kept.cross is not None:
            state["fold_explainers_"] = list(kept.folds)
        if self.guard:
            state["deferral_state_"] = deferral_state(kept.deferral)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {"threshold": None, "loss": None, **state}  # earlier files have none
        sets, folds = state.pop("conformal_", None), state.pop("fold_explainers_", ())
        older = "deferral_state_" not in state
        deferral = state.pop("deferral_state_", None)
        super().__setstate__(state)
        if "explainer_" not in state:
            return
        kept = self.promises
        if self.guard and older:  # then the explainer inside held the thresholds
            inside = self.explainer_.promises
            kept.deferral, inside.deferral = inside.deferral, None
        if isinstance(sets, CrossConformalSets):
            kept.promise_cross(sets, folds)
        elif isinstance(sets, ConformalSets):
            kept.promise_sets(sets)
        if deferral is not None:
            kept.deferral = restored_deferral(deferral, len(self.classes_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags = inner.input_tags
        if self.guard or self.missing != "error":  # both need dense rows
            tags.input_tags.sparse = False
        tags.classifier_tags = inner.classifier_tags
        return tags
