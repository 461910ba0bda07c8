"""``ErrorImprecisionDisplay``: the error of prediction sets against their size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray
from shafer.metrics.error_imprecision import error_imprecision_curve
from shafer.metrics.rates import mean_imprecision, set_error_rate
from shafer.plots.style import MARKERS, axes_for, color, drawn_html, ink, line_style, literal

_HARDLY_ANY = 0.01  # of the error of one class a row
_MUCH = 0.5  # of the axis: with more to see, all of it is drawn


@final
class ErrorImprecisionDisplay:
    """The error of prediction sets against their imprecision, as the threshold on a score falls.

    An imprecision of 0 means one class per row, 1 means all classes. Decision rules are marked by
    the error and the imprecision of their own sets; a rule below the curve beats the threshold.
    Draw several curves on the same axes to compare scores.

    Make one with :meth:`from_predictions`.

    Parameters
    ----------
    imprecision, error : arrays of shape (T,)
        As :func:`shafer.metrics.error_imprecision_curve` returns them.
    name : str, optional
        Name of the score, for the legend.
    rules : mapping of name to pair of float, optional
        Imprecision and error of decision rules.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    RiskCoverageDisplay : For one answer or none.
    shafer.metrics.error_imprecision_curve : The curve as numbers.

    Examples
    --------
    >>> import shafer
    >>> display = shafer.plots.ErrorImprecisionDisplay.from_predictions(
    ...     ["a", "b"],
    ...     [[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]],
    ...     labels=["a", "b", "c"],
    ...     rules={"cautious": [[1, 0, 0], [1, 1, 1]]},
    ... )
    >>> display.area, display.rules
    (0.0625, {'cautious': (0.5, 0.0)})
    """

    def __init__(
        self,
        imprecision: FloatArray,
        error: FloatArray,
        *,
        name: str | None = None,
        rules: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        self.imprecision = imprecision
        self.error = error
        self.name = name
        self.rules = dict(rules or {})

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        rules: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return a Display of the curve, and of the points of some rules.

        Parameters
        ----------
        y_true, y_score, labels, sample_weight
            As in :func:`shafer.metrics.error_imprecision_curve`.
        name : str, optional
            Name of the score, for the legend.
        rules : mapping of name to boolean array of shape (n, K), optional
            Sets that decision rules chose.

        Returns
        -------
        ErrorImprecisionDisplay
            Call its :meth:`plot`.
        """
        curve = error_imprecision_curve(y_true, y_score, labels=labels, sample_weight=sample_weight)
        points = {
            rule: (
                mean_imprecision(y_set, sample_weight=sample_weight),
                set_error_rate(y_true, y_set, labels=labels, sample_weight=sample_weight),
            )
            for rule, y_set in (rules or {}).items()
        }
        return cls(curve.imprecision, curve.error, name=name, rules=points)

    @property
    def area(self) -> float:
        """The area under the curve; smaller is better."""
        return float(np.trapezoid(self.error, self.imprecision))

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw on ``ax``, beside earlier curves, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        legend : bool
            Whether to draw a legend.

        Returns
        -------
        ErrorImprecisionDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        self.ax_, self.figure_ = axes_for(ax)
        position = sum(not str(line.get_label()).startswith("_") for line in self.ax_.lines)
        area = f"area {self.area:.3f}"
        curve = "sets at every threshold" if self.name is None else literal(self.name)
        self.ax_.plot(
            self.imprecision,
            self.error,
            color=color(position),
            linestyle=line_style(position),
            linewidth=2.0,
            label=f"{curve} ({area})",
        )
        self._draw_rules(position + 1)
        right = max(self._far_enough, self.ax_.get_xlim()[1] / 1.02 if position else 0.0)
        self.ax_.set_xlim(-0.02 * right, 1.02 * right)
        top = max([self.ax_.get_ylim()[1] / 1.08 if position else 0.01, *self._errors])
        self.ax_.set_ylim(-0.03 * top, 1.08 * top)
        self.ax_.set_xlabel("imprecision (0: one class, 1: all classes)")
        self.ax_.set_ylabel("error (true class not in the set)")
        if legend:
            self.ax_.legend(fontsize="small", framealpha=0.9)
        return self

    @property
    def _far_enough(self) -> float:
        """The imprecision up to which there is something to see: little of it for many classes."""
        fallen = self.imprecision[self.error <= _HARDLY_ANY * self.error[0]][0]
        farthest = max([1.3 * float(fallen), *(x for x, _ in self.rules.values())])
        return farthest if 0.0 < farthest < _MUCH else 1.0

    @property
    def _errors(self) -> list[float]:
        return [float(self.error[0]), *(error for _, error in self.rules.values())]

    def _draw_rules(self, position: int) -> None:
        for offset, (rule, (imprecision, error)) in enumerate(self.rules.items()):
            self.ax_.plot(
                [imprecision],
                [error],
                linestyle="none",
                marker=MARKERS[offset % len(MARKERS)],
                markersize=9,
                color=color(position + offset),
                markeredgecolor=ink(),
                label=literal(rule),
                clip_on=False,
                zorder=3,
            )

    def _repr_html_(self) -> str:
        return drawn_html(self)
