"""``RiskCoverageDisplay``: what answering fewer rows saves in errors."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray
from shafer.metrics.risk_coverage import (
    excess_risk_coverage_area,
    risk_coverage_area,
    risk_coverage_curve,
)
from shafer.plots.style import axes_for, color, drawn_html, ink, line_style, literal

_FEW = 0.05  # of the rows: the error among fewer is noise, which must not set the scale


@final
class RiskCoverageDisplay:
    """The error among the answered rows against the share of answered rows.

    A confidence without information gives a level line at the error rate, the dotted line. Draw
    several curves on the same axes to compare confidences.

    Make one with :meth:`from_predictions`.

    Parameters
    ----------
    coverage, risk : arrays of shape (T,)
        As :func:`shafer.metrics.risk_coverage_curve` returns them.
    area, excess : float
        Area under the curve, and its distance from the smallest possible area.
    name : str, optional
        Name of the confidence, for the legend.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    DeferralDisplay : With an upper bound of the error.
    ErrorImprecisionDisplay : For sets of classes.
    shafer.metrics.risk_coverage_curve : The curve as numbers.

    Examples
    --------
    >>> import shafer
    >>> display = shafer.plots.RiskCoverageDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0, 1, 1, 1], [0.9, 0.8, 0.7, 0.6]
    ... )
    >>> round(display.area, 4), round(display.excess, 4)
    (0.1458, 0.0833)
    """

    def __init__(
        self,
        coverage: FloatArray,
        risk: FloatArray,
        *,
        area: float,
        excess: float,
        name: str | None = None,
    ) -> None:
        self.coverage = coverage
        self.risk = risk
        self.area = area
        self.excess = excess
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        confidence: Any,
        *,
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
    ) -> Self:
        """Compute the curve and its areas.

        Parameters
        ----------
        y_true, y_pred, confidence, labels, sample_weight
            As in :func:`shafer.metrics.risk_coverage_curve`.
        name : str, optional
            Name of the confidence, for the legend.

        Returns
        -------
        RiskCoverageDisplay
            Call its :meth:`plot`.
        """
        options = {"labels": labels, "sample_weight": sample_weight}
        curve = risk_coverage_curve(y_true, y_pred, confidence, **options)
        return cls(
            curve.coverage,
            curve.risk,
            area=risk_coverage_area(y_true, y_pred, confidence, **options),
            excess=excess_risk_coverage_area(y_true, y_pred, confidence, **options),
            name=name,
        )

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
        RiskCoverageDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        self.ax_, self.figure_ = axes_for(ax)
        position = sum(not str(line.get_label()).startswith("_") for line in self.ax_.lines)
        area = f"area {self.area:.3f}, excess {self.excess:.3f}"
        self.ax_.axhline(self.risk[-1], color=ink(), linestyle="dotted", linewidth=1.0)
        self.ax_.plot(
            np.concatenate([[0.0], self.coverage]),
            np.concatenate([self.risk[:1], self.risk]),  # level up to the first rows answered
            color=color(position),
            linestyle=line_style(position),
            linewidth=2.0,
            label=area if self.name is None else f"{literal(self.name)} ({area})",
        )
        self.ax_.set_xlim(-0.02, 1.02)
        steady = float(self.risk[self.coverage >= min(_FEW, self.coverage[-1])].max())
        top = max(self.ax_.get_ylim()[1] if position else 0.01, 1.15 * steady)
        self.ax_.set_ylim(-0.03 * top, top)
        self.ax_.set_xlabel("coverage (share of rows answered)")
        self.ax_.set_ylabel("risk (error among them)")
        if legend:
            self.ax_.legend(fontsize="small", framealpha=0.9)
        return self

    def _repr_html_(self) -> str:
        return drawn_html(self)
