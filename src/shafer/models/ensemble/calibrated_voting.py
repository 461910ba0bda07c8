"""``CalibratedVoting``: conformal sets and deferral by combined evidence."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.decision import ConformalSets, conformal_scores, split_conformal
from shafer.evidence import Evidence, MassEvidence
from shafer.models.deferring.deferral_control import DeferralControl
from shafer.models.deferring.deferral_state import deferral_state, restored_deferral
from shafer.models.deferring.deferring import Deferring
from shafer.models.deferring.row_groups import grouped_rows, rows_of_known_groups


class CalibratedVoting(Deferring):
    """Calibration of a classifier that combines the evidence of several sources."""

    classes_: NDArray[Any]

    @abstractmethod
    def evidence(self, X: Any) -> MassEvidence:
        """Return the combined evidence of each row."""

    def conformalize(
        self,
        X: Any,
        y: Any,
        coverage: float = 0.9,
        *,
        score: str = "plausibility",
        class_conditional: bool = False,
        allow_empty: bool = True,
        groups: Any = None,
    ) -> Self:
        """Calibrate :meth:`predict_set`: prediction sets with guaranteed coverage.

        Parameters
        ----------
        X, y : as in :meth:`fit`
            Rows that were not used in :meth:`fit`.
        coverage, score, class_conditional, allow_empty
            As in :func:`shafer.decision.split_conformal`. ``score="dominance"`` needs combinations
            that keep weights, such as Dempster's rule.
        groups : str or array of shape (n,), optional
            A column of X, or a label for each row: the coverage then holds in each group.

        Returns
        -------
        EvidentialVotingClassifier
            The object itself.
        """
        check_is_fitted(self)
        X, labels, column = grouped_rows(X, groups, self._deferral_columns())
        self.conformal_: ConformalSets | None = split_conformal(
            _scores(self.evidence(X), score),
            y,
            coverage=coverage,
            score=score,
            class_conditional=class_conditional,
            allow_empty=allow_empty,
            classes=self.classes_,
            groups=labels,
            column=column,
        )
        return self

    def _calibrated_sets(self, X: Any, groups: Any, *, wanted: bool) -> BoolArray | None:
        """Return the calibrated sets, None if there are none or a rule is given."""
        check_is_fitted(self)
        sets = getattr(self, "conformal_", None) if wanted else None
        X, labels, _ = rows_of_known_groups(X, groups, sets, self._deferral_columns())
        if sets is None:
            return None
        return np.asarray(sets.sets(_scores(self.evidence(X), sets.score), labels))

    @property
    def deferral_(self) -> DeferralControl | None:
        """The thresholds of :meth:`predict_or_defer`; None before :meth:`control_error`."""
        check_is_fitted(self)
        state = getattr(self, "deferral_state_", None)  # not there in files of earlier versions
        return None if state is None else restored_deferral(state, len(self.classes_))

    def _forget_calibration(self) -> None:
        """Drop what was calibrated on earlier training data."""
        self.conformal_ = None
        self.deferral_state_: dict[str, Any] | None = None

    def _deferral(self) -> DeferralControl | None:
        return self.deferral_

    def _keep_deferral(self, control: DeferralControl) -> None:
        self.deferral_state_ = deferral_state(control)  # plain values, for files without pickle

    def _deferral_classes(self) -> NDArray[Any]:
        check_is_fitted(self)
        return np.asarray(self.classes_)

    def _deferral_columns(self) -> tuple[str, ...] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else tuple(str(name) for name in names)

    def _deferral_bet(self, X: Any) -> MassEvidence:
        return self.evidence(X)

    def _deferral_plain(self, X: Any) -> MassEvidence:
        return self.evidence(X)

    def _deferral_typicality(self, X: Any) -> Array | None:
        del X  # the background of the combination is not kept
        return None


def _scores(evidence: MassEvidence, score: str) -> FloatArray:
    """Return conformal scores (n, K), also of evidence without weights."""
    if isinstance(evidence, Evidence):
        return to_numpy(conformal_scores(evidence.pooled, score))
    if score != "plausibility":
        raise ValueError(
            f"score={score!r} needs evidence with weights, and {type(evidence).__name__} has none. "
            "Use score='plausibility', or combination='dempster' without reliability."
        )
    plausibility = np.clip(to_numpy(evidence.plausibility).astype(np.float64), 0.0, 1.0)
    with np.errstate(divide="ignore"):  # a class that is certain, or ruled out
        return np.asarray(np.log1p(-plausibility) - np.log(plausibility))
