"""``DeferralDisplay``: what deferring rows saves in errors, and what is promised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes

from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.frames import in_row_order
from shafer._checks.labels import group_labels, label_array, label_positions, true_classes
from shafer.deferral.curve import DeferralCurve, deferral_curves
from shafer.plots.style import axes_for, color, drawn_html, halo, ink, line_style, literal

_RISKS = {
    "error": "error among decided rows",
    "false_negative_rate": "share of the class that is missed",
    "mean_loss": "mean loss of decided rows",
}
_STEADY = 0.05  # of the rows: the error among fewer is noise, which must not set the scale


@final
class DeferralDisplay:
    """The error among decided rows against the share of rows decided, with its upper bound.

    The dashed line is the exact upper bound of the error at each threshold by itself. The dotted
    line is the promise, and the dot the threshold in use. It may stand to the left of the place
    where the bound crosses the promise: it was found on the calibration rows, and pays for having
    searched. With groups there is one panel for each.

    Make one with :meth:`from_explainer` or :meth:`from_predictions`.

    Parameters
    ----------
    curves : sequence of DeferralCurve
        One, or one for each group.
    level : float
        The promised bound.
    confidence : float
        Of the upper bound.
    kind : {"error", "false_negative_rate", "mean_loss"}
        What is promised.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes (the first, if there are several) and figure, after :meth:`plot`.
    axes_ : array of matplotlib axes, after :meth:`plot`.

    See Also
    --------
    RiskCoverageDisplay : The error without a bound.
    shafer.Explainer.control_error : Finds the threshold.

    Examples
    --------
    >>> import shafer
    >>> display = shafer.plots.DeferralDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0, 1, 1, 1], [0.9, 0.8, 0.6, 0.7], error=0.3, threshold=0.65
    ... )
    >>> display.curves[0].share, display.curves[0].risk
    (array([0.25, 0.5 , 0.75, 1.  ]), array([0.  , 0.  , 0.  , 0.25]))
    >>> display.curves[0].chosen
    0.75
    """

    def __init__(
        self,
        curves: Sequence[DeferralCurve],
        *,
        level: float,
        confidence: float = 0.9,
        kind: str = "error",
    ) -> None:
        self.curves = tuple(curves)
        self.level = level
        self.confidence = confidence
        self.kind = kind

    @classmethod
    def from_explainer(cls, explainer: Any, X: Any, y: Any, *, by: Any = None) -> Self:
        """Compute the curves of an explainer or classifier after ``control_error``.

        Parameters
        ----------
        explainer : Explainer, EvidentialClassifier or EvidentialVotingClassifier
        X, y : as in ``control_error``
            Rows to draw: the calibration rows, or better new ones.
        by : array of shape (n,), optional
            As in ``predict_or_defer``.

        Returns
        -------
        DeferralDisplay
            Call its :meth:`plot`.
        """
        y, found = in_row_order(y, X), explainer.predict_or_defer(X, by=by)
        promise = found.control.promise
        truth = label_positions(y, found.classes, len(found))
        answers = label_positions(found.labels, found.classes, len(found))
        curves = deferral_curves(
            found.scores,
            promise.scaled_losses(answers, truth),
            promise.own_rows(truth, found.classes),
            ~found.deferred,
            found.by,
            promise.confidence,
            promise.kind,
        )
        if promise.loss is not None:
            low, high = float(promise.loss.min()), float(promise.loss.max())
            curves = [curve.rescaled(low, high) for curve in curves]
        return cls(curves, level=promise.level, confidence=promise.confidence, kind=promise.kind)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        score: Any,
        *,
        error: float = 0.05,
        confidence: float = 0.9,
        threshold: float | None = None,
        by: Any = None,
        labels: Any = None,
    ) -> Self:
        """Compute the curves from answers and how sure they are.

        Parameters
        ----------
        y_true, y_pred : arrays of shape (n,)
            True classes and answers.
        score : array of shape (n,)
            Larger where the answer is surer, such as the largest probability.
        error, confidence : float
            The promise, as in ``control_error``.
        threshold : float, optional
            The threshold in use: rows with a greater score are decided. All by default.
        by : array of shape (n,), optional
        labels : sequence of K labels, optional
            The classes, if ``y_true`` and ``y_pred`` do not hold them all.

        Returns
        -------
        DeferralDisplay
            Call its :meth:`plot`.
        """
        sure = to_numpy(float_array(score, "score", ndim=(1,))).astype(np.float64)
        answers = label_array(y_pred, "y_pred")
        known = (
            labels
            if labels is not None
            else group_labels(np.concatenate([label_array(y_true, "y_true"), answers]))
        )
        truth = true_classes(y_true, known, len(known), n=len(sure), name="y_true", option="labels")
        wrong = truth.positions != label_positions(answers, truth.classes, len(sure), "y_pred")
        decided = np.ones(len(sure), dtype=bool) if threshold is None else sure > threshold
        given = None if by is None else label_array(by, "by")
        every = np.ones(len(sure), dtype=bool)
        curves = deferral_curves(
            sure, wrong.astype(float), every, decided, given, confidence, "error"
        )
        return cls(curves, level=error, confidence=confidence)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw on ``ax`` (then all groups on it), or on new axes, one for each group.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        legend : bool
            Whether to draw a legend.

        Returns
        -------
        DeferralDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if ax is None and len(self.curves) > 1:
            self._plot_panels(legend)
            return self
        self.ax_, self.figure_ = axes_for(ax)
        self.axes_ = np.array([self.ax_])
        for position, curve in enumerate(self.curves):
            self._draw(self.ax_, curve, position, literal(curve.name))
        self._finish(self.ax_, legend, most=max(map(self._top, self.curves)))
        return self

    def _plot_panels(self, legend: bool) -> None:
        from matplotlib import pyplot

        columns = min(len(self.curves), 3)
        rows = -(-len(self.curves) // columns)
        self.figure_, axes = pyplot.subplots(
            rows,
            columns,
            figsize=(3.4 * columns + 0.6, 3.1 * rows),
            sharex=True,
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        self.axes_ = axes.ravel()[: len(self.curves)]
        self.ax_ = self.axes_[0]
        for unused in axes.ravel()[len(self.curves) :]:
            unused.set_visible(False)
        most = max(map(self._top, self.curves))
        for position, (panel, curve) in enumerate(zip(self.axes_, self.curves, strict=True)):
            self._draw(panel, curve, 0, "")
            self._finish(panel, legend=False, most=most)
            panel.set_title(literal(curve.name), fontsize="medium")
            panel.set_xlabel("")
            panel.set_ylabel(panel.get_ylabel() if position % columns == 0 else "")
        self.figure_.supxlabel("share of rows decided, the surest first", fontsize="medium")
        if legend:
            handles, texts = self.ax_.get_legend_handles_labels()
            where: dict[str, Any] = {"loc": "outside upper center", "ncols": len(handles)}
            self.figure_.legend(handles, texts, fontsize="small", frameon=False, **where)

    def _draw(self, ax: Axes, curve: DeferralCurve, position: int, name: str) -> None:
        look: dict[str, Any] = {"color": color(position), "drawstyle": "steps-post"}
        start = f"{name}: " if name else ""
        ax.plot(
            curve.share,
            curve.risk,
            linewidth=2.0,
            linestyle=line_style(position) if name else "solid",
            label=f"{start}{_WORDS[self.kind]} on these rows",
            **look,
        )
        bound = f"upper bound ({100 * self.confidence:g} %) if no threshold was searched"
        ax.plot(
            curve.share,
            curve.bound,
            linewidth=1.0,
            linestyle="dashed",
            label="_" if position else bound,
            **look,
        )
        if curve.chosen > 0.0:
            ax.plot(
                [curve.chosen],
                [curve.chosen_risk],
                marker="o",
                markersize=8,
                color=color(position),
                markeredgecolor=ink(),
                linestyle="none",
                zorder=5,
                clip_on=False,
            )
        if not name:
            self._say(ax, curve)

    def _say(self, ax: Axes, curve: DeferralCurve) -> None:
        """Write what the threshold in use decides."""
        share = round(100 * curve.chosen)
        text = f"{share} % decided, {100 - share} % deferred" if curve.chosen else "all deferred"
        right = curve.chosen > 0.6
        if curve.chosen:
            ax.axvline(curve.chosen, color=color(0), linewidth=1.0, alpha=0.5)
        ax.annotate(
            text,
            (curve.chosen, 0.97),
            xycoords=("data", "axes fraction"),
            xytext=(-4 if right else 4, 0),
            textcoords="offset points",
            ha="right" if right else "left",
            va="top",
            fontsize="small",
            path_effects=halo(),
        )

    def _top(self, curve: DeferralCurve) -> float:
        steady = curve.share >= min(_STEADY, float(curve.share[-1]))
        high = max(float(curve.risk[steady].max()), self.level)
        low = min(0.0, float(curve.risk.min()), self.level)
        return max(high + 0.3 * (high - low), self.level + 1.2 * (self.level - low))

    def _finish(self, ax: Axes, legend: bool, most: float) -> None:
        ax.axhline(self.level, color=ink(), linestyle="dotted", linewidth=1.5, label=self._promised)
        ax.set_xlim(0.0, 1.02)
        low = min(0.0, *(float(curve.risk.min()) for curve in self.curves), self.level)
        ax.set_ylim(low - 0.02 * (most - low), most)
        ax.set_xlabel("share of rows decided, the surest first")
        ax.set_ylabel(_RISKS[self.kind])
        if legend:
            ax.legend(fontsize="small", framealpha=0.9, loc="upper left", bbox_to_anchor=(0, 0.92))

    @property
    def _promised(self) -> str:
        if self.kind == "mean_loss":
            return f"promised: at most {self.level:g} (confidence {100 * self.confidence:g} %)"
        return (
            f"promised: at most {100 * self.level:.3g} % (confidence {100 * self.confidence:g} %)"
        )

    def _repr_html_(self) -> str:
        return drawn_html(self)


_WORDS = {"error": "error", "false_negative_rate": "misses", "mean_loss": "mean loss"}
