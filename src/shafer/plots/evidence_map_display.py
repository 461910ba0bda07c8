"""``EvidenceMapDisplay``: an image, with the evidence of its locations laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from shafer import _kernels as kernels
from shafer._checks.arrays import to_numpy
from shafer._checks.labels import label_positions, one_position, positions_of
from shafer._kernels.pooling import Pooled
from shafer._typing import FloatArray, Label
from shafer.evidence.base_rate import base_rate_position, shares_base_rate
from shafer.evidence.evidence import Evidence
from shafer.evidence.layout import GridLayout, RegionLayout
from shafer.evidence.mass_evidence import MassEvidence
from shafer.plots.compared_classes import ODDS_NOTE, Compared, compared_in_row, other_than
from shafer.plots.images import (
    CONTRADICTED,
    FOR_AND_AGAINST,
    SILENT,
    ShownImage,
    blended,
    canvas_size,
    read_image,
    smoothed,
    stretched,
)
from shafer.plots.style import (
    SHARED_NOTE,
    degree,
    drawn_html,
    numbers,
    signed,
    take_row,
    without_middle,
)

_COLUMNS = 5
_PANEL = 2.6  # inches


@final
class EvidenceMapDisplay:
    """An image with the evidence of its locations: blue for a class, orange against it.

    The image is a pale ghost under the colours, so these match the colour bar. Each location is a
    cell of the network's last feature map, and its weight of evidence is exact: with the base rate,
    the weights add up to the log-odds, or to the centred logit. A cell shows what the network read
    *at* it; the network saw more of the image than the cell, up to its receptive field.

    Further maps show how little evidence each location gives, and which contradict the others.

    Make one with :meth:`from_evidence`.

    Parameters
    ----------
    image : ShownImage
    cells : MapCells
        The component of each cell.
    maps : sequence of LocationMap
        What to draw, one panel each.
    note : str
        Written beside the colour bar of the evidence.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        Of the maps, after :meth:`plot`; ``ax_`` is the first, and ``figure_`` their figure.

    See Also
    --------
    TextDisplay : The same for texts.
    WaterfallDisplay : The same for tables.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> weights = np.zeros((1, 4, 2))
    >>> weights[0, :, 1] = [0.0, 0.1, 0.2, 1.2]
    >>> weights[0, :, 0] = -weights[0, :, 1]
    >>> ev = shafer.Evidence.from_weights(weights, classes=["shoe", "boot"])
    >>> image = np.arange(64, dtype=np.uint8).reshape(8, 8)
    >>> display = shafer.plots.EvidenceMapDisplay.from_evidence(ev, 0, image, shape=(2, 2))
    >>> display.values("boot").round(1)
    array([[0. , 0.2],
           [0.4, 2.4]])
    """

    def __init__(
        self, image: ShownImage, cells: MapCells, maps: Sequence[LocationMap], *, note: str = ""
    ) -> None:
        self.image = image
        self.cells = cells
        self.maps = tuple(maps)
        self.note = note

    @classmethod
    def from_evidence(
        cls,
        evidence: MassEvidence,
        row: int,
        image: Any,
        *,
        class_: Label | None = None,
        over: Label | None = None,
        classes: Label | Iterable[Label] | None = None,
        units: str | None = None,
        show: str | Sequence[str] = "evidence",
        shape: tuple[int, int] | None = None,
        regions: Any = None,
        channels: str | None = None,
        normalised: Any = None,
    ) -> Self:
        """Return a Display of the evidence of one image.

        Parameters
        ----------
        evidence : Evidence or DiscountedEvidence
            As from ``Explainer(network, images, components="locations")``.
        row : int
            Position of the image among those of the evidence.
        image : array or tensor of shape (H, W), (H, W, C) or (C, H, W)
            The image of this row, before or after resizing. C is 1, 3 (RGB) or 4 (RGBA). Bytes,
            floats from 0 to 1, numbers from 0 to 255; others are rescaled, with a note.
        class_ : class label, optional
            By default the most plausible class.
        over : class label, optional
            The class to compare with: why ``class_`` rather than this. By default the most
            plausible other class.
        classes : class labels, optional
            One map for each of these classes, on one scale; instead of ``class_``. Without
            ``over``, the maps show plain weights.
        units : {"log_odds", "weight"}, optional
            ``"log_odds"``: what each location adds to the log-odds of the class over the other one,
            as in :meth:`shafer.Evidence.contrast`. ``"weight"``: the weights of evidence for the
            class by itself, ``ev.weights``, which compare it with the average of all classes.
            Weights for ``classes``, log-odds otherwise.
        show : {"evidence", "ignorance", "disagreement"}, or several of them
            ``"ignorance"``: the mass of the whole frame of each location's own mass function, 1 if
            it gives no evidence. ``"disagreement"``: the conflict between each location and all
            others together.
        shape : pair of int, optional
            Rows and columns of the grid, if the evidence does not know them: the components are
            the cells, row by row. The components of a linear model of pixels are an example.
        regions : array of int of shape (h, w), optional
            The position of the component of each pixel, −1 where there is none.
        channels : {"first", "last"}, optional
            Where the channels of the image are, if its shape leaves it open.
        normalised : pair (mean, std), optional
            What the image was normalised with; this is undone before drawing.

        Returns
        -------
        EvidenceMapDisplay
            Call its :meth:`plot`.
        """
        one, plain = take_row(evidence, row), take_row(evidence.weighed, row)
        kinds = read_kinds(show)
        asked = _asked(plain, class_, over, classes, units) if "evidence" in kinds else []
        bet = numbers(one.betting_probability)[0]
        maps = {
            "evidence": [evidence_map(plain, pair, bet) for pair in asked],
            "ignorance": [ignorance_map(plain)] if "ignorance" in kinds else [],
            "disagreement": [disagreement_map(plain)] if "disagreement" in kinds else [],
        }
        return cls(
            read_image(image, channels=channels, normalised=normalised),
            cells_of(plain, shape, regions),
            [drawn for kind in kinds for drawn in maps[kind]],
            note=SHARED_NOTE if shares_base_rate(plain) else "",
        )

    def values(self, class_: Label | None = None, kind: str = "evidence") -> Any:
        """Return the values of a map, (h, w); NaN where there is no component.

        Parameters
        ----------
        class_ : class label, optional
            Of a map of evidence; the first by default.
        kind : {"evidence", "ignorance", "disagreement"}

        Returns
        -------
        array of shape (h, w)
        """
        found = [m for m in self.maps if m.kind == kind]
        if not found:
            drawn = ", ".join(dict.fromkeys(repr(m.kind) for m in self.maps))
            raise ValueError(f"kind must be one of the maps drawn, {drawn}; got {kind!r}.")
        at = 0 if class_ is None else one_position(class_, [m.class_ for m in found])
        return self.cells.spread(found[at].values)

    def plot(
        self,
        ax: Axes | Iterable[Axes] | None = None,
        *,
        smooth: bool = False,
        grid: bool | None = None,
    ) -> Self:
        """Draw the maps on ``ax``, or beside the image on new axes.

        Parameters
        ----------
        ax : matplotlib axes, or one for each map, optional
        smooth : bool
            Interpolate linearly between the centres of the cells. By default the cells are drawn
            as they are. A smooth map suggests more detail than there is, so a note is below it.
        grid : bool, optional
            Draw the borders of the cells; of a smooth map their centres, where its colours are
            exact. By default the borders of regions only, with their names or numbers.

        Returns
        -------
        EvidenceMapDisplay
            The object itself, with ``ax_`` and ``figure_``.
        """
        if smooth and self.cells.regions:
            raise ValueError("smooth=True needs a grid of locations; got regions. Leave it out.")
        self.axes_, self.figure_ = self._axes(ax)
        self.ax_ = self.axes_[0]
        lines = self.cells.regions if grid is None else bool(grid)
        for kind in KINDS:
            alike = [(m, a) for m, a in zip(self.maps, self.axes_, strict=True) if m.kind == kind]
            if not alike:
                continue
            scale = scale_of([m for m, _ in alike], self.cells, self.note)
            for one, axes in alike:
                draw_map(axes, self.image, self.cells, one, scale, smooth=smooth, grid=lines)
            draw_scale(self.figure_, [axes for _, axes in alike], scale)
        return self

    def _axes(self, ax: Axes | Iterable[Axes] | None) -> tuple[list[Axes], Figure]:
        if ax is None:
            return self._new_axes()
        given = [ax] if isinstance(ax, Axes) else list(np.ravel(np.asarray(ax, dtype=object)))
        if len(given) != len(self.maps):
            raise ValueError(
                f"ax must be one for each of the {len(self.maps)} map(s); got {len(given)}. Leave "
                "it out to draw on a new figure."
            )
        figure = given[0].get_figure(root=True)
        assert figure is not None
        return given, figure

    def _new_axes(self) -> tuple[list[Axes], Figure]:
        """Return axes for the maps on a new figure, which starts with the image."""
        from matplotlib import pyplot

        count = len(self.maps) + 1
        columns = min(count, _COLUMNS)
        rows = -(-count // columns)
        height, width = self.image.size
        tall = _PANEL * min(max(height / width, 0.8), 1.6)
        wide = tall * min(max(width / height, 0.8), 3.0)
        bars = len({m.kind for m in self.maps})
        figure, grid = pyplot.subplots(
            rows,
            columns,
            figsize=(wide * columns + 1.4 * bars, (tall + 1.2) * rows),
            layout="constrained",
            squeeze=False,
        )
        flat = list(grid.ravel())
        draw_image(flat[0], self.image)
        for spare in flat[count:]:
            spare.set_axis_off()
        return flat[1:count], figure

    def _repr_html_(self) -> str:
        return drawn_html(self)


def _asked(
    evidence: Evidence,
    class_: Label | None,
    over: Label | None,
    classes: Label | Iterable[Label] | None,
    units: str | None,
) -> list[Compared]:
    """Return the classes to draw, each with the one it is compared with."""
    if classes is None:
        return [compared_in_row(evidence, class_, over, units or "log_odds")]
    if class_ is not None:
        raise ValueError(f"Give class_ or classes, not both; got {class_!r} and {classes!r}.")
    wanted = positions_of(classes, evidence.classes)
    if not wanted:
        raise ValueError("classes must name at least one class; got none.")
    if len(wanted) > 1:  # in the order asked for
        given = label_positions(classes, evidence.classes, name="classes")
        wanted = list(dict.fromkeys(given.tolist()))
    if over is not None:
        return [Compared(k, other_than(k, over, evidence.classes)) for k in wanted]
    chosen = units or "weight"
    labels = evidence.classes.tolist()
    return [compared_in_row(evidence, labels[k], None, chosen) for k in wanted]


# The values that a map shows: evidence for a class, ignorance, or disagreement.

KINDS = ("evidence", "ignorance", "disagreement")


@final
@dataclass(frozen=True, eq=False)
class LocationMap:
    """One map: a value of each component, (G,), and the words around it.

    Attributes
    ----------
    kind : {"evidence", "ignorance", "disagreement"}
    values : array of shape (G,)
    title : str
    caption : str
        Written below the map.
    class_, over : class labels, optional
        The class, and the one that it is compared with, of a map of evidence.
    """

    kind: str
    values: FloatArray
    title: str
    caption: str = ""
    class_: Label | None = None
    over: Label | None = None


def evidence_map(evidence: Evidence, compared: Compared, probability: FloatArray) -> LocationMap:
    """Return the map of the evidence for a class, maybe over another one, in one instance."""
    values, labels = compared.weights(evidence)[0], evidence.classes.tolist()
    base = base_rate_position(evidence)
    there = values if base is None else np.delete(values, base)
    sums = float(there[there > 0].sum()), float(there[there < 0].sum())
    own = None if base is None else float(values[base])
    mine = float(probability[compared.class_])
    other = None if compared.over is None else float(probability[compared.over])
    label = labels[compared.class_]
    over = None if compared.over is None else labels[compared.over]
    return LocationMap(
        "evidence",
        values,
        class_title(label, over, mine, other),
        sums_text(label, over, sums, own, shares_base_rate(evidence)),
        label,
        over,
    )


def ignorance_map(evidence: Evidence) -> LocationMap:
    """Return the ignorance of each location's own mass function, in one instance."""
    values = np.asarray(to_numpy(evidence.components.ignorance)[0], dtype=np.float64)
    return LocationMap("ignorance", values, IGNORANCE_TITLE)


