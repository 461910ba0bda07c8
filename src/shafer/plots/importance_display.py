"""``ImportanceDisplay``: how much each component moves the log-odds, on average over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np

from shafer._typing import FloatArray, Label
from shafer.evidence.errors import interval
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.reasons import AskedClasses
from shafer.evidence.table import native_frame
from shafer.plots.style import (
    GREY,
    axes_for,
    base_rate_notes,
    drawn_html,
    ink,
    numbers,
    of_instances,
    width_beside,
    without_middle,
)
from shafer.plots.whiskers import draw_whisker

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_PANELS = 3
_LEVEL = 0.9


@final
@dataclass(frozen=True, eq=False)
class PairImportance:
    """The mean absolute log-odds of the components between two classes.

    Attributes
    ----------
    class_, over : class labels
    n_rows : int
        The rows that are compared.
    mean : array of shape (G,)
    lower, upper : arrays of shape (G,), or None
        The 90 % interval, if the evidence has error bars.
    """

    class_: Label
    over: Label
    n_rows: int
    mean: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None


@final
class ImportanceDisplay:
    """A bar for each component: its mean absolute log-odds over many rows, by pair of classes.

    Without ``class_`` and ``over``, each row counts for the pair of its two most probable classes,
    in either order: what decides between them. The base rate is left out.

    Error bars of a mean are those of its rows, averaged: as if all moved together. For a column of
    a linear model that is exact, otherwise they are too long rather than too short.

    Make one with :meth:`from_evidence`, or by ``ev.importance()``.

    Parameters
    ----------
    names : sequence of G strings
        Names of the components, without the base rate.
    pairs : sequence of PairImportance
        The pair with most rows first.
    notes : sequence of strings
        Written below the axis, one a line.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.
    axes_ : list of matplotlib axes, one for each pair that is drawn.

    See Also
    --------
    SummaryDisplay : Every row as a point.
    WaterfallDisplay : One row.

    Examples
    --------
    >>> import shafer
    >>> ev = shafer.Evidence.from_weights(
    ...     [[[0.9, -0.9], [-0.2, 0.2]], [[-0.5, 0.5], [0.1, -0.1]]],
    ...     classes=["no", "yes"], names=["age", "ldl"],
    ... )
    >>> display = shafer.plots.ImportanceDisplay.from_evidence(ev)
    >>> display.to_frame("pandas")
      component class over  n_rows  mean_abs_log_odds
    0       age   yes   no       2                1.4
    1       ldl   yes   no       2                0.3
    """

    def __init__(
        self, names: tuple[str, ...], pairs: tuple[PairImportance, ...], notes: tuple[str, ...] = ()
    ) -> None:
        self.names = tuple(names)
        self.pairs = tuple(pairs)
        self.notes = tuple(notes)

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        *,
        class_: Label | None = None,
        over: Label | None = None,
    ) -> Self:
        """Return a Display of the mean absolute log-odds over all rows.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
        class_, over : class labels, optional
            One pair of classes, over all rows. By default the pairs of the two most probable
            classes of the rows.

        Returns
        -------
        ImportanceDisplay
            Call its :meth:`plot`, or :meth:`to_frame`.
        """
        ev = of_instances(evidence.weighed)
        if len(ev) == 0:
            raise ValueError("importance needs at least one row of evidence; got none.")
        apart = ev.source.base_rates()
        stay = [g for g in range(ev.n_components) if g not in apart]
        if not stay:
            raise ValueError("importance needs a component besides the base rate; there is none.")
        asked = AskedClasses.of(ev, class_, over)
        assert asked.over is not None
        low, high = np.minimum(asked.class_, asked.over), np.maximum(asked.class_, asked.over)
        if over is not None:
            low, high = asked.over, asked.class_
        labels = ev.classes.tolist()
        found = []
        for a, b in np.unique(np.stack([high, low], axis=1), axis=0).tolist():
            rows = np.flatnonzero((high == a) & (low == b))
            part = ev if len(rows) == len(ev) else ev[rows]
            found.append(_importance(part, labels[a], labels[b], stay))
        found.sort(key=lambda pair: -pair.n_rows)
        names = tuple(ev.component_names[g] for g in stay)
        return cls(names, tuple(found), tuple(base_rate_notes(ev)))

    def to_frame(self, backend: str | None = "pandas") -> Any:
        """Return the table, the largest mean of each pair first.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            By default pandas; None takes the library in use.

        Returns
        -------
        data frame
            ``component``, ``class`` and ``over`` (the pair), ``n_rows``, ``mean_abs_log_odds``;
            with error bars ``lower`` and ``upper``, the 90 % interval.
        """
        table: dict[str, list[Any]] = {"component": [], "class": [], "over": [], "n_rows": []}
        numbered = ["mean_abs_log_odds", *(("lower", "upper") if self._has_bars else ())]
        table |= {name: [] for name in numbered}
        for pair in self.pairs:
            for g in np.argsort(-pair.mean, kind="stable").tolist():
                values = (pair.mean, pair.lower, pair.upper)
                table["component"].append(self.names[g])
                table["class"].append(pair.class_)
                table["over"].append(pair.over)
                table["n_rows"].append(pair.n_rows)
                for name, array in zip(numbered, values, strict=False):
                    assert array is not None
                    table[name].append(float(array[g]))
        return native_frame(table, None, backend)

    @property
    def _has_bars(self) -> bool:
        return all(pair.lower is not None for pair in self.pairs)

    def plot(self, ax: Axes | None = None, *, top: int = 12) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            With several pairs, the panels share the room of these axes.
        top : int
            Bars at most; the others are left out, and counted below the axis.

        Returns
        -------
        ImportanceDisplay
            The object itself, with ``ax_``, ``axes_`` and ``figure_``.
        """
        if isinstance(top, bool) or top < 1:
            raise ValueError(f"top must be at least 1; got {top!r}.")
        shown = self.pairs[:_MOST_PANELS]
        rows = np.array([pair.n_rows for pair in shown], dtype=float)
        size = (np.array([pair.mean for pair in shown]) * rows[:, None]).sum(axis=0)
        order = np.argsort(-size, kind="stable")[:top]
        names = [without_middle(self.names[g]) for g in order]
        inner = 4.2 if len(shown) == 1 else 0.6 + 2.3 * len(shown)
        self.ax_, self.figure_ = axes_for(ax, (width_beside(names, inner), 1.3 + 0.3 * len(names)))
        self.axes_ = [self.ax_]
        if len(shown) > 1:
            self.ax_.set_axis_off()
            step = 1.0 / len(shown)
            self.axes_ = [
                self.ax_.inset_axes((panel * step, 0.0, 0.9 * step, 1.0))
                for panel in range(len(shown))
            ]
        most = max(float((p.mean if p.upper is None else p.upper)[order].max()) for p in shown)
        for panel, (axes, pair) in enumerate(zip(self.axes_, shown, strict=True)):
            self._draw(axes, pair, order, names if panel == 0 else [])
            axes.set_xlim(0.0, 1.06 * max(most, 1e-12))
        notes = [*self.notes]
        if len(order) < len(self.names):
            notes.append(f"{len(self.names) - len(order)} smaller ones are not shown")
        if len(shown) < len(self.pairs):
            notes.append(f"{len(self.pairs) - len(shown)} more pairs of classes in to_frame()")
        middle = self.axes_[(len(shown) - 1) // 2]
        said = "mean absolute log-odds"
        if self._has_bars:
            said += ", 90 % intervals"
        said += "\n+1 multiplies or divides the odds by 2.7"
        middle.set_xlabel("\n".join([said, *notes]), x=0.5 if len(shown) % 2 else 1.05)
        return self

    def _draw(self, axes: Axes, pair: PairImportance, order: Any, names: list[str]) -> None:
        places = np.arange(len(order))
        axes.barh(places, pair.mean[order], color=GREY, height=0.62)
        if pair.lower is not None and pair.upper is not None:
            for place, g in zip(places.tolist(), order.tolist(), strict=True):
                draw_whisker(axes, float(pair.lower[g]), float(pair.upper[g]), place)
        axes.set_yticks(places, names or [""] * len(order))
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.axvline(0.0, color=ink(), linewidth=0.8)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        first, second = (without_middle(label, 16) for label in (pair.class_, pair.over))
        rows = f"{pair.n_rows:,} row{'' if pair.n_rows == 1 else 's'}".replace(",", " ")
        axes.set_title(f"{first} or {second}, {rows}", fontsize="medium")

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _importance(part: Evidence, class_: Label, over: Label, stay: list[int]) -> PairImportance:
    contrast = numbers(part.contrast(class_, over))[:, stay]
    mean = np.abs(contrast).mean(axis=0)
    if part.errors is None:
        return PairImportance(class_, over, len(part), mean)
    std = numbers(part.contrast_std(class_, over))[:, stay]
    low, high = interval(contrast, std, part.errors, _LEVEL)
    half = 0.5 * (np.asarray(high) - np.asarray(low)).mean(axis=0)
    return PairImportance(class_, over, len(part), mean, np.maximum(mean - half, 0.0), mean + half)
