"""A waterfall drawn: the base rate at the foot, a bar for each step above it, the sum on top."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from shafer._typing import FloatArray
from shafer.plots.drawing.style import AGAINST, FOR, GREY, ink, signed
from shafer.plots.drawing.waterfall.arrows import (
    HALF,
    Number,
    draw_arrow,
    draw_thin_end,
    limits_with,
    write_number,
)
from shafer.plots.drawing.waterfall.waterfall_steps import Ends, Step
from shafer.plots.drawing.whiskers import draw_whisker, missing_look, pale_look

_APART = 0.4  # rows: more room beside the sum and the base rate
_LIFT = 8.0  # points: the number of an end stands above its error bar
_THIN = 0.015  # of the width: a shorter sum is hard to see


class WaterfallEnd(NamedTuple):
    """The sum, or the base rate: a bar from zero, with a few words below its name."""

    name: str
    weight: float
    words: str = ""
    interval: Ends | None = None


def draw_waterfall(
    ax: Axes, steps: Sequence[Step], total: WaterfallEnd, base: WaterfallEnd | None
) -> None:
    """Draw the steps, each starting where the one below ends; the lowest starts at the base rate.

    Parameters
    ----------
    ax : matplotlib axes
    steps : sequence of Step
        From top to bottom.
    total : WaterfallEnd
        The base rate and all steps together.
    base : WaterfallEnd, optional
        The base rate; without it the steps start at zero.
    """
    weights = np.array([step.weight for step in steps])
    foot = 0.0 if base is None else base.weight
    # The start of each step: the base rate, and all steps below it.
    starts = foot + np.append(np.cumsum(weights[::-1])[::-1][1:], 0.0)
    places = 1.0 + _APART + np.arange(len(steps))
    bottom = None if base is None else float(places[-1]) + 1.0 + _APART
    scale = float(np.max(np.abs([*starts, *(starts + weights), *weights])))
    bars = [
        _bar(place, start, step.weight, step.interval, _written(step, scale))
        for place, start, step in zip(places, starts, steps, strict=True)
    ]
    bars.append(_end_bar(total, 0.0, scale))
    if base is not None and bottom is not None:
        bars.append(_end_bar(base, bottom, scale))
    _name_rows(ax, [_named(total), *(step.name for step in steps)], [0.0, *places], base, bottom)
    _set_limits(ax, bars)  # the names have taken their room
    looks = [_look(step) for step in steps]
    looks += [{"facecolor": GREY, "edgecolor": "none"}] * (len(bars) - len(steps))
    width = ax.get_xlim()[1] - ax.get_xlim()[0]
    for bar, look in zip(bars, looks, strict=True):
        draw_arrow(ax, bar.start, bar.weight, bar.place, look, width)
        if bar.number.lift and abs(bar.weight) < _THIN * width:
            draw_thin_end(ax, bar.start + bar.weight, bar.place)
        if bar.interval is not None:
            draw_whisker(ax, *bar.interval, bar.place)
        write_number(ax, bar.number)
    _connect(ax, starts, weights, places, bottom)


class _Bar(NamedTuple):
    place: float
    start: float
    weight: float
    interval: Ends | None  # where it is drawn
    number: Number


def _bar(place: float, start: float, weight: float, interval: Ends | None, text: str) -> _Bar:
    """Place a bar, its error bar, and its number beyond both."""
    right = weight >= 0
    drawn = None if interval is None else (start + interval[0], start + interval[1])
    reach = [start + weight, *(drawn or ())]
    number = Number(max(reach) if right else min(reach), place, right, text)
    return _Bar(place, start, weight, drawn, number)


def _end_bar(end: WaterfallEnd, place: float, scale: float) -> _Bar:
    """Place the sum or the base rate; its number is at its tip, above the error bar."""
    number = Number(end.weight, place, end.weight >= 0, signed(end.weight, scale), _LIFT)
    return _Bar(place, 0.0, end.weight, end.interval, number)


def _named(end: WaterfallEnd) -> str:
    return f"{end.name}\n{end.words}".rstrip()


def _set_limits(ax: Axes, bars: list[_Bar]) -> None:
    reached = [0.0]
    for bar in bars:
        reached += [bar.start, bar.start + bar.weight, *(bar.interval or ())]
    ax.set_xlim(*limits_with(ax, np.array(reached), [bar.number for bar in bars]))


def _name_rows(
    ax: Axes,
    names: list[str],
    places: list[float],
    base: WaterfallEnd | None,
    bottom: float | None,
) -> None:
    if base is not None and bottom is not None:
        names, places = [*names, _named(base)], [*places, bottom]
        ax.axhline(bottom - 0.5 - _APART / 2, color=GREY, linewidth=0.6, alpha=0.6, zorder=0)
    ax.axhline(0.5 + _APART / 2, color=GREY, linewidth=0.6, alpha=0.6, zorder=0)
    ax.axvline(0.0, color=ink(), linewidth=0.8, alpha=0.6, zorder=0)
    ax.set_yticks(places, names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(places[-1] + 0.65, -0.65)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _connect(
    ax: Axes, starts: FloatArray, weights: FloatArray, places: FloatArray, bottom: float | None
) -> None:
    """Draw lines from the end of each bar up to the start of the next, and to the sum."""
    lines = [
        (end, place, above)
        for end, place, above in zip(starts + weights, places, [0.0, *places[:-1]], strict=True)
    ]
    if bottom is not None:
        lines.append((float(starts[-1]), bottom, float(places[-1])))
    for x, place, above in lines:
        ax.plot([x, x], [place - HALF, above + HALF], color=GREY, linewidth=0.8, zorder=0)


def _look(step: Step) -> dict[str, object]:
    color = FOR if step.weight >= 0 else AGAINST
    if step.missing:
        return missing_look(color)
    if not step.told_from_zero:
        return pale_look(color)
    return {"facecolor": color, "edgecolor": "none"}


def _written(step: Step, scale: float) -> str:
    text = signed(step.weight, scale)
    if step.parts is None:
        return text
    return f"{text} ({signed(step.parts[0], scale)} {signed(step.parts[1], scale)})"
