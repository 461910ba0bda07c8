"""Names of components."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from shafer._text import listed
from shafer._validation.class_labels import is_one_label


def component_names(names: Iterable[Any] | None, n_components: int) -> tuple[str, ...]:
    """Return G distinct names; x0..x{G−1} when ``names`` is None."""
    if names is None:
        return tuple(f"x{g}" for g in range(n_components))
    if is_one_label(names):
        raise ValueError(f"names must be a sequence of names; got {names!r}.")
    result = tuple(str(name) for name in names)
    if len(result) != n_components:
        raise ValueError(f"names must hold {n_components} names; got {len(result)}.")
    if len(set(result)) != len(result):
        twice = sorted(name for name, count in Counter(result).items() if count > 1)
        raise ValueError(f"names must be distinct; given more than once: [{listed(twice)}].")
    return result
