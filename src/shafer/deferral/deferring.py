"""``Deferring``: the methods of models that decide some rows and defer others, with a promise."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shafer._checks.labels import label_positions
from shafer._typing import Array, FloatArray, Label
from shafer.deferral.control import (
    DeferralControl,
    found_thresholds,
    warn_if_all_unknown,
    warn_if_unreachable,
)
from shafer.deferral.prediction import DeferringPrediction, sure_answers
from shafer.deferral.promise import read_promise
from shafer.deferral.reasons import ReasonScale, row_measures
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.typicality import WeightProfile
from shafer.explain.weighing import WeighedModel
from shafer.rows.access import n_rows, take_rows
from shafer.rows.groups import grouped_rows, rows_of_known_groups


class Deferring(ABC):
    """Guaranteed deferral: ``control_error`` and ``predict_or_defer``."""

    @abstractmethod
    def _deferral_classes(self) -> NDArray[Any]:
        """Return the class labels."""

    @abstractmethod
    def _deferral_columns(self) -> tuple[str, ...] | None:
        """Return the columns of the model, None if it does not know them."""

    @abstractmethod
    def _deferral_bet(self, X: Any) -> MassEvidence:
        """Return the evidence that predictions are made from."""

    @abstractmethod
    def _deferral_plain(self, X: Any) -> MassEvidence:
        """Return the plain evidence, which reasons are taken from."""

    @abstractmethod
    def _deferral_typicality(self, X: Any) -> Array | None:
        """Return the typicality of rows, None if the background is not at hand."""

    @abstractmethod
    def _deferral(self) -> DeferralControl | None:
        """Return the thresholds, None before ``control_error``."""

    @abstractmethod
    def _keep_deferral(self, control: DeferralControl) -> None:
        """Store the thresholds."""

    def control_error(
        self,
        X: Any,
        y: Any,
        error: float | None = None,
        confidence: float = 0.9,
        groups: Any = None,
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
        groups : str or array of shape (n,), optional
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
        classes = self._deferral_classes()
        promise = read_promise(
            error, confidence, false_negative_rate, recall, class_, mean_loss, loss, classes
        )
        if n_rows(X) == 0:
            raise ValueError("control_error needs calibration rows; got none.")
        X, labels, column = grouped_rows(X, groups, self._deferral_columns())
        answers = sure_answers(self._deferral_bet(X), promise.loss)
        truth = label_positions(y, classes, len(answers.positions))
        _check_truth(truth, answers.positions, classes, promise.class_)
        found, names = found_thresholds(promise, answers, truth, classes, labels)
        control = DeferralControl(promise, found, names, column, ReasonScale({}))
        limits = control.thresholds(control.places(labels, len(truth)))
        rows = ReasonScale.rows(answers.scores, answers.scores <= limits)
        scale = ReasonScale.of(self._measured(take_rows(X, rows)))
        control = DeferralControl(promise, found, names, column, scale)
        self._keep_deferral(control)
        warn_if_unreachable(control)
        return self

    def predict_or_defer(self, X: Any, groups: Any = None) -> DeferringPrediction:
        """Answer the rows that the promise of :meth:`control_error` allows, and defer the others.

        Parameters
        ----------
        X : as the model takes it
        groups : array of shape (n,), optional
            The group of each row, if ``control_error`` was given labels; a column is found by its
            name. Rows of unknown groups are deferred.

        Returns
        -------
        DeferringPrediction
            ``labels`` (of every row), ``deferred`` and ``reason``, (n,) each.
        """
        control = self._deferral()
        if control is None:
            raise ValueError(
                "predict_or_defer needs a promise. Call control_error(X, y) first, on rows that "
                "were not used in training. If you did, temper or fit came after it and made "
                "other probabilities: call control_error again."
            )
        X, labels, _ = rows_of_known_groups(X, groups, control, self._deferral_columns())
        bet = self._deferral_bet(X)
        answers = sure_answers(bet, control.promise.loss)
        places = control.places(labels, len(answers.scores))
        warn_if_all_unknown(places, labels, control)
        limits = control.thresholds(places)
        deferred = ~(answers.scores > limits)
        return DeferringPrediction(
            labels=self._deferral_classes()[answers.positions],
            deferred=deferred,
            reason=self._reasons(X, deferred, control, places),
            probability=answers.probability,
            scores=answers.scores,
            thresholds=limits,
            groups=labels,
            classes=self._deferral_classes(),
            control=control,
            index=bet.index,
        )

    def _reasons(
        self,
        X: Any,
        deferred: NDArray[np.bool_],
        control: DeferralControl,
        places: NDArray[np.intp],
    ) -> NDArray[Any]:
        """Return why each row is deferred; only deferred rows are measured."""
        reason = control.group_reasons(places)
        open_rows = np.flatnonzero(deferred & (reason == ""))
        if len(open_rows):
            measured = self._measured(take_rows(X, [int(row) for row in open_rows]))
            reason[open_rows] = control.scale.reasons(measured, len(open_rows))
        return reason

    def _measured(self, X: Any) -> dict[str, FloatArray]:
        return row_measures(self._deferral_plain(X), lambda: self._deferral_typicality(X))


def _check_truth(
    truth: NDArray[np.intp],
    answers: NDArray[np.intp],
    classes: NDArray[Any],
    class_: Label | None,
) -> None:
    """Refuse calibration rows that cannot be right."""
    present = [classes.tolist()[k] for k in np.unique(truth)]
    if len(present) == 1:
        raise ValueError(
            f"y must hold at least two classes; got only {present[0]!r}. Pass calibration rows of "
            "all kinds that will be predicted."
        )
    if class_ is not None and class_ not in present:
        raise ValueError(
            f"y has no row of class {class_!r}, so nothing can be promised about it. Pass "
            "calibration rows of this class."
        )
    if np.all(truth != answers):
        raise ValueError(
            f"All {len(truth)} answers of the model are wrong. Check that y belongs to these rows, "
            "and holds the labels used in training."
        )


# what deferral needs of an ``Explainer``.


class ExplainerDeferral(Deferring):
    """Deferral by the evidence of one model."""

    _weighed: WeighedModel
    deferral: DeferralControl | None
    _background: Any
    _profile: WeightProfile | None

    @property
    @abstractmethod
    def classes(self) -> NDArray[Any]:
        """Class labels."""

    @abstractmethod
    def bet(self, X: Any) -> Evidence:
        """Return the evidence behind the probabilities."""

    @abstractmethod
    def typicality(self, X: Any) -> Array:
        """Return how typical each row's weights are."""

    def _deferral_classes(self) -> NDArray[Any]:
        return self.classes

    def _deferral_columns(self) -> tuple[str, ...] | None:
        return self._weighed.columns

    def _deferral_bet(self, X: Any) -> MassEvidence:
        return self.bet(X)

    def _deferral_plain(self, X: Any) -> MassEvidence:
        return self._weighed(X)[1]

    def _deferral_typicality(self, X: Any) -> Array | None:
        known = self._background is not None or self._profile is not None
        return self.typicality(X) if known else None

    def _deferral(self) -> DeferralControl | None:
        return self.deferral

    def _keep_deferral(self, control: DeferralControl) -> None:
        self.deferral = control


# what deferral needs of a classifier that holds an explainer.


class ClassifierDeferral(Deferring):
    """Deferral by the evidence of a trained classifier; its explainer keeps the thresholds."""

    explainer_: ExplainerDeferral
    classes_: NDArray[Any]

    @abstractmethod
    def _deferral_bet(self, X: Any) -> MassEvidence:
        """Return the evidence that predictions are made from."""

    @property
    def deferral_(self) -> DeferralControl | None:
        """The thresholds of :meth:`predict_or_defer`; None before :meth:`control_error`."""
        check_is_fitted(self)
        return self.explainer_.deferral

    def _deferral(self) -> DeferralControl | None:
        return self.deferral_

    def _keep_deferral(self, control: DeferralControl) -> None:
        self.explainer_.deferral = control

    def _deferral_classes(self) -> NDArray[Any]:
        check_is_fitted(self)
        return np.asarray(self.classes_)

    def _deferral_columns(self) -> tuple[str, ...] | None:
        return self.explainer_._deferral_columns()

    def _deferral_plain(self, X: Any) -> MassEvidence:
        return self.explainer_._deferral_plain(X)

    def _deferral_typicality(self, X: Any) -> Array | None:
        return self.explainer_._deferral_typicality(X)
