"""``Promises``: the only home of thresholds, for sets and for deferral."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from shafer.conformal.cross import CrossConformalSets
    from shafer.conformal.split import ConformalSets
    from shafer.deferral.control import DeferralControl


@final
@dataclass(eq=False, repr=False)
class Promises:
    """What was promised on held-out rows about the predictions of a model.

    Attributes
    ----------
    conformal : ConformalSets or None
        The threshold of prediction sets, after ``conformalize``.
    cross : CrossConformalSets or None
        The same with ``cv=``, which needs the models of the folds.
    folds : sequence of Explainers
        The models of the folds.
    deferral : DeferralControl or None
        The thresholds of deferral, after ``control_error``.
    guarded : Promises or None
        Those about predictions that are guarded against wrong inputs; other predictions cannot
        keep them.
    """

    conformal: ConformalSets | None = None
    cross: CrossConformalSets | None = None
    folds: Sequence[Any] = ()
    deferral: DeferralControl | None = None
    guarded: Promises | None = None

    @property
    def error_bound(self) -> float | dict[Any, float] | None:
        """The upper bound of the error of the rows that ``predict_or_defer`` decides.

        With ``by``, a mapping from the group. None without a promise about errors; see
        :meth:`shafer.Explainer.control_budget`.
        """
        return None if self.deferral is None else self.deferral.error_bound

    @property
    def text(self) -> str:
        """What is promised in words; empty if nothing is."""
        sets = self.cross if self.conformal is None else self.conformal
        made = [promise.text for promise in (sets, self.deferral) if promise is not None]
        return "; ".join(made)

    def __repr__(self) -> str:
        return f"<Promises: {self.text or 'none yet: conformalize, control_error'}>"

    def about_guarded(self) -> Promises:
        """Return the promises about guarded predictions, empty at first."""
        if self.guarded is None:
            self.guarded = Promises()
        return self.guarded

    def promise_sets(self, sets: ConformalSets) -> None:
        """Keep a threshold of prediction sets, in place of an earlier one."""
        self.conformal, self.cross, self.folds = sets, None, ()

    def promise_cross(self, sets: CrossConformalSets, folds: Sequence[Any]) -> None:
        """Keep a calibration over folds, in place of an earlier one."""
        self.conformal, self.cross, self.folds = None, sets, folds

    def clear(self) -> None:
        """Forget everything: the weights have changed."""
        self.conformal = self.cross = self.deferral = None
        self.folds = ()
        if self.guarded is not None:
            self.guarded.clear()
