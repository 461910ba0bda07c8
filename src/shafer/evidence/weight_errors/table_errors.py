"""``TableErrors``: errors of weights that are looked up in tables, one table for each draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import Array, FloatArray
from shafer.evidence.weight_errors.component_sums import ComponentSums
from shafer.evidence.weight_errors.linear_errors import as_factor, stored_sums
from shafer.evidence.weight_errors.weight_errors import WeightErrors, row_blocks
from shafer.evidence.weight_sources.weight_source import Positions


@final
@dataclass(frozen=True, eq=False)
class TableErrors(WeightErrors):
    """Errors of the weights of an additive model that was trained several times, on one binning.

    Term t of row i contributes ``tables[r, index[i, t]]`` in draw r. The standard deviation is
    that of the draws themselves (divided by their number, not by one less).

    Attributes
    ----------
    index : integer array of shape (n, T)
        The line of the tables for each term, the base rate last.
    tables : array of shape (R, lines, K)
        Contributions of each line in each draw, centred over the classes.
    shares : array of shape (R,)
        Weights of the draws; their sum is 1.
    sums : ComponentSums
        Of T terms.
    factor : array of shape (n,)
        Factors on the weights of each row.
    """

    index: NDArray[Any]
    tables: FloatArray
    shares: FloatArray
    sums: ComponentSums
    factor: FloatArray

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.factor), self.sums.n_components, int(self.tables.shape[2])

    @property
    def degrees_of_freedom(self) -> float:
        return float(len(self.tables) - 1)

    def std_of(self, combinations: FloatArray) -> FloatArray:
        n, n_components, _ = self.shape
        combined = self.tables @ combinations.T  # (R, lines, M)
        # The deviations of each line from its mean: the rest of the work has small numbers.
        combined = combined - np.einsum("r,rlm->lm", self.shares, combined)
        n_draws, _, n_asked = combined.shape
        result = np.empty((n, n_components, n_asked))
        for g in range(n_components):
            terms, amounts = self.sums.terms_of(g)
            for rows in row_blocks(n, n_draws * n_asked):
                total = np.zeros((n_draws, rows.stop - rows.start, n_asked))
                for term, amount in zip(terms, amounts, strict=True):
                    total += amount * combined[:, self.index[rows, term]]
                result[rows, g] = np.sqrt(np.einsum("r,rim,rim->im", self.shares, total, total))
        return result * self.factor[:, None, None]

    def rows(self, positions: Positions) -> TableErrors:
        chosen = np.asarray(positions, dtype=np.intp)
        return replace(self, index=self.index[chosen], factor=self.factor[chosen])

    def keep(self, components: Positions) -> TableErrors:
        return replace(self, sums=self.sums.keep(components))

    def grouped(self, groups: Sequence[Positions]) -> TableErrors:
        return replace(self, sums=self.sums.grouped(groups))

    def scaled(self, factor: float | Array) -> TableErrors:
        return replace(self, factor=self.factor * as_factor(factor))

    def arrays(self) -> dict[str, Array]:
        return {
            "index": self.index,
            "tables": self.tables,
            "shares": self.shares,
            **stored_sums(self.sums),
            "factor": self.factor,
        }
