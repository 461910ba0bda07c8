"""A focal set, as users see it."""

from __future__ import annotations

from typing import NamedTuple

from shafer._typing import Label


class FocalSet(NamedTuple):
    """A set of classes that holds mass, and how much."""

    classes: frozenset[Label]
    mass: float
