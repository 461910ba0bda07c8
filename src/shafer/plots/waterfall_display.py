"""``WaterfallDisplay``: the components of one instance, added up to its log-odds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from numpy.typing import NDArray
from scipy.special import softmax

from shafer._checks.labels import component_names
from shafer._typing import FloatArray, Label
from shafer.evidence.base_rate import BASE_RATE, base_rate_position, shares_base_rate
from shafer.evidence.contrast import disputed_classes
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.evidence.reasons import input_cells
from shafer.evidence.words import IN_TEXT, LACKING, NOT_IN_TEXT
from shafer.plots.compared_classes import (
    ODDS_NOTE,
    WEIGHT_NOTE,
    Compared,
    axis_text,
    compared_in_row,
)
from shafer.plots.feature_values import MISSING, values_of_row
from shafer.plots.gauges import (
    Gauge,
    dispute_line,
    draw_gauges,
    gauges_of,
    sides_of,
    surprise_line,
)
from shafer.plots.style import (
    AGAINST,
    FOR,
    GREY,
    SHARED_NOTE,
    axes_for,
    degree,
    drawn_html,
    halo,
    ink,
    inner_width,
    numbers,
    signed,
    take_row,
    text_points,
    width_beside,
    without_end,
    without_middle,
)
from shafer.plots.whiskers import draw_whisker, missing_look, pale_look, whisker_legend

_ORDERS = ("size", "sign")


@final
class WaterfallDisplay:
    """The components of one instance, for and against a class, added up to its log-odds.

    Bars to the right support the class over another one, bars to the left the other one: +1
    multiplies the odds by 2.7. The picture starts at the foot with the base rate, if it is a
    component of its own (``prior="own"``). Each bar starts where the one below ends, the largest is
    the highest, and their sum is on top. Above are the two sides of the scale, as factors on the
    odds, and the lack and the contradiction, which the sum does not show.

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
    class_ : class label
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
    lack, contradiction : float, optional
        Of the instance; written above the bars, with the factors of both sides.
    ignorance, disagreement : float, optional
        Of the instance; written above the bars if given without lack and contradiction.
    disputed : pair of class labels, optional
        The classes that the components disagree about most.
    intervals : WaterfallIntervals, optional
        Error bars.
    values : sequence of G strings or None, optional
        Feature values, written beside the names.
    shared_base_rate : bool
        The components share the base rate; written below the axis.
    top : int
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
        class_: Label = "the class",
        over: Label | None = None,
        base_rate: float | None = None,
        probability: float | None = None,
        over_probability: float | None = None,
        base_probability: tuple[float, float] | None = None,
        lack: float | None = None,
        contradiction: float | None = None,
        ignorance: float | None = None,
        disagreement: float | None = None,
        disputed: tuple[Label, Label] | None = None,
        intervals: WaterfallIntervals | None = None,
        values: Sequence[str | None] | None = None,
        shared_base_rate: bool = False,
        top: int = 12,
    ) -> None:
        if isinstance(top, bool) or top < 1:
            raise ValueError(f"top must be at least 1; got {top!r}.")
        self.weights = np.asarray(weights, dtype=np.float64)
        self.names = component_names(names, len(self.weights))
        self.class_ = class_
        self.over = over
        self.base_rate = base_rate
        self.probability = probability
        self.over_probability = over_probability
        self.base_probability = base_probability
        self.lack = lack
        self.contradiction = contradiction
        self.ignorance = ignorance
        self.disagreement = disagreement
        self.disputed = disputed
        self.intervals = intervals
        self.values = tuple(values) if values is not None else (None,) * len(self.names)
        self.shared_base_rate = shared_base_rate
        self.top = top

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        row: int = 0,
        *,
        class_: Label | None = None,
        over: Label | None = None,
        units: str = "log_odds",
        features: Any = None,
        top: int = 12,
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
        units : {"log_odds", "weight"}
            ``"log_odds"``: the weights for the class over the other one, as in
            :meth:`shafer.Evidence.contrast`; with two classes the unit of SHAP values.
            ``"weight"``: the weights of evidence for the class by itself, ``ev.weights``. Their sum
            is the logit minus the mean of all classes' logits; with two classes, half the log-odds.
        features : mapping, data frame, array of shape (G,) or (n, G), optional
            Feature values to write beside the names of the components. A mapping and a data frame
            are matched by name, and may leave components out. The base rate has no value.
        top : int
            Bars at most; the components with the smallest weights are pooled into the last one.
        level : float
            Of the error bars, if the errors of the weights are known.

        Returns
        -------
        WaterfallDisplay
            Call its :meth:`plot`.
        """
        one, plain = take_row(evidence, row), take_row(evidence.weighed, row)
        labels = plain.classes.tolist()
        compared = compared_in_row(plain, class_, over, units)
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
            class_=labels[compared.class_],
            over=None if compared.over is None else labels[compared.over],
            base_rate=None if base is None else float(weights[base]),
            probability=float(bet[compared.class_]),
            over_probability=None if two or len(pair) == 1 else float(bet[pair[1]]),
            base_probability=None if at_base is None else (float(at_base[0]), float(at_base[1])),
            lack=float(numbers(one.lack)[0]),
            contradiction=float(numbers(one.contradiction)[0]),
            ignorance=float(numbers(one.ignorance)[0]),
            disagreement=float(numbers(plain.disagreement)[0]),
            disputed=disputed and (labels[disputed[0]], labels[disputed[1]]),
            intervals=waterfall_intervals(plain, compared, features_at, base, top, level),
            values=values_of_row(_or_words(features, plain), names, row, len(evidence)),
            shared_base_rate=shares_base_rate(plain),
            top=top,
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
        kept, pooled = split_by_size(self.weights, self.top)
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
        self.ax_.set_xlabel(waterfall_axis(self.class_, self.over, self.shared_base_rate))
        draw_waterfall(self.ax_, steps, total, base)
        self._write_head(any(step.missing for step in steps))
        return self

    def _ends(self) -> tuple[WaterfallEnd, WaterfallEnd | None]:
        """Return the sum and the base rate, with the probabilities that belong to them."""
        bars = self.intervals
        words = probability_words(self.class_, self.over, self.probability, self.over_probability)
        total = WaterfallEnd("all together", self.logit, words, bars and bars.total)
        if self.base_rate is None:
            return total, None
        words = ""
        if self.base_probability is not None:
            mine, other = self.base_probability
            compared = None if self.over_probability is None else other
            words = probability_words(self.class_, self.over, mine, compared)
        name = f"{BASE_RATE} (average {'weight' if self.over is None else 'log-odds'})"
        return total, WaterfallEnd(name, self.base_rate, words, bars and bars.base_rate)

    def _gauges(self) -> list[Gauge]:
        if self.lack is None or self.contradiction is None:
            return gauges_of(self.ignorance, self.disagreement, self.disputed)
        lines = [surprise_line(self.lack, self.contradiction)]
        if self.disputed is not None and (self.disagreement or 0.0) >= LACKING:
            lines.append(dispute_line(self.disputed))
        if self.over is None:  # not odds
            return lines
        return [*sides_of(self.weights.tolist(), self.base_rate or 0.0), *lines]

    def _write_head(self, gaps: bool) -> None:
        gauges = self._gauges()
        level = None if self.intervals is None else self.intervals.level
        beneath = whisker_legend(self.ax_, level, gaps=gaps)
        room = draw_gauges(self.ax_, gauges, beneath) if gauges else beneath
        title = waterfall_title(self.class_, self.over, self.probability, self.over_probability)
        self.ax_.set_title(title, loc="left", pad=room + 3.0, fontsize="medium")

    def _repr_html_(self) -> str:
        return drawn_html(self)


# A waterfall drawn: the base rate at the foot, a bar for each step above it, the sum on top.

_APART = 0.4  # rows: more room beside the sum and the base rate
_LIFT = 8.0  # points: the number of an end stands above its error bar
_THIN = 0.015  # of the width: a shorter sum is hard to see


class WaterfallEnd(NamedTuple):
    """The sum, or the base rate: a bar from zero, with a few words below its name."""

    name: str
    weight: float
    words: str = ""
    interval: Ends | None = None


def draw_waterfall(
    ax: Axes, steps: Sequence[Step], total: WaterfallEnd, base: WaterfallEnd | None
) -> None:
    """Draw the steps, each starting where the one below ends; the lowest starts at the base rate.

    Parameters
    ----------
    ax : matplotlib axes
    steps : sequence of Step
        From top to bottom.
    total : WaterfallEnd
        The base rate and all steps together.
    base : WaterfallEnd, optional
        The base rate; without it the steps start at zero.
    """
    weights = np.array([step.weight for step in steps])
    foot = 0.0 if base is None else base.weight
    # The start of each step: the base rate, and all steps below it.
    starts = foot + np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0)
    places = 1.0 + _APART + np.arange(len(steps))
    bottom = None if base is None else float(places[-1]) + 1.0 + _APART
    scale = float(np.max(np.abs([*starts, *(starts + weights), *weights])))
    bars = [
        _bar(place, start, step.weight, step.interval, _written(step, scale))
        for place, start, step in zip(places, starts, steps, strict=True)
    ]
    bars.append(_end_bar(total, 0.0, scale))
    if base is not None and bottom is not None:
        bars.append(_end_bar(base, bottom, scale))
    _name_rows(ax, [_named(total), *(step.name for step in steps)], [0.0, *places], base, bottom)
    _set_limits(ax, bars)  # the names have taken their room
    looks = [_look(step) for step in steps]
    looks += [{"facecolor": GREY, "edgecolor": "none"}] * (len(bars) - len(steps))
    width = ax.get_xlim()[1] - ax.get_xlim()[0]
    for bar, look in zip(bars, looks, strict=True):
        draw_arrow(ax, bar.start, bar.weight, bar.place, look, width)
        if bar.number.lift and abs(bar.weight) < _THIN * width:
            draw_thin_end(ax, bar.start + bar.weight, bar.place)
        if bar.interval is not None:
            draw_whisker(ax, *bar.interval, bar.place)
        write_number(ax, bar.number)
    _connect(ax, starts, weights, places, bottom)


class _Bar(NamedTuple):
    place: float
    start: float
    weight: float
    interval: Ends | None  # where it is drawn
    number: Number


def _bar(place: float, start: float, weight: float, interval: Ends | None, text: str) -> _Bar:
    """Place a bar, its error bar, and its number beyond both."""
    right = weight >= 0
    drawn = None if interval is None else (start + interval[0], start + interval[1])
    reach = [start + weight, *(drawn or ())]
    number = Number(max(reach) if right else min(reach), place, right, text)
    return _Bar(place, start, weight, drawn, number)


def _end_bar(end: WaterfallEnd, place: float, scale: float) -> _Bar:
    """Place the sum or the base rate; its number is at its tip, above the error bar."""
    number = Number(end.weight, place, end.weight >= 0, signed(end.weight, scale), _LIFT)
    return _Bar(place, 0.0, end.weight, end.interval, number)


def _named(end: WaterfallEnd) -> str:
    return f"{end.name}\n{end.words}".rstrip()


def _set_limits(ax: Axes, bars: list[_Bar]) -> None:
    reached = [0.0]
    for bar in bars:
        reached += [bar.start, bar.start + bar.weight, *(bar.interval or ())]
    ax.set_xlim(*limits_with(ax, np.array(reached), [bar.number for bar in bars]))


def _name_rows(
    ax: Axes,
    names: list[str],
    places: list[float],
    base: WaterfallEnd | None,
    bottom: float | None,
) -> None:
    if base is not None and bottom is not None:
        names, places = [*names, _named(base)], [*places, bottom]
        ax.axhline(bottom - 0.5 - _APART / 2, color=GREY, linewidth=0.6, alpha=0.6, zorder=0)
    ax.axhline(0.5 + _APART / 2, color=GREY, linewidth=0.6, alpha=0.6, zorder=0)
    ax.axvline(0.0, color=ink(), linewidth=0.8, alpha=0.6, zorder=0)
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(places[-1] + 0.65, -0.65)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _connect(
    ax: Axes, starts: FloatArray, weights: FloatArray, places: FloatArray, bottom: float | None
) -> None:
    """Draw lines from the end of each bar up to the start of the next, and to the sum."""
    lines = [
        (end, place, above)
        for end, place, above in zip(starts + weights, places, [0.0, *places[:-1]], strict=True)
    ]
    if bottom is not None:
        lines.append((float(starts[-1]), bottom, float(places[-1])))
    for x, place, above in lines:
        ax.plot([x, x], [place - HALF, above + HALF], color=GREY, linewidth=0.8, zorder=0)


def _look(step: Step) -> dict[str, object]:
    color = FOR if step.weight >= 0 else AGAINST
    if step.missing:
        return missing_look(color)
    if not step.told_from_zero:
        return pale_look(color)
    return {"facecolor": color, "edgecolor": "none"}


def _written(step: Step, scale: float) -> str:
    text = signed(step.weight, scale)
    if step.parts is None:
        return text
    return f"{text} ({signed(step.parts[0], scale)} {signed(step.parts[1], scale)})"


# The bars of a waterfall: components, the weakest of them pooled, and their error bars.

Ends = tuple[float, float]
"""The lower and the upper end of an interval."""


class Step(NamedTuple):
    """One bar: a component, or those pooled, and its weight for and against the class."""

    name: str
    weight: float
    parts: tuple[float, float] | None = None
    """The sums of the pooled weights for and against the class, if there are both."""
    interval: Ends | None = None
    """Error bar of the weight, if it is known."""
    missing: bool = False
    """Whether the input is missing: the weight is then an expectation, or none."""

    @property
    def told_from_zero(self) -> bool:
        """Whether the error bar leaves out zero; True if there is none."""
        return self.interval is None or not self.interval[0] <= 0.0 <= self.interval[1]


class WaterfallIntervals(NamedTuple):
    """Error bars of all that a waterfall shows."""

    level: float
    components: FloatArray  # (G, 2), without the base rate
    base_rate: Ends | None
    pooled: Ends | None
    """Of the sum of the components that have no bar of their own."""
    total: Ends


def split_by_size(weights: FloatArray, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the components that get a bar, the largest first, and those that are pooled."""
    strongest = np.argsort(-np.abs(weights), kind="stable")
    shown = len(strongest) if len(strongest) <= most else most - 1
    return strongest[:shown], strongest[shown:]


