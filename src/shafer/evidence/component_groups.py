"""Reading the user's groups of components: names or positions, gathered into a partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

from shafer._text import listed
from shafer._validation import is_one_label

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
