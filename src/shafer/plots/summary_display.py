"""``SummaryDisplay``: the weights of all components over many instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from shafer._typing import FloatArray, Label
from shafer._validation import component_names, positions_of
from shafer.evidence import MassEvidence, with_weights
from shafer.plots.drawing.classes_option import classes_or_labels
from shafer.plots.drawing.evidence_arrays import numbers, of_instances, weight_for
from shafer.plots.drawing.feature_values import feature_table
from shafer.plots.drawing.style import (
    AGAINST,
    FOR,
    GREY,
    RAMP,
    axes_for,
    ink,
    width_beside,
    without_middle,
)
from shafer.plots.drawing.swarm import swarm_offsets

_MOST_PANELS = 4
_REACH = 0.42  # how far a row of points reaches to each side, in rows
_MANY = 2000  # points: from here on a picture holds an image of them, not every one


@final
class SummaryDisplay:
    """A swarm of points for each component: its weights for a class over many instances.

    Components are sorted by their mean absolute weight. Each point is an instance. Its colour is
    the value of the component's feature, from low to high; without features, it shows whether the
    weight is for or against the class. Two classes have one panel, more classes one each.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    weights : array of shape (n, G, C)
        Weights of evidence for each of C classes, one panel each.
    labels : sequence of C class labels
        The classes.
    names : sequence of G strings, optional
        Names of the components; x0, x1, ... by default.
    values : array of shape (n, G), optional
        Feature values, for the colours; NaN where there is none.
    left_out : int
        Number of classes that have no panel.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.
    axes_ : list of C matplotlib axes
        One for each class. With several, ``ax_`` is the frame around them.

    Examples
    --------
    >>> import shafer
    >>> heart = shafer.datasets.load_heart()
    >>> pool = shafer.least_commitment(
    ...     [0.07, 0.18], -4.9, [42.8, 4.7], classes=["no", "yes"], names=["age", "ldl"]
    ... )
    >>> ev = pool(heart.data[:, [8, 2]])
    >>> display = shafer.plots.SummaryDisplay.from_evidence(ev, features=heart.data[:, [8, 2]])
    >>> display.names, display.labels, display.weights.shape
    (('age', 'ldl'), ('yes',), (462, 2, 1))
    """

    def __init__(
        self,
        weights: FloatArray,
        labels: Sequence[Label],
        *,
        names: Sequence[str] | None = None,
        values: FloatArray | None = None,
        left_out: int = 0,
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 3 or self.weights.shape[2] != len(labels):
            raise ValueError(
                f"weights must have shape (n, G, {len(labels)}), the last axis for the labels; "
                f"got {self.weights.shape}."
            )
        self.labels = tuple(labels)
        self.names = component_names(names, self.weights.shape[1])
        self.values = values
        self.left_out = left_out

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        *,
        features: Any = None,
        classes: Label | Iterable[Label] | None = None,
        labels: Label | Iterable[Label] | None = None,
    ) -> Self:
        """Return a Display of the weights of all instances.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
        features : array of shape (n, G) or data frame, optional
            Feature values, for the colours. A data frame is matched by the names of its columns;
            components without a column of numbers stay grey.
        classes : class label or several, optional
            The classes to draw. By default the second of two, else the four that have most
            evidence, for or against.
        labels : class label or several, optional
            The old name of ``classes``.
        """
        wanted = classes_or_labels(classes, labels)
        plain = of_instances(with_weights(evidence))
        weights = numbers(plain.weights)
        kept = _panels(weights, plain.classes, wanted)
        values = None
        if features is not None:
            values = feature_table(features, plain.component_names, len(weights))
        return cls(
            np.stack([weight_for(weights, k) for k in kept], axis=2),
            [plain.classes.tolist()[k] for k in kept],
            names=plain.component_names,
            values=values,
            left_out=0 if wanted is not None or len(kept) == 1 else weights.shape[2] - len(kept),
        )

    def plot(
        self, ax: Axes | None = None, *, max_components: int = 12, colorbar: bool = True
    ) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
            With several classes, the panels share the room of these axes.
        max_components : int
            Rows at most; the weights of the weakest components are added up in the last one.
        colorbar : bool
            Whether to explain the colours of feature values.
        """
        if isinstance(max_components, bool) or max_components < 1:
            raise ValueError(f"max_components must be at least 1; got {max_components!r}.")
        names, weights, kept = self._rows(max_components)
        panels = len(self.labels)
        inner = 5.0 if panels == 1 else 0.6 + 2.1 * panels
        self.ax_, self.figure_ = axes_for(
            ax, (width_beside(names, inner), 1.25 + 0.36 * len(names))
        )
        self.axes_ = self._split()
        pad = 0.03 * (float(np.ptp(weights)) or 2.0)
        limits = float(min(weights.min(), 0.0)) - pad, float(max(weights.max(), 0.0)) + pad
        for panel, axes in enumerate(self.axes_):
            for row in range(len(names)):
                own = int(kept[row]) if row < len(kept) else None
                self._draw_row(axes, row, weights[:, row, panel], own, limits)
            self._dress(axes, panel, names, limits)
        if colorbar and self.values is not None:
            self._explain()
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

    def _split(self) -> list[Axes]:
        """Return one axes for each class, inside ``ax_`` where there are several."""
        if len(self.labels) == 1:
            return [self.ax_]
        self.ax_.set_axis_off()
        step = 1.0 / len(self.labels)
        bounds = [(panel * step, 0.0, 0.93 * step, 1.0) for panel in range(len(self.labels))]
        return [self.ax_.inset_axes(bound) for bound in bounds]

    def _draw_row(
        self,
        ax: Axes,
        row: int,
        x: FloatArray,
        component: int | None,
        limits: tuple[float, float],
    ) -> None:
        places = swarm_offsets(x, *limits, bins=110 if len(self.labels) == 1 else 60)
        step = min(0.1, _REACH / max(1.0, float(np.abs(places).max())))
        ax.scatter(
            x,
            row + step * places,
            s=float(np.clip(4000.0 / len(x), 3.0, 16.0)) / (1 if len(self.labels) == 1 else 1.5),
            c=self._colors(x, component),
            linewidths=0,
            rasterized=len(x) > _MANY,
            zorder=3,
        )

    def _colors(self, x: FloatArray, component: int | None) -> NDArray[Any]:
        if self.values is None:
            sides = np.array([to_rgba(FOR), to_rgba(AGAINST)])
            colored: NDArray[Any] = sides[(x < 0).astype(int)]
            return colored
        grey = np.tile(to_rgba(GREY), (len(x), 1))
        value = np.full(len(x), np.nan) if component is None else self.values[:, component]
        known = np.isfinite(value)
        if known.any():
            # The outermost values would leave all the others one colour.
            low, high = np.percentile(value[known], [3, 97])
            if low == high:  # most values are the same: spread the others over the whole range
                low, high = value[known].min(), value[known].max()
            share = (value[known] - low) / ((high - low) or 1.0) if high > low else 0.5
            grey[known] = RAMP(np.clip(share, 0.0, 1.0) * np.ones(int(known.sum())))
        return grey

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
        label = without_middle(self.labels[panel], 40 if len(self.labels) == 1 else 20)
        if len(self.labels) == 1:
            ax.set_xlabel(f"weight of evidence for {label}")
            return
        # Away from the edges, so that the numbers of neighbours stay apart.
        low, high = np.interp([0.12, 0.88], [0.0, 1.0], limits)
        ax.set_xticks([t for t in MaxNLocator(4).tick_values(*limits) if low < t < high])
        ax.set_title(label, fontsize="medium")
        if panel == (len(self.labels) - 1) // 2:
            more = f" (without the other {self.left_out} classes)" if self.left_out else ""
            at = 1.04 if len(self.labels) % 2 == 0 else 0.5
            ax.set_xlabel(f"weight of evidence for the class{more}", x=at)

    def _explain(self) -> None:
        bar = self.figure_.colorbar(
            ScalarMappable(cmap=RAMP), ax=self.ax_, ticks=[0.0, 1.0], fraction=0.04, aspect=30
        )
        bar.ax.set_yticklabels(["low", "high"], fontsize="small")
        bar.set_label("feature value", labelpad=-12, fontsize="small")
        bar.ax.tick_params(length=0)
        bar.outline.set_visible(False)


def _panels(weights: FloatArray, classes: NDArray[Any], wanted: Any) -> list[int]:
    if wanted is not None:
        return positions_of(wanted, classes)
    if len(classes) == 2:
        return [1]
    most = np.argsort(-np.abs(weights).sum(axis=(0, 1)), kind="stable")[:_MOST_PANELS]
    return sorted(most.tolist())