def pooled_step(weights: FloatArray, interval: Ends | None) -> Step:
    """Return one bar for several components."""
    positive = float(np.maximum(weights, 0.0).sum())
    negative = float(np.minimum(weights, 0.0).sum())
    parts = (positive, negative) if positive > 0.0 > negative else None
    return Step(f"the other {len(weights)}", float(weights.sum()), parts, interval)


def waterfall_intervals(
    one: Evidence,
    compared: Compared,
    features: NDArray[np.intp],
    base: int | None,
    most: int,
    level: float,
) -> WaterfallIntervals | None:
    """Compute the error bars of one row; sums take the covariances of their components.

    Parameters
    ----------
    one : Evidence
        One row.
    compared : Compared
    features : array of shape (G,)
        Positions of the components that are not the base rate.
    base : int, optional
        Position of the base rate.
    most : int
        Bars at most.
    level : float
    """
    if one.errors is None:
        return None
    ends = np.stack(compared.intervals(one, level), axis=-1)[0]  # (G, 2), the base rate too
    pooled = split_by_size(compared.weights(one)[0, features], most)[1]

    def together(part: Evidence) -> Ends:
        lower, upper = compared.intervals(part.grouped("one"), level)
        return float(lower[0, 0]), float(upper[0, 0])

    rest = np.setdiff1d(np.arange(one.n_components), features[pooled]).tolist()
    return WaterfallIntervals(
        level,
        ends[features],
        None if base is None else (float(ends[base, 0]), float(ends[base, 1])),
        together(one.without(rest)) if len(pooled) else None,
        together(one),
    )


