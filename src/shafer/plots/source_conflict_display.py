"""``SourceConflictDisplay``: which sources contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self, final

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.image import AxesImage

from shafer._typing import FloatArray
from shafer.fusion.influence import SourceConflict, conflict_between
from shafer.plots.style import COLORS, axes_for, drawn_html, literal, readable_on

_MOST_WRITTEN = 12  # beyond that many sources the numbers would not be read


@final
class SourceConflictDisplay:
    """The degree of conflict of each pair of sources, as a heat map.

    Make one with :meth:`from_evidences` or :meth:`from_conflict`.

    Parameters
    ----------
    degrees : array of shape (S, S)
        Degree of conflict κ of each pair; the diagonal is not drawn.
    names : sequence of S strings
    total : float, optional
        Conflict between all sources together, for the title.
    what : str
        The instances, for the title.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    shafer.fusion.conflict_between : The same as numbers.
    shafer.fusion.influence : What each source changes.

    Examples
    --------
    >>> import shafer
    >>> a = shafer.Evidence.from_weights([[[1.0, 0.0]]])
    >>> b = shafer.Evidence.from_weights([[[0.0, 1.0]]])
    >>> display = shafer.plots.SourceConflictDisplay.from_evidences({"a": a, "b": b})
    >>> display.degrees.round(3)
    array([[0. , 0.4],
           [0.4, 0. ]])
    """

    def __init__(
        self,
        degrees: FloatArray,
        names: Sequence[str],
        *,
        total: float | None = None,
        what: str = "",
    ) -> None:
        self.degrees = degrees
        self.names = tuple(names)
        self.total = total
        self.what = what

    @classmethod
    def from_evidences(
        cls,
        evidences: Mapping[str, Any] | Iterable[Any],
        row: int | None = None,
        *,
        tempering: Any = None,
    ) -> Self:
        """Return a Display of the conflict between sources.

        Parameters
        ----------
        evidences : mapping from source name to Evidence, or sequence of Evidence
        row : int, optional
            One instance; by default the mean over all.
        tempering : numbers ≥ 0, optional
            As in :func:`shafer.combine`.

        Returns
        -------
        SourceConflictDisplay
            Call its :meth:`plot`.
        """
        return cls.from_conflict(conflict_between(evidences, tempering=tempering), row)

    @classmethod
    def from_conflict(cls, conflict: SourceConflict, row: int | None = None) -> Self:
        """Return a Display of the result of :func:`shafer.fusion.conflict_between`.

        Parameters
        ----------
        conflict : SourceConflict
            What :func:`shafer.fusion.conflict_between` returned.
        row : int, optional
            The position of an instance; by default the mean over all.

        Returns
        -------
        SourceConflictDisplay
            Call its :meth:`plot`.
        """
        n = len(conflict.total)
        if row is None:
            degrees, total = conflict.degrees.mean(axis=0), conflict.total.mean()
            what = f"mean of {n} instances" if n > 1 else ""
        else:
            if not isinstance(row, int | np.integer) or not -n <= row < n:
                raise ValueError(f"row must be a whole number from 0 to {n - 1}; got {row!r}.")
            degrees, total = conflict.degrees[row], conflict.total[row]
            what = f"instance {row % n}"
        return cls(degrees, conflict.names, total=float(total), what=what)

    def plot(self, ax: Axes | None = None, *, colorbar: bool = True) -> Self:
        """Draw the heat map; on new axes if ``ax`` is None. Darker is more conflict, up to 1.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw.
        colorbar : bool
            Whether to draw a colour bar.

        Returns
        -------
        SourceConflictDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        self.ax_, self.figure_ = axes_for(ax)
        off_diagonal = np.where(np.eye(len(self.names), dtype=bool), np.nan, self.degrees)
        face = matplotlib.rcParams["axes.facecolor"]
        shades = LinearSegmentedColormap.from_list("conflict", [face, COLORS[0]])
        image = self.ax_.imshow(off_diagonal, cmap=shades, vmin=0.0, vmax=1.0)
        labels = [literal(name) for name in self.names]
        ticks = np.arange(len(labels))
        self.ax_.set_xticks(ticks, labels, rotation=45, ha="right", rotation_mode="anchor")
        self.ax_.set_yticks(ticks, labels)
        if len(labels) <= _MOST_WRITTEN:
            self._write_degrees(image)
        if colorbar:
            self.figure_.colorbar(
                image, ax=self.ax_, label="degree of conflict (0: none, 1: total)"
            )
        self.ax_.set_title(self._title(), fontsize="medium")
        return self

    def _write_degrees(self, image: AxesImage) -> None:
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "small"}
        for (s, t), degree in np.ndenumerate(self.degrees):
            text, shade = ("–", 0.0) if s == t else (f"{degree:.2f}", degree)
            behind = image.to_rgba(np.array([shade]))[0, :3]
            self.ax_.text(t, s, text, color=readable_on(behind), **style)

    def _title(self) -> str:
        parts = [] if self.total is None else [f"conflict of all together: {self.total:.2f}"]
        return "; ".join([*parts, self.what] if self.what else parts)

    def _repr_html_(self) -> str:
        return drawn_html(self)
