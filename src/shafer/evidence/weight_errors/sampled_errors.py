"""``SampledErrors``: errors of weights from models that were trained on other samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from shafer._typing import Array, FloatArray
from shafer._validation import to_numpy
from shafer.evidence.weight_errors.weight_errors import WeightErrors, row_blocks
from shafer.evidence.weight_sources import WeightSource, scaled_weights, stored_kind
from shafer.evidence.weight_sources.weight_source import Positions


@final
@dataclass(frozen=True, eq=False)
class SampledErrors(WeightErrors):
    """Errors of weights as the spread of the weights of R ≥ 2 other models, such as refits.

    Attributes
    ----------
    draws : tuple of WeightSource
        The weights of each model, all of one shape (n, G, K).
    """

    draws: tuple[WeightSource, ...]

    @property
    def shape(self) -> tuple[int, int, int]:
        n, n_components, n_classes = self.draws[0].shape
        return n, n_components, n_classes

    @property
    def degrees_of_freedom(self) -> float:
        return float(len(self.draws) - 1)

    def std_of(self, combinations: FloatArray) -> FloatArray:
        n, n_components, n_classes = self.shape
        result = np.empty((n, n_components, len(combinations)))
        for rows in row_blocks(n, n_components * n_classes):
            result[rows] = self._spread(np.arange(rows.start, rows.stop), combinations)
        return result

    def _spread(self, rows: Positions, combinations: FloatArray) -> FloatArray:
        """Return the standard deviations of a few rows, one model after the other (Welford)."""
        mean = squares = np.zeros(())
        for r, draw in enumerate(self.draws):
            weights = to_numpy(draw.rows(rows).dense()).astype(np.float64) @ combinations.T
            step = weights - mean
            mean = mean + step / (r + 1)
            squares = squares + step * (weights - mean)
        return np.asarray(np.sqrt(np.clip(squares, 0.0, None) / (len(self.draws) - 1)))

    def rows(self, positions: Positions) -> SampledErrors:
        return SampledErrors(tuple(draw.rows(positions) for draw in self.draws))

    def keep(self, components: Positions) -> SampledErrors:
        return SampledErrors(tuple(draw.keep(components) for draw in self.draws))

    def grouped(self, groups: Sequence[Positions]) -> SampledErrors:
        return SampledErrors(tuple(draw.grouped(groups) for draw in self.draws))

    def scaled(self, factor: float | Array) -> SampledErrors:
        return SampledErrors(tuple(scaled_weights(draw, factor) for draw in self.draws))

    def arrays(self) -> dict[str, Array]:
        return {
            f"{r}.{stored_kind(draw)}.{name}": array
            for r, draw in enumerate(self.draws)
            for name, array in draw.arrays().items()
        }