def disagreement_map(evidence: Evidence) -> LocationMap:
    """Return the conflict of each location with all others together, in one instance."""
    values = disagreement_with_others(numbers(evidence.weights)[0])
    return LocationMap("disagreement", values, CONFLICT_TITLE)


def read_kinds(show: str | Sequence[str]) -> tuple[str, ...]:
    """Return what to show, each once."""
    asked = (show,) if isinstance(show, str) else tuple(show)
    if not asked or any(kind not in KINDS for kind in asked):
        raise ValueError(
            f"show must be one or several of {', '.join(map(repr, KINDS))}; got {show!r}."
        )
    return tuple(dict.fromkeys(asked))


# How far each component contradicts all the others together.


def disagreement_with_others(weights: FloatArray) -> FloatArray:
    r"""Return the conflict of each component's mass function with that of all others, (G,).

    With :math:`\kappa` the conflict of all G components, :math:`\kappa_g` that of component g by
    itself and :math:`\kappa_{-g}` that of the others, Dempster's rule of the two normalised mass
    functions has the conflict
    :math:`1 - (1 - \kappa) / ((1 - \kappa_g)(1 - \kappa_{-g}))`.

    Parameters
    ----------
    weights : array of shape (G, K)
    """
    own_for, own_against = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
    rest_for = _sums_of_others(own_for)
    rest_against = _sums_of_others(own_against)
    together = _weight(weights.sum(axis=0), own_for.sum(axis=0), own_against.sum(axis=0))
    rest = _weight(rest_for - rest_against, rest_for, rest_against)
    own = _weight(weights, own_for, own_against)
    return -np.expm1(-np.maximum(together - rest - own, 0.0))


