"""``Predictor``: what explainers and classifiers share: decisions, sets and promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import in_row_order
from shafer._typing import Array, FloatArray, Label
from shafer.conformal.scores import class_scores
from shafer.conformal.split import split_conformal
from shafer.decision.policy import Policy
from shafer.decision.rules import PRECISE_RULES
from shafer.deferral.deferring import control_error, predict_or_defer
from shafer.deferral.prediction import DeferringPrediction, sure_answers
from shafer.deferral.promise import read_budget, read_promise
from shafer.explain.answered_rows import AnsweredRows, answered_rows
from shafer.explain.named_acts import named_acts
from shafer.explain.promises import Promises
from shafer.explain.row_pass import RowPass
from shafer.rows.groups import (
    KEEPS_ALL,
    grouped_rows,
    rows_of_known_groups,
    warn_of_unknown_groups,
)
from shafer.saving.savable import Savable


class Predictor(Savable, ABC):
    """A trained model that answers with evidence, sets, acts and promises.

    A subclass says what its classes and columns are, how rows become evidence (``observe``), where
    its promises are kept and by which policy it decides.
    """

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """Class labels, in the order of every array about classes."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...] | None:
        """The columns of the model in the order of training; None if it does not know them."""

    @property
    @abstractmethod
    def promises(self) -> Promises:
        """What was promised on held-out rows: prediction sets and deferral."""

    @property
    @abstractmethod
    def policy(self) -> Policy:
        """How evidence becomes a decision where no rule is named."""

    @abstractmethod
    def observe(self, X: Any, *, errors: bool = False) -> RowPass:
        """Pass rows through the model once.

        Parameters
        ----------
        X : as the model takes it
            The rows.
        errors : bool
            Whether the evidence has error bars, if the model has any.

        Returns
        -------
        RowPass
            Evidence, bet, plain evidence and typicality, computed when they are asked for.
        """

    def predict(self, X: Any, rule: str | None = None) -> NDArray[Any]:
        """Predict one class for each row.

        Parameters
        ----------
        X : as the model takes it
            The rows.
        rule : {"plausibility", "belief", "pignistic", "expected_loss", "hurwicz", "minimax_regret"}
            The first names the most probable class, and is the default, unless a threshold or
            losses were stated, or the model has a threshold. For other acts, use :meth:`decide`.

        Returns
        -------
        array of shape (n,)
            Class labels.
        """
        rule, answer = one_class_rule(rule), self.policy.cutoff
        if rule is None and answer is not None:
            found = sure_answers(self.observe(X).bet, rule=answer)
            return np.asarray(self.classes[found.positions])
        chosen = to_numpy(self.observe(X).bet.decide("plausibility" if rule is None else rule))
        return np.asarray(self.classes[np.argmax(chosen, axis=1)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes: the normalised plausibilities.

        Tempering and moderation change them; the discount does not.

        Parameters
        ----------
        X : as the model takes it
            The rows.

        Returns
        -------
        array of shape (n, K)
            Each row sums to 1.
        """
        return np.asarray(to_numpy(self.observe(X).bet.betting_probability))

    def decide(
        self,
        X: Any,
        loss: Any = None,
        rule: str | None = None,
        reject: float | None = None,
        *,
        utility: Any = None,
        alpha: float | None = None,
        tolerance: float | str | None = None,
        expectation: str | None = None,
    ) -> NDArray[Any]:
        """Choose an act for each row, and return its name; by default the least expected loss.

        Parameters
        ----------
        X : as the model takes it
        loss : array of shape (acts, K), mapping or data frame, optional
            What each act costs if the class is k. ``{act: {class: cost}}`` and a data frame are
            read by class label; see :meth:`shafer.Evidence.decide`. By default the acts are to
            name one class, and a wrong name costs 1; with a threshold, the answer of ``predict``.
        rule : str, optional
            A rule of :meth:`shafer.Evidence.decide`. By default ``"expected_loss"``: the least
            expected loss under the probabilities of ``predict_proba``. Acts that are tied up to
            rounding go to the first.
        reject : float, optional
            The cost of not deciding, an act named ``"reject"``.
        utility, alpha, tolerance, expectation
            As in :meth:`shafer.Evidence.decide`.

        Returns
        -------
        array of shape (n,)
            The name of the act of each row, or the class label if there is no loss, or
            ``"reject"``. The rows of an array have no names: if there are K of them, row k is to
            name class k, and the result is its label; otherwise they are called "act 0", "act 1",
            ... With a rule that may keep several acts, each entry is a tuple of names.

        Examples
        --------
        >>> import shafer
        >>> heart = shafer.datasets.load_heart()
        >>> y = heart.target_names[heart.target]
        >>> clf = shafer.EvidentialClassifier(moderate="laplace").fit(heart.data[:, :3], y)
        >>> loss = {"treat": {"chd": 0, "no": 1}, "send home": {"chd": 5, "no": 0}}
        >>> clf.decide(heart.data[:3, :3], loss, reject=0.6).tolist()
        ['treat', 'reject', 'reject']
        >>> clf.decide(heart.data[:3, :3], loss, "maximality").tolist()
        [('treat',), ('treat', 'send home'), ('treat', 'send home')]
        """
        given = [what for what in (loss, rule, reject, utility) if what is not None]
        if self.policy.cutoff is not None and not given:
            return self.predict(X)
        rule = self.policy.act_rule if rule is None else rule
        evidence = self.observe(X).decided_by(rule)
        return named_acts(evidence, rule, loss, reject, utility, alpha, tolerance, expectation)

    def conformalize(
        self,
        X: Any,
        y: Any,
        coverage: float = 0.9,
        *,
        score: str = "plausibility",
        class_conditional: bool = False,
        allow_empty: bool = True,
        by: Any = None,
    ) -> Self:
        """Calibrate :meth:`predict_set`: prediction sets with guaranteed coverage, for any model.

        Parameters
        ----------
        X : as the model takes it
            Rows that were not used to train the model, nor in ``temper``.
        y : array of shape (n,)
            Their classes.
        coverage, score, class_conditional, allow_empty
            As in :func:`shafer.decision.split_conformal`.
        by : str or array of shape (n,), optional
            A column of X, or a label for each row: the coverage then holds in each group.

        Returns
        -------
        the object itself.

        Examples
        --------
        >>> import shafer
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> from sklearn.preprocessing import StandardScaler
        >>> X, y = load_wine(return_X_y=True)
        >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::3], y[::3])
        >>> explainer = shafer.Explainer(model, X[::3])
        >>> explainer = explainer.temper(X[1::3], y[1::3]).conformalize(X[2::3], y[2::3])
        >>> explainer.predict_set(X[:1])
        array([[ True, False, False]])
        """
        y = in_row_order(y, X)
        X, labels, column = grouped_rows(X, by, self.columns)
        sets = split_conformal(
            class_scores(self.observe(X).bet, score),
            y,
            coverage=coverage,
            score=score,
            class_conditional=class_conditional,
            allow_empty=allow_empty,
            classes=self.classes,
            by=labels,
            column=column,
        )
        self.promises.promise_sets(sets)
        return self

    def predict_set(
        self, X: Any, rule: str | None = None, *, by: Any = None, **options: Any
    ) -> Array:
        """Return the calibrated set of classes of each row, boolean (n, K).

        Parameters
        ----------
        X : as the model takes it
        rule : str, optional
            Instead of the calibrated sets: those of a rule of :meth:`Evidence.decide`, with its
            options, without a promise about their coverage. With options alone, such as ``loss``,
            the rule is that of :meth:`Evidence.decide`.
        by : array of shape (n,), optional
            The group of each row, if :meth:`conformalize` was given labels. A column is found by
            its name. The set of an unknown group holds all classes.
        **options
            Options of the rule, such as ``loss``, ``reject`` and ``tolerance``.

        Returns
        -------
        boolean array of shape (n, K)

        Raises
        ------
        ValueError
            Before :meth:`conformalize`, unless a rule is named.

        Warns
        -----
        UserWarning
            If some rows are of a group that :meth:`conformalize` did not see.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)))
        >>> explainer.predict_set([[2.0, 0.0], [0.0, 0.3]], "interval_dominance")
        array([[False,  True],
               [ True,  True]])
        """
        asked = rule is not None or bool(options)
        sets = None if asked else self.promises.conformal
        if sets is None and not asked:
            raise ValueError(NOT_CALIBRATED)
        X, labels, _ = rows_of_known_groups(X, by, sets, self.columns)
        seen = self.observe(X)
        if sets is not None:
            warn_of_unknown_groups(labels, sets.by, "conformalize", KEEPS_ALL)
            return sets.sets(class_scores(seen.bet, sets.score), labels)
        rule = self.policy.rule_of_sets(options) if rule is None else rule
        return seen.decided_by(rule).decide(rule, **options)

    def control_error(
        self,
        X: Any,
        y: Any,
        error: float | None = None,
        confidence: float = 0.9,
        by: Any = None,
        *,
        false_negative_rate: float | None = None,
        recall: float | None = None,
        class_: Label | None = None,
        mean_loss: float | None = None,
        loss: Any = None,
    ) -> Self:
        """Find the threshold for :meth:`predict_or_defer` that keeps a promise about decided rows.

        A row is decided if its largest betting probability is above the threshold; the others are
        deferred to a person. The promise holds with the stated confidence over calibration sets,
        for any model, if new rows come from the same distribution. Nothing is trained again. See
        ``docs/guide/deferring.md``.

        Parameters
        ----------
        X : as the model takes it
            Rows that were not used to train or temper the model. A data frame may have the column
            of the groups in addition.
        y : array of shape (n,)
            Their classes.
        error : float, optional
            Promise that at most this share of the decided rows is wrong. 0.05 by default.
        confidence : float
            The probability, over calibration sets, that the promise is kept.
        by : str or array of shape (n,), optional
            A column of X, or a label for each row: one threshold for each group, each with the
            promise. A group with too few rows is deferred as a whole, with a warning.
        false_negative_rate, recall : float, optional
            Instead of ``error``: promise that at most this share of the rows of ``class_`` is
            decided as another class. ``recall=0.95`` is ``false_negative_rate=0.05``. Deferred
            rows are not missed.
        class_ : label, optional
            The class that must not be missed.
        mean_loss : float, optional
            Instead of ``error``: promise that the mean loss of the decided rows is at most this.
            The answer is then the class of the least expected loss.
        loss : array of shape (K, K), mapping or data frame, optional
            The loss of each answer (row) under each true class (column), as in
            :meth:`shafer.Evidence.decide`, with rows named by class labels.

        Returns
        -------
        the object itself

        Warns
        -----
        UserWarning
            If nothing can be decided, in all or in a group: too few rows, or too many errors.

        Examples
        --------
        >>> import shafer
        >>> from sklearn.linear_model import LogisticRegression
        >>> heart = shafer.datasets.load_heart()
        >>> X, y = heart.data, heart.target
        >>> model = LogisticRegression(max_iter=5000).fit(X[:200], y[:200])
        >>> explainer = shafer.Explainer(model, X[:200])
        >>> explainer = explainer.control_error(X[200:400], y[200:400], error=0.3)
        >>> found = explainer.predict_or_defer(X[400:])
        >>> found.promise
        'at most 30 % of the decided rows are wrong, with 90 % confidence'
        >>> round(found.share_decided, 2)
        0.89
        """
        promise = read_promise(
            error, confidence, false_negative_rate, recall, class_, mean_loss, loss, self.classes
        )
        self.promises.deferral = control_error(self, X, y, promise, by)
        return self

    def control_budget(
        self, X: Any, y: Any, share: float, confidence: float = 0.9, by: Any = None
    ) -> Self:
        """Find the threshold for :meth:`predict_or_defer` that hands on a share of the rows.

        The other way round than :meth:`control_error`: how many rows a person can take is given,
        and the result is what can be promised for the others. ``promises.error_bound`` is an upper
        bound of their error rate. It holds with the stated confidence for the very threshold that
        is found here, for any model, if new rows come from the same distribution. On new rows, the
        number that is handed on varies around the share.

        Parameters
        ----------
        X : as the model takes it
            Rows that were not used to train or temper the model. A data frame may have the column
            of the groups in addition.
        y : array of shape (n,)
            Their classes.
        share : float
            The share of rows to hand on, such as ``20 / 500``. The least sure rows are handed on,
            and those that tie with them.
        confidence : float
            The probability, over calibration sets, that the error of the others is below the bound.
        by : str or array of shape (n,), optional
            A column of X, or a label for each row: the share is handed on in each group, and each
            has its own bound, with this confidence each.

        Returns
        -------
        the object itself

        Warns
        -----
        UserWarning
            If all rows are handed on, because their probabilities tie.

        See Also
        --------
        shafer.Explainer.control_error : Promises an error instead.

        Examples
        --------
        >>> import shafer
        >>> from sklearn.linear_model import LogisticRegression
        >>> heart = shafer.datasets.load_heart()
        >>> X, y = heart.data, heart.target
        >>> model = LogisticRegression(max_iter=5000).fit(X[:200], y[:200])
        >>> explainer = shafer.Explainer(model, X[:200])
        >>> explainer = explainer.control_budget(X[200:400], y[200:400], share=0.2)
        >>> round(explainer.promises.error_bound, 3)
        0.286
        >>> explainer.deferral
        <DeferralControl: 20 % of the rows are handed on; at most 28.6 % of the decided rows are
        wrong, with 90 % confidence>
        """
        promise = read_budget(share, confidence)
        self.promises.deferral = control_error(self, X, y, promise, by)
        return self

    def predict_or_defer(self, X: Any, by: Any = None) -> DeferringPrediction:
        """Answer the rows that the promise of :meth:`control_error` allows, and defer the others.

        Parameters
        ----------
        X : as the model takes it
        by : array of shape (n,), optional
            The group of each row, if ``control_error`` was given labels; a column is found by its
            name. Rows of unknown groups are deferred.

        Returns
        -------
        DeferringPrediction
            ``labels`` (of every row), ``deferred`` and ``reason``, (n,) each.
        """
        return predict_or_defer(self, X, by)

    def answer(self, X: Any, reasons: int = 3, *, by: Any = None) -> AnsweredRows:
        """Return all that a service tells about each row, from one pass through the model.

        Parameters
        ----------
        X : as the model takes it
            The rows. A data frame may have the columns of groups in addition.
        reasons : int
            Reasons for each row; 0 for none.
        by : array of shape (n,), optional
            The group of each row, if :meth:`conformalize` or :meth:`control_error` was given
            labels. A column is found by its name.

        Returns
        -------
        AnsweredRows
            The answer and the probabilities; after ``conformalize`` the calibrated set, after
            ``control_error`` whether a person should decide, and why; the reasons; and warnings
            about single rows. Its ``to_frame()`` is a data frame, its ``records()`` are plain
            values for JSON.

        Warns
        -----
        UserWarning
            If some rows are of a group that no calibration row was in.

        Examples
        --------
        >>> import numpy as np, shafer
        >>> explainer = shafer.Explainer(([1.0, -2.0], 0.5), np.zeros((1, 2)), names=["u", "v"])
        >>> found = explainer.answer([[2.0, 0.5]], reasons=1).records()[0]
        >>> found["answer"], round(found["probability"]["1"], 3), found["reasons"][0]["component"]
        (1, 0.818, 'u')
        """
        return answered_rows(self, X, reasons, by)


NOT_CALIBRATED = (
    "predict_set returns calibrated sets, and these were not calibrated. Call conformalize(X, y) "
    "on rows that were not used in training (again, after temper or fit). For sets without a "
    "promise about their coverage, name a rule: decide(X, rule='interval_dominance'), or "
    "predict_set(X, 'interval_dominance') for a boolean array."
)


def one_class_rule(rule: str | None) -> str | None:
    """Return a rule that names one class, or None; raise an error for others."""
    if rule is not None and rule not in PRECISE_RULES:
        raise ValueError(
            f"predict returns one class, so rule must be one of "
            f"{', '.join(map(repr, PRECISE_RULES))}; got {rule!r}. "
            "Use predict_set for rules that return several classes."
        )
    return rule
