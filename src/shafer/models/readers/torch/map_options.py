"""``MapOptions``: the user's options for components that lie in an image or a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from shafer.evidence.identification.located_pool import MEANS

COMPONENTS = ("locations", "tokens", "channels")


@final
@dataclass(frozen=True)
class MapOptions:
    """What the components are, and how their means are taken.

    Attributes
    ----------
    components : {"locations", "tokens", "channels"}
    location_means : {"place", "shared"}, optional
    grid : pair of int, optional
    restored : mapping, optional
        What a saved explainer has kept.
    """

    components: str
    location_means: str | None = None
    grid: tuple[int, int] | None = None
    restored: Mapping[str, Any] | None = None

    @property
    def strict(self) -> bool:
        """Whether the places of locations must be known; the user may give the grid instead."""
        return self.components == "locations" and self.grid is None

    @classmethod
    def read(cls, components: str, means: Any, grid: Any, restored: Any) -> MapOptions:
        """Check the options."""
        if means is not None and (not isinstance(means, str) or means not in MEANS):
            raise ValueError(
                "location_means must be 'place' (each location has means of its own) or 'shared' "
                f"(all have the same); got {means!r}."
            )
        if grid is None:
            return cls(components, means, None, restored)
        sizes = tuple(grid) if isinstance(grid, tuple | list) else ()
        whole = all(isinstance(size, int) and not isinstance(size, bool) for size in sizes)
        if len(sizes) != 2 or not whole or min(sizes) < 1:
            raise ValueError(f"grid must be a pair (height, width) of integers; got {grid!r}.")
        return cls(components, means, (sizes[0], sizes[1]), restored)


def refuse_map_options(means: Any, grid: Any) -> None:
    """Refuse options of maps for components that have no places."""
    given = {"location_means": means, "grid": grid}
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise ValueError(
            f"{named[0]}={given[named[0]]!r} is an option of components='locations' and 'tokens'; "
            "this Explainer has components='units'. Pass components=, or leave the option out."
        )