def _sums_of_others(parts: FloatArray) -> FloatArray:
    """Sum over all rows but one, without subtracting: small sums keep their digits."""
    none = np.zeros_like(parts[:1])
    before = np.concatenate([none, np.cumsum(parts[:-1], axis=0)])
    after = np.concatenate([np.cumsum(parts[:0:-1], axis=0)[::-1], none])
    return np.asarray(before + after)


def _weight(logits: FloatArray, weights_for: FloatArray, weights_against: FloatArray) -> FloatArray:
    terms = kernels.log_terms(Pooled(logits, weights_for, weights_against))
    return np.asarray(kernels.weight_of_conflict(terms))


# Which component covers which part of an image: cells of a grid, or regions.

NO_COMPONENT = -1


@final
@dataclass(frozen=True, eq=False)
class MapCells:
    """The component of each cell, (h, w), −1 where there is none; regions have any shape.

    ``names`` are those of the components.
    """

    positions: NDArray[np.intp]
    regions: bool = False
    names: tuple[str, ...] = ()

    def spread(self, values: FloatArray) -> FloatArray:
        """Return the value of each cell, (h, w), from those of the components, (G,)."""
        inside = self.positions != NO_COMPONENT
        return np.where(inside, values[np.where(inside, self.positions, 0)], np.nan)

    def centres(self) -> FloatArray:
        """Return the centres of the cells, (h · w, 2), as points from 0 to 1."""
        h, w = self.positions.shape
        places = ((np.arange(h) + 0.5) / h, (np.arange(w) + 0.5) / w)
        down, across = np.meshgrid(*places, indexing="ij")
        return np.stack([across.ravel(), down.ravel()], axis=1)

    def borders(self) -> FloatArray:
        """Return the lines between different components, (m, 2, 2), as points from 0 to 1."""
        grid = self.positions
        h, w = grid.shape
        i, j = np.nonzero(grid[:, 1:] != grid[:, :-1])  # upright lines
        upright = np.stack([[(j + 1) / w, i / h], [(j + 1) / w, (i + 1) / h]]).transpose(2, 0, 1)
        i, j = np.nonzero(grid[1:] != grid[:-1])
        level = np.stack([[j / w, (i + 1) / h], [(j + 1) / w, (i + 1) / h]]).transpose(2, 0, 1)
        return np.concatenate([upright, level])


