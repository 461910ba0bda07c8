"""``SummaryDisplay``: the weights of all components over many instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from shafer._checks.labels import component_names, one_position, positions_of
from shafer._typing import FloatArray, Label
from shafer.evidence.base_rate import base_rate_position
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.compared_classes import (
    ODDS_NOTE,
    Compared,
    axis_text,
    best_others,
    other_than,
    plain_weights,
)
from shafer.plots.feature_values import feature_table
from shafer.plots.style import (
    AGAINST,
    FOR,
    GREY,
    RAMP,
    axes_for,
    base_rate_notes,
    drawn_html,
    ink,
    numbers,
    of_instances,
    width_beside,
    without_middle,
)
from shafer.plots.whiskers import draw_whisker, paler, whisker_legend

_MOST_PANELS = 4
_RIVAL = "the most probable other class"


@final
class SummaryDisplay:
    """A swarm of points for each component: its weights for a class over many instances.

    Components are sorted by their mean absolute weight. Each point is an instance. Its colour is
    the value of the component's feature, from low to high; without features, it shows whether the
    weight is for or against the class. Two classes have one panel, more classes one each. The base
    rate is not a feature: if it is a component of its own, it is left out.

    If the errors of the weights are known, points whose weight cannot be told from zero are pale,
    and two instances of each row have their error bar, at the 5th and the 95th percentile.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    weights : array of shape (n, G, C)
        Weights for each of C classes, one panel each.
    classes : sequence of C class labels
        The classes, one panel each.
    names : sequence of G strings, optional
        Names of the components; x0, x1, ... by default.
    values : array of shape (n, G), optional
        Feature values, for the colours; NaN where there is none.
    left_out : int
        Number of classes that have no panel.
    units : {"weight", "log_odds"}
        Plain weights of evidence, or those for the class over another one.
    over : class label, optional
        The other class; by default the most probable other class of each row.
    lower, upper : arrays of shape (n, G, C), optional
        The ends of the error bars.
    level : float
        Of the error bars.
    notes : sequence of strings
        Written below the axis, one a line.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.
    axes_ : list of C matplotlib axes
        One for each class. With several, ``ax_`` is the frame around them.

    See Also
    --------
    WaterfallDisplay : One row instead of many.
    DependenceDisplay : One component against its values.

    Examples
    --------
    >>> import shafer
    >>> heart = shafer.datasets.load_heart()
    >>> pool = shafer.least_commitment(
    ...     [0.07, 0.18], -4.9, [42.8, 4.7], classes=["no", "yes"], names=["age", "ldl"]
    ... )
    >>> ev = pool(heart.data[:, [8, 2]])
    >>> display = shafer.plots.SummaryDisplay.from_evidence(ev, features=heart.data[:, [8, 2]])
    >>> display.names, display.classes, display.over, display.weights.shape
    (('age', 'ldl'), ('yes',), 'no', (462, 2, 1))
    """

    def __init__(
        self,
        weights: FloatArray,
        classes: Sequence[Label],
        *,
        names: Sequence[str] | None = None,
        values: FloatArray | None = None,
        left_out: int = 0,
        units: str = "weight",
        over: Label | None = None,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
        level: float = 0.9,
        notes: Sequence[str] = (),
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 3 or self.weights.shape[2] != len(classes):
            raise ValueError(
                f"weights must have shape (n, G, {len(classes)}), the last axis for the classes; "
                f"got {self.weights.shape}."
            )
        self.classes = tuple(classes)
        self.names = component_names(names, self.weights.shape[1])
        self.values = values
        self.left_out = left_out
        self.units = units
        self.over = over
        self.lower = lower
        self.upper = upper
        self.level = level
        self.notes = tuple(notes)

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        *,
        features: Any = None,
        classes: Label | Iterable[Label] | None = None,
        over: Label | None = None,
        units: str = "log_odds",
        level: float = 0.9,
    ) -> Self:
        """Return a Display of the weights of all instances.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
        features : array of shape (n, G) or data frame, optional
            Feature values, for the colours. A data frame is matched by the names of its columns;
            components without a column of numbers stay grey. The base rate has no value.
        classes : class label or several, optional
            The classes to draw. By default the second of two, else the four that have most
            evidence, for or against.
        over : class label, optional
            The class to compare with. By default the most probable other class of each row.
        units : {"log_odds", "weight"}
            ``"log_odds"``: the weights for a class over another one, as in
            :meth:`shafer.Evidence.contrast`; with two classes the unit of SHAP values.
            ``"weight"``: the weights of evidence for a class by itself, ``ev.weights``.
        level : float
            Of the error bars, if the errors of the weights are known.

        Returns
        -------
        SummaryDisplay
            Call its :meth:`plot`.
        """
        plain = of_instances(evidence.weighed)
        kept = None if classes is None else positions_of(classes, plain.classes)
        panels = panel_classes(plain, kept, over, _MOST_PANELS)
        found = compared_rows(plain, panels, over, units, level)
        own = base_rate_position(plain)
        stay = [g for g in range(plain.n_components) if g != own]
        names = tuple(plain.component_names[g] for g in stay)
        every = plain.classes.tolist()
        if len(every) == 2 and units == "log_odds" and len(panels) == 1:
            over = every[1 - panels[0]]
        values = None if features is None else feature_table(features, names, len(plain))
        known = [None if part is None else part[:, stay] for part in found]
        return cls(
            found.weights[:, stay],
            [every[k] for k in panels],
            names=names,
            values=values,
            left_out=len(every) - len(panels) - (over is not None) if classes is None else 0,
            units=units,
            over=over,
            lower=known[1],
            upper=known[2],
            level=level,
            notes=base_rate_notes(plain),
        )

    def plot(self, ax: Axes | None = None, *, top: int = 12, colorbar: bool = True) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            With several classes, the panels share the room of these axes.
        top : int
            Rows at most; the weights of the weakest components are added up in the last one.
        colorbar : bool
            Whether to explain the colours of feature values.

        Returns
        -------
        SummaryDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if isinstance(top, bool) or top < 1:
            raise ValueError(f"top must be at least 1; got {top!r}.")
        names, weights, kept = self._rows(top)
        swarms = [
            [
                self._swarm(weights[:, r, panel], int(kept[r]) if r < len(kept) else None, panel)
                for r in range(len(names))
            ]
            for panel in range(len(self.classes))
        ]
        inner = 5.0 if len(swarms) == 1 else 0.6 + 2.1 * len(swarms)
        lines = self._axis_name().count("\n") + (0 if self.lower is None else 2)
        height = 1.25 + 0.2 * lines + (0.36 if self.lower is None else 0.5) * len(names)
        self.ax_, self.figure_ = axes_for(ax, (width_beside(names, inner), height))
        self.axes_ = self._split()
        limits = swarm_limits([row for rows in swarms for row in rows])
        for panel, axes in enumerate(self.axes_):
            self._dress(axes, panel, names, limits)
            for place, row in enumerate(swarms[panel]):
                valued = self.values is not None
                draw_swarm(axes, place, row, limits, valued=valued, panels=len(swarms))
        if self.lower is not None:
            self._explain_bars()
        if colorbar and self.values is not None:
            self._explain_colors()
        return self

    def _rows(self, most: int) -> tuple[list[str], FloatArray, NDArray[np.intp]]:
        """Return the rows' names and weights, (n, R, C), and the components of all but the pool."""
        order = np.argsort(-np.abs(self.weights).mean(axis=(0, 2)), kind="stable")
        kept = order if len(order) <= most else order[: most - 1]
        names = [without_middle(self.names[g]) for g in kept]
        if len(kept) == len(order):
            return names, self.weights[:, kept], kept
        rest = self.weights[:, order[len(kept) :]].sum(axis=1, keepdims=True)
        pooled = np.concatenate([self.weights[:, kept], rest], axis=1)
        return [*names, f"the other {len(order) - len(kept)}"], pooled, kept

    def _swarm(self, weights: FloatArray, g: int | None, panel: int) -> SwarmRow:
        """Return one row; ``g`` is its component, None for the pool."""
        if g is None:
            return SwarmRow(weights)
        values = None if self.values is None else self.values[:, g]
        if self.lower is None or self.upper is None:
            return SwarmRow(weights, values)
        return SwarmRow(weights, values, self.lower[:, g, panel], self.upper[:, g, panel])

    def _split(self) -> list[Axes]:
        """Return one axes for each class, inside ``ax_`` where there are several."""
        if len(self.classes) == 1:
            return [self.ax_]
        self.ax_.set(xticks=[], yticks=[])
        self.ax_.set_axis_off()
        step = 1.0 / len(self.classes)
        bounds = [(panel * step, 0.0, 0.93 * step, 1.0) for panel in range(len(self.classes))]
        return [self.ax_.inset_axes(bound) for bound in bounds]

    def _axis_name(self) -> str:
        label = self.classes[0] if len(self.classes) == 1 else "the class"
        over: object = None
        if self.units == "log_odds":
            over = _RIVAL if self.over is None else self.over
        text = axis_text(label, over, 30)
        if self.left_out:
            text += f" (without the other {self.left_out} classes)"
        odds = () if over is None else (ODDS_NOTE,)
        return "\n".join([text, *odds, *self.notes])

    def _dress(self, ax: Axes, panel: int, names: list[str], limits: tuple[float, float]) -> None:
        ax.axvline(0.0, color=ink(), linewidth=0.8, alpha=0.6, zorder=1)
        for row in range(len(names)):
            ax.axhline(row, color=GREY, linewidth=0.6, alpha=0.35, zorder=0)
        ax.set_yticks(range(len(names)), names if panel == 0 else [""] * len(names))
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(names) - 0.45, -0.55)
        ax.set_xlim(*limits)
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        if len(self.classes) == 1:
            ax.set_xlabel(self._axis_name())
            return
        # Away from the edges, so that the numbers of neighbours stay apart.
        low, high = np.interp([0.12, 0.88], [0.0, 1.0], limits)
        ax.set_xticks([t for t in MaxNLocator(4).tick_values(*limits) if low < t < high])
        ax.set_title(without_middle(self.classes[panel], 20), fontsize="medium")
        if panel == (len(self.classes) - 1) // 2:
            ax.set_xlabel(self._axis_name(), x=1.04 if len(self.classes) % 2 == 0 else 0.5)

    def _explain_bars(self) -> None:
        of = f" of two points, at the {ENDS[0]}th and {ENDS[1]}th percentile"
        lift = 0.0 if len(self.classes) == 1 else 18.0  # above the names of the panels
        whisker_legend(self.ax_, self.level, of=of, lift=lift)

    def _explain_colors(self) -> None:
        bar = self.figure_.colorbar(
            ScalarMappable(cmap=RAMP), ax=self.ax_, ticks=[0.0, 1.0], fraction=0.04, aspect=30
        )
        bar.ax.set_yticklabels(["low", "high"], fontsize="small")
        grey = self.values is not None and not np.isfinite(self.values).any(axis=0).all()
        words = "feature value (grey: not a number)" if grey else "feature value"
        bar.set_label(words, labelpad=-12, fontsize="small")
        bar.ax.tick_params(length=0)
        bar.outline.set_visible(False)

    def _repr_html_(self) -> str:
        return drawn_html(self)


