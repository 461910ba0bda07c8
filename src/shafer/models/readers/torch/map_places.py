"""Where the locations of a feature map lie in the module's input, followed along the operations."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

from torch import Tensor

from shafer.models.readers.torch.axis_roles import ROWS, Atom, Role, Roles, roles_of_map
from shafer.models.readers.torch.map_reading import MapReading
from shafer.models.readers.torch.op_trace import OpTrace
from shafer.models.readers.torch.place_steps import MovedError, is_leaf_of_rows, steps_back

_MOST_STEPS = 20_000
_IMAGE_CHANNELS = (1, 3, 4)
_Fold: TypeAlias = tuple[int, int] | None


class Places(NamedTuple):
    """How the location axes of a map lie in the input.

    Attributes
    ----------
    known : bool
        Whether a way from the input keeps the order of the locations.
    swapped : bool
        Whether the second location axis is the first of the input.
    fold : pair of int, optional
        Height and width of locations in one axis.
    moved : str, optional
        An operation that puts locations at other places, on a way that was tried.
    """

    known: bool
    swapped: bool = False
    fold: _Fold = None
    moved: str | None = None


def places_of(trace: OpTrace, node: int, channel_axis: int) -> Places:
    """Follow the locations of a map back to the input, along any way that keeps their order."""
    return _followed(trace, node, roles_of_map(trace.values[node].shape, channel_axis))


def moved_tokens(trace: OpTrace, node: int, n: int) -> str | None:
    """Return what moves the tokens of n texts, all in one axis of a node; None if nothing does."""
    length = trace.values[node].numel() // n
    if trace.values[node].numel() != n * length:  # of several lengths
        return None
    return _followed(trace, node, ((Atom(ROWS, n), Atom("0", length)),)).moved


def _followed(trace: OpTrace, node: int, start: Roles) -> Places:
    moved: str | None = None
    waiting: list[tuple[int, Roles, _Fold]] = [(node, start, None)]
    seen = {(node, start)}
    while waiting and len(seen) < _MOST_STEPS:
        here, roles, fold = waiting.pop()
        if is_leaf_of_rows(trace, here):
            found = _at_input(trace.values[here], roles, start, fold)
            if found is not None:
                return found
        made = trace.producer(here)
        if made is None:
            continue
        try:
            steps = steps_back(trace, trace.ops[made], here, roles)
        except MovedError as error:
            moved = str(error)
            continue
        for parent, before in steps:
            if (parent, before) not in seen:
                seen.add((parent, before))
                waiting.append((parent, before, fold or _folded(before)))
    return Places(known=False, moved=moved)


def _folded(roles: Roles) -> _Fold:
    """Return height and width of the only location axis, where it is split for the first time."""
    sizes = {atom.name: atom.size for role in roles for atom in role}
    return (sizes["0.0"], sizes["0.1"]) if {"0.0", "0.1"} <= set(sizes) else None


def _at_input(values: Tensor, roles: Roles, start: Roles, fold: _Fold) -> Places | None:
    """Read the axes of the input; None if locations of the map are not axes of their own."""
    if len(roles) != values.ndim:
        return None
    axes = {role[0].name: axis for axis, role in enumerate(roles) if _is_alone(role)}
    wanted = [atom for role in start for atom in role if atom.is_place]
    needed = [atom.name for atom in wanted if atom.size > 1]
    if len(wanted) == 1 and needed:
        if {"0.0", "0.1"} <= set(axes) and axes["0.0"] < axes["0.1"]:
            return Places(known=True, fold=fold)
        return _along_one_axis(values, axes, wanted[0].size) if "0" in axes else None
    order = [axes[atom.name] for atom in wanted if atom.name in axes]
    if not set(needed) <= set(axes):
        return None
    if order == sorted(order):
        return Places(known=True)
    return Places(known=True, swapped=True) if len(wanted) == 2 else None


def _is_alone(role: Role) -> bool:
    return len(role) == 1 and role[0].is_place and role[0].offset == 0


def _along_one_axis(values: Tensor, axes: dict[str, int], length: int) -> Places:
    """Return places along the height or the width of images, or along signals and texts."""
    fold = (1, length)
    if values.ndim == 4:
        last = values.shape[3] in _IMAGE_CHANNELS and values.shape[1] not in _IMAGE_CHANNELS
        if axes["0"] == (1 if last else 2):
            fold = (length, 1)
    return Places(known=True, fold=fold)


class NotPlacedError(Exception):
    """The locations of an exact feature map could not be followed to the input."""


def placed(
    trace: OpTrace, node: int, reading: MapReading, strict: bool
) -> tuple[MapReading | None, str | None]:
    """Return the reading with its places, or None and the operation that moves them.

    Without ``strict``, places that are not known are taken in their order.
    """
    places = places_of(trace, node, reading.channel_axis)
    if places.known:
        return replace(reading, swapped=places.swapped, fold=places.fold), None
    if strict or places.moved is not None:
        return None, places.moved
    return reading, None
