"""Proof that components lie where their names say: the input is changed place by place.

The operations of a module show which axis is which. They do not show everything: a product with a
matrix may move all places. So rows of the background are passed again, each with another value at
one place, and the components that change must be those of that place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from shafer.errors import UnsupportedModelError
from shafer.models.located import LocatedTerms
from shafer.models.torch.tracing import Inputs

_MOST_PLACES = 64  # of more places, evenly spaced ones are tried
_MOST_ROWS = 4
_MOST_PASSED = 192  # changed rows, of all tried rows together
_NOISE = 1e-4  # a change of a component that counts, relative to the largest one of that place
_ROUNDING = 1e-6  # the same, relative to the component's features
_LEAST_LEAD = 1.02  # a component that changes most changes by this factor more than any other

_Change = NDArray[np.float64]  # (places, components of one axis)


class _Way(NamedTuple):
    """Inputs whose places may be those of the components: their names, and the axes of places."""

    names: tuple[Any, ...]
    axes: tuple[int, ...]
    sizes: tuple[int, ...]  # of the components along these axes
    places: tuple[int, ...]  # of the inputs


def prove_places(
    inputs: Inputs, passed: Any, sizes: tuple[int, ...], kind: str, model: nn.Module
) -> None:
    """Raise an error unless changing a place of the input changes the component of that place.

    A module may mix places, as attention, recurrent layers and convolutions do. Then the component
    of a place must change at all, and either the components that change move along with the place,
    or its own component changes most.

    Parameters
    ----------
    inputs : dict from name to tensor
        Rows of the background.
    passed : callable
        From rows to the feature maps of a batch each.
    sizes : tuple of int
        The number of components along each axis of places.
    kind : {"locations", "tokens"}
    model : nn.Module

    Raises
    ------
    UnsupportedModelError
    """
    if math.prod(sizes) < 2:  # a single place is where it is, if the input has no more
        several = [min(inputs[name].shape[1:]) for name in _telling(inputs)]
        if kind == "tokens" and several and min(several) > 1:
            raise UnsupportedModelError(
                "components='tokens' needs a module that keeps its tokens in their places; this "
                f"one has a single component for {max(several)} tokens. Use components='units'."
            )
        return
    reasons = []
    for way in _ways(inputs, sizes):
        reason = _why_not(inputs, passed, way, kind == "tokens", model)
        if reason is None:
            return
        reasons.append(reason)
    why = next(filter(None, reasons), "no component changes")
    raise UnsupportedModelError(
        f"components={kind!r} needs a module that keeps its {kind} in their places. Rows of the "
        f"background were changed at one place after another, and {why}. Use components='units', "
        "or a module that does not move or join its places."
    )


def _ways(inputs: Inputs, sizes: tuple[int, ...]) -> Iterator[_Way]:
    """Yield the axes of the inputs that may hold the places, the most usual first."""
    n_places = math.prod(sizes)
    found: dict[_Way, list[Any]] = {}
    for name in _telling(inputs):
        shape = inputs[name].shape
        for axes in _axes(shape, len(sizes)):
            key = _Way((), axes, sizes, tuple(shape[axis] for axis in axes))
            found.setdefault(key, []).append(name)
        if len(sizes) > 1 and max(sizes) == n_places:  # one row or one column
            for axes in _axes(shape, 1):
                key = _Way((), axes, (n_places,), (shape[axes[0]],))
                found.setdefault(key, []).append(name)
    for way, names in found.items():
        yield way._replace(names=tuple(names))
        if len(names) > 1:
            yield from (way._replace(names=(name,)) for name in names)


def _axes(shape: torch.Size, n_axes: int) -> list[tuple[int, ...]]:
    """Return the axes of an input that may be places: those side by side, without the rows."""
    found = [tuple(range(a, a + n_axes)) for a in range(1, len(shape) - n_axes + 1)]
    channels_last = shape[-1] in (1, 3, 4) and shape[1] not in (1, 3, 4)
    return found if channels_last or n_axes == 1 else found[::-1]


def _telling(inputs: Inputs) -> list[Any]:
    """Return the inputs with content; not masks, kinds and positions, which are the same in all."""
    named = [n for n, x in inputs.items() if x.ndim > 1 and not x.is_complex()]
    telling = [
        n for n in named if inputs[n].dtype != torch.bool and len(torch.unique(inputs[n])) > 2
    ]
    varied = [n for n in telling if bool((inputs[n] != inputs[n][:1]).any())]
    return varied or telling or named


def _why_not(inputs: Inputs, passed: Any, way: _Way, exact: bool, model: nn.Module) -> str | None:
    """Return why these axes are not those of the components; None if they are, "" if unknown."""
    alone = len(way.axes) == 1
    n_steps = way.places
    if not (alone and exact):
        n_steps = tuple(min(pair) for pair in zip(way.places, way.sizes, strict=True))
    elif way.sizes > n_steps:
        return f"there are {way.sizes[0]} components for {n_steps[0]} places"
    tried = _tried(n_steps)
    paddings = _padding_values(model)
    rows = _best_rows(inputs, way, paddings, len(tried))
    changes = [_Sums(n, size) for n, size in zip(n_steps, way.sizes, strict=True)]
    for number, row in enumerate(rows):
        allowed = _used(inputs, way, row, paddings) if alone else None
        places = [p for p in tried if allowed is None or allowed[p[0]]]
        generator = np.random.default_rng(number)
        changed = _changed_rows(inputs, way, row, places, n_steps, paddings, generator)
        terms = _terms(passed, changed, len(places) + 1, way)
        if terms is None:
            return "the number of components is not the same in all rows"
        moved, used = terms
        for place, change in zip(places, moved, strict=True):
            if way.sizes == n_steps and not used[place]:
                continue  # the module leaves this place out of this row
            for axis, sums in enumerate(changes):
                others = tuple(a for a in range(change.ndim) if a != axis)
                sums.add(place[axis], change.max(axis=others) if others else change)
    if not any(sums.seen.any() for sums in changes):
        return ""
    for sums in changes:
        reason = sums.why_not(exact)
        if reason is not None:
            return reason
    return None


def _tried(n_steps: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the places to change: all, or along diagonals, which meet each row and column."""
    if math.prod(n_steps) <= _MOST_PLACES:
        return list(product(*(range(n) for n in n_steps)))
    longest = min(max(n_steps), _MOST_PLACES // len(n_steps))
    steps = np.unique(np.linspace(0, longest - 1, longest).astype(int))
    found = []
    for shift in (0.0, 0.5) if len(n_steps) > 1 else (0.0,):
        for step in steps:
            share = step / max(longest - 1, 1)
            first = round(share * (n_steps[0] - 1))
            rest = [round(((share + shift) % 1.0001) * (n - 1)) for n in n_steps[1:]]
            found.append((first, *rest))
    return list(dict.fromkeys(found))


def _padding_values(model: nn.Module) -> set[float]:
    parts = (getattr(part, "padding_idx", None) for part in model.modules())
    return {0.0} | {float(index) for index in parts if index is not None}


def _cells(inputs: Inputs, way: _Way) -> Tensor:
    """Return the values at each place of one axis, (n, places, values), of the first input."""
    first = inputs[way.names[0]]
    return first.movedim(way.axes[0], 1).reshape(len(first), first.shape[way.axes[0]], -1)


def _used(inputs: Inputs, way: _Way, row: int, paddings: set[float]) -> NDArray[np.bool_]:
    """Return which places of a row are not padding: one value again and again at either end."""
    cells = _cells(inputs, way)[row].double().cpu().numpy()
    used = np.ones(len(cells), dtype=bool)
    for order in (slice(None), slice(None, None, -1)):
        ordered = cells[order]
        value = ordered[0]
        same = (ordered == value).all(axis=1)
        length = len(same) if same.all() else int(np.argmin(same))
        constant = bool((value == value[0]).all())
        if constant and length < len(same) and (float(value[0]) in paddings or length > 2):
            used[order][:length] = False
    return used


def _best_rows(inputs: Inputs, way: _Way, paddings: set[float], n_places: int) -> list[int]:
    """Return the rows that are changed: those with the least padding."""
    n = len(inputs[way.names[0]])
    most = max(1, min(_MOST_ROWS, _MOST_PASSED // max(n_places, 1)))
    rows = list(range(n))
    if len(way.axes) == 1:
        counts = [int(_used(inputs, way, row, paddings).sum()) for row in rows]
        rows.sort(key=lambda row: -counts[row])
    return [rows[number % n] for number in range(most)]  # few rows are changed repeatedly


def _changed_rows(
    inputs: Inputs,
    way: _Way,
    row: int,
    places: list[tuple[int, ...]],
    n_steps: tuple[int, ...],
    paddings: set[float],
    generator: np.random.Generator,
) -> Inputs:
    """Return a row as it is, and then once for each place with other values there."""
    many = {name: part[[row] * (len(places) + 1)].clone() for name, part in inputs.items()}
    for name in way.names:
        part = many[name]
        for number, place in enumerate(places, start=1):
            cut: list[Any] = [slice(None)] * (part.ndim - 1)
            for axis, index, steps in zip(way.axes, place, n_steps, strict=True):
                size = part.shape[axis]
                start = index * size // steps
                cut[axis - 1] = slice(start, max((index + 1) * size // steps, start + 1))
            here = part[number][tuple(cut)]
            part[number][tuple(cut)] = _other(here, inputs[name], tuple(cut), paddings, generator)
    return many


def _other(
    here: Tensor,
    all_rows: Tensor,
    cut: tuple[Any, ...],
    paddings: set[float],
    generator: np.random.Generator,
) -> Tensor:
    """Return other values for a place: those of another row there, or noise for real numbers."""
    if here.is_floating_point() and bool((all_rows != all_rows.round()).any()):
        wide = all_rows.double()
        spread = float(wide.std()) if wide.numel() > 1 else 0.0
        noise = torch.from_numpy(generator.standard_normal(tuple(here.shape)) + 0.5)
        return here + (noise * (spread or 1.0)).to(here.device, here.dtype)
    values = here.reshape(-1)
    if values.numel() > 1 or all_rows.ndim > 2:  # codes beside each other: those of another row
        others = all_rows[(slice(None), *cut)]
        differing = [part for part in others if not torch.equal(part, here)]
        if differing:
            chosen: Tensor = differing[int(generator.integers(len(differing)))]
            return chosen
        return ~here if here.dtype == torch.bool else here + 1
    known = torch.unique(all_rows)
    fit = known[known != values[0]]
    full = [x for x in fit.tolist() if float(x) not in paddings]
    numbers = full or fit.tolist()
    if not numbers:
        return here
    return torch.full_like(here, numbers[int(generator.integers(len(numbers)))])


def _terms(
    passed: Any, rows: Inputs, n: int, way: _Way
) -> tuple[_Change, NDArray[np.bool_]] | None:
    """Return by how much each component changes, (places, *sizes), and which are used at all."""
    batches: Iterable[LocatedTerms] = passed(rows)
    parts = [(part.features.detach().double().cpu(), part.shares) for part in batches]
    length = max(part.shape[1] for part, _ in parts)
    features = torch.cat([nn.functional.pad(p, (0, 0, 0, length - p.shape[1])) for p, _ in parts])
    if length != math.prod(way.sizes):
        if len(way.sizes) > 1 or len(parts[0]) != n:
            return None
        missing = way.sizes[0] - length  # bags are as long as their longest row
        if missing < 0:
            return None
        features = nn.functional.pad(features, (0, 0, 0, missing))
    size = features.norm(dim=2)
    moved = (features[1:] - features[:1]).norm(dim=2)
    moved = torch.where(moved > _ROUNDING * size.amax(), moved, 0.0)
    used = np.ones(features.shape[1], dtype=bool)
    shares = parts[0][1]
    if shares is not None:
        first = shares[0].detach().cpu().numpy() > 0.0
        used = np.concatenate([first, np.zeros(len(used) - len(first), dtype=bool)])
    return moved.numpy().reshape(n - 1, *way.sizes), used.reshape(way.sizes)


class _Sums:
    """How much the components of one axis change for each place along it."""

    def __init__(self, n_steps: int, n_components: int) -> None:
        self.change: _Change = np.zeros((n_steps, n_components))
        self.seen = np.zeros(n_steps, dtype=bool)
        self.tried = np.zeros(n_steps, dtype=bool)

    def add(self, place: int, change: NDArray[np.float64]) -> None:
        """Add the changes of one row that was changed at this place."""
        self.tried[place] = True
        peak = float(change.max())
        if peak > 0.0:
            self.seen[place] = True
            self.change[place] += change

    def why_not(self, exact: bool) -> str | None:
        """Return why the components are not those of their places; None if they are."""
        n_steps, n_components = self.change.shape
        if n_components < 2:
            return None
        dead = np.flatnonzero(self.tried & ~self.seen)
        if len(dead):
            return f"nothing changes with place {dead[0]}"
        places = np.flatnonzero(self.seen)
        change = self.change[places]
        reached = change > _NOISE * change.max(axis=1, keepdims=True)
        alone = reached.sum(axis=1).max() == reached.sum(axis=0).max() == 1
        same = n_steps == n_components or (exact and alone)
        own = places if same else (places + 0.5) * n_components / n_steps - 0.5
        slack = 0.0 if exact and same else 1.0
        at = np.arange(n_components)
        near = np.abs(at - np.asarray(own)[:, None]) <= slack
        lost = np.flatnonzero(~(reached & near).any(axis=1))
        if len(lost):
            return _sentence(places[lost[0]], change[lost[0]], reached[lost[0]])
        if _moves_along(reached) or (same and _moves_alike(reached, places)):
            return None
        leads = np.where(near, change, 0.0).max(axis=1)
        others = np.where(near, 0.0, change).max(axis=1)
        behind = np.flatnonzero(leads < _LEAST_LEAD * others)
        if len(behind):
            return _sentence(places[behind[0]], change[behind[0]], reached[behind[0]])
        centre = (change**2 @ at) / (change**2).sum(axis=1)
        if slack and not centre[-1] > centre[0]:
            return "the components do not follow their places"
        return None


def _moves_along(reached: NDArray[np.bool_]) -> bool:
    """Return whether the components that change lie side by side and move along with the place."""
    first = reached.argmax(axis=1)
    last = reached.shape[1] - 1 - reached[:, ::-1].argmax(axis=1)
    forward = bool((np.diff(first) >= 0).all() and (np.diff(last) >= 0).all())
    moves = bool(first[-1] > first[0] or last[-1] > last[0])
    return forward and moves and bool((last - first + 1 == reached.sum(axis=1)).all())


def _moves_alike(reached: NDArray[np.bool_], places: NDArray[np.int64]) -> bool:
    """Return whether each place changes few components, at the same distances from it."""
    length = reached.shape[1]
    distance = np.arange(length) - places[:, None]
    known = np.isin(distance, distance[reached])
    return bool((known == reached).all()) and 2 * int(reached.sum()) <= reached.size


def _sentence(place: Any, change: NDArray[np.float64], reached: NDArray[np.bool_]) -> str:
    most = int(change.argmax())
    several = f", and {int(reached.sum()) - 1} others less," if reached.sum() > 1 else ""
    return f"place {int(place)} changes component {most} most{several} and not its own"
