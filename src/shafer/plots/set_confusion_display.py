"""``SetConfusionDisplay``: which sets were decided for which true classes."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from shafer._checks.labels import class_labels
from shafer._text import shortened
from shafer._typing import BoolArray, FloatArray
from shafer.metrics.confusion import count_sets, in_per_cent
from shafer.plots.set_names import set_name
from shafer.plots.style import axes_for, color, drawn_html, ink, literal, readable_on

_HOLDS, _MISSES = color(0), color(1)  # blue, vermilion
_FAINTEST, _FULLEST = 0.16, 0.85  # opacity of the smallest and the largest cell
_GAP = 0.25  # between the cells and their totals, in cells
_CELL = (0.62, 0.36)  # inches, on axes of its own
_FONT_SIZES = (5.0, 10.0)  # points: numbers are left out where they would be smaller
_UNITS = {"all": "% of all rows", "true": "% of the true class", "pred": "% of the decided set"}


@final
class SetConfusionDisplay:
    """Decided sets against true classes, laid out as in Denœux (2019, Tables 1 to 4).

    Sets are rows, true classes are columns. Cells whose set contains the true class are blue and
    bold, errors are orange; a stronger colour is a larger number. Θ is the set of all classes, ∅
    the empty set. With many sets or classes the rarest are pooled. A cell that pools right and
    wrong sets is divided in their proportion.

    Make one with :meth:`from_predictions`.

    Parameters
    ----------
    counts : array of shape (K, S)
        Number of rows (or their weight) of each true class and decided set.
    sets : boolean array of shape (S, K)
        The sets.
    classes : array of shape (K,)
        Class labels.
    normalize : {"all", "true", "pred", None}
        As in :func:`shafer.metrics.set_confusion_matrix`.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    shafer.metrics.set_confusion_matrix : The same as numbers.
    ErrorImprecisionDisplay : The error against the size of the sets.

    Examples
    --------
    >>> import shafer
    >>> y_set = [[True, False], [True, True], [False, True], [False, True]]
    >>> display = shafer.plots.SetConfusionDisplay.from_predictions(
    ...     ["a", "b", "b", "a"], y_set, labels=["a", "b"]
    ... )
    >>> display.table
    array([[25., 25.,  0.],
           [ 0., 25., 25.]])
    """

    def __init__(
        self,
        counts: NDArray[Any],
        sets: BoolArray,
        classes: NDArray[Any],
        *,
        normalize: str | None = "all",
    ) -> None:
        self.counts = counts
        self.sets = sets
        self.classes = class_labels(classes, len(counts))
        self.normalize = normalize

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_set: Any,
        *,
        labels: Any = None,
        normalize: str | None = "all",
        sample_weight: Any = None,
    ) -> Self:
        """Return a Display; the arguments are those of ``shafer.metrics.set_confusion_matrix``.

        Parameters
        ----------
        y_true, y_set, labels, normalize, sample_weight
            As in :func:`shafer.metrics.set_confusion_matrix`.

        Returns
        -------
        SetConfusionDisplay
            Call its :meth:`plot`.
        """
        counted = count_sets(y_true, y_set, labels, None, sample_weight)
        display = cls(counted.counts, counted.sets, counted.classes, normalize=normalize)
        _ = display.table  # a wrong ``normalize`` is an error here, not when it is drawn
        return display

    @property
    def table(self) -> NDArray[Any]:
        """The whole table, (K, S), as :func:`shafer.metrics.set_confusion_matrix` returns it."""
        return in_per_cent(self.counts, self.normalize)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        top: int = 16,
        top_classes: int = 16,
        values_format: str | None = None,
    ) -> Self:
        """Draw the table on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        top, top_classes : int
            Rows and columns at most; beyond them the rarest sets and classes are pooled.
        values_format : str, optional
            Format of the numbers, such as ".2f"; one decimal by default, none for counts.

        Returns
        -------
        SetConfusionDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        for name, value in (("top", top), ("top_classes", top_classes)):
            if value < 2:
                raise ValueError(f"{name} must be at least 2; got {value!r}.")
        pooled = pooled_table(
            self.counts, self.sets, self.classes, self.normalize, (top, top_classes)
        )
        whole = self.normalize is None and np.issubdtype(self.counts.dtype, np.integer)
        form = values_format or (".0f" if whole else ".1f")
        self.ax_, self.figure_ = axes_for(ax)
        if ax is None:
            self._make_room(pooled)
        self._set_up(pooled)
        size = _font_size(self.ax_, pooled, form)
        _draw_cells(self.ax_, pooled, form, size)
        if self._has_totals:
            _draw_totals(self.ax_, pooled, form, size)
        return self

    @property
    def _has_totals(self) -> bool:
        return self.normalize in ("all", None)

    def _make_room(self, pooled: PooledTable) -> None:
        rows, columns = pooled.values.shape
        widest = max(map(len, pooled.sets))
        width, height = _CELL
        self.figure_.set_size_inches(
            1.6 + 0.07 * widest + width * (columns + 1.3), 1.5 + height * (rows + 1.3)
        )
        self.figure_.set_layout_engine("constrained")

    def _set_up(self, pooled: PooledTable) -> None:
        ax = self.ax_
        rows, columns = pooled.values.shape
        beyond = 1.0 + _GAP if self._has_totals else 0.0
        ax.set_xlim(-0.5, columns - 0.5 + beyond)
        ax.set_ylim(rows - 0.5 + beyond, -0.5)
        totals = ([columns + _GAP], [rows + _GAP], ["all"]) if self._has_totals else ([], [], [])
        long = max(map(len, pooled.classes)) > 8
        ax.set_xticks(
            [*range(columns), *totals[0]],
            [*pooled.classes, *totals[2]],
            rotation=40 if long else 0,
            ha="left" if long else "center",
            rotation_mode="anchor" if long else "default",
        )
        ax.set_yticks([*range(rows), *totals[1]], [*pooled.sets, *totals[2]])
        ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        ax.xaxis.set_label_position("top")
        ax.set_xlabel("true class", labelpad=8.0)
        counted = "rows" if np.issubdtype(self.counts.dtype, np.integer) else "weight of rows"
        unit = counted if self.normalize is None else _UNITS[self.normalize]
        ax.set_ylabel(f"decided set ({unit})")
        ax.spines[:].set_visible(False)
        ax.grid(False)

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _font_size(ax: Axes, pooled: PooledTable, form: str) -> float:
    """Return the points that fit a cell."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    box = ax.get_window_extent()
    points = 72.0 / figure.dpi
    x_low, x_high = ax.get_xlim()
    y_high, y_low = ax.get_ylim()
    width = box.width * points / (x_high - x_low)
    height = box.height * points / (y_high - y_low)
    longest = max(len(format(v, form)) for v in (pooled.values.max(), pooled.values.sum()))
    return float(min(0.9 * width / (0.62 * longest), 0.7 * height, _FONT_SIZES[1]))


def _draw_cells(ax: Axes, pooled: PooledTable, form: str, size: float) -> None:
    """Fill each cell, blue from the left as far as its sets hold the class, and write in it."""
    background = np.array(to_rgb(ax.get_facecolor()))
    for row, column in np.ndindex(pooled.values.shape):
        value, held = float(pooled.values[row, column]), float(pooled.held[row, column])
        fullness = min(value / pooled.largest, 1.0) if value > 0 else 0.0
        opacity = _FAINTEST + (_FULLEST - _FAINTEST) * fullness if value > 0 else 0.0
        left = column - 0.5
        for start, width, tint in ((0.0, held, _HOLDS), (held, 1.0 - held, _MISSES)):
            if width > 0 and opacity > 0:
                corner = (left + start, row - 0.5)
                ax.add_patch(Rectangle(corner, width, 1.0, color=tint, alpha=opacity, linewidth=0))
        frame = Rectangle((left, row - 0.5), 1.0, 1.0, fill=False, edgecolor=ink(), linewidth=0.4)
        frame.set_alpha(0.35)
        ax.add_patch(frame)
        if size >= _FONT_SIZES[0]:
            tint = _HOLDS if held >= 0.5 else _MISSES
            behind = background + opacity * (np.array(to_rgb(tint)) - background)
            ax.text(
                column,
                row,
                format(value, form) if value > 0 else "·",
                ha="center",
                va="center",
                fontsize=size,
                fontweight="bold" if held == 1.0 else "normal",
                color=readable_on(behind),
            )


def _draw_totals(ax: Axes, pooled: PooledTable, form: str, size: float) -> None:
    if size < _FONT_SIZES[0]:
        return
    rows, columns = pooled.values.shape
    places = [(columns + _GAP, r, v) for r, v in enumerate(pooled.values.sum(axis=1))]
    places += [(c, rows + _GAP, v) for c, v in enumerate(pooled.values.sum(axis=0))]
    places += [(columns + _GAP, rows + _GAP, pooled.values.sum())]
    for x, y, value in places:
        ax.text(x, y, format(value, form), ha="center", va="center", fontsize=size, color=ink())


# A table of sets against classes, small enough to draw: rare sets and classes are pooled.

_LONGEST_NAME = 28  # characters


class PooledTable(NamedTuple):
    """Sets are rows and classes columns, as they are drawn."""

    values: FloatArray  # (R, C), normalised
    held: FloatArray  # (R, C), the share of a cell whose sets hold the true class
    sets: tuple[str, ...]  # R names
    classes: tuple[str, ...]  # C names
    kept: tuple[int, int]  # rows and columns that are not pooled

    @property
    def largest(self) -> float:
        """The largest value that is not pooled, or of all where that is zero."""
        own = float(self.values[: self.kept[0], : self.kept[1]].max())
        return own if own > 0 else float(self.values.max())


def pooled_table(
    counts: NDArray[Any],
    sets: BoolArray,
    classes: NDArray[Any],
    normalize: str | None,
    most: tuple[int, int],
) -> PooledTable:
    """Pool sets and classes beyond the most frequent ones, then normalise.

    Parameters
    ----------
    counts : array of shape (K, S)
    sets : boolean array of shape (S, K)
    classes : array of shape (K,)
    normalize : {"all", "true", "pred", None}
    most : pair of int
        Rows and columns at most.
    """
    amount = np.asarray(counts, dtype=np.float64).T  # (S, K)
    rows = _kept(amount.sum(axis=1), most[0])
    columns = _kept(amount[rows].sum(axis=0), most[1])  # the classes the shown sets are about
    names = [shortened(_name(sets[s], classes), _LONGEST_NAME) for s in rows]
    labels = [literal(shortened(str(classes.tolist()[k]), _LONGEST_NAME)) for k in columns]
    # Sets that were never decided do not count as other sets.
    shown, decided = (np.count_nonzero(part.sum(axis=1)) for part in (amount[rows], amount))
    other_sets = int(decided - shown)
    other_classes = len(classes) - len(columns)
    names += _others(other_sets, "set", "sets")
    labels += _others(other_classes, "class", "classes")

    def pool(cells: FloatArray) -> FloatArray:
        return _pool(_pool(cells, rows, 0, other_sets > 0), columns, 1, other_classes > 0)

    total = pool(amount)
    held = pool(amount * sets) / np.where(total > 0, total, 1.0)
    values = in_per_cent(total.T, normalize).T
    return PooledTable(values, held, tuple(names), tuple(labels), (len(rows), len(columns)))


def _kept(amount: FloatArray, most: int) -> NDArray[np.intp]:
    """Return the positions of the most frequent, in their own order, leaving room for the rest."""
    if len(amount) <= most:
        return np.arange(len(amount))
    return np.sort(np.argsort(-amount, kind="stable")[: most - 1])


def _pool(amount: FloatArray, kept: NDArray[np.intp], axis: int, rest: bool) -> FloatArray:
    shown = np.take(amount, kept, axis=axis)
    if not rest:
        return shown
    others = np.delete(amount, kept, axis=axis).sum(axis=axis, keepdims=True)
    return np.concatenate([shown, others], axis=axis)


def _name(members: BoolArray, classes: NDArray[Any]) -> str:
    if not members.any():
        return "∅"
    return set_name(classes[members].tolist(), classes)


def _others(count: int, one: str, several: str) -> list[str]:
    return [f"{count} other {one if count == 1 else several}"] if count else []
