"""``UncertaintyDisplay``: lack of evidence and disagreement of evidence, told apart."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._checks.labels import positions_of
from shafer._typing import BoolArray, FloatArray
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.style import (
    COLORS,
    GREY,
    WRONG_RAMP,
    axes_for,
    drawn_html,
    halo,
    ink,
    numbers,
    of_instances,
)

_SCALES = ("auto", "linear", "log")
_TINY = 1e-290  # ignorance below this has underflowed, or is about to
_STRIP = 0.14  # of the vertical range: room below for the probabilities and the words
_MANY = 4000  # points: from here on they are counted in hexagons


@final
class UncertaintyDisplay:
    r"""Many instances in the plane of ignorance and disagreement.

    A probability of one half can have two causes: little evidence (to the right), or components
    that support different classes (at the top). Evidence is decisive near the origin. Points are
    coloured by whether the most plausible class was right, or by the number of classes in the
    decided set. The plane describes the evidence as the model weighs it; it is not a forecast of
    errors.

    With three or more classes a single component has conflict by itself, if it supports two
    classes. The disagreement is the conflict without that. Evidence without components, such as
    combined evidence of other types, is drawn with its conflict.

    For two classes all instances of one probability lie on a line: if the evidence for the less
    probable class leaves the mass y uncommitted and that for the other one ry, then
    :math:`r = (1 - p)/p` for the larger probability p, and

    .. math:: 1 - \kappa = y + ry - ry^2, \qquad m(\Theta) = \frac{ry^2}{1 - \kappa}.

    These lines are drawn. No point lies to the right of the line for :math:`p = 1/2`.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    ignorance, conflict : arrays of shape (n,)
    weight_of_conflict, log_ignorance : arrays of shape (n,), optional
        −ln(1 − conflict) and ln(ignorance), if they are known more precisely.
    weight_of_disagreement : array of shape (n,), optional
        −ln(1 − disagreement). If it is given, the disagreement is drawn, not the conflict.
    right : boolean array of shape (n,), optional
        Whether the most plausible class was right.
    set_sizes : integer array of shape (n,), optional
        Numbers of classes in the decided sets; used if ``right`` is not given.
    n_classes : int, optional
        With two classes, the lines of equal probability are drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    IntervalDisplay : One row in detail.
    RegionDisplay : Ignorance over two features.

    Examples
    --------
    >>> import shafer
    >>> weights = [[[0.0, 0.0]], [[1.5, -1.5]]]
    >>> ev = shafer.Evidence.from_weights(weights, classes=["no", "yes"])
    >>> display = shafer.plots.UncertaintyDisplay.from_evidence(ev, y_true=["yes", "no"])
    >>> display.ignorance.round(2), display.conflict, display.right
    (array([1.  , 0.05]), array([0., 0.]), array([False,  True]))
    """

    def __init__(
        self,
        ignorance: FloatArray,
        conflict: FloatArray,
        *,
        weight_of_conflict: FloatArray | None = None,
        log_ignorance: FloatArray | None = None,
        weight_of_disagreement: FloatArray | None = None,
        right: Any = None,
        set_sizes: Any = None,
        n_classes: int | None = None,
    ) -> None:
        self.ignorance = np.asarray(ignorance, dtype=np.float64)
        self.conflict = np.asarray(conflict, dtype=np.float64)
        if weight_of_conflict is None:
            weight_of_conflict = -np.log1p(-np.minimum(self.conflict, 1.0 - 1e-16))
        self.weight_of_conflict = np.asarray(weight_of_conflict, dtype=np.float64)
        if log_ignorance is None:
            log_ignorance = np.log(np.maximum(self.ignorance, _TINY))
        self.log_ignorance = np.asarray(log_ignorance, dtype=np.float64)
        self.weight_of_disagreement = weight_of_disagreement
        self.right = None if right is None else np.asarray(right, dtype=bool)
        self.set_sizes = None if set_sizes is None else np.asarray(set_sizes, dtype=np.intp)
        self.n_classes = n_classes

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        y_true: Any = None,
        *,
        rule: str = "interval_dominance",
        **options: Any,
    ) -> Self:
        """Return a Display of the ignorance and the disagreement of all instances.

        Parameters
        ----------
        evidence : MassEvidence
        y_true : array of shape (n,), optional
            True class labels; then points are coloured by whether the most plausible class is the
            true one.
        rule : str
            As in :meth:`shafer.Evidence.decide`, with its ``options``; points are coloured by the
            number of classes in the set, if ``y_true`` is not given.
        **options
            Options of the rule.

        Returns
        -------
        UncertaintyDisplay
            Call its :meth:`plot`.
        """
        plain = of_instances(evidence).undiscounted
        disagreement = None
        if isinstance(plain, Evidence):
            disagreement = numbers(plain.weight_of_disagreement)
        right = None
        if y_true is not None:
            named = to_numpy(evidence.decide("plausibility")).argmax(axis=1)
            right = _true_positions(y_true, evidence) == named
        return cls(
            numbers(evidence.ignorance),
            numbers(evidence.conflict),
            weight_of_conflict=numbers(evidence.weight_of_conflict),
            log_ignorance=_log_ignorance(evidence),
            weight_of_disagreement=disagreement,
            right=right,
            set_sizes=to_numpy(evidence.decide(rule, **options)).sum(axis=1),
            n_classes=len(evidence.classes),
        )

    @property
    def disagreement(self) -> FloatArray | None:
        """The disagreement of the components, (n,); None where it is not known."""
        if self.weight_of_disagreement is None:
            return None
        return -np.expm1(-self.weight_of_disagreement)

    def plot(
        self, ax: Axes | None = None, *, scale: str = "auto", density: bool | None = None
    ) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        scale : {"auto", "linear", "log"}
            ``"linear"`` draws both axes from 0 to 1. An axis ends earlier, and its name gives its
            end, if all values are below 0.25. With many components most instances have a
            disagreement near one and an ignorance near zero. ``"log"`` moves them apart: ignorance
            on a logarithmic scale, and the weight of disagreement, −ln(1 − disagreement).
            ``"auto"`` takes ``"log"`` if more than half of the instances are that close to the
            corner.
        density : bool, optional
            Whether to count points in hexagons, coloured by the share of wrong ones or by the mean
            number of classes; a faint hexagon has few points. By default from 4000 points on.

        Returns
        -------
        UncertaintyDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if scale not in _SCALES:
            raise ValueError(
                f"scale must be one of {', '.join(map(repr, _SCALES))}; got {scale!r}."
            )
        self.ax_, self.figure_ = axes_for(ax, (6.4, 4.8))
        log = self._crowded() if scale == "auto" else scale == "log"
        x, y = self._coordinates(log)
        self._dress(x, y, log)
        if self._has_lines():
            draw_isoprobability(self.ax_, log)
        if len(x) >= _MANY if density is None else density:
            draw_hexagons(self.ax_, x, y, self.right, self.set_sizes)
        else:
            draw_points(self.ax_, x, y, self.right, self.set_sizes)
        self._write_corners(pointing=log or self._ends() != (1.0, 1.0))
        return self

    def _vertical(self) -> tuple[str, FloatArray, FloatArray]:
        """Return the name of the vertical axis, its values, and their weights."""
        if self.disagreement is not None and self.weight_of_disagreement is not None:
            return "disagreement", self.disagreement, self.weight_of_disagreement
        return "conflict", self.conflict, self.weight_of_conflict

    def _has_lines(self) -> bool:
        """Return whether lines of equal probability hold: they are derived from the conflict."""
        drawn = self._vertical()[2]
        same = np.allclose(drawn, self.weight_of_conflict, rtol=1e-6, atol=1e-9)
        return self.n_classes == 2 and same and within_bounds(self.ignorance, drawn)

    def _crowded(self) -> bool:
        return bool(np.mean((self._vertical()[1] > 0.95) | (self.ignorance < 0.01)) > 0.5)

    def _ends(self) -> tuple[float, float]:
        """Return where the linear axes end: at 1, or a little beyond values that are all small."""
        return axis_end(self.ignorance), axis_end(self._vertical()[1])

    def _coordinates(self, log: bool) -> tuple[FloatArray, FloatArray]:
        _, values, weights = self._vertical()
        if not log:
            return self.ignorance, values
        return self.log_ignorance / np.log(10.0), weights

    def _dress(self, x: FloatArray, y: FloatArray, log: bool) -> None:
        """Set the axes, with room at the top and the bottom for the words in the corners."""
        ax, name = self.ax_, self._vertical()[0]
        if not log:
            right, top = self._ends()
            ax.set_xlim(-0.02 * right, 1.02 * right)
            ax.set_ylim(-_STRIP * top, 1.085 * top)
            ax.set_xticks(right * np.linspace(0.0, 1.0, 6))
            ax.set_yticks(top * np.linspace(0.0, 1.0, 6))
            ax.set_xlabel(axis_name("ignorance", right))
            ax.set_ylabel(axis_name(name, top))
        else:
            pad = max(0.06 * float(np.ptp(x)), 0.2)
            ax.set_xlim(float(x.min()) - pad, float(x.max()) + pad)
            low, high = (float(y.min()), max(float(y.max()), 0.1))
            low = 0.0 if low < 0.3 * high else min(low, 0.98 * high)
            ax.set_ylim(low - _STRIP * (high - low), high + 0.1 * (high - low))
            ax.set_yticks([t for t in MaxNLocator(6).tick_values(low, high) if low <= t <= high])
            ax.set_xlabel("ignorance: lack of evidence, on a logarithmic scale")
            ax.set_ylabel(f"weight of {name}, −ln(1 − {name})")
            ax.xaxis.set_major_locator(MaxNLocator(7, integer=True))
            ax.xaxis.set_major_formatter(FuncFormatter(power_of_ten))
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)

    def _write_corners(self, *, pointing: bool) -> None:
        """Name the corners of the plane; arrows point to them if the picture is a part of it."""
        high = "disagreeing" if self.weight_of_disagreement is not None else "conflicting"
        for (x, y), word, arrow, across in (
            ((0.012, 0.008), "decisive", "↙ {}", "left"),
            ((0.988, 0.008), "lacking", "{} ↘", "right"),
            ((0.012, 0.992), high, "↖ {}", "left"),
        ):
            self.ax_.text(
                x,
                y,
                arrow.format(word) if pointing else word,
                transform=self.ax_.transAxes,
                ha=across,
                va="top" if y > 0.5 else "bottom",
                fontstyle="italic",
                path_effects=halo(),
                zorder=6,
            )

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _true_positions(y_true: Any, evidence: MassEvidence) -> Any:
    labels = to_numpy(y_true)
    if labels.shape != (len(evidence),):
        raise ValueError(
            f"y_true must have one label for each of the {len(evidence)} rows of evidence; "
            f"got shape {labels.shape}."
        )
    found = labels.tolist()
    positions_of(set(found), evidence.classes)  # refuses unknown labels
    where = {label: k for k, label in enumerate(evidence.classes.tolist())}
    return np.array([where[label] for label in found])


def _log_ignorance(evidence: MassEvidence) -> FloatArray:
    """Return ln m(Θ); from the weights, −ln(1 − κ) − Σ w⁺ − Σ w⁻, where m(Θ) underflows."""
    ignorance = numbers(evidence.ignorance)
    log_ignorance = np.log(np.maximum(ignorance, _TINY))
    if not isinstance(evidence, Evidence):
        return log_ignorance
    total = numbers(evidence.weights_for) + numbers(evidence.weights_against)
    beneath = numbers(evidence.weight_of_conflict) - total.sum(axis=1)
    return np.where(ignorance > _TINY, log_ignorance, beneath)


# Lines of equal probability in the plane of ignorance and conflict, for two classes.

_EVEN = (0.5, 0.6, 0.75, 0.9, 0.99)
_WORDS = "largest probability"
_SPREAD = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999)


def isoprobability(probability: float, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Return the logarithm of ignorance and the weight of conflict along a line.

    All evidence for the less probable class together has the weight t and leaves the mass
    :math:`y = e^{-t}` uncommitted; that for the other one leaves :math:`ry`, where
    :math:`r = (1 - p)/p`. Then :math:`1 - \kappa = y(1 + r(1 - y))` and
    :math:`m(\Theta) = ry^2/(1 - \kappa)`.

    Parameters
    ----------
    probability : float
        That of the more probable class, at least one half.
    weight : array of shape (m,)
        Values of t, not negative.

    Examples
    --------
    >>> import numpy as np
    >>> isoprobability(0.5, np.array([0.0]))
    (array([0.]), array([0.]))
    """
    ratio = (1.0 - probability) / probability
    excess = np.log1p(-ratio * np.expm1(-weight))
    return np.log(ratio) - weight - excess, weight - excess


