"""The same data under different names for the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

N_ROWS = 12
_RANDOM = np.random.default_rng(0)
FEATURES = _RANDOM.normal(size=(N_ROWS * 4, 3))
WEIGHTS = _RANDOM.normal(size=(2, N_ROWS, 2, 3))  # of two sources
COSTS = np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 4.0]])  # of two acts


@dataclass(frozen=True)
class World:
    """Names of the classes: those of a model or evidence, and those given as arguments later.

    The two differ only where a call must be refused.
    """

    classes: tuple[Any, ...]
    arguments: tuple[Any, ...] | None = None

    @property
    def given(self) -> tuple[Any, ...]:
        return self.classes if self.arguments is None else self.arguments

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def truth(self) -> np.ndarray:
        """Positions of the true classes of ``FEATURES``; all classes occur early."""
        score = FEATURES @ np.array([[1.0, -1.0, 0.0], [0.5, 0.0, -1.0], [0.0, 1.0, 1.0]])
        positions = score[:, : self.n_classes].argmax(axis=1)
        positions[: self.n_classes] = np.arange(self.n_classes)
        return positions

    def named(self, positions: Any) -> np.ndarray:
        """Labels as arguments, for some positions."""
        return _array(self.given)[positions]

    @property
    def training_labels(self) -> np.ndarray:
        return self.class_array[self.truth]

    @property
    def class_array(self) -> np.ndarray:
        return _array(self.classes)

    def weights(self, source: int = 0) -> np.ndarray:
        weights = WEIGHTS[source, ..., : self.n_classes]
        return np.asarray(weights - weights.mean(axis=-1, keepdims=True))

    def frame(self, table: np.ndarray) -> pd.DataFrame:
        """A table with one column for each class, in reverse order, named by the class."""
        columns = pd.Index(list(self.given), dtype=object)
        return pd.DataFrame(table, columns=columns).iloc[:, ::-1]

    def losses(self) -> list[Any]:
        """One loss in every form that is accepted."""
        table = COSTS[:, : self.n_classes]
        named = self.frame(table).set_axis(["treat", "wait"], axis=0)
        return [
            table,
            {"treat": table[0], "wait": table[1]},
            {
                act: dict(zip(self.given[::-1], row[::-1].tolist(), strict=True))
                for act, row in zip(("treat", "wait"), table, strict=True)
            },
            named,
        ]


def _array(labels: tuple[Any, ...]) -> np.ndarray:
    """An array that keeps labels of several types as they are."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return np.array(labels) if len(set(map(type, labels))) == 1 else array


STRINGS = {2: ("a", "b"), 3: ("a", "b", "c")}
WORLDS = {
    "positions": World((0, 1, 2)),
    "from one": World((1, 2, 3)),
    "tens": World((10, 20, 30)),
    "floats": World((0.0, 1.0, 2.0)),
    "long strings": World(("class one", "class three", "class two")),
    "two positions": World((0, 1)),
    "signs": World((-1, 1)),
    "booleans": World((False, True)),
}
UNSORTED = {"other order": World((2, 0, 1)), "mixed": World(("z", 1, 0.5))}
"""Orders that a trained model cannot have: scikit-learn sorts its classes."""

MISMATCHES = {
    "positions for strings": World(STRINGS[3], (0, 1, 2)),
    "positions for other numbers": World((10, 20, 30), (0, 1, 2)),
    "booleans for numbers": World((0, 1), (False, True)),
    "strings for numbers": World((0, 1, 2), ("0", "1", "2")),
    "other strings": World(STRINGS[3], ("x", "y", "z")),
}