def cells_of(evidence: Evidence, shape: Any = None, regions: Any = None) -> MapCells:
    """Return where the components of one instance lie in its image.

    Parameters
    ----------
    evidence : Evidence
        One instance.
    shape : pair of int, optional
        Height and width of a grid of components, row by row.
    regions : array of int of shape (h, w), optional
        Position of the component of each pixel; −1 where there is none.
    """
    if shape is not None and regions is not None:
        raise ValueError("Give shape or regions, not both: one is a grid, the other any regions.")
    base = base_rate_position(evidence)
    where = np.setdiff1d(np.arange(evidence.n_components), [] if base is None else [base])
    if regions is not None:
        return _read_regions(regions, where, evidence.component_names)
    if shape is not None:
        return MapCells(where.reshape(_read_shape(shape, len(where))))
    layout = evidence.layout
    if isinstance(layout, GridLayout):
        cells = np.arange(layout.n_components).reshape(layout.height, layout.width)
        return MapCells(cells)
    if isinstance(layout, RegionLayout):
        labels = layout.label_map.reshape(layout.label_map.shape[-2:])
        return MapCells(labels, regions=True, names=evidence.component_names)
    raise ValueError(
        f"The places of the {len(where)} components in the image are not known. Make the evidence "
        "with Explainer(network, images, components='locations'), or pass shape=(rows, columns) "
        "of the grid, or regions=, the component of each pixel."
    )


