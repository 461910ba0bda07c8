"""``IntervalCalibrationDisplay``: observed frequencies against the intervals [Bel, Pl]."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import BoolArray, FloatArray
from shafer.metrics.intervals import IntervalCalibration, interval_calibration
from shafer.plots.style import axes_for, color, drawn_html, ink, literal


@final
class IntervalCalibrationDisplay:
    """Mean intervals [Bel, Pl] of bins, and how often the decisions in them were right.

    A bar reaches from the mean belief to the mean plausibility of a bin. A filled circle is a
    frequency inside the bar, a cross a frequency outside. If belief equals plausibility, the
    picture is a reliability diagram.

    Make one with :meth:`from_predictions`.

    Parameters
    ----------
    calibration : IntervalCalibration
        As :func:`shafer.metrics.interval_calibration` returns it.
    name : str, optional
        Name of the evidence, for the title.
    events : {"decided", "every"}
        Which events are counted: the decided class, or every class.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    shafer.metrics.interval_calibration : The same as numbers.
    IntervalDisplay : The intervals of single rows.

    Examples
    --------
    >>> import shafer
    >>> display = shafer.plots.IntervalCalibrationDisplay.from_predictions(
    ...     [0, 1, 0, 0], [[0.1, 0.2], [0.2, 0.3], [0.6, 0.1], [0.7, 0.1]],
    ...     [[0.8, 0.9], [0.7, 0.8], [0.9, 0.4], [0.9, 0.3]], n_bins=2,
    ... )
    >>> display.calibration.share_inside
    0.5
    """

    def __init__(
        self,
        calibration: IntervalCalibration,
        *,
        name: str | None = None,
        events: str = "decided",
    ) -> None:
        self.calibration = calibration
        self.name = name
        self.events = events

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        belief: Any,
        plausibility: Any,
        *,
        events: str = "decided",
        n_bins: int = 10,
        strategy: str = "quantile",
        labels: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
    ) -> Self:
        """Return a Display of the intervals, sorted into bins.

        Parameters
        ----------
        y_true, belief, plausibility, events, n_bins, strategy, labels, sample_weight
            As in :func:`shafer.metrics.interval_calibration`.
        name : str, optional
            Name of the evidence, for the title.

        Returns
        -------
        IntervalCalibrationDisplay
            Call its :meth:`plot`.
        """
        calibration = interval_calibration(
            y_true,
            belief,
            plausibility,
            events=events,
            n_bins=n_bins,
            strategy=strategy,
            labels=labels,
            sample_weight=sample_weight,
        )
        return cls(calibration, name=name, events=events)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        legend : bool
            Whether to draw a legend.

        Returns
        -------
        IntervalCalibrationDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        self.ax_, self.figure_ = axes_for(ax)
        found = self.calibration
        middle = 0.5 * (found.belief + found.plausibility)
        self.ax_.plot([0, 1], [0, 1], color=ink(), linestyle="dotted", linewidth=1.0)
        self.ax_.vlines(
            middle,
            found.belief,
            found.plausibility,
            color=color(5),
            linewidth=5.0,
            alpha=0.75,
            label="mean belief to plausibility",
        )
        for end in (found.belief, found.plausibility):  # seen where the bar has no length
            self.ax_.plot(middle, end, linestyle="none", marker="_", markersize=10, color=color(5))
        inside = found.inside
        self._draw_frequencies(middle, inside, "o", color(0), "inside")
        self._draw_frequencies(middle, ~inside, "X", color(1), "outside")
        self.ax_.set_xlim(-0.03, 1.03)
        self.ax_.set_ylim(-0.03, 1.03)
        self.ax_.set_xlabel("middle of belief and plausibility")
        decided = self.events == "decided"
        self.ax_.set_ylabel("accuracy of the most plausible class" if decided else "frequency")
        title = f"{int(inside.sum())} of {len(inside)} inside, mean width {found.mean_width:.3f}"
        self.ax_.set_title(
            title if self.name is None else f"{literal(self.name)}: {title}", fontsize="medium"
        )
        if legend:
            self.ax_.legend(fontsize="small", framealpha=0.9)
        return self

    def _draw_frequencies(
        self, middle: FloatArray, which: BoolArray, marker: str, tint: str, label: str
    ) -> None:
        if not np.any(which):
            return
        self.ax_.plot(
            middle[which],
            self.calibration.frequency[which],
            linestyle="none",
            marker=marker,
            markersize=8,
            color=tint,
            markeredgecolor=ink(),
            markeredgewidth=0.8,
            label=f"{'accuracy' if self.events == 'decided' else 'frequency'} {label}",
            clip_on=False,
            zorder=3,
        )

    def _repr_html_(self) -> str:
        return drawn_html(self)
