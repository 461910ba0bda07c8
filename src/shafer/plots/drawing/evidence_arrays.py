"""What a Display reads off evidence, whatever class the evidence is of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, FloatArray, Label
from shafer._validation import positions_of, to_numpy


class Readable(Protocol):
    """Evidence, or anything else with its reading names: discounted evidence, for one."""

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels, (K,)."""

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the G components."""

    @property
    def weights(self) -> Array:
        """Weights of evidence, (n, G, K)."""

    @property
    def weights_for(self) -> Array:
        """Total weights of the evidence for the classes, (n, K)."""

    @property
    def weights_against(self) -> Array:
        """Total weights of the evidence against the classes, (n, K)."""

    @property
    def logits(self) -> Array:
        """Centred logits, (n, K)."""

    @property
    def probability(self) -> Array:
        """Probabilities, (n, K)."""

    @property
    def plausibility(self) -> Array:
        """Plausibilities, (n, K)."""

    @property
    def belief(self) -> Array:
        """Beliefs, (n, K)."""

    @property
    def pignistic(self) -> Array:
        """Pignistic probabilities, (n, K)."""

    @property
    def ignorance(self) -> Array:
        """Mass of the whole frame, (n,)."""

    @property
    def conflict(self) -> Array:
        """Total conflict, (n,)."""

    @property
    def weight_of_conflict(self) -> Array:
        """Weight of conflict, (n,)."""

    @property
    def decide(self) -> Callable[..., Array]:
        """Take the name of a rule and its options, give the chosen sets, boolean (n, K)."""

    def focal_sets(self, top: int) -> Sequence[Sequence[Any]]:
        """Return the largest focal sets of each row, as (classes, mass)."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any) -> Readable: ...


def numbers(array: Array) -> FloatArray:
    """Bring an array of any library to NumPy, in double precision."""
    return np.asarray(to_numpy(array), dtype=np.float64)


def of_instances(evidence: Readable) -> Readable:
    """Refuse evidence whose rows are the components of instances: its arrays have another axis."""
    if len(evidence.logits.shape) != 2:
        raise ValueError(
            "This is the evidence of components, each on its own; "
            "give the evidence of the instances themselves."
        )
    return evidence


def take_row(evidence: Readable, row: int) -> Readable:
    """Take one instance by its position."""
    n = len(of_instances(evidence))
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not -n <= row < n:
        raise ValueError(f"row must be a whole number from 0 to {n - 1}; got {row!r}.")
    return evidence[int(row)]


def one_class(label: Label, classes: NDArray[Any]) -> int:
    """Return the position of one class label."""
    positions = positions_of(label, classes)
    if len(positions) != 1:
        raise ValueError(f"class_ must be one class label; got {label!r}.")
    return positions[0]


def weight_for(weights: FloatArray, position: int) -> FloatArray:
    """Return the weights for one class, (...,), out of those for all, (..., K).

    Of two classes, evidence for one is evidence against the other, so the weight is that for the
    one less that for the other: the paper's w_j. These add up to the model's logit.
    """
    if weights.shape[-1] != 2:
        return weights[..., position]
    difference: FloatArray = weights[..., position] - weights[..., 1 - position]
    return difference