def _read_shape(shape: Any, size: int) -> tuple[int, int]:
    try:
        h, w = (int(side) for side in shape)
    except (TypeError, ValueError):
        h = w = 0
    if h < 1 or w < 1 or h * w != size:
        raise ValueError(
            f"shape must be the rows and columns of a grid of {size} components; got {shape!r}."
        )
    return h, w


def _read_regions(regions: Any, where: NDArray[np.intp], names: tuple[str, ...]) -> MapCells:
    labels = to_numpy(regions)
    if labels.ndim != 2 or labels.dtype.kind not in "iu" or 0 in labels.shape:
        raise ValueError(
            "regions must be whole numbers of shape (H, W), the component of each pixel; got "
            f"{labels.dtype} of shape {labels.shape}."
        )
    if labels.min() < NO_COMPONENT or labels.max() >= len(where):
        raise ValueError(
            f"regions must be from 0 to {len(where) - 1}, or −1 for none; got values from "
            f"{labels.min()} to {labels.max()}."
        )
    padded = np.append(where, NO_COMPONENT)  # −1 takes the last
    return MapCells(padded[labels], regions=True, names=names)


# Drawing one map over its image.

_LINE = "#333333"


def draw_image(ax: Axes, image: ShownImage) -> None:
    """Draw the image by itself."""
    _show(ax, image.colours, image.size)
    ax.set_title("the image", fontsize="medium")
    ax.set_xlabel(image.note, fontsize="small")


def draw_map(
    ax: Axes,
    image: ShownImage,
    cells: MapCells,
    one: LocationMap,
    scale: MapScale,
    *,
    smooth: bool,
    grid: bool,
) -> None:
    """Draw one map over its image."""
    size = canvas_size(image.size, cells.positions.shape)
    values = cells.spread(one.values)
    fine = smoothed(values, size) if smooth else np.asarray(stretched(values, size))
    grey: FloatArray = np.asarray(stretched(image.grey, size), dtype=np.float64)
    _show(ax, blended(grey, fine, scale.colors, scale.low, scale.high), image.size)
    shape = (cells.positions.shape[0], cells.positions.shape[1])
    caption = [one.caption] if one.caption else []
    if smooth:
        caption.append(smooth_note(shape, dots=grid))
    elif cells.regions:
        caption.append(REGION_NOTE)
    if grid:
        _draw_places(ax, image.size, cells, smooth=smooth)
    ax.set_title(one.title, fontsize="medium")
    ax.set_xlabel("\n".join(caption), fontsize="small")


