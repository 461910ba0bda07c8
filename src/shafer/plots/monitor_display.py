"""``MonitorDisplay``: which components moved, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, Self, final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from shafer._typing import BoolArray, FloatArray
from shafer.plots.style import (
    AGAINST,
    COLORS,
    FOR,
    MARKERS,
    axes_for,
    draw_legend_above,
    drawn_html,
    ink,
    literal,
    readable_on,
    signed,
    width_beside,
    without_end,
    without_middle,
)

_SHARES = ("decisions moved", "coverage")  # the other quantities are means over the batch
_MOST_BATCHES = 14  # beyond that many columns the numbers would not be read
_CELL = (0.62, 0.30)  # inches
_CURVES = 2.1  # inches for the quantities below


@final
class MonitorDisplay:
    """Components against batches: how far each component moved, and where the alarms were.

    A cell is the mean shift of a component's weights in a batch, in units of evidence. Blue is
    towards the class, orange is away from it. Framed and bold cells moved significantly; the others
    may be chance. A triangle above a column marks an alarm. The lines below are shares and means of
    the batch.

    Make one with :meth:`shafer.Monitor.display`, or :meth:`shafer.monitor.MonitorStream.display`.

    Parameters
    ----------
    shifts : array of shape (G, T)
        Shift of each component in each batch.
    component_names : sequence of G strings
    batch_names : sequence of T strings
    moved : boolean array of shape (G, T)
        Shifts that are significant.
    alarms : boolean array of shape (T,)
    quantities : mapping from name to array of shape (T,), optional
        Shares and means of the batches, drawn as lines; NaN where not known.
    unit : str
        What the numbers are.
    batch_name : str
        What the columns are.
    signed : bool
        Whether shifts have a sign; otherwise larger is darker.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.
    curves_ax_ : matplotlib axes of the quantities, or None.

    See Also
    --------
    shafer.Monitor.display : Makes one for batches.
    shafer.monitor.MonitorStream.display : Makes one for a stream.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> rows = np.random.default_rng(0).normal(size=(300, 2))
    >>> explainer = shafer.Explainer(([1.0, -2.0], 0.0), rows, names=["u", "v"])
    >>> monitor = shafer.Monitor.fit(explainer, rows[:200])
    >>> report = monitor.check(rows[200:] + [0.0, 1.0])
    >>> display = monitor.display([report], ["May"])
    >>> display.component_names, display.shifts.round(1).tolist()
    (('v', 'u'), [[-2.1], [0.0]])
    """

    def __init__(
        self,
        shifts: FloatArray,
        component_names: Sequence[str],
        batch_names: Sequence[str],
        *,
        moved: BoolArray,
        alarms: BoolArray,
        quantities: Mapping[str, FloatArray] | None = None,
        unit: str = "",
        batch_name: str = "batch",
        signed: bool = True,
    ) -> None:
        self.shifts = shifts
        self.component_names = tuple(component_names)
        self.batch_names = tuple(batch_names)
        self.moved = moved
        self.alarms = alarms
        self.quantities = dict(quantities or {})
        self.unit = unit
        self.batch_name = batch_name
        self.signed = signed

    def plot(
        self,
        ax: Axes | None = None,
        *,
        top: int = 20,
        quantities: Sequence[str] | None = None,
    ) -> Self:
        """Draw the heat map, and the quantities below it if ``ax`` is None.

        Parameters
        ----------
        ax : matplotlib axes, optional
            For the heat map alone.
        top : int
            The components shown, in their order.
        quantities : sequence of strings, optional
            Quantities to draw; by default the share of decisions moved, the ignorance, the
            disagreement and the typicality.

        Returns
        -------
        MonitorDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if top < 1:
            raise ValueError(f"top must be at least 1; got {top!r}.")
        shown = list(range(min(top, len(self.component_names))))
        chosen = self._chosen(quantities)
        self.curves_ax_ = None
        if ax is None:
            ax, self.curves_ax_ = self._new_axes(shown, bool(chosen))
        self.ax_, self.figure_ = axes_for(ax)
        image = self._draw_cells(shown)
        self._draw_frames(shown, image)
        self._draw_alarms()
        bar = self.figure_.colorbar(image, ax=self.ax_, pad=0.02)
        low, high = image.get_clim()
        ticks = np.asarray(MaxNLocator(5).tick_values(low, high))
        bar.set_ticks(ticks[(ticks >= low) & (ticks <= high)].tolist())
        bar.set_label(literal(fill(without_end(self.unit, 78), 40)))
        if self.curves_ax_ is not None:
            _draw_curves(self.curves_ax_, chosen, self.batch_name, self._ticks())
        else:
            self.ax_.set_xlabel(self.batch_name)
        return self

    def _chosen(self, names: Sequence[str] | None) -> dict[str, FloatArray]:
        if names is None:
            usual = ("decisions moved", "typicality", "disagreement", "ignorance", "coverage")
            return {name: self.quantities[name] for name in usual if name in self.quantities}
        unknown = [name for name in names if name not in self.quantities]
        if unknown:
            raise ValueError(
                f"quantities must be among {list(self.quantities)}; got {unknown[0]!r}."
            )
        return {name: self.quantities[name] for name in names}

    def _new_axes(self, shown: list[int], with_curves: bool) -> tuple[Axes, Axes | None]:
        from matplotlib import pyplot

        names = [without_middle(self.component_names[g]) for g in shown]
        width = width_beside(names, max(3.6, _CELL[0] * min(len(self.batch_names), 20)) + 1.2)
        height = max(2.6, 1.2 + _CELL[1] * len(shown))
        if not with_curves:
            return pyplot.subplots(figsize=(width, height), layout="constrained")[1], None
        figure, (top, below) = pyplot.subplots(
            2,
            1,
            figsize=(width, height + _CURVES),
            height_ratios=(height, _CURVES),
            sharex=True,
            layout="constrained",
        )
        del figure
        return top, below

    def _draw_cells(self, shown: list[int]) -> AxesImage:
        face = matplotlib.rcParams["axes.facecolor"]
        largest = float(np.abs(self.shifts).max()) or 1.0
        ends = [AGAINST, face, FOR] if self.signed else [face, COLORS[0]]
        image = self.ax_.imshow(
            self.shifts[shown],
            cmap=LinearSegmentedColormap.from_list("shift", ends),
            vmin=-largest if self.signed else 0.0,
            vmax=largest,
            aspect="auto",
            interpolation="nearest",
        )
        names = [without_middle(self.component_names[g]) for g in shown]
        self.ax_.set_yticks(range(len(shown)), names)
        ticks = self._ticks()
        long = max(len(name) for _, name in ticks) > 5
        self.ax_.set_xticks(
            [t for t, _ in ticks],
            [name for _, name in ticks],
            rotation=40 if long else 0,
            ha="right" if long else "center",
            rotation_mode="anchor" if long else "default",
        )
        self.ax_.tick_params(length=0)
        if self.curves_ax_ is not None:
            self.ax_.tick_params(labelbottom=False)
        self.ax_.spines[:].set_visible(False)
        return image

    def _ticks(self) -> list[tuple[int, str]]:
        """Return the columns to name: all, or some of many."""
        count = len(self.batch_names)
        step = -(-count // _MOST_BATCHES)
        return [(t, without_end(self.batch_names[t], 12)) for t in range(0, count, step)]

    def _draw_frames(self, shown: list[int], image: AxesImage) -> None:
        written = len(self.batch_names) <= _MOST_BATCHES
        largest = float(np.abs(self.shifts).max())
        for row, g in enumerate(shown):
            for t in range(len(self.batch_names)):
                moved = bool(self.moved[g, t])
                value = float(self.shifts[g, t])
                if moved:
                    corner = (t - 0.47, row - 0.44)
                    self.ax_.add_patch(_frame(corner))
                if written:
                    behind = image.to_rgba(np.array([value]))[0, :3]
                    self.ax_.text(
                        t,
                        row,
                        signed(value, largest) if self.signed else f"{value:.1f}",
                        ha="center",
                        va="center",
                        fontsize="x-small",
                        fontweight="bold" if moved else "normal",
                        color=readable_on(behind),
                    )

    def _draw_alarms(self) -> None:
        where = np.flatnonzero(self.alarms)
        if len(where):
            self.ax_.plot(
                where,
                np.full(len(where), 1.03),
                transform=self.ax_.get_xaxis_transform(),
                linestyle="none",
                marker="v",
                color=AGAINST,
                clip_on=False,
            )
        what = "batches" if self.batch_name == "batch" else "updates"
        title = f"▼ alarm in {len(where)} of {len(self.alarms)} {what}; in a frame: moved"
        self.ax_.set_title(title, fontsize="medium", pad=12.0)

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _frame(corner: tuple[float, float]) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, 0.94, 0.88, fill=False, edgecolor=ink(), linewidth=1.2)


def _draw_curves(
    ax: Axes, chosen: dict[str, FloatArray], batch_name: str, ticks: list[tuple[int, str]]
) -> None:
    for position, (name, values) in enumerate(chosen.items()):
        ax.plot(
            values,
            marker=MARKERS[position % len(MARKERS)],
            color=COLORS[(position + 2) % len(COLORS)],  # the first two mean for and against
            markersize=4.0,
            linewidth=1.2,
            label=literal(f"{name} ({'share' if name in _SHARES else 'mean'})"),
        )
    most = max(float(np.nanmax(values)) for values in chosen.values())
    ax.set_ylim(0.0, min(1.0, 1.15 * most) if 0.0 < most <= 1.0 else None)
    ax.yaxis.set_major_locator(MaxNLocator(3))
    long = max(len(name) for _, name in ticks) > 5
    ax.set_xticks(
        [t for t, _ in ticks],
        [name for _, name in ticks],
        rotation=40 if long else 0,
        ha="right" if long else "center",
        rotation_mode="anchor" if long else "default",
    )
    ax.set_xlabel(batch_name)
    draw_legend_above(ax, ax.get_legend_handles_labels()[0])
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
