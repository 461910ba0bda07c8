"""``with_raw_thresholds``: trees behind scalers, with thresholds on the raw inputs.

A scaled number that is computed in another order may differ in its last bit, which may decide at a
split. So the thresholds are moved to the raw inputs: each becomes the largest raw number that the
encoders bring to the left side, found by bisection around the number that a line gives.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shafer._kernels.trees import NAN_IS_ZERO, ZERO_IS_MISSING, Index
from shafer._typing import FloatArray
from shafer.models.formula import Trees
from shafer.report.what_if.inputs import Asks, Input, Probes, Sums

if TYPE_CHECKING:
    from shafer._values import Value

_NEAR = 1e-12  # how far from a line rounding may lead, relative
_GRID = np.linspace(0.0, 1.0, 18)
_STEPS = 40


def with_raw_thresholds(trees: Trees, sums: Sums, probes: Probes, ask: Asks) -> tuple[Trees, Sums]:
    """Return trees that compare raw inputs where the numbers are scaled, and the inputs for them.

    Parameters
    ----------
    trees : Trees
    sums : Sums
        What the inputs give the numbers of the trees.
    probes : Probes
    ask : callable
        Returns the numbers of rows, (n, C, 1).
    """
    if trees.single or trees.missing is not None:
        return trees, sums  # a last bit is lost in single precision
    counts = np.bincount([c for entry in sums.inputs for c in entry.reached], minlength=1)
    threshold, base = trees.forest.threshold.copy(), sums.base.copy()
    inputs = list(sums.inputs)
    for j, entry in enumerate(sums.inputs):
        for at, c in enumerate(entry.reached):
            nodes = _nodes(trees, entry, at, c) if counts[c] == 1 else np.zeros(0, dtype=np.int64)
            if not len(nodes):
                continue
            scaled, place = np.unique(threshold[nodes], return_inverse=True)
            raw = _largest_left(scaled, entry, at, j, base[c, 0], probes, ask)
            if raw is None:
                continue
            threshold[nodes] = raw[place]
            inputs[j] = _copied(inputs[j], at, j, scaled, raw, probes, ask)
            base[c] = 0.0
    forest = trees.forest._replace(threshold=threshold)
    return replace(trees, forest=forest), Sums(base, inputs)


def _nodes(trees: Trees, entry: Input, at: int, c: int) -> Index:
    """Return the splits on a scaled number; none if they cannot be moved."""
    forest = trees.forest
    of_column = (forest.feature == c) & np.isfinite(forest.threshold) & (forest.n_words == 0)
    nodes: Index = np.flatnonzero(of_column)
    none: Index = np.zeros(0, dtype=np.int64)
    is_line = entry.slope is not None and entry.levels is None and at not in entry.copied
    if not is_line or entry.slope is None or entry.slope[at, 0] <= 0.0:
        return none
    gap, kinds = entry.effects.get(None), forest.missing[nodes]
    lost = gap is not None and np.isnan(gap[at, 0])
    if np.any(kinds == ZERO_IS_MISSING) or (lost and np.any(kinds == NAN_IS_ZERO)):
        return none
    return nodes


def _largest_left(
    scaled: FloatArray, entry: Input, at: int, j: int, base: float, probes: Probes, ask: Asks
) -> FloatArray | None:
    """Return the largest raw number that is not above each threshold once it is scaled."""
    assert entry.slope is not None
    assert entry.anchor is not None
    away = (scaled - base) / entry.slope[at, 0]
    width = _NEAR * (np.abs(away) + abs(entry.anchor) + abs(base / entry.slope[at, 0]))
    ends = np.stack([entry.anchor + away - width, entry.anchor + away + width], axis=1)
    for _ in range(_STEPS):
        tried = ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * _GRID
        tried[:, -1] = ends[:, 1]
        zero = np.clip(0.0, ends[:, :1], ends[:, 1:])  # numbers are densest there
        tried = np.sort(np.concatenate([tried, zero], axis=1), axis=1)
        values: list[list[Value]] = [[] for _ in probes.names]
        values[j] = tried.ravel().tolist()
        # A value that is named twice is a row twice.
        found = ask(probes.asked(values))[1:, entry.reached[at], 0].reshape(tried.shape)
        left = found <= scaled[:, None]
        if not (left[:, 0].all() and not left[:, -1].any()):
            return None
        last = left.sum(axis=1) - 1
        ends = np.take_along_axis(tried, np.stack([last, last + 1], axis=1), axis=1)
        if np.all(np.nextafter(ends[:, 0], np.inf) >= ends[:, 1]):
            break
    return np.asarray(ends[:, 0])


def _copied(
    entry: Input, at: int, j: int, scaled: FloatArray, raw: FloatArray, probes: Probes, ask: Asks
) -> Input:
    """Return the input with its raw number in one place; a gap has one on the same sides."""
    effects = dict(entry.effects)
    if None in effects:
        values: list[list[Value]] = [[] for _ in probes.names]
        values[j] = [None]
        filled = ask(probes.asked(values))[1, entry.reached[at], 0]
        gap = effects[None].copy()
        beyond = [*raw, np.nextafter(raw[-1], np.inf)]
        gap[at] = filled if np.isnan(filled) else beyond[int(np.searchsorted(scaled, filled))]
        effects[None] = gap
    return replace(entry, effects=effects, copied=sorted([*entry.copied, at]))