# Weights of many rows for some classes, each over another class: arrays for a summary.


class ComparedRows(NamedTuple):
    """Weights (n, G, C) for C classes, and the ends of their error bars, if they are known."""

    weights: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None


def panel_classes(
    evidence: Evidence, wanted: list[int] | None, over: Label | None, most: int
) -> list[int]:
    """Return the classes that get a panel: those wanted, or those with most evidence."""
    if wanted is not None:
        if over is not None:
            for k in wanted:
                other_than(k, over, evidence.classes)
        return wanted
    every = list(range(evidence.n_classes))
    if over is not None:
        every.remove(one_position(over, evidence.classes, "over"))
    elif len(every) == 2:
        return [1]
    amount = np.abs(numbers(evidence.weights)[:, :, every]).sum(axis=(0, 1))
    return sorted(every[k] for k in np.argsort(-amount, kind="stable")[:most].tolist())


def compared_rows(
    evidence: Evidence, panels: list[int], over: Label | None, units: str, level: float
) -> ComparedRows:
    """Return the weights of all rows for each class of ``panels``.

    With ``units="log_odds"``, over the class ``over``; without it, over the most probable other
    class of each row.
    """
    plain = plain_weights(units, over)
    logits = numbers(evidence.logits)
    found = []
    for k in panels:
        if plain:
            rivals: NDArray[Any] = np.full(len(logits), -1)
        elif over is None:
            rivals = best_others(logits, k)
        else:
            rivals = np.full(len(logits), one_position(over, evidence.classes, "over"))
        found.append(_against(evidence, k, rivals, level))
    stacked = np.stack(found, axis=-1)  # (3, n, G, C)
    if evidence.errors is None:
        return ComparedRows(stacked[0], None, None)
    return ComparedRows(*stacked)