def within_bounds(ignorance: FloatArray, weight_of_conflict: FloatArray) -> bool:
    """Return whether no point lies beyond p = 1/2; points of discounted evidence may.

    There ignorance is (1 − √κ) / (1 + √κ).
    """
    root = np.sqrt(-np.expm1(-weight_of_conflict))
    return bool((ignorance <= (1.0 - root) / (1.0 + root) + 1e-4).all())


def draw_isoprobability(ax: Axes, log: bool) -> None:
    """Draw lines of equal probability over the axes as they are, each with its number below."""
    reach = 2.0 * ax.get_ylim()[1] + 5.0 if log else 25.0
    weights = reach * np.linspace(0.0, 1.0, 2000) ** 2  # closer where the lines bend
    foot = max(0.0, float(np.interp(0.11, [0.0, 1.0], ax.get_ylim())))
    middle = float(np.interp(0.7, [0.0, 1.0], ax.get_ylim()))
    edge = 2.0  # of the axes: no number lies to the right of this
    roof = 2.0  # of the axes: no number at the right side lies above this
    for probability in _SPREAD if log else _EVEN:
        ignorance, conflict = isoprobability(probability, weights)
        x = ignorance / np.log(10.0) if log else np.exp(ignorance)
        y = conflict if log else -np.expm1(-conflict)
        half = probability == 0.5
        _draw_line(ax, x, y, half)
        if half and log:  # its foot is beyond the axes
            at = int(np.argmin(np.abs(y - middle)))
            _write_number(ax, f"  {_WORDS} 0.5", x[at], y[at], "left")
            continue
        at = int(np.argmin(np.abs(y - foot)))
        across = _share_of(ax, x[at], foot)[0]
        if across > 1.0 and not log:  # the axes end before its foot
            roof = _write_at_the_side(ax, x, y, f"{probability:g}", roof)
            continue
        if not 0.0 < across <= 1.0 or across > edge - 0.07:
            continue
        edge = across - (0.22 if half else 0.0)
        text = f"{_WORDS} {probability:g}" if half else f"{probability:g}"
        _write_number(ax, text, x[at], foot, "right" if half else "center")


