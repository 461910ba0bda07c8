"""``UncertaintyDisplay``: lack of evidence and disagreement of evidence, told apart."""

from __future__ import annotations

from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from shafer._typing import FloatArray
from shafer._validation import positions_of, to_numpy
from shafer.evidence import Evidence, MassEvidence
from shafer.plots.drawing.evidence_arrays import before_discounting, numbers, of_instances
from shafer.plots.drawing.style import axes_for, halo
from shafer.plots.drawing.uncertainty_plane.isoprobability import draw_isoprobability, within_bounds
from shafer.plots.drawing.uncertainty_plane.plane_axes import axis_end, axis_name, power_of_ten
from shafer.plots.drawing.uncertainty_plane.scatter import draw_hexagons, draw_points

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
        plain = before_discounting(of_instances(evidence))
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