def _draw_places(ax: Axes, size: tuple[int, int], cells: MapCells, *, smooth: bool) -> None:
    """Draw the borders of cells; of a smooth map the centres, where its colours are exact."""
    scale = np.array([size[1], size[0]])
    if smooth:
        x, y = (cells.centres() * scale - 0.5).T
        ax.scatter(x, y, s=3, color=_LINE, linewidths=0)
        return
    lines = cells.borders() * scale - 0.5
    width = 1.0 if cells.regions else 0.5
    ax.add_collection(LineCollection(list(lines), colors=_LINE, linewidths=width))
    for name, across, down in region_labels(cells) if cells.regions else []:
        x, y = np.array([across, down]) * scale - 0.5
        written = ax.text(x, y, name, color="black", fontsize="small", ha="center", va="center")
        written.set_path_effects([withStroke(linewidth=2.5, foreground="white")])


def _show(ax: Axes, pixels: FloatArray, size: tuple[int, int]) -> None:
    """Draw pixels so that one unit of the axes is one pixel of the image."""
    height, width = size
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    ax.imshow(pixels, extent=extent, interpolation="nearest")
    ax.set_xticks([])
    ax.set_yticks([])


# The colours of a map, from where to where, and its colour bar.


@final
@dataclass(frozen=True)
class MapScale:
    """Colours between two values, the name of the colour bar, and words at its ends."""

    colors: Colormap
    low: float
    high: float
    name: str
    ends: tuple[str, str]


def scale_of(maps: Sequence[LocationMap], cells: MapCells, note: str = "") -> MapScale:
    """Return the scale that maps of one kind share; of evidence, symmetric around zero.

    Only components that have a place count: the base rate has none.
    """
    spread = np.concatenate([cells.spread(one.values).ravel() for one in maps])
    values = spread[~np.isnan(spread)]
    if not len(values):
        raise ValueError("regions must give at least one pixel a component; got −1 everywhere.")
    if maps[0].kind == "evidence":
        most = float(np.abs(values).max()) or 1.0
        same = len({one.class_ for one in maps}) == 1
        label, over = maps[0].class_ if same else None, maps[0].over
        name = evidence_axis(over, note)
        return MapScale(FOR_AND_AGAINST, -most, most, name, bar_ends(label, over))
    if maps[0].kind == "ignorance":
        low = np.floor(20.0 * float(values.min())) / 20.0
        return MapScale(SILENT, float(min(low, 0.95)), 1.0, IGNORANCE_AXIS, IGNORANCE_ENDS)
    most = max(float(values.max()), 0.05)
    return MapScale(CONTRADICTED, 0.0, most, CONFLICT_AXIS, CONFLICT_ENDS)


def draw_scale(figure: Figure, axes: Sequence[Axes], scale: MapScale) -> None:
    """Draw the colour bar to the right of the axes; beside one row of them, as tall as they are."""
    drawn = ScalarMappable(Normalize(scale.low, scale.high), scale.colors)
    if len({round(one.get_position().y0, 6) for one in axes}) > 1:  # several rows
        bar = figure.colorbar(drawn, ax=list(axes), shrink=0.7, aspect=20, pad=0.03)
    else:
        bar = figure.colorbar(drawn, cax=axes[-1].inset_axes((1.05, 0.07, 0.05, 0.86)))
    bar.ax.set_ylabel(scale.name, fontsize="small")
    bar.ax.tick_params(labelsize="small")
    for words, height, side in zip(scale.ends, (-0.05, 1.05), ("top", "bottom"), strict=True):
        place = bar.ax.transAxes
        bar.ax.text(0.0, height, words, fontsize="small", ha="left", va=side, transform=place)


# The words of a map of evidence: titles, colour bars, and the sums below a map.

IGNORANCE_TITLE = "Ignorance of each location"
IGNORANCE_AXIS = "mass of its own evidence\nthat supports no class"
IGNORANCE_ENDS = ("strong evidence", "no evidence")
CONFLICT_TITLE = "Conflict with the other locations"
CONFLICT_AXIS = "conflict of each location\nwith all others together"
CONFLICT_ENDS = ("agrees", "contradicts")
REGION_NOTE = "the weight of a region is the sum over it"


