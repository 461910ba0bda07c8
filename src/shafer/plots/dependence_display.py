"""``DependenceDisplay``: the evidence of one component against the value of its feature."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from shafer._checks.labels import class_labels, one_position, positions_of
from shafer._typing import FloatArray, Label
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.compared_classes import ODDS_NOTE, axis_text, other_than
from shafer.plots.mass_curves import (
    axis_name,
    axis_values,
    beside_each_other,
    component_alone,
    draw_masses,
    dress_curves,
    is_function,
    mass_curves,
    point_look,
)
from shafer.plots.style import axes_for, color, drawn_html, halo, ink, line_style, without_middle

_KINDS = ("weight", "masses")
_MOST_CLASSES = 6  # curves of weights drawn unless the caller asks for certain classes
_MOST_AT_A_SLANT = 12  # names of categories


@final
class DependenceDisplay:
    r"""Weight of evidence, or masses, of one component against its feature's value.

    The pictures of the paper's :math:`w_j` and :math:`m_j` (Denœux 2019, Figs 6 and 7). With two
    classes, evidence for one is evidence against the other, so there is one curve: the paper's
    :math:`w_j`, the log-odds of one class over the other. With more classes each has its own
    curve: its weight of evidence, or its log-odds over a class of your choice. A cut-off is a value
    at which a curve changes its sign. With two classes the component gives no evidence there.

    Where rows with one value have different weights, as in trees that also look at other inputs,
    each row is a point, and there is no line. So it is with categories.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    values : array of shape (n,)
        Feature values, ascending.
    weights : array of shape (n, K)
        Weights of evidence of the component.
    masses : array of shape (n, S)
        Masses of the component's own mass function.
    sets : sequence of S strings
        Names of the sets the masses belong to.
    classes : array of shape (K,)
        Class labels.
    name : str
        Name of the component or feature.
    instances : mapping of name to array, optional
        Feature values for groups of instances, drawn along the axis; two groups take the lower and
        the upper axis.
    value_names : sequence of strings, optional
        Names of the values 0, 1, ..., if they are categories.
    curve : bool
        Whether the weights are a function of the value, so that a line joins them.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    See Also
    --------
    SummaryDisplay : All components of many rows.
    WaterfallDisplay : All components of one row.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> pool = shafer.least_commitment([0.07, 0.18], -4.9, [42.8, 4.7], names=["age", "ldl"])
    >>> ages = np.linspace(15, 64, 50)
    >>> ev = pool(np.column_stack([ages, np.full(50, 4.7)]))
    >>> display = shafer.plots.DependenceDisplay.from_evidence(ev, "age", ages)
    >>> display.cutoffs(1).round(2)
    array([50.36])
    """

    def __init__(
        self,
        values: FloatArray,
        weights: FloatArray,
        masses: FloatArray,
        sets: Sequence[str],
        classes: NDArray[Any],
        *,
        name: str = "feature",
        instances: Mapping[str, FloatArray] | None = None,
        value_names: Sequence[str] | None = None,
        curve: bool = True,
    ) -> None:
        self.values = values
        self.weights = weights
        self.masses = masses
        self.sets = tuple(sets)
        self.classes = class_labels(classes, weights.shape[1])
        self.name = name
        self.instances = dict(instances or {})
        self.value_names = None if value_names is None else tuple(value_names)
        self.curve = curve

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        component: str | int,
        values: Any,
        *,
        top: int = 8,
        sets: Sequence[Collection[Label]] | None = None,
        instances: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return a Display of the component's weights and masses in every row.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
            Evidence of some rows, best over an even grid of the feature.
        component : str or int
            Name or position of the component.
        values : array of shape (n,)
            Value of the feature in each row: numbers, or categories.
        top : int
            Sets whose masses are kept at most; the others are pooled.
        sets : sequence of collections of class labels, optional
            Take the masses of these sets, in this order.
        instances : mapping of name to array, optional
            Feature values for groups of instances, drawn along the axis.

        Returns
        -------
        DependenceDisplay
            Call its :meth:`plot`.
        """
        places, categories = axis_values(values)
        alone = component_alone(evidence, component, places)
        curves = mass_curves(alone, top, sets)
        return cls(
            curves.values,
            curves.weights,
            curves.masses,
            curves.sets,
            evidence.classes,
            name=curves.name,
            instances=_along(instances, categories),
            value_names=categories,
            curve=categories is None and is_function(curves.values, curves.weights),
        )

    def weight_for(self, class_: Label, over: Label | None = None) -> FloatArray:
        """Return the weight for a class, (n,), minus that for the class ``over``.

        With two classes, ``over`` is the other one by default.

        Parameters
        ----------
        class_ : class label
            The class that the weight is for.
        over : class label, optional
            The class to compare with.

        Returns
        -------
        array of shape (n,)
        """
        k = one_position(class_, self.classes)
        other = self._other(k, over)
        return self.weights[:, k] - (0.0 if other is None else self.weights[:, other])

    def cutoffs(self, class_: Label, over: Label | None = None) -> FloatArray:
        """Return the values at which :meth:`weight_for` changes its sign, ascending.

        Parameters
        ----------
        class_ : class label
            The class that the weight is for.
        over : class label, optional
            As in :meth:`weight_for`.

        Returns
        -------
        array
        """
        weight = self.weight_for(class_, over)
        left, right = weight[:-1], weight[1:]
        crossing = np.flatnonzero((left < 0) != (right < 0))
        share = left[crossing] / (left[crossing] - right[crossing])
        low, high = self.values[crossing], self.values[crossing + 1]
        return np.asarray(low + share * (high - low))

    def _other(self, k: int, over: Label | None) -> int | None:
        """Return the class that class k is compared with: of two the other, else as asked for."""
        if over is not None:
            return other_than(k, over, self.classes)
        return 1 - k if len(self.classes) == 2 else None

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "weight",
        classes: Label | Iterable[Label] | None = None,
        over: Label | None = None,
        legend: bool = True,
    ) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        kind : {"weight", "masses"}
        classes : class label or several, optional
            Classes whose weights to draw; by default the second of two classes, else the six with
            the largest weights.
        over : class label, optional
            Draw the log-odds of the classes over this one. With two classes it is the other one by
            default; with more, plain weights of evidence are drawn by default.
        legend : bool
            Whether to name the curves, if there are several, and the groups of instances.

        Returns
        -------
        DependenceDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if kind not in _KINDS:
            raise ValueError(f"kind must be one of {', '.join(map(repr, _KINDS))}; got {kind!r}.")
        self.ax_, self.figure_ = axes_for(ax)
        chosen = self._chosen(classes, over)
        if kind == "weight":
            self._draw_weights(chosen, over)
        else:
            drawn = self._places()
            draw_masses(self.ax_, drawn, self.masses, self.sets, points=not self.curve)
        if self.curve:
            self._draw_cutoffs(chosen, over, height=0.86 if kind == "weight" else 0.5)
        several = kind == "masses" or len(chosen) > 1
        if not several:  # the axis names the only curve
            for line in self.ax_.lines:
                line.set_label("_")
        named = legend and (several or bool(self.instances))
        dress_curves(self.ax_, axis_name(self.name), self.instances, legend=named)
        if self.value_names is not None:
            names = [without_middle(name, 24) for name in self.value_names]
            self.ax_.set_xticks(range(len(names)), names)
            if sum(map(len, names)) > 60:
                # Slanted names end at their mark, and many are steeper, so that none cross.
                turn = 30.0 if len(names) <= _MOST_AT_A_SLANT else 90.0
                for tick in self.ax_.get_xticklabels():
                    tick.set(rotation=turn, ha="right", va="center", rotation_mode="anchor")
        return self

    def _places(self) -> FloatArray:
        """Return where each row stands along the axis; rows of a category beside each other."""
        if self.value_names is None:
            return self.values
        return beside_each_other(self.values)

    def _chosen(self, wanted: Label | Iterable[Label] | None, over: Label | None) -> list[Label]:
        every: list[Label] = self.classes.tolist()
        if wanted is not None:
            return [every[k] for k in positions_of(wanted, self.classes)]
        if over is None and len(every) == 2:
            return every[1:]
        out = None if over is None else one_position(over, self.classes, "over")
        strongest = np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")
        others = [k for k in strongest.tolist() if k != out]
        return [every[k] for k in sorted(others[:_MOST_CLASSES])]

    def _draw_weights(self, chosen: list[Label], over: Label | None) -> None:
        self.ax_.axhline(0.0, color=ink(), linewidth=0.8, alpha=0.6)
        for position, label in enumerate(chosen):
            line = {"linestyle": line_style(position), "linewidth": 2.0}
            self.ax_.plot(
                self._places(),
                self.weight_for(label, over),
                color=color(position),
                label=without_middle(label),
                **(line if self.curve else point_look(position)),
            )
        self.ax_.margins(x=0.02, y=0.12)
        self.ax_.set_ylabel(self._weight_axis(chosen, over))

    def _weight_axis(self, chosen: list[Label], over: Label | None) -> str:
        label = chosen[0] if len(chosen) == 1 else "the class"
        other: object = over
        if over is None and len(self.classes) == 2:
            known = self._other(one_position(chosen[0], self.classes), None)
            other = self.classes[known] if len(chosen) == 1 else "the other class"
        text = f"{axis_text(label, other)}\nadded by {without_middle(self.name)}"
        return text if other is None else f"{text}; {ODDS_NOTE}"

    def _draw_cutoffs(self, chosen: list[Label], over: Label | None, height: float) -> None:
        """Mark the cut-offs; with several classes, each in the colour of its curve."""
        only = len(self.classes) == 2 or len(chosen) == 1
        room = 0.3 * float(np.ptp(self.values))  # of a label
        for position, label in enumerate(chosen):
            before, lowered = -np.inf, 0
            for cutoff in self.cutoffs(label, over).tolist():
                lowered = lowered + 1 if cutoff - before < room else 0
                before = cutoff
                self.ax_.axvline(
                    cutoff,
                    color=ink() if only else color(position),
                    linestyle=(0, (1, 2)),
                    linewidth=1.0,
                )
                if only:
                    self.ax_.annotate(
                        f" no effect at {cutoff:.4g}",
                        (cutoff, height - 0.06 * lowered),
                        xycoords=self.ax_.get_xaxis_transform(),
                        fontsize="small",
                        path_effects=halo(),
                    )

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _along(
    instances: Mapping[str, Any] | None, categories: Sequence[str] | None
) -> Mapping[str, FloatArray] | None:
    """Return the places of groups of instances along the axis."""
    if instances is None or categories is None:
        return instances
    place = {name: float(k) for k, name in enumerate(categories)}
    return {
        name: beside_each_other(np.array([place.get(str(value), np.nan) for value in values]))
        for name, values in instances.items()
    }
