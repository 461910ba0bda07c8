"""``MassDisplay``: the sets of classes that hold mass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from shafer._checks.labels import class_labels, positions_of
from shafer._typing import FloatArray, Label
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.set_names import set_name
from shafer.plots.style import (
    COLORS,
    GREY,
    axes_for,
    degree,
    drawn_html,
    ink,
    inner_width,
    take_row,
    width_beside,
    without_middle,
)

_ONE, _SEVERAL = COLORS[0], COLORS[5]
_FEW = 3  # classes: up to here sets are named and need no dots
_NEGLIGIBLE = 0.0005
_BARS_HIGH = 6.0  # height of the tallest bar, in rows of dots


@final
class MassDisplay:
    """The largest focal sets of one instance as bars.

    With up to three classes each bar has the name of its set. With more, dots under the bar show
    which classes are in the set, as in an UpSet plot. Classes that are in the same drawn sets share
    a line of dots. A dark bar is mass on one class, a light bar mass on several classes, and a grey
    bar mass on all classes: the ignorance.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    sets : sequence of S collections of class labels
        Focal sets, in the order they are drawn.
    masses : array of shape (S,)
        Their masses.
    classes : array of shape (K,)
        Class labels.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    IntervalDisplay : Belief and plausibility of each class.
    shafer.MassEvidence.focal_sets : The same as numbers.

    Examples
    --------
    >>> import shafer
    >>> weights = [[[0.9, 0.4, -1.3], [-0.2, 0.3, -0.1]]]
    >>> ev = shafer.Evidence.from_weights(weights, classes=["a", "b", "c"])
    >>> display = shafer.plots.MassDisplay.from_evidence(ev, top=3)
    >>> display.names, display.masses.round(2)
    (('{a}', '{b}', '{a, b}'), array([0.37, 0.36, 0.19]))
    >>> round(display.rest, 2)
    0.08
    """

    def __init__(
        self, sets: Sequence[Collection[Label]], masses: FloatArray, classes: NDArray[Any]
    ) -> None:
        self.sets = tuple(frozenset(members) for members in sets)
        self.masses = np.asarray(masses, dtype=np.float64)
        self.classes = class_labels(classes, len(classes))
        if self.masses.shape != (len(self.sets),) or not self.sets:
            raise ValueError(
                f"masses must hold one mass for each of {len(self.sets)} sets, at least one; "
                f"got shape {self.masses.shape}."
            )

    @classmethod
    def from_evidence(cls, evidence: MassEvidence, row: int = 0, *, top: int = 10) -> Self:
        """Find the largest focal sets of one instance, without enumerating 2^K.

        Parameters
        ----------
        evidence : MassEvidence
        row : int
            Position of the instance.
        top : int
            Sets at most.

        Returns
        -------
        MassDisplay
            Call its :meth:`plot`.
        """
        (found,) = take_row(evidence, row).focal_sets(top)
        return cls(
            [members for members, _ in found],
            np.array([mass for _, mass in found]),
            evidence.classes,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sets."""
        return tuple(set_name(members, self.classes) for members in self.sets)

    @property
    def rest(self) -> float:
        """The mass of all sets that are not drawn."""
        return max(0.0, 1.0 - float(self.masses.sum()))

    def plot(self, ax: Axes | None = None, *, top: int = 12) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        top : int
            Lines of dots at most, where there are more than three classes; the last one is for all
            other classes.

        Returns
        -------
        MassDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if isinstance(top, bool) or top < 2:
            raise ValueError(f"top must be at least 2; got {top!r}.")
        if len(self.classes) <= _FEW:
            self._plot_named(ax)
        else:
            self._plot_dots(ax, top)
        return self

    def _bars(self) -> tuple[FloatArray, list[dict[str, Any]]]:
        """Return the height and the look of each bar, that of the other sets last."""
        looks = [_look(len(members), len(self.classes)) for members in self.sets]
        if self.rest < _NEGLIGIBLE:
            return self.masses, looks
        rest = {"facecolor": "none", "edgecolor": GREY, "hatch": "////", "linewidth": 0.8}
        return np.append(self.masses, self.rest), [*looks, rest]

    # -- a few classes: names beside the bars ---------------------------------------------------

    def _plot_named(self, ax: Axes | None) -> None:
        masses, looks = self._bars()
        names = [_cut_set_name(m, self.classes) for m in self.sets]
        names += ["other sets"] * (len(masses) - len(names))
        self.ax_, self.figure_ = axes_for(ax, (width_beside(names), 1.0 + 0.33 * len(masses)))
        for y, (mass, look) in enumerate(zip(masses, looks, strict=True)):
            self.ax_.barh(y, mass, height=0.68, **look)
            self.ax_.annotate(
                degree(mass),
                (mass, y),
                xytext=(4, 0),
                textcoords="offset points",
                va="center_baseline",
                fontsize="small",
            )
        self.ax_.set_yticks(range(len(masses)), names)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(masses) - 0.4, -0.6)
        self.ax_.set_xlim(0.0, float(masses.max()) * 1.13)
        self.ax_.set_xlabel("mass")
        for side in ("top", "right"):
            self.ax_.spines[side].set_visible(False)

    # -- more classes: dots under the bars ------------------------------------------------------

    def _plot_dots(self, ax: Axes | None, top: int) -> None:
        masses, looks = self._bars()
        lines = self._lines(top)
        width = width_beside((name for name, _ in lines), 0.4 + 0.42 * len(masses))
        self.ax_, self.figure_ = axes_for(ax, (width, 0.5 + 0.27 * (_BARS_HIGH + len(lines))))
        # One axes holds both: bars stand on zero, lines of dots lie a unit of mass apart below.
        unit = float(masses.max()) / _BARS_HIGH
        for x, (mass, look) in enumerate(zip(masses, looks, strict=True)):
            self.ax_.bar(x, mass, width=0.66, **look)
        self._draw_dots(lines, unit)
        self.ax_.axhline(0.0, color=ink(), linewidth=0.8)
        self.ax_.set_yticks(
            [-(line + 1.0) * unit for line in range(len(lines))], [name for name, _ in lines]
        )
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_xticks([])
        self.ax_.set_xlim(-0.7, len(masses) - 0.3)
        narrow = inner_width(self.ax_) < 22.0 * len(masses)
        height = _BARS_HIGH + (2.5 if narrow else 1.0)
        self.ax_.set_ylim(-(len(lines) + 0.6) * unit, height * unit)
        for spine in self.ax_.spines.values():
            spine.set_visible(False)
        self._write_masses(masses, narrow)

    def _lines(self, top: int) -> list[tuple[str, NDArray[np.intp]]]:
        """Return the lines of dots: a name and the classes on it, those of most mass first."""
        every = np.arange(len(self.classes))
        if len(every) <= top:
            return [(without_middle(self.classes[k]), np.array([k])) for k in every]
        inside = self._membership()
        _, pattern, sizes = np.unique(inside, axis=1, return_inverse=True, return_counts=True)
        alike = pattern == sizes.argmax()  # the classes that no set tells apart
        order = np.lexsort((-(self.masses @ inside), alike))
        kept = order[: min(top - 1, int((~alike).sum()))]
        rest = np.setdiff1d(every, kept)
        lines = [(without_middle(self.classes[k]), np.array([k])) for k in kept]
        return [*lines, (f"the other {len(rest)}", rest)]

    def _membership(self) -> NDArray[np.bool_]:
        """Return which class is in which set, boolean (S, K)."""
        inside = np.zeros((len(self.sets), len(self.classes)), dtype=bool)
        for row, members in enumerate(self.sets):
            inside[row, positions_of(members, self.classes)] = True
        return inside

    def _draw_dots(self, lines: list[tuple[str, NDArray[np.intp]]], unit: float) -> None:
        inside = self._membership()
        share = np.array([inside[:, members].mean(axis=1) for _, members in lines])  # (L, S)
        heights = -(np.arange(len(lines)) + 1.0) * unit
        for line in range(0, len(lines), 2):
            self.ax_.axhspan(
                heights[line] - unit / 2, heights[line] + unit / 2, color=GREY, alpha=0.12, lw=0
            )
        size = self._dot_size(len(lines))
        for x in range(len(self.sets)):
            on = np.flatnonzero(share[:, x] > 0)
            self.ax_.plot([x, x], heights[[on[0], on[-1]]], color=ink(), linewidth=1.2, zorder=2)
        for fill, alpha, which in (
            ("full", 0.18, share == 0),
            ("bottom", 1.0, (share > 0) & (share < 1)),
            ("full", 1.0, share == 1),
        ):
            rows, columns = np.nonzero(which)
            self.ax_.plot(
                columns,
                heights[rows],
                linestyle="",
                marker="o",
                markersize=size,
                fillstyle=fill,  # half a dot: some of the classes on this line
                color=ink(),
                markerfacecoloralt=self.ax_.get_facecolor(),
                markeredgewidth=0.8 if fill == "bottom" else 0.0,
                alpha=alpha,
                zorder=3,
            )

    def _dot_size(self, n_lines: int) -> float:
        """Return the diameter of a dot in points: it must fit its line and its column."""
        height = self.ax_.get_window_extent().height * 72.0 / self.figure_.dpi
        return float(np.clip(0.5 * height / (n_lines + _BARS_HIGH + 1.5), 2.0, 8.0))

    def _write_masses(self, masses: FloatArray, narrow: bool) -> None:
        for x, mass in enumerate(masses):
            self.ax_.annotate(
                degree(mass),
                (x, mass),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                rotation=90 if narrow else 0,
                fontsize="x-small" if len(masses) > 8 else "small",
            )
        if len(masses) > len(self.sets):
            self.ax_.annotate(
                "other sets",
                (len(masses) - 1, 0.0),
                xytext=(0, -4),
                textcoords="offset points",
                ha="center",
                va="top",
                rotation=90,
                fontsize="small",
            )
        self.ax_.set_title("mass", loc="left", fontsize="medium", pad=2.0)

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _look(size: int, n_classes: int) -> dict[str, Any]:
    if size == n_classes:
        return {"color": GREY}
    return {"color": _ONE if size == 1 else _SEVERAL}


def _cut_set_name(members: frozenset[Label], classes: NDArray[Any]) -> str:
    """Name a set of a few classes, each name short enough for all to fit."""
    if len(members) == len(classes):
        return f"{set_name(members, classes)} (ignorance)"
    inside = [label for label in classes.tolist() if label in members]
    return "{" + ", ".join(without_middle(label, 26 // len(inside)) for label in inside) + "}"
