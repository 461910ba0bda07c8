"""Which axes of a tensor are rows, channels and locations, also after axes were joined or split.

The role of an axis is a list of atoms in row-major order: an axis of 49 locations may be the atoms
of 7 rows and 7 columns. A change of shape keeps the order of all atoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

ROWS, OTHER = "rows", "other"


class Atom(NamedTuple):
    """A part of an axis that is never mixed with others.

    Attributes
    ----------
    name : str
        ``"rows"`` for the instances, ``"other"`` for channels and the like, or a location axis of
        the map: ``"0"``, ``"1"``, and ``"0.0"``, ``"0.1"`` for parts of the first.
    size : int
    offset : int
        Where it starts in its axis, if others of the same axis were cut off.
    """

    name: str
    size: int
    offset: int = 0

    @property
    def is_place(self) -> bool:
        """Whether it is a location axis, or a part of one."""
        return self.name not in (ROWS, OTHER)


Role: TypeAlias = tuple[Atom, ...]
Roles: TypeAlias = tuple[Role, ...]


def roles_of_map(shape: Sequence[int], channel_axis: int) -> Roles:
    """Return the roles of the axes of a map; channel axis 0 means that there are no channels."""
    roles: list[Role] = []
    n_places = 0
    for axis, size in enumerate(shape):
        if axis == 0:
            roles.append((Atom(ROWS, size),))
        elif axis == channel_axis:
            roles.append((Atom(OTHER, size),))
        else:
            roles.append((Atom(str(n_places), size),))
            n_places += 1
    return tuple(roles)


def has_place(role: Role) -> bool:
    """Return whether an axis has locations."""
    return any(atom.is_place for atom in role)


def regrouped(roles: Roles, shape: Sequence[int]) -> Roles | None:
    """Return the roles in another shape with the same order of all values; None if they mix."""
    atoms = [atom for role in roles for atom in role if atom.size != 1]
    if any(atom.offset for atom in atoms):
        return None
    found: list[Role] = []
    for size in shape:
        axis: list[Atom] = []
        missing = size
        while missing > 1:
            if not atoms:
                return None
            atom = atoms.pop(0)
            if missing % atom.size == 0:
                axis.append(atom)
                missing //= atom.size
            elif atom.size % missing == 0:
                first, rest = _halves(atom, missing)
                axis.append(first)
                atoms.insert(0, rest)
                missing = 1
            else:
                return None
        found.append(tuple(axis))
    return tuple(found)


def _halves(atom: Atom, size: int) -> tuple[Atom, Atom]:
    if not atom.is_place:
        return Atom(atom.name, size), Atom(atom.name, atom.size // size)
    return Atom(f"{atom.name}.0", size), Atom(f"{atom.name}.1", atom.size // size)


def resized(role: Role, size: int) -> Role | None:
    """Return the role of an axis whose size changes, as under a convolution; None if it is joined.

    Locations keep their order along the axis.
    """
    if not has_place(role):
        return (Atom(OTHER, size),)
    if len(role) != 1 or role[0].offset:
        return None
    return (Atom(role[0].name, size),)