def _against(evidence: Evidence, k: int, rivals: NDArray[Any], level: float) -> FloatArray:
    """Return weights and error bars (3, n, G) for class k over each row's rival; −1 for none."""
    result = np.zeros((3, len(rivals), evidence.n_components))
    for rival in np.unique(rivals).tolist():
        rows = np.flatnonzero(rivals == rival)
        compared = Compared(k, None if rival < 0 else rival)
        part = evidence if len(rows) == len(rivals) else evidence[rows]
        result[0, rows] = compared.weights(part)
        if evidence.errors is not None:
            result[1:, rows] = compared.intervals(part, level)
    return result


# One row of a summary: a swarm of points, pale ones, and two error bars.

ENDS = (5, 95)
"""Percentiles of the instances whose error bars are drawn."""

_REACH = 0.42  # how far a row of points reaches to each side, in rows
_ROOM = 0.2  # rows: less of that where error bars lie below
_BARS = (0.24, 0.37)  # rows below the middle: where they lie
_MANY = 2000  # points: from here on a picture holds an image of them, not every one


class SwarmRow(NamedTuple):
    """The weights of one component, (n,), its feature's values, and the ends of its error bars."""

    weights: FloatArray
    values: FloatArray | None = None
    lower: FloatArray | None = None
    upper: FloatArray | None = None

    def ends(self) -> list[tuple[float, float, float]]:
        """Return the two error bars that are drawn: the weight, and the lower and upper end."""
        if self.lower is None or self.upper is None:
            return []
        order = np.argsort(self.weights, kind="stable")
        chosen = [order[round((len(order) - 1) * share / 100)] for share in ENDS]
        ends = [(self.weights[i], self.lower[i], self.upper[i]) for i in chosen]
        return [(float(weight), float(low), float(high)) for weight, low, high in ends]

    def reach(self) -> FloatArray:
        """Return all that must lie inside the axes."""
        return np.concatenate([self.weights, *map(np.array, self.ends())])

    def colors(self, valued: bool) -> NDArray[Any]:
        """Return colours (n, 4): of the values; without any in the picture, for and against."""
        if not valued:
            sides = np.array([to_rgba(FOR), to_rgba(AGAINST)])
            found: NDArray[Any] = sides[(self.weights < 0).astype(int)]
        else:
            found = _by_value(self.values, len(self.weights))
        if self.lower is not None and self.upper is not None:
            near_zero = (self.lower <= 0.0) & (self.upper >= 0.0)
            found[near_zero] = paler(found[near_zero])
        return found


