"""Where a head was copied from, so that training the model further does not go unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from shafer._typing import Array
from shafer._validation import to_numpy


@final
@dataclass(frozen=True, eq=False)
class Origin:
    """The parameters of a live model, and what they were when its head was copied.

    A model goes on encoding rows with whatever it has learnt since, while the head stays as it
    was: together they would give probabilities that belong to neither.
    """

    read: Callable[[], tuple[Array, ...]]
    kept: tuple[Array, ...]

    @classmethod
    def of(cls, read: Callable[[], tuple[Array, ...]]) -> Origin:
        """Remember what ``read`` gives now."""
        return cls(read, tuple(np.array(to_numpy(array)) for array in read()))

    @classmethod
    def attributes(cls, model: Any, *names: str) -> Origin:
        """Remember fitted attributes of a scikit-learn model."""
        return cls.of(partial(_attributes, model, names))

    def check(self) -> None:
        """Refuse to go on with a head that the model no longer has."""
        now = [to_numpy(array) for array in self.read()]
        if not all(np.array_equal(a, b) for a, b in zip(now, self.kept, strict=True)):
            raise ValueError(
                "The model has been trained further since its coefficients were read, so its "
                "evidence would mix the old with the new. Make a new Explainer."
            )


def _attributes(model: Any, names: tuple[str, ...]) -> tuple[Array, ...]:
    values = (getattr(model, name) for name in names)
    return tuple(value.toarray() if hasattr(value, "toarray") else value for value in values)