def _or_words(features: Any, one: Evidence) -> Any:
    """Return the values that were given, or whether each word is in the text of the row."""
    if features is not None:
        return features
    cells = input_cells(one, 0) or {}
    return {n: cell for n, cell in cells.items() if cell in (IN_TEXT, NOT_IN_TEXT)} or None


# The words of a waterfall: its title, its axis, the names of its rows, its probabilities.

_LONGEST = 42  # characters: name and value


def waterfall_title(
    class_: Label, over: Label | None, probability: float | None, over_probability: float | None
) -> str:
    """Ask why one class rather than another one, if there are more than two.

    Examples
    --------
    >>> waterfall_title("yes", "no", 0.25, None)
    'Evidence for yes (probability 0.25)'
    >>> waterfall_title("a", "b", 0.7, 0.2), waterfall_title("b", "a", 0.2, 0.7)
    ('Why a rather than b?', 'Evidence for b rather than a')
    """
    name = without_middle(class_, 24)
    if probability is None:
        return f"Evidence for {name}"
    if over_probability is None:
        return f"Evidence for {name} (probability {probability:.2f})"
    other = without_middle(over, 24)
    if probability >= over_probability:
        return f"Why {name} rather than {other}?"
    return f"Evidence for {name} rather than {other}"


def waterfall_axis(class_: Label, over: Label | None, shared_base_rate: bool) -> str:
    """Return the name of the axis, and what its unit means."""
    lines = [axis_text(class_, over), WEIGHT_NOTE if over is None else ODDS_NOTE]
    return "\n".join([*lines, SHARED_NOTE] if shared_base_rate else lines)


