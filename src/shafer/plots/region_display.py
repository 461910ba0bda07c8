"""``RegionDisplay``: a quantity of the evidence, or a decision, over the plane of two features."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, final

from matplotlib.axes import Axes
from numpy.typing import NDArray

from shafer._typing import BoolArray, FloatArray, Label
from shafer._validation import class_labels, float_array, frame_columns, to_numpy
from shafer.evidence import MassEvidence
from shafer.plots.drawing.evidence_arrays import of_instances
from shafer.plots.drawing.feature_plane.contours import draw_boundaries, draw_levels, draw_regions
from shafer.plots.drawing.feature_plane.plane_grid import (
    check_response,
    feature_names_of,
    grid_over,
    like_frame,
    margins,
    margins_of,
    quantity,
    quantity_name,
)
from shafer.plots.drawing.style import axes_for, ink, without_middle


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
