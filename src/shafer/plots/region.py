"""``RegionDisplay``: a quantity of the evidence, or a decision, over the plane of two features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray, Label
from shafer._validation import class_labels, float_array, positions_of, to_numpy
from shafer.decision import PRECISE_RULES
from shafer.evidence import Evidence
from shafer.plots.contours import draw_boundaries, draw_levels, draw_regions
from shafer.plots.style import axes_for, ink, literal

_OF_A_SET = ("belief", "plausibility", "mass")
_OF_AN_INSTANCE = ("ignorance", "conflict", "conflict_for_against", "weight_of_conflict")
_RESPONSES = (*_OF_A_SET, "probability", *_OF_AN_INSTANCE, "decision")


@final
class RegionDisplay:
    """Level curves of a quantity, or the regions of a decision rule, over two features.

    Make one with :meth:`from_explainer`, or with :meth:`from_function` for anything else that
    scores points of the plane, such as an exact Bayes rule.

    Parameters
    ----------
    x, y : arrays of shape (p,) and (q,)
        Values of the first and second feature on the grid, ascending.
    response : array of shape (q, p) or (q, p, K)
        A quantity; or the margin of each class, which is chosen where its margin is not negative.
    classes : array of shape (K,), optional
        Class labels; 0..K−1 by default.
    feature_names : pair of strings
    name : str
        What the response is.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure, after :meth:`plot`.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> pool = shafer.least_commitment([1.0, -2.0], 0.3)
    >>> corners = np.array([[-1.0, -1.0], [1.0, 1.0]])
    >>> display = shafer.plots.RegionDisplay.from_explainer(pool, corners, "decision")
    >>> display.chosen.shape, display.name
    ((200, 200, 2), 'interval_dominance')
    """

    def __init__(
        self,
        x: FloatArray,
        y: FloatArray,
        response: FloatArray,
        *,
        classes: Any = None,
        feature_names: Sequence[str] = ("x0", "x1"),
        name: str = "",
    ) -> None:
        self.x = x
        self.y = y
        self.response = response
        self.feature_names = tuple(feature_names)
        self.name = name
        self.classes: NDArray[Any] | None = (
            class_labels(classes, response.shape[2]) if response.ndim == 3 else None
        )

    @classmethod
    def from_explainer(
        cls,
        explainer: Callable[[Any], Evidence],
        X: Any,
        response: str = "belief",
        *,
        subset: Label | Iterable[Label] | None = None,
        rule: str = "interval_dominance",
        features: tuple[int, int] = (0, 1),
        feature_names: Sequence[str] | None = None,
        grid_resolution: int = 200,
    ) -> Self:
        """Compute the evidence over a grid.

        Parameters
        ----------
        explainer : function from X to Evidence
            An ``Explainer``, a ``LinearPool``, or any other.
        X : array of shape (n, J)
            Data, for the range of the two features; the others are held at their medians.
        response : str
            ``"belief"``, ``"plausibility"`` or ``"mass"`` of a ``subset``, ``"probability"`` of a
            class, ``"ignorance"``, ``"conflict"``, ``"conflict_for_against"``,
            ``"weight_of_conflict"``, or ``"decision"`` by a ``rule``.
        subset : class label or collection of them, optional
            By default the last class.
        rule : str
            As in :meth:`shafer.Evidence.decide`.
        features : pair of int
            Columns of the horizontal and the vertical feature.
        feature_names : pair of strings, optional
            By default the names of the two components, where components are features.
        grid_resolution : int
            Points along each axis.
        """
        if response not in _RESPONSES:
            raise ValueError(
                f"response must be one of {', '.join(map(repr, _RESPONSES))}; got {response!r}."
            )
        data = to_numpy(float_array(X, "X", ndim=(2,)))
        x, y, points = _grid(data, features, grid_resolution)
        evidence = explainer(points)
        if feature_names is None:
            feature_names = _names_of(evidence, data.shape[1], features)
        if response == "decision":
            values, name = _margins_of(evidence, rule), rule
        else:
            values, name = _quantity(evidence, response, subset), response
        return cls(
            x,
            y,
            values.reshape(len(y), len(x), *values.shape[1:]),
            classes=evidence.classes,
            feature_names=feature_names,
            name=name,
        )

    @classmethod
    def from_function(
        cls,
        function: Callable[[FloatArray], Any],
        X: Any,
        *,
        classes: Any = None,
        feature_names: Sequence[str] = ("x0", "x1"),
        grid_resolution: int = 200,
        name: str = "",
    ) -> Self:
        """Compute any function of two features over a grid.

        Parameters
        ----------
        function : function from (n, 2) to (n,) or (n, K)
            A quantity; or a score for each class, the largest of which is chosen.
        X : array of shape (n, 2)
            Data, for the range of the grid.
        classes, feature_names, name
            As for the class.
        grid_resolution : int
            Points along each axis.
        """
        data = to_numpy(float_array(X, "X", ndim=(2,)))
        x, y, points = _grid(data, (0, 1), grid_resolution)
        values = to_numpy(function(points))
        if values.ndim == 2:
            values = _margins(values)
        shaped = values.reshape(len(y), len(x), *values.shape[1:])
        return cls(x, y, shaped, classes=classes, feature_names=feature_names, name=name)

    @property
    def chosen(self) -> BoolArray:
        """The chosen set at each point of the grid, boolean (q, p, K)."""
        if self.classes is None:
            raise ValueError(f"A display of {self.name or 'a quantity'} holds no decision.")
        chosen: BoolArray = self.response >= 0.0
        return chosen

    def plot(
        self,
        ax: Axes | None = None,
        *,
        filled: bool = True,
        levels: Sequence[float] | int | None = None,
        color: str | None = None,
        linestyle: Any = "solid",
        linewidth: float = 1.5,
        labelled: bool = True,
        label: str | None = None,
    ) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        filled : bool
            Whether to tint the plane, too; without it, several displays can share their axes.
        levels : sequence of float or int, optional
            Levels of the curves of a quantity, or about how many of them.
        color, linestyle, linewidth
            Of the curves; the colour of text by default.
        labelled : bool
            Whether to write the levels on the curves, or the sets into their regions.
        label : str, optional
            Name of the curves in a legend.
        """
        self.ax_, self.figure_ = axes_for(ax)
        style = {
            "colors": ink() if color is None else color,
            "linestyles": [linestyle],
            "linewidths": linewidth,
        }
        grid = (self.x, self.y)
        if self.classes is None:
            draw_levels(self.ax_, grid, self.response, levels, filled, labelled, style)
        else:
            draw_boundaries(self.ax_, grid, self.response, style)
            if filled or labelled:
                draw_regions(self.ax_, grid, self.chosen, self.classes, filled, labelled)
        if label is not None:
            self.ax_.plot(
                [], [], color=style["colors"], linestyle=linestyle, linewidth=linewidth, label=label
            )
        self.ax_.set_xlabel(literal(self.feature_names[0]))
        self.ax_.set_ylabel(literal(self.feature_names[1]))
        return self


