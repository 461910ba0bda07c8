"""Figures 2 and 5 to 8 of the paper: two classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shafer._typing import FloatArray
from shafer.evidence.evidence import Evidence
from shafer.paper.figure_style import legend_above, new_figure, scatter_classes
from shafer.paper.heart_experiment import CLASSES, FEATURES, HeartResult
from shafer.plots.dependence_display import DependenceDisplay
from shafer.plots.region_display import RegionDisplay
from shafer.plots.style import MARKERS, color

_AXES = {"age": "age (years)", "ldl": "LDL cholesterol (mmol/L)"}
_GROUPS = ("θ₁: infarction", "θ₂: none")
_PLANE = np.array([[14.0, 0.5], [65.0, 15.8]])  # corners
_FINE = 300  # points along a curve


def two_weights(points: FloatArray) -> Evidence:
    """Return evidence of weight w⁺ for θ₁ and w⁻ for θ₂, points (n, 2)."""
    signed = points * np.array([0.5, -0.5])  # a log-odds w is the two logits (w/2, −w/2)
    return Evidence.from_weights(np.stack([signed, -signed], axis=2), classes=CLASSES)


def contours(resolution: int) -> Figure:
    """Draw m({θ₁}), m(Θ) and κ over (w⁺, w⁻): Figure 2."""
    figure = new_figure(9.0, 3.1)
    panels = (
        ("(a)  m({θ₁})", "mass"),
        ("(b)  m(Θ)", "ignorance"),
        ("(c)  degree of conflict κ", "conflict"),
    )
    for ax, (title, response) in zip(figure.subplots(1, 3), panels, strict=True):
        RegionDisplay.from_explainer(
            two_weights,
            np.array([[0.0, 0.0], [3.0, 3.0]]),
            response,
            subset=CLASSES[0],
            feature_names=("w⁺, total weight for θ₁", "w⁻, total weight for θ₂"),
            grid_resolution=resolution,
        ).plot(ax, linewidth=1.2)
        ax.set_title(title)
        ax.set_aspect("equal")
    return figure


def _plane(result: HeartResult, response: str, resolution: int, **options: Any) -> RegionDisplay:
    return RegionDisplay.from_explainer(
        result.explainer,
        _PLANE,
        response,
        subset=CLASSES[0],
        feature_names=[_AXES[name] for name in FEATURES],
        grid_resolution=resolution,
        **options,
    )


def heart_data(result: HeartResult, resolution: int) -> Figure:
    """Draw the data, the decision boundary and lines of equal probability: Figure 5."""
    figure = new_figure(5.4, 4.4)
    ax = figure.subplots()
    X, y = result.data.X, result.data.y
    groups = {name: X[y == label] for name, label in zip(_GROUPS, CLASSES, strict=True)}
    scatter_classes(ax, groups)
    _plane(result, "probability", resolution).plot(
        ax, filled=False, linewidth=0.9, levels=[0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    )
    _plane(result, "decision", resolution, rule="plausibility").plot(
        ax, filled=False, labelled=False, linewidth=2.6, label="decision boundary, p(θ₁) = 0.5"
    )
    legend_above(ax, 3)
    return figure


def _dependence(result: HeartResult, position: int) -> DependenceDisplay:
    X, y = result.data.X, result.data.y
    grid = np.linspace(X.min(axis=0), X.max(axis=0), _FINE)
    return DependenceDisplay.from_evidence(
        result.explainer(grid),
        FEATURES[position],
        grid[:, position],
        instances={label: X[y == label, position] for label in CLASSES},
    )


def heart_weights(result: HeartResult) -> Figure:
    """Draw the weights of age and LDL, with the instances on the axes: Figure 6."""
    figure = new_figure(8.4, 3.5)
    for position, ax in enumerate(figure.subplots(1, 2)):
        _dependence(result, position).plot(ax, classes=CLASSES[:1])
        ax.set_xlabel(_AXES[FEATURES[position]])
        ax.set_ylabel(f"weight of evidence $w_{position + 1}$ for θ₁")
    _legend_of_strips(figure)
    return figure


def heart_masses(result: HeartResult) -> Figure:
    """Draw the masses of age and LDL: Figure 7."""
    figure = new_figure(8.4, 3.5)
    for position, ax in enumerate(figure.subplots(1, 2)):
        _dependence(result, position).plot(ax, kind="masses", legend=False)
        ax.set_xlabel(_AXES[FEATURES[position]])
        ax.set_ylabel(f"mass $m_{position + 1}$")
    _legend_of_strips(figure, ax.get_legend_handles_labels()[0])
    return figure


def _legend_of_strips(figure: Figure, curves: Sequence[Artist] = ()) -> None:
    """Add a legend above the figure: the curves, then the instances on each axis."""
    strips = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=MARKERS[k],
            markersize=4,
            markeredgecolor=color(k),
            markerfacecolor="none" if k else color(k),
            label=f"{_GROUPS[k]} ({axis} axis)",
        )
        for k, axis in enumerate(("lower", "upper"))
    ]
    figure.legend(handles=[*curves, *strips], loc="outside upper center", ncols=5, frameon=False)


def heart_planes(result: HeartResult, resolution: int) -> Figure:
    """Draw belief, plausibility, ignorance with conflict, and decisions: Figure 8."""
    figure = new_figure(8.4, 7.2)
    belief, plausibility, unknown, decision = figure.subplots(2, 2).flat
    _plane(result, "belief", resolution).plot(belief, linewidth=1.2)
    belief.set_title("(a)  belief Bel({θ₁})")
    _plane(result, "plausibility", resolution).plot(plausibility, linewidth=1.2)
    plausibility.set_title("(b)  plausibility pl(θ₁)")
    _plane(result, "ignorance", resolution).plot(
        unknown, filled=False, linewidth=1.2, label="ignorance m(Θ)"
    )
    _plane(result, "conflict", resolution).plot(
        unknown,
        filled=False,
        linewidth=1.4,
        color=color(1),
        linestyle="dashed",
        levels=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
        label="conflict κ",
    )
    unknown.set_title("(c)  ignorance and conflict", pad=22)
    legend_above(unknown, 2)
    _plane(result, "decision", resolution, rule="plausibility").plot(
        decision, filled=False, labelled=False, linewidth=2.0, label="MP rule"
    )
    _plane(result, "decision", resolution).plot(
        decision, linewidth=1.6, linestyle="dashed", label="ID rule"
    )
    decision.set_title("(d)  decisions", pad=22)
    legend_above(decision, 2)
    for ax in (belief, plausibility, unknown):
        _mark_cutoffs(ax, result)
    return figure


def _mark_cutoffs(ax: Axes, result: HeartResult) -> None:
    """Mark the two cut-offs, between which the corners of the plane differ."""
    ax.axvline(result.cutoffs["age"], color=color(0), linestyle=(0, (1, 2)), linewidth=1.0)
    ax.axhline(result.cutoffs["ldl"], color=color(0), linestyle=(0, (1, 2)), linewidth=1.0)
