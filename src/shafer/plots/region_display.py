"""``RegionDisplay``: a quantity of the evidence, or a decision, over the plane of two features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, final

import narwhals as nw
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.frames import frame_columns, frame_of
from shafer._checks.labels import class_labels, positions_of
from shafer._typing import BoolArray, FloatArray, Label
from shafer.evidence.evidence import Evidence
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.label_placement import level_places, write_names
from shafer.plots.set_names import set_name
from shafer.plots.style import (
    axes_for,
    color,
    drawn_html,
    halo,
    ink,
    numbers,
    of_instances,
    without_middle,
)


@final
class RegionDisplay:
    """Level curves of a quantity, or the regions of a decision rule, over two features.

    Make one with :meth:`from_explainer`; with :meth:`from_evidence` if you have the evidence over a
    grid; or with :meth:`from_function` for any other function that scores points of the plane, such
    as an exact Bayes rule.

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

    See Also
    --------
    DependenceDisplay : One feature instead of two.
    UncertaintyDisplay : Rows instead of a grid.

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
        explainer: Callable[[Any], MassEvidence],
        X: Any,
        response: str = "belief",
        *,
        subset: Label | Iterable[Label] | None = None,
        rule: str = "interval_dominance",
        features: tuple[int, int] = (0, 1),
        feature_names: Sequence[str] | None = None,
        grid_resolution: int = 200,
    ) -> Self:
        """Return a Display of the evidence over a grid.

        Parameters
        ----------
        explainer : function from X to Evidence
            An ``Explainer``, a ``LinearPool``, or any other.
        X : array or data frame of shape (n, J)
            Data, for the range of the two features; the others are held at their medians. The
            explainer gets a data frame if this is one.
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
            By default the columns of the data frame, or the names of the two components, where
            components are features.
        grid_resolution : int
            Points along each axis.

        Returns
        -------
        RegionDisplay
            Call its :meth:`plot`.
        """
        check_response(response)
        data = to_numpy(float_array(X, "X", ndim=(2,)))
        x, y, points = grid_over(data, features, grid_resolution)
        grid = like_frame(points, X)
        evidence, columns = explainer(grid), frame_columns(grid)
        if feature_names is None and columns is not None:
            feature_names = [columns[feature] for feature in features]
        elif feature_names is None:
            feature_names = feature_names_of(evidence, data.shape[1], features)
        return cls.from_evidence(
            evidence, x, y, response, subset=subset, rule=rule, feature_names=feature_names
        )

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        x: Any,
        y: Any,
        response: str = "belief",
        *,
        subset: Label | Iterable[Label] | None = None,
        rule: str = "interval_dominance",
        feature_names: Sequence[str] = ("x0", "x1"),
        **options: Any,
    ) -> Self:
        """Take evidence that was computed over a grid.

        Parameters
        ----------
        evidence : MassEvidence
            One row for each point of the grid, x running fastest: that of (x[0], y[0]), then of
            (x[1], y[0]), as ``numpy.meshgrid(x, y)`` gives them when ravelled.
        x, y : arrays of shape (p,) and (q,)
            Values of the first and second feature, ascending.
        response, subset, rule, feature_names
            As for :meth:`from_explainer`.
        **options
            Options of the rule.

        Returns
        -------
        RegionDisplay
            Call its :meth:`plot`.
        """
        check_response(response)
        across, up = (to_numpy(float_array(v, name, ndim=(1,))) for v, name in ((x, "x"), (y, "y")))
        if len(of_instances(evidence)) != len(across) * len(up):
            raise ValueError(
                f"evidence must have one row for each of {len(up)} × {len(across)} points of the "
                f"grid; got {len(evidence)} rows."
            )
        if response == "decision":
            values, name = margins_of(evidence, rule, options), rule
        else:
            values = quantity(evidence, response, subset)
            name = quantity_name(response, subset, evidence.classes)
        return cls(
            across,
            up,
            values.reshape(len(up), len(across), *values.shape[1:]),
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
        feature_names: Sequence[str] | None = None,
        grid_resolution: int = 200,
        name: str = "",
    ) -> Self:
        """Return a Display of any function of two features over a grid.

        Parameters
        ----------
        function : function from (n, 2) to (n,) or (n, K)
            A quantity; or a score for each class, the largest of which is chosen; or a set of
            classes as booleans, such as ``predict_set`` returns. It gets a data frame if X is one.
        X : array or data frame of shape (n, 2)
            Data, for the range of the grid.
        classes, name
            As for the class.
        feature_names : pair of strings, optional
            By default the columns of the data frame, else x0 and x1.
        grid_resolution : int
            Points along each axis.

        Returns
        -------
        RegionDisplay
            Call its :meth:`plot`.
        """
        data = to_numpy(float_array(X, "X", ndim=(2,)))
        x, y, points = grid_over(data, (0, 1), grid_resolution)
        grid = like_frame(points, X)
        values = to_numpy(function(grid))
        if values.ndim == 2:
            values = margins(values)
        if feature_names is None:
            feature_names = frame_columns(grid) or ("x0", "x1")
        shaped = values.reshape(len(y), len(x), *values.shape[1:])
        return cls(x, y, shaped, classes=classes, feature_names=feature_names, name=name)

    @property
    def chosen(self) -> BoolArray:
        """The chosen set at each point of the grid, boolean (q, p, K)."""
        if self.classes is None:
            raise ValueError(
                f"This Display shows {self.name or 'a quantity'}, which has no decided sets. "
                'Make one with response="decision".'
            )
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
        """Draw on ``ax``, or on new axes, which have the name as their title.

        Parameters
        ----------
        ax : matplotlib axes, optional
        filled : bool
            Whether to tint the plane as well. Without tint, several displays can share their axes.
        levels : sequence of float or int, optional
            Levels of the curves of a quantity, or about how many of them.
        color, linestyle, linewidth
            Of the curves; the colour of text by default.
        labelled : bool
            Whether to write the levels on the curves, or the sets into their regions.
        label : str, optional
            Name of the curves in a legend.

        Returns
        -------
        RegionDisplay
            The object itself, with ``ax_`` and ``figure_``.
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
        if ax is None and self.name:
            title = without_middle(self.name.replace("_", " "), 60)
            self.ax_.set_title(title, fontsize="medium")
        self.ax_.set_xlabel(without_middle(self.feature_names[0], 60))
        self.ax_.set_ylabel(without_middle(self.feature_names[1], 45))
        return self

    def _repr_html_(self) -> str:
        return drawn_html(self)


# Quantities and decisions over a plane of two features: what ``RegionDisplay`` draws.

_OF_A_SET = ("belief", "plausibility", "mass")
_OF_AN_INSTANCE = ("ignorance", "conflict", "conflict_for_against", "weight_of_conflict")
_SCORE_RULES = ("plausibility", "belief", "pignistic", "expected_loss")
_INTERVAL_RULES = ("interval_dominance", "maximality")
_RESPONSES = (*_OF_A_SET, "probability", *_OF_AN_INSTANCE, "decision")


def check_response(response: str) -> None:
    """Refuse what is neither a quantity nor a decision."""
    if response not in _RESPONSES:
        raise ValueError(
            f"response must be one of {', '.join(map(repr, _RESPONSES))}; got {response!r}."
        )


def grid_over(
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


def like_frame(points: FloatArray, X: Any) -> Any:
    """Return the points as a data frame with the columns of X, if X is one with names."""
    frame = frame_of(X)
    if frame is None or not all(isinstance(name, str) for name in X.columns):
        return points
    return nw.from_numpy(points, frame.columns, backend=frame.implementation).to_native()


def feature_names_of(
    evidence: MassEvidence, n_columns: int, features: tuple[int, int]
) -> tuple[str, str]:
    """Name two features after the components, where each feature is a component."""
    plain = evidence.undiscounted
    if isinstance(plain, Evidence) and plain.n_components == n_columns:
        return plain.component_names[features[0]], plain.component_names[features[1]]
    return f"x{features[0]}", f"x{features[1]}"


def quantity(evidence: MassEvidence, response: str, subset: Any) -> FloatArray:
    """Return a quantity of each row: of the instance, or of a set of classes, the last if None."""
    if response in _OF_AN_INSTANCE:
        return to_numpy(getattr(evidence, response))
    members = evidence.classes[-1:].tolist() if subset is None else subset
    if response in _OF_A_SET:
        return to_numpy(getattr(evidence, f"{response}_of")(members))
    inside = positions_of(members, evidence.classes)
    total: FloatArray = to_numpy(evidence.probability)[:, inside].sum(axis=1)
    return total


def quantity_name(response: str, subset: Any, classes: NDArray[Any]) -> str:
    """Return the name of a quantity, with the set of classes that it is about, if any."""
    if response in _OF_AN_INSTANCE:
        return response
    members = classes[-1:].tolist() if subset is None else subset
    inside = [classes.tolist()[k] for k in positions_of(members, classes)]
    whole = without_middle(inside[0]) if len(inside) == 1 else set_name(inside, classes)
    return f"{response} of {whole}"


def margins(scores: NDArray[Any]) -> FloatArray:
    """Return each class's score less the best of the others; on a tie the first class wins.

    A set, as booleans, is one inside and minus one outside.
    """
    if scores.dtype == np.bool_:
        return np.where(scores, 1.0, -1.0)
    ordered = np.sort(scores, axis=1)
    best, second = ordered[:, -1:], ordered[:, -2:-1]
    wins = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
    behind = np.minimum(scores - best, -np.finfo(np.float64).tiny)
    ahead: FloatArray = np.where(wins, best - second, behind)
    return ahead


def _scores(evidence: MassEvidence, rule: str) -> FloatArray:
    """Return the score of each class that the rule makes largest."""
    plain = evidence.undiscounted
    if rule in ("plausibility", "expected_loss") and isinstance(plain, Evidence):
        return numbers(plain.logits)  # in the order of the plausibilities, without saturating
    return numbers(evidence.probability if rule == "expected_loss" else getattr(evidence, rule))


def margins_of(evidence: MassEvidence, rule: str, options: Mapping[str, Any]) -> FloatArray:
    """Return how far each class is inside the chosen set, a continuous function of the weights.

    For rules that have no such function here, one inside and minus one outside.
    """
    chosen = to_numpy(evidence.decide(rule, **options)).astype(bool)  # refuses an unknown rule
    if not options and rule in _SCORE_RULES:
        values = margins(_scores(evidence, rule))
        # Where scores agree to the last digits, the rule decides which of them are ties.
        tiny = np.finfo(np.float64).tiny
        return np.where(chosen, np.maximum(values, 0.0), np.minimum(values, -tiny))
    if options or rule not in _INTERVAL_RULES:
        return np.where(chosen, 1.0, -1.0)
    belief, plausibility = numbers(evidence.belief), numbers(evidence.plausibility)
    inside: FloatArray = plausibility - belief.max(axis=1, keepdims=True)
    return inside


# Drawing over a grid: level curves, boundaries of decisions, regions with their names inside.

Grid = tuple[FloatArray, FloatArray]

_TINT = "#7f7f7f"  # one grey tint carries levels: it reads alike in colour, grey and dark


def draw_levels(
    ax: Axes,
    grid: Grid,
    values: FloatArray,
    levels: Sequence[float] | int | None,
    filled: bool,
    labelled: bool,
    style: dict[str, Any],
) -> None:
    """Draw level curves, with a tint that deepens with the level if ``filled``."""
    if levels is None:
        levels = _levels_for(values)
    if filled:
        ax.imshow(
            _tint(values),
            extent=(grid[0][0], grid[0][-1], grid[1][0], grid[1][-1]),
            origin="lower",
            aspect="auto",
            zorder=0,
        )
    curves = ax.contour(*grid, values, levels=levels, **style)
    if labelled:
        places = level_places(ax, grid, curves.allsegs)
        texts = ax.clabel(curves, fontsize="x-small", fmt="%g", manual=places) if places else []
        for text in texts:
            text.set_path_effects(halo(2.0))


def _levels_for(values: FloatArray) -> list[float]:
    """Return tenths for degrees that span their range, round numbers for other values."""
    low, high = min(float(values.min()), 0.0), float(values.max())
    if 0.4 < high - low <= 1.0 + 1e-9:
        return [tenth / 10 for tenth in range(1, 10)]
    ticks = [float(tick) for tick in MaxNLocator(6).tick_values(low, high)]
    return [tick for tick in ticks if low < tick < high] or [(low + high) / 2]


def _tint(values: FloatArray) -> FloatArray:
    """Return an image of one colour, transparent at zero and half opaque at the highest value."""
    low = min(float(values.min()), 0.0)
    high = max(float(values.max()), low + 1e-12)
    image = np.empty((*values.shape, 4))
    image[..., :3] = to_rgb(_TINT)
    image[..., 3] = 0.55 * (values - low) / (high - low)
    return image


def draw_boundaries(ax: Axes, grid: Grid, margins: FloatArray, style: dict[str, Any]) -> None:
    """Draw where a class enters or leaves the chosen set.

    Where exactly one class is chosen, two margins vanish along the same line. It is drawn once, or
    the gaps of a broken line would be filled by its twin.
    """
    first, second = _two_best(margins)
    precise = bool(((margins >= 0).sum(axis=2) <= 1).all())
    for k in np.flatnonzero((margins.min(axis=(0, 1)) < 0) & (margins.max(axis=(0, 1)) > 0)):
        values: Any = margins[:, :, k]
        if precise:
            # The best of the others is an earlier class: this stretch has been drawn with it.
            values = np.ma.masked_array(values, np.where(first == k, second, first) < k)
        if np.ma.min(values) < 0 < np.ma.max(values):
            ax.contour(*grid, values, levels=[0.0], **style)


def _two_best(margins: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the classes of the largest and of the second largest margin at each point."""
    order = np.argpartition(margins, -2, axis=2)[:, :, -2:]
    swapped = np.take_along_axis(margins, order, axis=2)
    last_is_best = swapped[:, :, 1] >= swapped[:, :, 0]
    first = np.where(last_is_best, order[:, :, 1], order[:, :, 0])
    return first, np.where(last_is_best, order[:, :, 0], order[:, :, 1])


def draw_regions(
    ax: Axes,
    grid: Grid,
    chosen: BoolArray,
    classes: NDArray[Any],
    filled: bool,
    labelled: bool,
) -> None:
    """Tint each region by the classes in it, and name it."""
    sets, code = np.unique(chosen.reshape(-1, chosen.shape[2]), axis=0, return_inverse=True)
    regions = code.reshape(chosen.shape[:2])
    if filled:
        palette = np.array([_blend(np.flatnonzero(row)) for row in sets])
        ax.imshow(
            palette[regions],
            extent=(grid[0][0], grid[0][-1], grid[1][0], grid[1][-1]),
            origin="lower",
            aspect="auto",
            interpolation="nearest",
            zorder=0,
        )
    if labelled:
        names = [set_name(classes[row].tolist(), classes) for row in sets]
        write_names(ax, grid, regions, names)


def _blend(members: NDArray[np.intp]) -> tuple[float, float, float, float]:
    """Mix the members' colours; the more of them, the fainter."""
    mixed = np.mean([to_rgb(color(int(k))) for k in members], axis=0)
    return to_rgba(tuple(mixed), alpha=0.34 / len(members) ** 0.7)
