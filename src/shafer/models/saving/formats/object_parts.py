"""Parts of a scikit-learn object that have a format of their own, such as a booster in a pipeline.

They are taken out before the rest is written, and put back after it was read. The user's object is
not changed: what lies on the way to a part is copied.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, MethodType, ModuleType
from typing import Any, final

import numpy as np

_NOT_ENTERED = (str, bytes, int, float, np.ndarray, np.generic, type, ModuleType)
_FUNCTIONS = (FunctionType, MethodType)


@final
@dataclass(frozen=True)
class TakenOut:
    """Stands for a part that is stored elsewhere in the file."""

    number: int


PLACEHOLDER = f"{TakenOut.__module__}.{TakenOut.__qualname__}"


def with_parts(value: Any, part: Callable[[Any], Any]) -> Any:
    """Return an object in which every part is replaced by ``part(it)``.

    ``part`` returns its argument for what is not a part. It is asked about functions as well.
    """
    return _Replacing(part, {}).of(value)


@final
@dataclass(frozen=True)
class _Replacing:
    part: Callable[[Any], Any]
    done: dict[int, tuple[Any, Any]]  # id -> the object, held so that its id stays its own

    def of(self, value: Any) -> Any:
        if value is None or isinstance(value, _NOT_ENTERED):
            return value
        if id(value) in self.done:
            return self.done[id(value)][1]
        self.done[id(value)] = (value, value)  # a cycle leads back to the object itself
        new = self.part(value)
        if new is value and not isinstance(value, _FUNCTIONS):
            new = self._rebuilt(value)
        self.done[id(value)] = (value, new)
        return new

    def _rebuilt(self, value: Any) -> Any:
        if type(value) in (list, tuple, set, frozenset):
            items = [self.of(item) for item in value]
            same = all(new is old for new, old in zip(items, value, strict=True))
            return value if same else type(value)(items)
        if isinstance(value, dict):
            changed = self._changed(value)
            if changed:
                value = copy.copy(value)
                value.update(changed)
            return value
        if not hasattr(value, "__dict__"):
            return value
        changed = self._changed(vars(value))
        if not changed:
            return value
        new = object.__new__(type(value))
        vars(new).update({**vars(value), **changed})
        return new

    def _changed(self, items: dict[Any, Any]) -> dict[Any, Any]:
        found = {key: self.of(item) for key, item in items.items()}
        return {key: new for key, new in found.items() if new is not items[key]}