def _grid(
    data: FloatArray, features: tuple[int, int], resolution: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return both axes and all points of the grid, (q·p, J), the first feature running fastest."""
    first, second = features
    low, high = data.min(axis=0), data.max(axis=0)
    x = np.linspace(low[first], high[first], resolution)
    y = np.linspace(low[second], high[second], resolution)
    points = np.tile(np.median(data, axis=0), (resolution**2, 1))
    points[:, first] = np.tile(x, resolution)
    points[:, second] = np.repeat(y, resolution)
    return x, y, points


def _names_of(evidence: Evidence, n_columns: int, features: tuple[int, int]) -> tuple[str, str]:
    if evidence.n_components == n_columns:
        return evidence.component_names[features[0]], evidence.component_names[features[1]]
    return f"x{features[0]}", f"x{features[1]}"


def _quantity(evidence: Evidence, response: str, subset: Any) -> FloatArray:
    if response in _OF_AN_INSTANCE:
        return to_numpy(getattr(evidence, response))
    members = evidence.classes[-1:].tolist() if subset is None else subset
    if response in _OF_A_SET:
        return to_numpy(getattr(evidence, f"{response}_of")(members))
    inside = positions_of(members, evidence.classes)
    total: FloatArray = to_numpy(evidence.probability)[:, inside].sum(axis=1)
    return total


def _margins(scores: FloatArray) -> FloatArray:
    """Return each class's score less the best of the others; on a tie the first class wins."""
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    wins = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
    return np.where(wins, best - second, np.minimum(scores - best, -np.finfo(np.float64).tiny))


def _margins_of(evidence: Evidence, rule: str) -> FloatArray:
    """Return how far each class is inside the chosen set, a continuous function of the weights."""
    if rule in PRECISE_RULES:
        # The logits order the classes as their plausibilities do, and do not saturate.
        scores = evidence.logits if rule == "plausibility" else getattr(evidence, rule)
        return _margins(to_numpy(scores))
    evidence[:1].decide(rule)  # refuses an unknown rule
    belief, plausibility = to_numpy(evidence.belief), to_numpy(evidence.plausibility)
    margins: FloatArray = plausibility - belief.max(axis=1, keepdims=True)
    return margins