def row_name(name: str, value: str | None) -> str:
    """Return the name of a component, and the value of its feature if it is known.

    Examples
    --------
    >>> row_name("savings", "1000 DM or more"), row_name("age", None)
    ('savings = 1000 DM or more', 'age')
    >>> row_name("age", "missing")
    'age not measured'
    >>> row_name("fuel", "not in the text")
    '‘fuel’ not in the text'
    """
    short = without_middle(name)
    if value is None:
        return short
    if value == MISSING:
        return f"{short} not measured"
    if value in (IN_TEXT, NOT_IN_TEXT):
        return f"‘{short}’ {value}"
    return f"{short} = {without_end(value, max(_LONGEST - 3 - len(short), 10))}"


def probability_words(
    class_: Label, over: Label | None, probability: float | None, over_probability: float | None
) -> str:
    """Return the probability of the class, or those of both classes if there are more than two.

    Examples
    --------
    >>> probability_words("yes", "no", 0.25, None), probability_words("a", "b", 0.7, 0.2)
    ('probability 0.25', 'a 0.70, b 0.20')
    """
    if probability is None:
        return ""
    if over_probability is None:
        return f"probability {degree(probability)}"
    first, second = without_middle(class_, 12), without_middle(over, 12)
    return f"{first} {degree(probability)}, {second} {degree(over_probability)}"