def class_title(
    label: Label, over: Label | None, probability: float, over_probability: float | None
) -> str:
    """Return the title of a map of evidence for a class.

    Examples
    --------
    >>> print(class_title("boot", None, 0.931, None))
    boot
    probability 0.93
    >>> print(class_title("boot", "shoe", 0.931, 0.042))
    boot rather than shoe?
    boot: 0.93, shoe: 0.04
    """
    name = without_middle(label, 20)
    if over is None or over_probability is None:
        return f"{name}\nprobability {degree(probability)}"
    other = without_middle(over, 20)
    both = f"{name}: {degree(probability)}, {other}: {degree(over_probability)}"
    return f"{name} rather than {other}?\n{both}"


def sums_text(
    label: Label,
    over: Label | None,
    sums: tuple[float, float],
    base: float | None,
    shared: bool = False,
) -> str:
    """Return the whole sum: the locations for and against, the base rate, and the total.

    Parameters
    ----------
    class_, over : class labels
    sums : pair of floats
        Of the locations for the class, and of those against it.
    base : float, optional
        The base rate, if it is a component of its own.
    shared : bool
        The locations share a base rate.

    Examples
    --------
    >>> print(sums_text("boot", "shoe", (5.12, -1.2), -0.3))
    for boot +5.12, for shoe −1.20
    base rate −0.30: log-odds +3.62
    >>> print(sums_text("boot", None, (5.12, -1.2), None, shared=True))
    for +5.12, against −1.20
    with the base rate: total +3.92
    """
    scale = max(*map(abs, sums), abs(base or 0.0))
    positive, negative = (signed(part, scale) for part in sums)
    if over is None:
        parts, unit = f"for {positive}, against {negative}", "total"
    else:
        first, second = without_middle(label, 14), without_middle(over, 14)
        parts, unit = f"for {first} {positive}, for {second} {negative}", "log-odds"
    total = f"{unit} {signed(sum(sums) + (base or 0.0), scale)}"
    if base is not None:
        return f"{parts}\nbase rate {signed(base, scale)}: {total}"
    return f"{parts}\n{'with the base rate: ' if shared else ''}{total}"


def smooth_note(shape: tuple[int, int], *, dots: bool) -> str:
    """Return what must stand below a smooth map.

    Examples
    --------
    >>> smooth_note((7, 7), dots=False), smooth_note((7, 7), dots=True)
    ('smoothed from 7 × 7 locations', 'smoothed between 7 × 7 locations (dots)')
    """
    size = f"{shape[0]} × {shape[1]} locations"
    return f"smoothed between {size} (dots)" if dots else f"smoothed from {size}"


def evidence_axis(over: Label | None, note: str) -> str:
    """Return the name of the colour bar: the unit, and what it means."""
    unit = "weight of evidence\ncompared with the average class" if over is None else "log-odds"
    lines = [unit] if over is None else [unit, ODDS_NOTE]
    return "\n".join([*lines, note] if note else lines)


def bar_ends(label: Label | None, over: Label | None) -> tuple[str, str]:
    """Return the words at the lower and the upper end of the colour bar.

    Examples
    --------
    >>> bar_ends("boot", "shoe"), bar_ends("boot", None)
    (('for shoe', 'for boot'), ('against boot', 'for boot'))
    """
    name = "the class" if label is None else without_middle(label, 20)
    low = f"against {name}" if over is None else f"for {without_middle(over, 20)}"
    return low, f"for {name}"


# Where to write the names of regions: at their widest places.

_MOST = 40  # regions whose names can be told apart
_PREFIX = "region "


def region_labels(cells: MapCells) -> list[tuple[str, float, float]]:
    """Return the short name of each region, and its widest place, across and down from 0 to 1."""
    h, w = cells.positions.shape
    found = [g for g in np.unique(cells.positions).tolist() if g != NO_COMPONENT]
    if len(found) > _MOST:
        return []
    labels = []
    for g in found:
        inside = np.pad(cells.positions == g, 1)
        i, j = np.unravel_index(int(np.argmax(distance_transform_edt(inside))), inside.shape)
        labels.append((_short(cells.names[g]), (int(j) - 0.5) / w, (int(i) - 0.5) / h))
    return labels


def _short(name: str) -> str:
    """Leave the number of a region that has no name of its own."""
    return without_middle(name.removeprefix(_PREFIX), 10)
