"""``WeightSource``: where weights of evidence come from, and what can be asked of them.

The (n, G, K) array of all weights is often far larger than anything else, so evidence keeps the
source and asks it for what is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias

import array_api_compat
import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from shafer._typing import Array
from shafer.kernels import Pooled

Positions: TypeAlias = Sequence[int] | NDArray[np.intp]


def take(x: Array, positions: Positions, axis: int) -> Array:
    """Take entries along one axis by position."""
    xp = array_namespace(x)
    return xp.take(x, xp.asarray(positions, dtype=xp.int64, device=x.device), axis=axis)


def device_version(x: Array) -> int | None:
    """Return how often a tensor on a CUDA device was written to; None if it is not counted.

    Comparing its values instead would wait for the device.
    """
    counted = array_api_compat.is_torch_array(x) and x.is_cuda and not x.is_inference()
    return int(x._version) if counted else None


class WeightSource(ABC):
    """Weights of evidence w_gk of shape (..., G, K), given on demand."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape (..., G, K) the weights have in full."""

    @abstractmethod
    def pooled(self) -> Pooled:
        """Sum the positive and the negative parts over the components."""

    @abstractmethod
    def dense(self) -> Array:
        """Return all weights, (..., G, K)."""

    @abstractmethod
    def rows(self, positions: Positions) -> WeightSource:
        """Keep some instances."""

    @abstractmethod
    def of_classes(self, positions: Positions) -> WeightSource:
        """Keep some classes; the others cost nothing then."""

    def of_row_classes(self, positions: Array) -> Array:
        """Return the weights for a few classes of each instance, (n, G, M).

        ``positions``, integers of shape (n, M) in the library of the weights, are these classes.
        """
        weights = self.dense()
        xp = array_namespace(weights)
        n, n_components, _ = weights.shape
        cells = xp.arange(n * n_components, dtype=positions.dtype, device=positions.device)
        starts = xp.reshape(cells, (n, n_components, 1)) * weights.shape[-1]
        wanted = starts + positions[:, None, :]
        taken = xp.take(xp.reshape(weights, (-1,)), xp.reshape(wanted, (-1,)), axis=0)
        return xp.reshape(taken, wanted.shape)

    @abstractmethod
    def keep(self, components: Positions) -> WeightSource:
        """Keep some components."""

    @abstractmethod
    def grouped(self, groups: Sequence[Positions]) -> WeightSource:
        """Sum the signed weights inside each group."""

    @abstractmethod
    def scaled(self, factor: float) -> WeightSource:
        """Multiply all weights."""

    @abstractmethod
    def base_shares(self) -> Array:
        """Return each component's share of the base rate, to be broadcast to (..., G, K).

        These are the weights of a row whose terms all have their background means. Weights from
        elsewhere have none: zeros.
        """

    def has_changed(self, pooled: Pooled) -> bool:
        """Return whether the source no longer gives ``pooled``: it may share a user's array."""
        del pooled  # a source of its own cannot change
        return False

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the source, by the names of its fields."""
