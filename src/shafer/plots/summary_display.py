"""``SummaryDisplay``: the weights of all components over many instances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from shafer._typing import FloatArray, Label
from shafer._validation import component_names, positions_of
from shafer.evidence import MassEvidence, with_weights
from shafer.plots.drawing.classes_option import classes_or_labels
from shafer.plots.drawing.compared_classes import ODDS_NOTE, axis_text
from shafer.plots.drawing.evidence_arrays import of_instances
from shafer.plots.drawing.feature_values import feature_table
from shafer.plots.drawing.own_base_rate import base_rate_notes, base_rate_position
from shafer.plots.drawing.style import GREY, RAMP, axes_for, ink, width_beside, without_middle
from shafer.plots.drawing.swarms.compared_rows import compared_rows, panel_classes
from shafer.plots.drawing.swarms.swarm_row import ENDS, SwarmRow, draw_swarm, swarm_limits
from shafer.plots.drawing.whiskers import whisker_legend

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
    labels : sequence of C class labels
        The classes.
    names : sequence of G strings, optional
        Names of the components; x0, x1, ... by default.
    values : array of shape (n, G), optional
        Feature values, for the colours; NaN where there is none.
    left_out : int
        Number of classes that have no panel.
    quantity : {"weight", "log-odds"}
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
    >>> display.names, display.labels, display.over, display.weights.shape
    (('age', 'ldl'), ('yes',), 'no', (462, 2, 1))
    """

    def __init__(
        self,
        weights: FloatArray,
        labels: Sequence[Label],
        *,
        names: Sequence[str] | None = None,
        values: FloatArray | None = None,
        left_out: int = 0,
        quantity: str = "weight",
        over: Label | None = None,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
        level: float = 0.9,
        notes: Sequence[str] = (),
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
        self.quantity = quantity
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
        quantity: str = "log-odds",
        level: float = 0.9,
        labels: Label | Iterable[Label] | None = None,
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
        quantity : {"log-odds", "weight"}
            ``"log-odds"``: the weights for a class over another one, as in
            :meth:`shafer.Evidence.contrast`; with two classes the unit of SHAP values.
            ``"weight"``: the weights of evidence for a class by itself, ``ev.weights``.
        level : float
            Of the error bars, if the errors of the weights are known.
        labels : class label or several, optional
            The old name of ``classes``.

        Returns
        -------
        SummaryDisplay
            Call its :meth:`plot`.
        """
        wanted = classes_or_labels(classes, labels)
        plain = of_instances(with_weights(evidence))
        kept = None if wanted is None else positions_of(wanted, plain.classes)
        panels = panel_classes(plain, kept, over, _MOST_PANELS)
        found = compared_rows(plain, panels, over, quantity, level)
        own = base_rate_position(plain)
        stay = [g for g in range(plain.n_components) if g != own]
        names = tuple(plain.component_names[g] for g in stay)
        every = plain.classes.tolist()
        if len(every) == 2 and quantity == "log-odds" and len(panels) == 1:
            over = every[1 - panels[0]]
        values = None if features is None else feature_table(features, names, len(plain))
        known = [None if part is None else part[:, stay] for part in found]
        return cls(
            found.weights[:, stay],
            [every[k] for k in panels],
            names=names,
            values=values,
            left_out=len(every) - len(panels) - (over is not None) if wanted is None else 0,
            quantity=quantity,
            over=over,
            lower=known[1],
            upper=known[2],
            level=level,
            notes=base_rate_notes(plain),
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

        Returns
        -------
        SummaryDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if isinstance(max_components, bool) or max_components < 1:
            raise ValueError(f"max_components must be at least 1; got {max_components!r}.")
        names, weights, kept = self._rows(max_components)
        swarms = [
            [
                self._swarm(weights[:, r, panel], int(kept[r]) if r < len(kept) else None, panel)
                for r in range(len(names))
            ]
            for panel in range(len(self.labels))
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
        if len(self.labels) == 1:
            return [self.ax_]
        self.ax_.set(xticks=[], yticks=[])
        self.ax_.set_axis_off()
        step = 1.0 / len(self.labels)
        bounds = [(panel * step, 0.0, 0.93 * step, 1.0) for panel in range(len(self.labels))]
        return [self.ax_.inset_axes(bound) for bound in bounds]

    def _axis_name(self) -> str:
        label = self.labels[0] if len(self.labels) == 1 else "the class"
        over: object = None
        if self.quantity == "log-odds":
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
        if len(self.labels) == 1:
            ax.set_xlabel(self._axis_name())
            return
        # Away from the edges, so that the numbers of neighbours stay apart.
        low, high = np.interp([0.12, 0.88], [0.0, 1.0], limits)
        ax.set_xticks([t for t in MaxNLocator(4).tick_values(*limits) if low < t < high])
        ax.set_title(without_middle(self.labels[panel], 20), fontsize="medium")
        if panel == (len(self.labels) - 1) // 2:
            ax.set_xlabel(self._axis_name(), x=1.04 if len(self.labels) % 2 == 0 else 0.5)

    def _explain_bars(self) -> None:
        of = f" of two points, at the {ENDS[0]}th and {ENDS[1]}th percentile"
        lift = 0.0 if len(self.labels) == 1 else 18.0  # above the names of the panels
        whisker_legend(self.ax_, self.level, of=of, lift=lift)

    def _explain_colors(self) -> None:
        bar = self.figure_.colorbar(
            ScalarMappable(cmap=RAMP), ax=self.ax_, ticks=[0.0, 1.0], fraction=0.04, aspect=30
        )
        bar.ax.set_yticklabels(["low", "high"], fontsize="small")
        bar.set_label("feature value", labelpad=-12, fontsize="small")
        bar.ax.tick_params(length=0)
        bar.outline.set_visible(False)
