"""Figures 9 to 12 of the paper, three classes, and how the results depend on the epochs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from shafer.datasets.gaussian import gaussian_posterior
from shafer.evidence.evidence import Evidence
from shafer.paper.figure_style import legend_above, new_figure, scatter_classes
from shafer.paper.gaussian_experiment import CLASSES, UNITS, GaussianResult, unit_pool
from shafer.paper.printed_numbers import GAUSSIAN
from shafer.plots.region_display import RegionDisplay
from shafer.plots.set_names import set_name
from shafer.plots.style import color
from shafer.plots.unit_display import UnitDisplay

SETS = tuple(frozenset(s) for size in (1, 2, 3) for s in combinations(CLASSES, size))
_PLANE = np.array([[-2.4, -2.8], [2.8, 2.2]])  # corners
_NAMES = ("x₁", "x₂")
_NEGLIGIBLE = 0.01
_FINE = 200  # points along a curve


def _bayes(resolution: int) -> RegionDisplay:
    return RegionDisplay.from_function(
        gaussian_posterior,
        _PLANE,
        classes=CLASSES,
        feature_names=_NAMES,
        grid_resolution=resolution,
        name="Bayes",
    )


def _plane(result: GaussianResult, response: str, resolution: int, **options: Any) -> RegionDisplay:
    return RegionDisplay.from_explainer(
        result.evidence,
        _PLANE,
        response,
        feature_names=_NAMES,
        grid_resolution=resolution,
        **options,
    )


def gaussian_data(result: GaussianResult, resolution: int) -> Figure:
    """Draw the data and the Bayes boundary: Figure 9."""
    figure = new_figure(5.4, 4.9)
    ax = figure.subplots()
    X, y = result.sample
    scatter_classes(ax, {name: X[y == k] for k, name in enumerate(CLASSES)})
    _bayes(resolution).plot(ax, filled=False, labelled=False, linewidth=2.0, label="Bayes boundary")
    ax.set(xlim=_PLANE[:, 0], ylim=_PLANE[:, 1], aspect="equal")
    legend_above(ax, 4)
    return figure


def focal_sets(result: GaussianResult, resolution: int) -> list[tuple[frozenset[str], float]]:
    """Return the sets that receive mass in the plane, each with its largest mass."""
    largest = [
        float(_plane(result, "mass", resolution, subset=members).response.max()) for members in SETS
    ]
    return [(s, mass) for s, mass in zip(SETS, largest, strict=True) if mass >= _NEGLIGIBLE]


def gaussian_masses(result: GaussianResult, resolution: int) -> Figure:
    """Draw the mass of every focal set, with the MP boundary: Figure 10."""
    sets = [members for members, _ in focal_sets(result, resolution // 4)]
    columns = 4
    figure = new_figure(10.4, 2.75 * -(-len(sets) // columns))
    axes = figure.subplots(-(-len(sets) // columns), columns, squeeze=False)
    boundary = _plane(result, "decision", resolution, rule="plausibility")
    for ax, members in zip(axes.flat, sets, strict=False):
        _plane(result, "mass", resolution, subset=members).plot(ax, linewidth=0.9)
        boundary.plot(
            ax,
            filled=False,
            labelled=False,
            color=color(1),
            linewidth=1.5,
            linestyle="dashed",
            label="MP decision boundary",
        )
        ax.set_title(f"m({set_name(members, np.array(CLASSES))})")
        ax.set_aspect("equal")
        ax.label_outer()
    spare = axes.flat[len(sets) :]
    for ax in spare:
        ax.set_axis_off()
    handles, names = axes[0, 0].get_legend_handles_labels()
    if len(spare):
        spare[0].legend(handles, names, loc="center", frameon=False)
    else:
        figure.legend(handles, names, loc="outside upper center", frameon=False)
    return figure


def _unit_grid(result: GaussianResult) -> tuple[Any, Any, Evidence]:
    """Return the units' outputs on the training set, a grid over their ranges, and its evidence."""
    outputs = result.network.features(result.sample.X)
    top = outputs.max(axis=0)
    grid = np.linspace(np.zeros_like(top), np.where(top > 0, top, 1.0), _FINE)
    return outputs, grid, unit_pool(result.network, result.sample.X)(grid)


def _unit(result: GaussianResult, unit: int, grid: Any, evidence: Evidence) -> UnitDisplay:
    outputs = result.network.features(result.sample.X)[:, unit]
    y = result.sample.y
    return UnitDisplay.from_evidence(
        evidence,
        unit,
        grid[:, unit],
        sets=SETS,
        instances={name: outputs[y == k] for k, name in enumerate(CLASSES)},
    )


