"""Calls of Displays of evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from shafer import Evidence, plots

from .calls import covers
from .worlds import N_ROWS, World


def _evidence(world: World) -> Evidence:
    return Evidence.from_weights(world.weights(), classes=world.classes, names=["u", "v"])


@covers("plots.WaterfallDisplay.from_evidence")
def waterfall(world: World) -> list[Any]:
    ev, (first, second) = _evidence(world), world.given[:2]
    one = plots.WaterfallDisplay.from_evidence(ev, 1, class_=second)
    other = plots.WaterfallDisplay.from_evidence(ev, 1, class_=second, over=first)
    return [one.weights, other.weights]


@covers("plots.EvidenceMapDisplay.from_evidence", "plots.EvidenceMapDisplay.values")
def evidence_map(world: World) -> list[Any]:
    ev, image, (first, second) = _evidence(world), np.ones((4, 6)), world.given[:2]
    draw = plots.EvidenceMapDisplay.from_evidence
    one = draw(ev, 1, image, class_=second, over=first, shape=(1, 2))
    several = draw(ev, 1, image, classes=list(world.given[::-1]), shape=(1, 2))
    return [one.values(second), several.values(first), *(m.values for m in several.maps)]


@covers("plots.TextDisplay.from_evidence")
def text(world: World) -> list[Any]:
    ev, (first, second) = _evidence(world), world.given[:2]
    one = plots.TextDisplay.from_evidence(ev, 1, ["u", "v"], class_=second)
    other = plots.TextDisplay.from_evidence(ev, 1, ["u", "v"], class_=second, over=first)
    return [one.weights, other.weights]


@covers("plots.SummaryDisplay.from_evidence")
def summary(world: World) -> list[Any]:
    ev = _evidence(world)
    wanted = (world.given[0], list(world.given[::-1]))
    drawn = [plots.SummaryDisplay.from_evidence(ev, classes=asked) for asked in wanted]
    drawn.append(
        plots.SummaryDisplay.from_evidence(ev, classes=world.given[1], over=world.given[0])
    )
    return [display.weights for display in drawn]


@covers(
    "plots.DependenceDisplay.from_evidence",
    "plots.DependenceDisplay.weight_for",
    "plots.DependenceDisplay.cutoffs",
    "plots.DependenceDisplay.plot",
)
def dependence(world: World) -> list[Any]:
    sets = [[world.given[0]], list(world.given[:2])]
    values = np.arange(float(N_ROWS))
    display = plots.DependenceDisplay.from_evidence(_evidence(world), "v", values, sets=sets)
    weights = [display.weight_for(world.given[1]), display.cutoffs(world.given[0])]
    weights += [display.weight_for(world.given[1], over=world.given[0])]
    weights += [display.cutoffs(world.given[0], over=world.given[1])]
    drawn = display.plot(classes=[world.given[1]], over=world.given[0])
    curves = [line.get_ydata() for line in drawn.ax_.lines if len(line.get_ydata()) == N_ROWS]
    return [*weights, display.masses, *curves]


@covers("plots.UnitDisplay.from_evidence")
def unit(world: World) -> Any:
    sets = [[world.given[0]], list(world.given[:2])]
    outputs = np.arange(float(N_ROWS))
    return plots.UnitDisplay.from_evidence(_evidence(world), "u", outputs, sets=sets).masses


@covers("plots.UncertaintyDisplay.from_evidence")
def uncertainty(world: World) -> Any:
    y = world.named(world.truth[:N_ROWS])
    return plots.UncertaintyDisplay.from_evidence(_evidence(world), y).right


@covers(
    "plots.RegionDisplay.from_evidence",
    "plots.RegionDisplay.from_explainer",
    "plots.RegionDisplay.from_function",
)
def regions(world: World) -> list[Any]:
    x, y = np.arange(4.0), np.arange(3.0)
    ev = _evidence(world)
    on_grid = plots.RegionDisplay.from_evidence(ev, x, y, "plausibility", subset=world.given[0])
    points = np.array([[0.0, 0.0], [1.0, 1.0]])

    def explainer(X: Any) -> Evidence:
        weights = np.stack([X[:, 0], -X[:, 1], 0.5 * X[:, 1]][: world.n_classes], axis=-1)
        return Evidence.from_weights(weights[:, None], classes=world.classes)

    asked = list(world.given[:2]) if world.n_classes > 2 else world.given[0]
    computed = plots.RegionDisplay.from_explainer(
        explainer, points, "belief", subset=asked, grid_resolution=4
    )
    function = plots.RegionDisplay.from_function(
        lambda X: explainer(X).probability, points, classes=world.classes, grid_resolution=4
    )
    return [on_grid.response, computed.response, function.response]
