"""Equal names, told apart by numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names with a number after each name that occurs more than once."""
    counts = Counter(names)
    taken = {name for name in names if counts[name] == 1}
    used: Counter[str] = Counter()
    result = []
    for name in names:
        own = name
        while counts[name] > 1 and (own == name or own in taken):
            used[name] += 1
            own = f"{name} ({used[name]})"
        taken.add(own)
        result.append(own)
    return result
