"""Reading the user's groups of components: names or positions, gathered into a partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import numbered
from shafer._checks.labels import is_one_label
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.evidence.sources import WeightSource

Groups: TypeAlias = str | Mapping[str, Any] | Iterable[Any]


def component_positions(chosen: Any, names: Sequence[str]) -> list[int]:
    """Return the positions of components given by name or by position, one or several."""
    wanted = [chosen] if is_one_label(chosen) else list(chosen)
    known = {name: g for g, name in enumerate(names)}
    positions = []
    for item in wanted:
        if isinstance(item, str):
            if item not in known:
                raise ValueError(f"Unknown component {item!r}; {_known(names)}.")
            positions.append(known[item])
        else:
            positions.append(_position(item, names))
    return positions


def _position(item: Any, names: Sequence[str]) -> int:
    is_position = isinstance(item, Integral) and not isinstance(item, bool)
    if not is_position or not -len(names) <= item < len(names):
        raise ValueError(f"Unknown component {item!r}; {_known(names)}.")
    return int(item) % len(names)


def _known(names: Sequence[str]) -> str:
    return f"the {len(names)} components are {listed(names)}"


def read_groups(groups: Groups, names: Sequence[str]) -> dict[str, list[int]]:
    """Return group name -> component positions; components in no group stay on their own.

    ``groups`` is a mapping from group name to components, a sequence of groups (named after their
    members), or ``"one"`` for a single group of everything.
    """
    if isinstance(groups, str):
        if groups != "one":
            raise ValueError(
                f"groups must be 'one', 'auto', a mapping or a sequence; got {groups!r}."
            )
        return {"all": list(range(len(names)))}
    if isinstance(groups, Mapping):
        read = [(str(name), component_positions(group, names)) for name, group in groups.items()]
    elif isinstance(groups, Iterable):
        members_of = [_members(group, names) for group in groups]
        read = [("+".join(names[g] for g in members), members) for members in members_of]
    else:
        raise ValueError(f"groups must be 'one', a mapping or a sequence; got {groups!r}.")
    return _completed(read, names)


def _members(group: Any, names: Sequence[str]) -> list[int]:
    if is_one_label(group):
        raise ValueError(
            f"groups must be a sequence of groups, as in [[0, 1], [2]]; got {group!r} among them."
        )
    return component_positions(group, names)


def _completed(read: list[tuple[str, list[int]]], names: Sequence[str]) -> dict[str, list[int]]:
    group_of: dict[int, str] = {}
    for group, members in read:
        if not members:
            raise ValueError(f"groups must not be empty; group {group!r} has no component.")
        for g in members:
            if g in group_of:
                raise ValueError(
                    f"groups must not overlap; component {names[g]!r} is named more than once."
                )
            group_of[g] = group
    alone = [(names[g], [g]) for g in range(len(names)) if g not in group_of]
    everything = dict(read + alone)
    if len(everything) < len(read) + len(alone):
        given = [name for name, _ in read]
        raise ValueError(
            "Each group needs a name that no other group, and no component outside the groups, "
            f"has; got {given}."
        )
    # In the order in which the components first appear, as the user knows them.
    return dict(sorted(everything.items(), key=lambda entry: min(entry[1])))


# Few groups of many components, found by joining those that contradict each other most.

N_GROUPS = 5
MOST_ROWS = 1000
_LARGEST_TABLE = 2**24  # of (rows, G, K)
_MOST_PAIRS_WORK = 10**8  # rows × K × G²: a second or so
_MOST_COMPONENTS = 500  # the weakest of more are joined before, too
_WEAK = 0.05  # of the weight of all components
_SHOWN = 2  # members in the name of a group


def automatic_groups(
    source: WeightSource, names: Sequence[str], n_groups: int
) -> dict[str, list[int]]:
    """Return group name -> component positions, in the order of their first members.

    A base rate that is a component of its own stays alone, and is not counted.
    """
    n, n_components, n_classes = source.shape
    own = source.base_rates()
    free = [g for g in range(n_components) if g not in own]
    rows = _some_rows(n, n_components, n_classes)
    weights = np.asarray(to_numpy(source.rows(rows).dense()), dtype=np.float64)[:, free]
    strength = np.abs(weights).mean(axis=0).sum(axis=1)
    merged = [[free[g] for g in group] for group in merged_components(weights, n_groups)]
    full = dict(zip(free, strength, strict=True))
    merged += [[g] for g in range(n_components) if g not in full]
    merged.sort(key=min)
    labels = [_label(group, full, names) for group in merged]
    return dict(zip(numbered(labels), merged, strict=True))


def merged_components(weights: FloatArray, n_groups: int) -> list[list[int]]:
    """Return at most ``n_groups`` groups of components, given weights (n, G, K)."""
    n, _, n_classes = weights.shape
    groups = _first_groups(np.abs(weights).sum(axis=(0, 2)), n_groups)
    by_group = np.empty((len(groups), n * n_classes))
    for g, members in enumerate(groups):
        by_group[g] = weights[:, members].sum(axis=1).reshape(-1)
    size = np.abs(by_group).sum(axis=1)
    overlap = np.full((len(groups), len(groups)), -np.inf)
    for g in range(1, len(groups)):
        overlap[g, :g] = size[:g] + size[g] - np.abs(by_group[:g] + by_group[g]).sum(axis=1)
    alive = np.ones(len(groups), dtype=bool)
    for _ in range(len(groups) - n_groups):
        g, h = divmod(int(np.argmax(overlap)), len(groups))
        groups[h] = groups[h] + groups[g]
        by_group[h] += by_group[g]
        size[h] = np.abs(by_group[h]).sum()
        alive[g] = False
        overlap[g, :] = overlap[:, g] = -np.inf
        others = np.flatnonzero(alive)
        others = others[others != h]
        found = size[others] + size[h] - np.abs(by_group[others] + by_group[h]).sum(axis=1)
        overlap[np.maximum(others, h), np.minimum(others, h)] = found
    return [sorted(group) for group, lives in zip(groups, alive, strict=True) if lives]


def check_group_count(n_groups: Any) -> int:
    """Return the number of groups as an integer ≥ 1."""
    number = isinstance(n_groups, int | np.integer) and not isinstance(n_groups, bool)
    if not number or n_groups < 1:
        raise ValueError(f"n_groups must be an integer ≥ 1; got {n_groups!r}.")
    return int(n_groups)


def _first_groups(strength: FloatArray, n_groups: int) -> list[list[int]]:
    """Let each component be a group, and the weakest together one."""
    order = np.argsort(strength, kind="stable")
    total = np.cumsum(strength[order])
    n_weak = int(np.sum(total <= _WEAK * total[-1]))
    n_weak = max(n_weak, len(strength) - _MOST_COMPONENTS + 1)
    n_weak = min(n_weak, len(strength) - n_groups + 1)
    if n_weak < 2:
        return [[g] for g in range(len(strength))]
    alone = [[g] for g in sorted(order[n_weak:].tolist())]
    return [*alone, sorted(order[:n_weak].tolist())]


def _some_rows(n: int, n_components: int, n_classes: int) -> list[int]:
    compared = min(n_components, _MOST_COMPONENTS)
    work = _MOST_PAIRS_WORK // max(1, compared**2 * n_classes)
    most = min(MOST_ROWS, work, _LARGEST_TABLE // max(1, n_components * n_classes))
    chosen: list[int] = np.linspace(0, n - 1, min(n, max(most, 1))).astype(int).tolist()
    return chosen


def _label(group: Sequence[int], strength: dict[int, float], names: Sequence[str]) -> str:
    """Name a group after its strongest members."""
    order = sorted(group, key=lambda g: -strength.get(g, 0.0))
    shown = " + ".join(names[g] for g in order[:_SHOWN])
    return shown if len(group) <= _SHOWN else f"{shown} + {len(group) - _SHOWN} more"