# Bars with a tip, laid end to end, and the numbers beside them.

HALF = 0.36  # of the height of a bar, in rows


class Number(NamedTuple):
    """A number beside the end of a bar, to its right or to its left."""

    end: float
    row: float
    right: bool
    text: str
    lift: float = 0.0
    """Points above the middle of the bar."""


def limits_with(ax: Axes, ends: FloatArray, texts: list[Number]) -> tuple[float, float]:
    """Return limits that leave room for the numbers beside the bars."""
    low, high = float(ends.min()), float(ends.max())
    if low == high:
        low, high = low - 1.0, high + 1.0
    inside = (low, high)
    across = inner_width(ax)
    for _ in range(6):  # the wider the limits, the more a number takes of them
        unit = (high - low) / across
        reach = [
            number.end
            + (1 if number.right else -1) * unit * (text_points(number.text, "small") + 9)
            for number in texts
        ]
        low, high = min(inside[0], *reach), max(inside[1], *reach)
        pad = 0.03 * (high - low)
        low, high = low - pad, high + pad
    return low, high


def draw_arrow(
    ax: Axes, start: float, weight: float, row: float, look: dict[str, Any], width: float
) -> None:
    """Draw a bar with a tip, so that its direction is seen without its colour."""
    end = start + weight
    neck = end - np.sign(weight) * min(abs(weight), 0.013 * width)
    outline = [
        (start, row - HALF),
        (neck, row - HALF),
        (end, row),
        (neck, row + HALF),
        (start, row + HALF),
    ]
    ax.add_patch(Polygon(outline, closed=True, **look))


def draw_thin_end(ax: Axes, end: float, row: float) -> None:
    """Mark where a bar ends that is too short to be seen."""
    ax.plot(
        [end, end],
        [row - HALF, row + HALF],
        color=GREY,
        linewidth=4.0,
        solid_capstyle="butt",
        scalex=False,
        scaley=False,
    )


def write_number(ax: Axes, number: Number) -> None:
    """Write a number beside its bar."""
    ax.annotate(
        number.text,
        (number.end, number.row),
        xytext=(4 if number.right else -4, number.lift),
        textcoords="offset points",
        ha="left" if number.right else "right",
        va="center_baseline",
        fontsize="small",
        path_effects=halo(2.5),
    )
