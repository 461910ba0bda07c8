"""``WaterfallDisplay``: the components of one instance, added up to its logit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray, Label
from shafer._validation import component_names
from shafer.evidence import MassEvidence, with_weights
from shafer.plots.drawing.arrows import HALF, Number, draw_arrow, limits_with, write_number
from shafer.plots.drawing.evidence_arrays import (
    numbers,
    one_class,
    take_row,
    weight_for,
)
from shafer.plots.drawing.feature_values import values_of_row
from shafer.plots.drawing.gauges import conflict_gauge, draw_gauges, ignorance_gauge
from shafer.plots.drawing.style import (
    AGAINST,
    FOR,
    GREY,
    axes_for,
    ink,
    signed,
    width_beside,
    without_middle,
)

_ORDERS = ("size", "sign")


class Step(NamedTuple):
    """One bar: a component, or those pooled, and its weight for and against the class."""

    name: str
    weight: float
    parts: tuple[float, float] | None = None
    """The sums of the pooled weights for and against the class, if there are both."""


@final
class WaterfallDisplay:
    """The components of one instance, for and against a class, added up to the logit.

    Bars to the right support the class, bars to the left oppose it. The largest comes first, and
    each starts where the one above ends. The last bar is their sum: with two classes the model's
    log-odds, with more the logit minus the mean of all classes' logits. Above the bars are the
    ignorance and the conflict of the evidence, which the sum does not show.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    weights : array of shape (G,)
        Weights of evidence of the components for the class.
    names : sequence of G strings, optional
        Names of the components; x0, x1, ... by default.
    label : class label
        The class.
    probability, ignorance, conflict : float, optional
        Of the class, and of the instance; written above the bars if given.
    values : sequence of G strings or None, optional
        Feature values, written beside the names.
    max_components : int
        Bars at most; the components with the smallest weights are pooled into the last one.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    Examples
    --------
    >>> import shafer
    >>> pool = shafer.least_commitment([0.07, 0.18], -4.9, [42.8, 4.7], names=["age", "ldl"])
    >>> display = shafer.plots.WaterfallDisplay.from_evidence(pool([[61.0, 3.1]]))
    >>> [(step.name, round(step.weight, 2)) for step in display.steps()]
    [('ldl', 0.82), ('age', -0.75)]
    >>> round(display.logit, 2), display.label
    (0.07, 0)
    """

    def __init__(
        self,
        weights: FloatArray,
        names: Sequence[str] | None = None,
        *,
        label: Label = "the class",
        probability: float | None = None,
        ignorance: float | None = None,
        conflict: float | None = None,
        values: Sequence[str | None] | None = None,
        max_components: int = 12,
    ) -> None:
        if isinstance(max_components, bool) or max_components < 1:
            raise ValueError(f"max_components must be at least 1; got {max_components!r}.")
        self.weights = np.asarray(weights, dtype=np.float64)
        self.names = component_names(names, len(self.weights))
        self.label = label
        self.probability = probability
        self.ignorance = ignorance
        self.conflict = conflict
        self.values = tuple(values) if values is not None else (None,) * len(self.names)
        self.max_components = max_components

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        row: int = 0,
        *,
        class_: Label | None = None,
        features: Any = None,
        max_components: int = 12,
    ) -> Self:
        """Return a Display of the weights of one instance.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
        row : int
            Position of the instance.
        class_ : class label, optional
            By default the most plausible class.
        features : mapping, data frame, array of shape (G,) or (n, G), optional
            Feature values to write beside the names of the components. A mapping and a data frame
            are matched by name, and may leave components out.
        max_components : int
            Bars at most; the components with the smallest weights are pooled into the last one.
        """
        one, plain = take_row(evidence, row), take_row(with_weights(evidence), row)
        decided = int(np.argmax(numbers(plain.logits)[0]))
        k = decided if class_ is None else one_class(class_, one.classes)
        names = plain.component_names
        return cls(
            weight_for(numbers(plain.weights)[0], k),
            names,
            label=one.classes.tolist()[k],
            probability=float(numbers(one.betting_probability)[0, k]),
            ignorance=float(numbers(one.ignorance)[0]),
            conflict=float(numbers(one.conflict)[0]),
            values=values_of_row(features, names, row, len(evidence)),
            max_components=max_components,
        )

    @property
    def logit(self) -> float:
        """The sum of all weights."""
        return float(self.weights.sum())

    def steps(self, order: str = "size") -> list[Step]:
        """Return the bars from top to bottom, without their sum.

        Parameters
        ----------
        order : {"size", "sign"}
            The largest first; or all that support the class, then all that oppose it.
        """
        if order not in _ORDERS:
            raise ValueError(
                f"order must be one of {', '.join(map(repr, _ORDERS))}; got {order!r}."
            )
        strongest = np.argsort(-np.abs(self.weights), kind="stable")
        fits = len(strongest) <= self.max_components
        kept = strongest if fits else strongest[: self.max_components - 1]
        if order == "sign":
            kept = np.concatenate([kept[self.weights[kept] >= 0], kept[self.weights[kept] < 0]])
        steps = [Step(self._named(int(g)), float(self.weights[g])) for g in kept]
        return steps if fits else [*steps, _pooled(self.weights[strongest[len(kept) :]])]

    def _named(self, g: int) -> str:
        value = self.values[g]
        name = without_middle(self.names[g])
        return name if value is None else f"{name} = {without_middle(value, 14)}"

    def plot(self, ax: Axes | None = None, *, order: str = "size") -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        order : {"size", "sign"}
            The largest weights first; or all that support the class, then all that oppose it: the
            evidence that cancels is then visible.
        """
        steps = self.steps(order)
        width = width_beside(step.name for step in steps)
        self.ax_, self.figure_ = axes_for(ax, (width, 1.75 + 0.31 * (len(steps) + 1)))
        ends = np.cumsum([0.0, *(step.weight for step in steps)])
        scale = max(float(np.abs(ends).max()), *(abs(step.weight) for step in steps))
        self._name_rows(steps)
        texts = [
            Number(float(end), row, step.weight >= 0, _written(step, scale))
            for row, (step, end) in enumerate(zip(steps, ends[1:], strict=True))
        ]
        bottom = len(steps) + 0.3
        texts.append(Number(self.logit, bottom, self.logit >= 0, signed(self.logit, scale)))
        low, high = limits_with(self.ax_, ends, texts)
        self.ax_.set_xlim(low, high)
        for row, step in enumerate(steps):
            color = FOR if step.weight >= 0 else AGAINST
            draw_arrow(self.ax_, ends[row], step.weight, row, color, high - low)
        self._draw_sum(ends, bottom, high - low)
        for number in texts:
            write_number(self.ax_, number)
        self._write_head()
        return self

    def _name_rows(self, steps: list[Step]) -> None:
        self.ax_.set_yticks([*range(len(steps)), len(steps) + 0.3])
        self.ax_.set_yticklabels([*(step.name for step in steps), "all together"])
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_ylim(len(steps) + 0.95, -0.65)
        self.ax_.set_xlabel(f"weight of evidence for {without_middle(self.label, 24)}")
        for side in ("top", "right", "left"):
            self.ax_.spines[side].set_visible(False)

    def _draw_sum(self, ends: FloatArray, bottom: float, width: float) -> None:
        """Draw the last bar, and lines from the end of each bar to the start of the next."""
        self.ax_.axvline(0.0, color=ink(), linewidth=0.8, alpha=0.6, zorder=0)
        for row, end in enumerate(ends[1:]):
            below = bottom if row == len(ends) - 2 else row + 1
            self.ax_.plot(
                [end, end],
                [row + HALF, below - HALF],
                color=GREY,
                linewidth=0.8,
                zorder=0,
            )
        self.ax_.axhline(bottom - 0.65, color=GREY, linewidth=0.6, alpha=0.6, zorder=0)
        draw_arrow(self.ax_, 0.0, self.logit, bottom, GREY, width)

    def _write_head(self) -> None:
        gauges = []
        if self.ignorance is not None:
            gauges.append(ignorance_gauge(self.ignorance))
        if self.conflict is not None:
            gauges.append(conflict_gauge(self.conflict))
        room = draw_gauges(self.ax_, gauges) if gauges else 0.0
        title = f"Evidence for {without_middle(self.label, 24)}"
        if self.probability is not None:
            title += f" (probability {self.probability:.2f})"
        self.ax_.set_title(title, loc="left", pad=room + 3.0, fontsize="medium")


def _pooled(weights: FloatArray) -> Step:
    positive = float(np.maximum(weights, 0.0).sum())
    negative = float(np.minimum(weights, 0.0).sum())
    parts = (positive, negative) if positive > 0.0 > negative else None
    return Step(f"the other {len(weights)}", float(weights.sum()), parts)


def _written(step: Step, scale: float) -> str:
    text = signed(step.weight, scale)
    if step.parts is None:
        return text
    return f"{text} ({signed(step.parts[0], scale)} {signed(step.parts[1], scale)})"