def _share_of(ax: Axes, x: float, y: float) -> tuple[float, float]:
    """Return where a point lies, as shares of the width and the height of the axes."""
    across, up = ax.transAxes.inverted().transform(ax.transData.transform((x, y)))
    return float(across), float(up)


def _write_at_the_side(ax: Axes, x: FloatArray, y: FloatArray, text: str, roof: float) -> float:
    """Write the number of a line where it leaves the axes on the right, below those above it."""
    side = float(np.interp(0.99, [0.0, 1.0], ax.get_xlim()))
    at = int(np.argmin(np.abs(x - side)))
    height = _share_of(ax, x[at], y[at])[1]
    if not 0.0 < height < roof - 0.06:
        return roof
    _write_number(ax, f"{_WORDS} {text}", x[at], y[at], "right", above=True)
    return height


def _draw_line(ax: Axes, x: FloatArray, y: FloatArray, half: bool) -> None:
    ax.plot(
        x,
        y,
        color=ink() if half else GREY,
        linewidth=1.0 if half else 0.8,
        linestyle="solid" if half else (0, (4, 2)),
        alpha=0.8,
        zorder=1,
        scalex=False,
        scaley=False,
    )


def _write_number(
    ax: Axes,
    text: str,
    x: float,
    y: float,
    side: Literal["left", "center", "right"],
    *,
    above: bool = False,
) -> None:
    beside = side == "left" or above
    ax.annotate(
        text,
        (x, y),
        xytext=(0, 20 if above else 0 if beside else -5),  # above: clear of a falling line
        textcoords="offset points",
        ha=side,
        va="bottom" if beside else "top",
        annotation_clip=True,
        fontsize="x-small",
        color=ink(),
        path_effects=halo(2.0),
        zorder=5,
    )