def papers_unit(result: GaussianResult) -> tuple[int, bool]:
    """Return the unit most like the paper's, and whether it behaves as the paper describes.

    If its output is small, the paper's unit gives evidence for θ₁ and against the others; if it is
    large, the other way round. These are six weights. We take the unit whose smallest weight is
    largest. It behaves as described if that weight is positive.
    """
    top = result.network.features(result.sample.X).max(axis=0)
    pool = unit_pool(result.network, result.sample.X)
    signs = np.array([1.0, -1.0, -1.0])
    small, large = pool.alpha * signs, -(pool.alpha + pool.beta * top[:, None]) * signs
    weakest = np.minimum(small, large).min(axis=1)
    return int(np.argmax(weakest)), bool(weakest.max() > 0)


def hidden_unit(result: GaussianResult) -> Figure:
    """Draw the masses of one hidden unit: Figure 11."""
    figure = new_figure(6.4, 3.9)
    ax = figure.subplots()
    _, grid, evidence = _unit_grid(result)
    _unit(result, papers_unit(result)[0], grid, evidence).plot(ax, legend=False)
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handlelength=3.2)
    ax.set_ylabel("mass $m_j(A)$")
    return figure


def hidden_units(result: GaussianResult) -> Figure:
    """Draw the masses of all ten hidden units."""
    figure = new_figure(10.4, 5.0)
    axes = figure.subplots(2, 5, sharey=True)
    outputs, grid, evidence = _unit_grid(result)
    for unit, ax in enumerate(axes.flat):
        _unit(result, unit, grid, evidence).plot(ax, legend=False)
        active = 100.0 * float(np.mean(outputs[:, unit] > 0))
        ax.set_title(f"{UNITS[unit]} (active {active:.0f} %)")
        ax.set_xlabel("output")
        ax.label_outer(remove_inner_ticks=False)
        ax.xaxis.set_tick_params(labelbottom=True)
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=7,
        frameon=False,
        handlelength=3.2,
    )
    return figure


def decision_regions(result: GaussianResult, resolution: int) -> Figure:
    """Draw the decision regions of Bayes, MP and ID: Figure 12."""
    figure = new_figure(6.4, 6.2)
    ax = figure.subplots()
    _plane(result, "decision", resolution).plot(ax, linewidth=2.2, label="ID rule")
    _plane(result, "decision", resolution, rule="plausibility").plot(
        ax,
        filled=False,
        labelled=False,
        linewidth=2.2,
        color=color(1),
        linestyle=(0, (4, 2)),
        label="MP rule",
    )
    _bayes(resolution).plot(ax, filled=False, labelled=False, linewidth=0.9, label="Bayes rule")
    ax.set_aspect("equal")
    legend_above(ax, 3)
    return figure


def decided_sets(result: GaussianResult, resolution: int) -> list[str]:
    """Return the names of the sets that have a region in the plane."""
    chosen = _plane(result, "decision", resolution).chosen
    present = {tuple(row) for row in chosen.reshape(-1, len(CLASSES)).tolist()}
    return [
        set_name(members, np.array(CLASSES))
        for members in SETS
        if tuple(name in members for name in CLASSES) in present
    ]


def epochs(result: GaussianResult) -> Figure:
    """Draw how the figures of the test set depend on the number of epochs."""
    titles = {
        "mp_error": "error of the MP rule",
        "id_error": "error of the ID rule",
        "pairs": "assigned to a pair (ID)",
        "triples": "assigned to all three (ID)",
    }
    figure = new_figure(8.4, 5.4)
    steps = result.plan.checkpoints
    for ax, (name, title) in zip(figure.subplots(2, 2).flat, titles.items(), strict=True):
        low, median, high = np.percentile(result.by_epochs[name], (10, 50, 90), axis=1)
        ax.fill_between(steps, low, high, color=color(0), alpha=0.25, linewidth=0)
        ax.plot(steps, median, color=color(0), marker="o", markersize=3)
        ax.axhline(GAUSSIAN[name], color=color(1), linestyle="dashed")
        ax.axvline(result.plan.epochs, color="black", linestyle="dotted", linewidth=1.0)
        ax.set(title=title, xlabel="epochs", ylabel="% of test set")
        ax.set_ylim(bottom=min(low.min(), GAUSSIAN[name]) - 1.0 if name == "mp_error" else 0.0)
    handles, names = _epoch_legend(result.plan.epochs)
    figure.legend(handles, names, loc="outside upper center", ncols=4, frameon=False)
    return figure


def _epoch_legend(reported: int) -> tuple[list[Any], list[str]]:
    return (
        [
            Line2D([], [], color=color(0), marker="o", markersize=3),
            Patch(color=color(0), alpha=0.25, linewidth=0),
            Line2D([], [], color=color(1), linestyle="dashed"),
            Line2D([], [], color="black", linestyle="dotted", linewidth=1.0),
        ],
        ["median network", "10–90 % of networks", "the paper", f"reported: {reported} epochs"],
    )