def draw_swarm(
    ax: Axes, place: int, row: SwarmRow, limits: tuple[float, float], *, valued: bool, panels: int
) -> None:
    """Draw a row around the height ``place``, in a picture with some panels beside each other."""
    x = row.weights
    reach = _REACH if row.lower is None else _REACH - _ROOM
    offsets = swarm_offsets(x, *limits, bins=110 if panels == 1 else 60)
    step = min(0.1, reach / max(1.0, float(np.abs(offsets).max())))
    middle = place if row.lower is None else place - _ROOM / 2
    ax.scatter(
        x,
        middle + step * offsets,
        s=float(np.clip(4000.0 / len(x), 3.0, 16.0)) / (1 if panels == 1 else 1.5),
        c=row.colors(valued),
        linewidths=0,
        rasterized=len(x) > _MANY,
        zorder=3,
    )
    for (weight, low, high), below in zip(row.ends(), _BARS, strict=False):
        draw_whisker(ax, low, high, place + below, cap=0.05)
        ax.plot(weight, place + below, marker="o", markersize=2.4, color=ink(), zorder=4)


def _by_value(values: FloatArray | None, n: int) -> NDArray[Any]:
    colors = np.tile(to_rgba(GREY), (n, 1))
    if values is None:
        return colors
    known = np.isfinite(values)
    if known.any():
        # The outermost values would leave all the others one colour.
        low, high = np.percentile(values[known], [3, 97])
        if low == high:  # most values are the same: spread the others over the whole range
            low, high = values[known].min(), values[known].max()
        share = (values[known] - low) / ((high - low) or 1.0) if high > low else 0.5
        colors[known] = RAMP(np.clip(share, 0.0, 1.0) * np.ones(int(known.sum())))
    return colors


def swarm_limits(rows: list[SwarmRow]) -> tuple[float, float]:
    """Return limits that hold zero, all points and all error bars, with a little room."""
    reached = np.concatenate([row.reach() for row in rows] + [np.zeros(1)])
    low, high = float(reached.min()), float(reached.max())
    pad = 0.03 * ((high - low) or 2.0)
    return low - pad, high + pad


# Beeswarms: points that share a place are moved apart, all at once.


def swarm_offsets(x: FloatArray, low: float, high: float, bins: int = 110) -> FloatArray:
    """Return how many places each point moves up (or down, if negative) to lie beside the others.

    Points of the same bin of x take the places 0, 1, −1, 2, −2, ... in an order that is shuffled,
    so that no colour lies outside, but is the same in every run.

    Parameters
    ----------
    x : array of shape (n,)
    low, high : float
        Range the bins divide.
    bins : int
        How many; about the width of the axes over that of a point.

    Examples
    --------
    >>> import numpy as np
    >>> sorted(swarm_offsets(np.array([0.5, 0.5, 0.5, 0.9]), 0.0, 1.0).tolist())
    [-1.0, 0.0, 0.0, 1.0]
    """
    width = (high - low) or 1.0
    binned = np.clip(((x - low) / width * bins).astype(np.intp), 0, bins - 1)
    shuffled = np.random.default_rng(0).permutation(len(x))
    order = shuffled[np.argsort(binned[shuffled], kind="stable")]
    ordered = binned[order]
    first = np.searchsorted(ordered, ordered, side="left")  # where the point's own bin begins
    rank = np.arange(len(x)) - first
    offsets = np.empty(len(x))
    offsets[order] = np.where(rank % 2 == 1, 1.0, -1.0) * ((rank + 1) // 2)
    return offsets + 0.0  # no minus zero