# The axes of the plane of ignorance and disagreement: their ends, names and numbers.

_NOTHING, _SMALL = 1e-3, 0.25  # an axis whose values all lie between ends where they end
_ROUND = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
_MEANINGS = {
    "ignorance": "lack of evidence",
    "disagreement": "components contradict each other",
    "conflict": "evidence contradicts itself",
}


def axis_end(values: FloatArray) -> float:
    """Return the end of an axis from 0: 1, or a round number beyond values that are all small."""
    largest = float(values.max(initial=0.0))
    if not _NOTHING < largest < _SMALL:
        return 1.0
    power = 10.0 ** np.floor(np.log10(largest))
    return next(float(step * power) for step in _ROUND if step * power >= largest)


def axis_name(name: str, end: float) -> str:
    """Return the name of an axis, its meaning, and its end if that is not 1."""
    full = f"{name}: {_MEANINGS[name]}"
    return full if end == 1.0 else f"{full} (axis ends at {end:g}, not 1)"


def power_of_ten(exponent: float, _: object) -> str:
    """Write a power of ten, plainly where that is short."""
    if exponent > 0.0:
        return ""  # no such ignorance
    return f"{10.0**exponent:g}" if exponent >= -3.0 else f"$10^{{{exponent:.0f}}}$"


# Points of the uncertainty plane: by right or wrong, or by the size of the decided set.

