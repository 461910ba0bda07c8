"""``IntervalDisplay``: each class between its belief and its plausibility."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self, TypeAlias, final

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import class_labels
from shafer._typing import BoolArray, FloatArray
from shafer.decision.class_rules import interval_dominance
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.style import (
    COLORS,
    GREY,
    axes_for,
    draw_legend_above,
    drawn_html,
    ink,
    numbers,
    of_instances,
    width_beside,
    without_middle,
)

_MOST_INSTANCES = 24
_AXIS = "bar: belief to plausibility, not a confidence interval\nwidth of the bar = "
_WIDTH = ("ignorance", "mass on sets of this class and others")  # of two classes, and of more
_NOTE = (
    "* The probability is the normalised plausibility. With more than\n"
    "two classes it can lie below belief, but never above plausibility."
)


@final
class IntervalDisplay:
    """Every class of one or several instances as the interval from belief to plausibility.

    Such a bar is not a confidence interval. Its width is the mass on sets of this class and others;
    with two classes it is the ignorance. The probability is marked. It is the plausibility divided
    by the sum of all plausibilities, which is at least 1. So it is never above the plausibility.
    With two classes it is never below the belief; with more it can be: then the name of the class
    has an asterisk, and a note explains it. A class is dominated, or ruled out, if its plausibility
    is below the belief of another class: its interval is grey and ends left of the dotted line.
    Decided classes are dark, with bold names. With many classes, the most plausible are drawn, and
    the last bar spans the intervals of all others.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    belief, plausibility, probability, pignistic : arrays of shape (n, K)
    chosen : boolean array of shape (n, K), optional
        The decided set of each instance; by default the classes that are not dominated.
    classes : array of shape (K,), optional
        Class labels; 0..K−1 by default.
    names : sequence of n strings, optional
        Names of the instances.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    MassDisplay : The masses behind the intervals.
    WaterfallDisplay : The components behind them.

    Examples
    --------
    >>> import shafer
    >>> weights = [[[0.9, 0.4, -1.3], [-0.2, 0.3, -0.1]]]
    >>> ev = shafer.Evidence.from_weights(weights, classes=["a", "b", "c"])
    >>> display = shafer.plots.IntervalDisplay.from_evidence(ev)
    >>> display.dominated
    array([[False, False,  True]])
    """

    def __init__(
        self,
        belief: FloatArray,
        plausibility: FloatArray,
        probability: FloatArray,
        pignistic: FloatArray,
        *,
        chosen: BoolArray | None = None,
        classes: Any = None,
        names: Sequence[Any] | None = None,
    ) -> None:
        self.belief = np.atleast_2d(belief)
        self.plausibility = np.atleast_2d(plausibility)
        self.probability = np.atleast_2d(probability)
        self.pignistic = np.atleast_2d(pignistic)
        n, n_classes = self.belief.shape
        if n > _MOST_INSTANCES:
            raise ValueError(
                f"At most {_MOST_INSTANCES} instances fit into one picture; got {n}. "
                "Take some rows: ev[:6]."
            )
        self.classes = class_labels(classes, n_classes)
        self.chosen = ~self.dominated if chosen is None else np.atleast_2d(chosen)
        self.names = None if names is None else tuple(str(name) for name in names)
        if self.names is not None and len(self.names) != n:
            raise ValueError(f"names must hold {n} names of instances; got {len(self.names)}.")

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        *,
        rule: str = "interval_dominance",
        names: Sequence[Any] | None = None,
        **options: Any,
    ) -> Self:
        """Return a Display of the intervals and the decided sets of all instances.

        Parameters
        ----------
        evidence : MassEvidence
            One instance or several, such as ``ev[3]`` or ``ev[[3, 14, 15]]``.
        rule : str
            As in :meth:`shafer.Evidence.decide`, with its ``options``.
        names : sequence of strings, optional
            Names of the instances; by default they are counted.
        **options
            Options of the rule.

        Returns
        -------
        IntervalDisplay
            Call its :meth:`plot`.
        """
        of_instances(evidence)
        if names is None and len(evidence) > 1:
            names = [f"instance {i}" for i in range(len(evidence))]
        return cls(
            numbers(evidence.belief),
            numbers(evidence.plausibility),
            numbers(evidence.betting_probability),
            numbers(evidence.pignistic),
            chosen=to_numpy(evidence.decide(rule, **options)).astype(bool),
            classes=evidence.classes,
            names=names,
        )

    @property
    def dominated(self) -> BoolArray:
        """Whether the plausibility of a class is below the belief of another, boolean (n, K)."""
        return np.asarray(~interval_dominance(self.belief, self.plausibility))

    @property
    def below_belief(self) -> BoolArray:
        """Whether the probability of a class lies below its interval, boolean (n, K)."""
        return np.asarray(self.probability < self.belief - SEEN)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        top: int = 10,
        legend: bool = True,
        pignistic: bool = False,
    ) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        top : int
            Bars for each instance at most; the last one is for all other classes.
        legend : bool
            Whether to explain the marks above the picture.
        pignistic : bool
            Whether to mark the pignistic probability too.

        Returns
        -------
        IntervalDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if isinstance(top, bool) or top < 2:
            raise ValueError(f"top must be at least 2; got {top!r}.")
        blocks = [self._rows(i, top) for i in range(len(self.belief))]
        gap = 1.3 if self.names is not None else 0.0
        places, heads, bottom = stacked(blocks, gap)
        width = width_beside(row.name for rows in blocks for row in rows)
        height = (1.9 if _any_below(blocks) else 1.5) + 0.29 * (bottom + 0.6)
        self.ax_, self.figure_ = axes_for(ax, (width, height))
        for i, (rows, place) in enumerate(zip(blocks, places, strict=True)):
            self._draw_block(i, rows, place, pignistic)
        self._dress(blocks, places, heads)
        if legend:
            draw_legend_above(self.ax_, interval_handles(blocks, self._words, pignistic))
        return self

    def _rows(self, i: int, top: int) -> list[IntervalRow]:
        n_classes = len(self.classes)
        kept: NDArray[np.intp] = np.arange(n_classes)
        if n_classes > top:
            kept = np.argsort(-self.plausibility[i], kind="stable")[: top - 1]
        rows = [
            IntervalRow(
                without_middle(self.classes[k]),
                float(self.belief[i, k]),
                float(self.plausibility[i, k]),
                self._state(i, k),
                (float(self.probability[i, k]), float(self.pignistic[i, k])),
            )
            for k in kept
        ]
        if len(kept) == n_classes:
            return rows
        rest = np.setdiff1d(np.arange(n_classes), kept)
        kept_too = int(self.chosen[i, rest].sum())
        note = f" ({kept_too} {self._words[0]})" if kept_too else ", each"
        low, high = float(self.belief[i, rest].min()), float(self.plausibility[i, rest].max())
        state = "dominated" if self.dominated[i, rest].all() else "possible"
        return [*rows, IntervalRow(f"the other {len(rest)}{note}", low, high, state, None)]

    @property
    def _words(self) -> tuple[str, str]:
        """For decided classes, and for others; some rules keep all that is possible."""
        if (self.chosen == ~self.dominated).all():
            return "still possible", "some still possible"
        return "decided", "possible, not decided"

    def _state(self, i: int, k: int) -> str:
        if self.chosen[i, k]:
            return "decided"
        return "dominated" if self.dominated[i, k] else "possible"

    def _draw_block(
        self, i: int, rows: list[IntervalRow], place: FloatArray, pignistic: bool
    ) -> None:
        self.ax_.plot(
            [self.belief[i].max()] * 2,
            [place[0] - 0.5, place[-1] + 0.5],
            color=ink(),
            linestyle=(0, (1, 2)),
            linewidth=1.0,
            zorder=1,
        )
        for row, y in zip(rows, place, strict=True):
            if row.state == "decided":  # seen also where the interval is next to nothing
                self.ax_.axhspan(y - 0.5, y + 0.5, color=DECIDED, alpha=0.17, linewidth=0)
            self.ax_.barh(
                y,
                max(row.high - row.low, 0.0),
                left=row.low,
                height=(2 if row.marks else 0.7) * HALF_BAR,
                **interval_look(row.state),
                zorder=2,
            )
            if row.marks is None:
                continue
            self.ax_.plot(
                [row.marks[0]] * 2,
                [y - HALF_BAR, y + HALF_BAR],
                color=ink(),
                linewidth=2.0,
                zorder=3,
            )
            if row.below_belief:  # a line joins it to its bar
                self.ax_.plot([row.marks[0], row.low], [y, y], color=ink(), linewidth=1.0, zorder=3)
            if pignistic:
                self.ax_.plot(row.marks[1], y, **pignistic_look(), zorder=4)

    def _dress(self, blocks: Blocks, places: list[FloatArray], heads: list[float]) -> None:
        ax = self.ax_
        ax.set_yticks(np.concatenate(places))
        names = [row.name + " *" * row.below_belief for rows in blocks for row in rows]
        ax.set_yticklabels(names)
        states = [row.state for rows in blocks for row in rows]
        for text, state in zip(ax.get_yticklabels(), states, strict=True):
            text.set_fontweight("bold" if state == "decided" else "normal")
            if state == "dominated":
                text.set_color(GREY)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(float(places[-1][-1]) + 0.6, -0.6)
        # Among many classes no interval reaches far: then the rest of the axis is left out.
        farthest = max(float(self.plausibility.max()), float(self.probability.max()))
        high = 1.0 if farthest > 0.5 else 1.08 * farthest
        ax.set_xlim(-0.015 * high, 1.015 * high)
        ax.grid(axis="x", color=GREY, alpha=0.25, linewidth=0.8)
        ax.set_axisbelow(True)
        note = f"\n{_NOTE}" if _any_below(blocks) else ""
        ax.set_xlabel(f"{_AXIS}{_WIDTH[self.belief.shape[1] > 2]}{note}")
        for side in ("top", "right", "left"):
            ax.spines[side].set_visible(False)
        for name, y in zip(self.names or (), heads, strict=True):
            ax.annotate(
                without_middle(name, 60),
                (0.0, y),
                xycoords=ax.get_yaxis_transform(),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize="small",
                fontstyle="italic",
                va="center",
            )

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _any_below(blocks: Blocks) -> bool:
    return any(row.below_belief for rows in blocks for row in rows)


# The bars of intervals from belief to plausibility: their content, places and looks.

HALF_BAR = 0.3
"""Half the height of a bar, in rows."""

SEEN = 5e-4
"""A probability this far below belief is marked: three decimals show it."""

DECIDED, _POSSIBLE = COLORS[0], COLORS[5]


class IntervalRow(NamedTuple):
    """One bar: a class of an instance, or all its other classes."""

    name: str
    low: float
    high: float
    state: str
    marks: tuple[float, float] | None
    """The probability and the pignistic probability."""

    @property
    def below_belief(self) -> bool:
        """Whether the probability lies below the interval."""
        return self.marks is not None and self.marks[0] < self.low - SEEN


Blocks: TypeAlias = list[list[IntervalRow]]
"""The bars of each instance."""


def pignistic_look() -> dict[str, Any]:
    """Return the look of the mark for the pignistic probability."""
    return {
        "marker": "o",
        "markersize": 5.5,
        "markerfacecolor": rcParams["axes.facecolor"],
        "markeredgecolor": ink(),
    }


def interval_look(state: str) -> dict[str, Any]:
    """Dark for decided, light for possible, faint for dominated; an edge, to see the narrowest."""
    if state == "dominated":
        return {"color": GREY, "alpha": 0.45, "linewidth": 0.8}
    return {"color": DECIDED if state == "decided" else _POSSIBLE, "linewidth": 0.8}


def interval_handles(blocks: Blocks, words: tuple[str, str], pignistic: bool) -> list[Any]:
    """Return what a legend explains: the states that occur, and the marks.

    ``words`` are those for classes that are decided on, and for others that are not dominated.
    """
    found = {row.state for rows in blocks for row in rows}
    names = {"decided": words[0], "possible": words[1], "dominated": "ruled out"}
    handles: list[Any] = [
        Patch(**interval_look(state), label=text) for state, text in names.items() if state in found
    ]
    handles.append(Line2D([], [], color=ink(), linewidth=2.0, marker="", label="probability"))
    if pignistic:
        handles.append(Line2D([], [], linestyle="", **pignistic_look(), label="pignistic"))
    dotted = Line2D([], [], color=ink(), linestyle=(0, (1, 2)), linewidth=1, label="largest belief")
    return [*handles, dotted]


def stacked(blocks: Blocks, gap: float) -> tuple[list[FloatArray], list[float], float]:
    """Return where the bars of each block and its name lie, from the top, and where it ends."""
    places, heads, top = [], [], 0.0
    for rows in blocks:
        heads.append(top - 0.05)
        places.append(top + (1.0 if gap else 0.0) + np.arange(len(rows)))
        top = float(places[-1][-1]) + (gap or 1.0)
    return places, heads if gap else [], float(places[-1][-1]) + 0.6
