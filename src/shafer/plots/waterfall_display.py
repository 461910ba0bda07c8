"""``WaterfallDisplay``: the components of one instance, added up to its log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from scipy.special import softmax

from shafer._typing import FloatArray, Label
from shafer._validation import component_names
from shafer.evidence import MassEvidence, with_weights
from shafer.evidence.base_rate import BASE_RATE
from shafer.evidence.disputed_classes import disputed_classes
from shafer.plots.drawing.compared_classes import compared_in_row
from shafer.plots.drawing.evidence_arrays import numbers, take_row
from shafer.plots.drawing.feature_values import MISSING, values_of_row
from shafer.plots.drawing.own_base_rate import base_rate_position, shares_base_rate
from shafer.plots.drawing.style import axes_for, width_beside
from shafer.plots.drawing.waterfall.gauges import draw_gauges, gauges_of
from shafer.plots.drawing.waterfall.waterfall_bars import WaterfallEnd, draw_waterfall
from shafer.plots.drawing.waterfall.waterfall_steps import (
    Step,
    WaterfallIntervals,
    pooled_step,
    split_by_size,
    waterfall_intervals,
)
from shafer.plots.drawing.waterfall.waterfall_words import (
    probability_words,
    row_name,
    waterfall_axis,
    waterfall_title,
)
from shafer.plots.drawing.whiskers import whisker_legend

_ORDERS = ("size", "sign")


@final
class WaterfallDisplay:
    """The components of one instance, for and against a class, added up to its log-odds.

    Bars to the right support the class over another one, bars to the left the other one: +1
    multiplies the odds by 2.7. The picture starts at the foot with the base rate, if it is a
    component of its own (``prior="own"``). Each bar starts where the one below ends, the largest is
    the highest, and their sum is on top. Above are the ignorance and the disagreement, which the
    sum does not show.

    If the errors of the weights are known, each bar has its error bar: how far it could move with
    another training sample. A component whose error bar includes zero is pale. The bar of an input
    that is missing (NaN in ``features``) is hatched. It has no error bar, because that would not
    show what the missing value could change.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    weights : array of shape (G,)
        Weights of the components, without the base rate: for the class over another one, or the
        plain weights of evidence for the class.
    names : sequence of G strings, optional
        Names of the components; x0, x1, ... by default.
    label : class label
        The class.
    over : class label, optional
        The class it is compared with. Without it, the axis is one of plain weights.
    base_rate : float, optional
        Weight of the base rate; it is drawn apart.
    probability : float, optional
        Of the class.
    over_probability : float, optional
        Of the class it is compared with; with two classes it is not needed.
    base_probability : pair of floats, optional
        Probabilities of the class, and of the one it is compared with, at the base rate.
    ignorance, disagreement : float, optional
        Of the instance; written above the bars if given.
    disputed : pair of class labels, optional
        The classes that the components disagree about most.
    intervals : WaterfallIntervals, optional
        Error bars.
    values : sequence of G strings or None, optional
        Feature values, written beside the names.
    shared_base_rate : bool
        The components share the base rate; written below the axis.
    max_components : int
        Bars at most; the components with the smallest weights are pooled into the last one.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    SummaryDisplay : Many rows instead of one.
    IntervalDisplay : Belief and plausibility of the row.
    shafer.Evidence.reasons : The same in words.

    Examples
    --------
    >>> import shafer
    >>> pool = shafer.least_commitment(
    ...     [0.07, 0.18], -4.9, [42.8, 4.7], names=["age", "ldl"], prior="own"
    ... )
    >>> display = shafer.plots.WaterfallDisplay.from_evidence(pool([[61.0, 3.1]]), class_=1)
    >>> [(step.name, round(step.weight, 2)) for step in display.steps()]
    [('age', 1.27), ('ldl', -0.29)]
    >>> round(display.base_rate, 2), round(display.logit, 2)
    (-1.06, -0.07)
    """

    def __init__(
        self,
        weights: FloatArray,
        names: Sequence[str] | None = None,
        *,
        label: Label = "the class",
        over: Label | None = None,
        base_rate: float | None = None,
        probability: float | None = None,
        over_probability: float | None = None,
        base_probability: tuple[float, float] | None = None,
        ignorance: float | None = None,
        disagreement: float | None = None,
        disputed: tuple[Label, Label] | None = None,
        intervals: WaterfallIntervals | None = None,
        values: Sequence[str | None] | None = None,
        shared_base_rate: bool = False,
        max_components: int = 12,
    ) -> None:
        if isinstance(max_components, bool) or max_components < 1:
            raise ValueError(f"max_components must be at least 1; got {max_components!r}.")
        self.weights = np.asarray(weights, dtype=np.float64)
        self.names = component_names(names, len(self.weights))
        self.label = label
        self.over = over
        self.base_rate = base_rate
        self.probability = probability
        self.over_probability = over_probability
        self.base_probability = base_probability
        self.ignorance = ignorance
        self.disagreement = disagreement
        self.disputed = disputed
        self.intervals = intervals
        self.values = tuple(values) if values is not None else (None,) * len(self.names)
        self.shared_base_rate = shared_base_rate
        self.max_components = max_components

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        row: int = 0,
        *,
        class_: Label | None = None,
        over: Label | None = None,
        quantity: str = "log-odds",
        features: Any = None,
        max_components: int = 12,
        level: float = 0.9,
    ) -> Self:
        """Return a Display of the weights of one instance.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
        row : int
            Position of the instance.
        class_ : class label, optional
            By default the most plausible class.
        over : class label, optional
            The class to compare with: why ``class_`` rather than this. By default the most
            plausible other class.
        quantity : {"log-odds", "weight"}
            ``"log-odds"``: the weights for the class over the other one, as in
            :meth:`shafer.Evidence.contrast`; with two classes the unit of SHAP values.
            ``"weight"``: the weights of evidence for the class by itself, ``ev.weights``. Their sum
            is the logit minus the mean of all classes' logits; with two classes, half the log-odds.
        features : mapping, data frame, array of shape (G,) or (n, G), optional
            Feature values to write beside the names of the components. A mapping and a data frame
            are matched by name, and may leave components out. The base rate has no value.
        max_components : int
            Bars at most; the components with the smallest weights are pooled into the last one.
        level : float
            Of the error bars, if the errors of the weights are known.

        Returns
        -------
        WaterfallDisplay
            Call its :meth:`plot`.
        """
        one, plain = take_row(evidence, row), take_row(with_weights(evidence), row)
        logits, labels = numbers(plain.logits)[0], plain.classes.tolist()
        compared = compared_in_row(logits, plain.classes, class_, over, quantity)
        base = base_rate_position(plain)
        features_at = np.setdiff1d(np.arange(plain.n_components), [] if base is None else [base])
        weights = compared.weights(plain)[0]
        names = tuple(plain.component_names[g] for g in features_at)
        bet, pair = numbers(one.betting_probability)[0], [k for k in compared if k is not None]
        every = numbers(plain.weights)[0]  # (G, K)
        at_base = None if base is None else softmax(every[base])[[pair[0], pair[-1]]]
        two = len(labels) == 2
        disputed = None if two else disputed_classes(every)
        return cls(
            weights[features_at],
            names,
            label=labels[compared.class_],
            over=None if compared.over is None else labels[compared.over],
            base_rate=None if base is None else float(weights[base]),
            probability=float(bet[compared.class_]),
            over_probability=None if two or len(pair) == 1 else float(bet[pair[1]]),
            base_probability=None if at_base is None else (float(at_base[0]), float(at_base[1])),
            ignorance=float(numbers(one.ignorance)[0]),
            disagreement=float(numbers(plain.disagreement)[0]),
            disputed=disputed and (labels[disputed[0]], labels[disputed[1]]),
            intervals=waterfall_intervals(
                plain, compared, features_at, base, max_components, level
            ),
            values=values_of_row(features, names, row, len(evidence)),
            shared_base_rate=shares_base_rate(plain),
            max_components=max_components,
        )

    @property
    def logit(self) -> float:
        """The sum of all weights and the base rate: the log-odds of the two classes."""
        return float(self.weights.sum()) + (self.base_rate or 0.0)

    def steps(self, order: str = "size") -> list[Step]:
        """Return the bars from top to bottom, without their sum and the base rate.

        Parameters
        ----------
        order : {"size", "sign"}
            The largest first; or all that support the class, then all that oppose it.

        Returns
        -------
        list of Step
            Each has a component's name and its weight.
        """
        if order not in _ORDERS:
            raise ValueError(
                f"order must be one of {', '.join(map(repr, _ORDERS))}; got {order!r}."
            )
        kept, pooled = split_by_size(self.weights, self.max_components)
        if order == "sign":
            kept = np.concatenate([kept[self.weights[kept] >= 0], kept[self.weights[kept] < 0]])
        steps = [self._step(int(g)) for g in kept]
        if len(pooled):
            interval = None if self.intervals is None else self.intervals.pooled
            steps.append(pooled_step(self.weights[pooled], interval))
        return steps

    def _step(self, g: int) -> Step:
        value = self.values[g]
        name, missing = row_name(self.names[g], value), value == MISSING
        interval = None
        if self.intervals is not None and not missing:
            low, high = self.intervals.components[g].tolist()
            interval = (low, high)
        return Step(name, float(self.weights[g]), interval=interval, missing=missing)

    def plot(self, ax: Axes | None = None, *, order: str = "size") -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        order : {"size", "sign"}
            The largest weights first; or all that support the class, then all that oppose it: the
            evidence that cancels is then visible.

        Returns
        -------
        WaterfallDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        steps = self.steps(order)
        total, base = self._ends()
        rows = len(steps) + 1 + (base is not None)
        names = [*(step.name for step in steps), total.words, "" if base is None else base.name]
        width = width_beside(names, inner=5.0)
        self.ax_, self.figure_ = axes_for(ax, (width, 2.4 + 0.31 * rows))
        self.ax_.set_xlabel(waterfall_axis(self.label, self.over, self.shared_base_rate))
        draw_waterfall(self.ax_, steps, total, base)
        self._write_head(any(step.missing for step in steps))
        return self

    def _ends(self) -> tuple[WaterfallEnd, WaterfallEnd | None]:
        """Return the sum and the base rate, with the probabilities that belong to them."""
        bars = self.intervals
        words = probability_words(self.label, self.over, self.probability, self.over_probability)
        total = WaterfallEnd("all together", self.logit, words, bars and bars.total)
        if self.base_rate is None:
            return total, None
        words = ""
        if self.base_probability is not None:
            mine, other = self.base_probability
            compared = None if self.over_probability is None else other
            words = probability_words(self.label, self.over, mine, compared)
        name = f"{BASE_RATE} (average {'weight' if self.over is None else 'log-odds'})"
        return total, WaterfallEnd(name, self.base_rate, words, bars and bars.base_rate)

    def _write_head(self, gaps: bool) -> None:
        gauges = gauges_of(self.ignorance, self.disagreement, self.disputed)
        level = None if self.intervals is None else self.intervals.level
        beneath = whisker_legend(self.ax_, level, gaps=gaps)
        room = draw_gauges(self.ax_, gauges, beneath) if gauges else beneath
        title = waterfall_title(self.label, self.over, self.probability, self.over_probability)
        self.ax_.set_title(title, loc="left", pad=room + 3.0, fontsize="medium")
