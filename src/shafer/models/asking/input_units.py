"""What can be measured at once, and what it costs: single inputs, or groups bought together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer._text import listed
from shafer._typing import BoolArray, FloatArray
from shafer._validation import labelled
from shafer.decision.option_checks import is_number
from shafer.evidence.component_groups import Groups, read_groups
from shafer.models.grouping.input_blocks import InputBlocks


@final
@dataclass(frozen=True, eq=False)
class InputUnits:
    """Units of measurement: each is one input, or several that are measured together.

    Attributes
    ----------
    names : tuple of strings
    features : tuple of tuples of int
        The features of each unit.
    costs : array with the cost of each unit
    """

    names: tuple[str, ...]
    features: tuple[tuple[int, ...], ...]
    costs: FloatArray

    @classmethod
    def read(cls, blocks: InputBlocks, groups: Groups | None, costs: Any) -> InputUnits:
        """Read the user's groups and costs."""
        members = {name: [i] for i, name in enumerate(blocks.names)}
        if isinstance(groups, str) and groups != "one":
            raise ValueError(
                "groups must be inputs that are measured together: a mapping from group name to "
                f"inputs, a sequence of groups, or 'one' for all of them; got {groups!r}."
            )
        if groups is not None:
            members = read_groups(groups, blocks.names)
        features = [[j for i in group for j in blocks.features[i]] for group in members.values()]
        return cls(
            tuple(members), tuple(map(tuple, features)), _read_costs(costs, list(members), blocks)
        )

    def missing_in(self, gaps: BoolArray) -> list[tuple[int, list[int]]]:
        """Return the units with missing features (J,), and which of theirs are missing."""
        parts = [(u, [j for j in unit if gaps[j]]) for u, unit in enumerate(self.features)]
        return [(u, missing) for u, missing in parts if missing]


def _read_costs(costs: Any, names: list[str], blocks: InputBlocks) -> FloatArray:
    result = np.ones(len(names))
    if costs is None:
        return result
    given = labelled(costs, names)
    if not isinstance(given, Mapping):
        raise ValueError(
            f"costs must map names of inputs to costs, as in {{{names[0]!r}: 2.5}}; got {costs!r}."
        )
    for name, cost in given.items():
        if name not in names:
            grouped = name in blocks.names
            hint = "It is measured in a group: give the cost of the group" if grouped else "Use"
            raise ValueError(
                f"costs names {name!r}, which cannot be measured alone. {hint} one of "
                f"{listed(names)}."
            )
        if not is_number(cost) or cost <= 0.0:
            raise ValueError(
                f"costs must be finite numbers > 0; got {cost!r} for {name!r}. Leave an input out "
                "to give it the cost 1."
            )
        result[names.index(name)] = float(cost)
    return result
