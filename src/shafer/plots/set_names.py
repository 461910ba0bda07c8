"""Names of sets of classes in pictures, and the few sets that hold most of the mass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._text import listed
from shafer._typing import FloatArray, Label
from shafer.evidence.evidence import Evidence
from shafer.plots.style import without_middle

_PROBED_ROWS = 64
_LONGEST = 4  # classes named in the name of a set


class LeadingSets(NamedTuple):
    """The focal sets that hold most mass: their names, and their masses (n, S)."""

    names: tuple[str, ...]
    masses: FloatArray


def set_name(members: Collection[Label], classes: NDArray[Any]) -> str:
    """Return the name of a set of classes: Θ for all, "not a" for all but one of many.

    Examples
    --------
    >>> import numpy as np
    >>> set_name({"a", "c"}, np.array(["a", "b", "c"]))
    '{a, c}'
    >>> set_name(range(1, 100), np.arange(100)), set_name(range(9), np.arange(100))
    ('not 0', '{0, 1, 2, 3 and 5 more}')
    """
    inside = [label for label in classes.tolist() if label in members]
    if len(inside) == len(classes):
        return "Θ"
    if len(classes) > 3 and len(inside) == len(classes) - 1:
        return "not " + without_middle(next(c for c in classes.tolist() if c not in members))
    return f"{{{listed(inside, _LONGEST, written=without_middle)}}}"


def leading_sets(
    evidence: Evidence,
    top: int = 8,
    sets: Sequence[Collection[Label]] | None = None,
    negligible: float = 0.005,
) -> LeadingSets:
    """Return the focal sets that hold most mass in some row, without enumerating 2^K.

    Small sets come first, in the order of the classes. The last column is the mass of all other
    sets together, unless it is negligible. With ``sets`` given, return those in their order.
    """
    kept = _leading(evidence, top, negligible) if sets is None else sets
    names = tuple(set_name(members, evidence.classes) for members in kept)
    table = np.column_stack([to_numpy(evidence.mass_of(members)) for members in kept])
    rest = 1.0 - table.sum(axis=1)
    if rest.max() < negligible:
        return LeadingSets(names, table)
    return LeadingSets((*names, "other sets"), np.column_stack([table, rest]))


def _leading(evidence: Evidence, top: int, negligible: float) -> list[frozenset[Label]]:
    rows = np.unique(np.linspace(0, len(evidence) - 1, _PROBED_ROWS).astype(int))
    largest: dict[frozenset[Label], float] = {}
    for row in evidence[rows].focal_sets(top):
        for focal in row:
            largest[focal.classes] = max(focal.mass, largest.get(focal.classes, negligible))
    found = [members for members, mass in largest.items() if mass > negligible]
    kept = sorted(found, key=lambda members: -largest[members])[:top]
    position = {label: k for k, label in enumerate(evidence.classes.tolist())}
    return sorted(kept, key=lambda members: (len(members), sorted(position[c] for c in members)))
