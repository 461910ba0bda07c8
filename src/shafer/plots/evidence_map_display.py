"""``EvidenceMapDisplay``: an image, with the evidence of its locations laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self, final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shafer._typing import Label
from shafer._validation import label_positions, one_position, positions_of
from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.plots.drawing.compared_classes import Compared, compared_in_row, other_than
from shafer.plots.drawing.evidence_arrays import numbers, take_row
from shafer.plots.drawing.evidence_map.location_maps import (
    KINDS,
    LocationMap,
    disagreement_map,
    evidence_map,
    ignorance_map,
    read_kinds,
)
from shafer.plots.drawing.evidence_map.map_cells import MapCells, cells_of
from shafer.plots.drawing.evidence_map.map_panels import draw_image, draw_map
from shafer.plots.drawing.evidence_map.map_scales import draw_scale, scale_of
from shafer.plots.drawing.evidence_map.shown_image import ShownImage, read_image
from shafer.plots.drawing.own_base_rate import SHARED_NOTE, shares_base_rate

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
        quantity: str | None = None,
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
        quantity : {"log-odds", "weight"}, optional
            ``"log-odds"``: what each location adds to the log-odds of the class over the other one,
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
        one, plain = take_row(evidence, row), take_row(with_weights(evidence), row)
        kinds = read_kinds(show)
        asked = _asked(plain, class_, over, classes, quantity) if "evidence" in kinds else []
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
        at = 0 if class_ is None else one_position(class_, [m.label for m in found])
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


def _asked(
    evidence: Evidence,
    class_: Label | None,
    over: Label | None,
    classes: Label | Iterable[Label] | None,
    quantity: str | None,
) -> list[Compared]:
    """Return the classes to draw, each with the one it is compared with."""
    logits = numbers(evidence.logits)[0]
    if classes is None:
        asked = compared_in_row(logits, evidence.classes, class_, over, quantity or "log-odds")
        return [asked]
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
    chosen = quantity or "weight"
    labels = evidence.classes.tolist()
    return [compared_in_row(logits, evidence.classes, labels[k], None, chosen) for k in wanted]