_SIZES = 4  # set sizes told apart; larger ones share a colour


class _Group(NamedTuple):
    name: str
    color: str
    marker: str
    inside: BoolArray


def draw_points(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    right: BoolArray | None,
    set_sizes: NDArray[np.intp] | None,
) -> None:
    """Draw every point, wrong ones and large sets on top, and count each kind in the legend."""
    size = float(np.clip(9000.0 / len(x), 7.0, 26.0))
    groups = [group for group in _groups(len(x), right, set_sizes) if group.inside.any()]
    for order, group in enumerate(groups):
        cross = group.marker == "x"
        ax.scatter(
            x[group.inside],
            y[group.inside],
            s=1.7 * size if cross else size,  # a cross has less ink
            c=group.color,
            marker=group.marker,
            linewidths=1.1 if cross else 0.0,
            alpha=0.95 if cross else 0.8,
            label=f"{group.name} ({int(group.inside.sum()):,})",
            zorder=3 + 0.1 * order,
            rasterized=len(x) > 2000,
        )
    if len(groups) > 1 or groups[0].name:
        ax.legend(
            loc="upper right",
            fontsize="small",
            framealpha=0.9,
            markerscale=1.0 if len(x) < 800 else 1.6,
            title=None if right is not None else "classes decided on",
            title_fontsize="small",
        )


def _groups(n: int, right: BoolArray | None, set_sizes: NDArray[np.intp] | None) -> list[_Group]:
    if right is not None:
        return [
            _Group("right", COLORS[0], "o", right),
            _Group("wrong", COLORS[1], "x", ~right),
        ]
    if set_sizes is None:
        return [_Group("", COLORS[0], "o", np.ones(n, dtype=bool))]
    looks = zip((COLORS[0], COLORS[4], COLORS[1], COLORS[3]), "o^sD", strict=True)
    sizes = np.unique(set_sizes)
    groups = []
    for position, (color, marker) in enumerate(looks):
        if position >= len(sizes):
            break
        last = position == _SIZES - 1 and len(sizes) > _SIZES
        inside = set_sizes >= sizes[position] if last else set_sizes == sizes[position]
        name = f"{sizes[position]} or more" if last else f"{sizes[position]}"
        groups.append(_Group(name, color, marker, inside))
    return groups


def draw_hexagons(
    ax: Axes,
    x: FloatArray,
    y: FloatArray,
    right: BoolArray | None,
    set_sizes: NDArray[np.intp] | None,
) -> None:
    """Count points in hexagons: colour is the share of wrong ones or the mean size of the sets."""
    if right is not None:
        value, label, top = (~right).astype(float), "share of wrong ones", None
    elif set_sizes is not None:
        value, label, top = set_sizes.astype(float), "mean number of classes decided on", None
    else:
        value, label, top = np.ones(len(x)), "", 1.0
    limits = (ax.get_xlim(), ax.get_ylim())
    grid: dict[str, Any] = {
        "gridsize": (38, 22),
        "extent": (*limits[0], *limits[1]),
        "mincnt": 1,
        "linewidths": 0.2,
        "cmap": WRONG_RAMP,
        "zorder": 2,
    }
    counted = ax.hexbin(x, y, **grid)
    counts = np.asarray(counted.get_array())
    counted.remove()
    cells = ax.hexbin(x, y, C=value, reduce_C_function=np.mean, **grid)
    cells.set_alpha(0.3 + 0.7 * np.log1p(counts) / np.log1p(counts.max()))
    cells.set_edgecolor("none")
    low = 0.0 if right is not None else 1.0
    found = float(np.asarray(cells.get_array()).max())
    cells.set_clim(low, top if top is not None else max(found, low + 0.05))
    ax.set_xlim(limits[0])
    ax.set_ylim(limits[1])
    if label:
        figure = ax.get_figure(root=True)
        assert figure is not None
        bar = figure.colorbar(cells, ax=ax, fraction=0.05, aspect=28, pad=0.02)
        bar.set_alpha(1.0)
        bar.set_label(f"{label} (faint: few of {len(x):,} points)", fontsize="small")
        bar.ax.tick_params(labelsize="small")
        bar.outline.set_visible(False)
