"""``ComponentSums``: each component as a sum of a model's terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._typing import FloatArray
from shafer.evidence.weight_sources.weight_source import Positions


@final
@dataclass(frozen=True, eq=False)
class ComponentSums:
    """How much of each of T terms is in each of G components.

    A term is a feature with its coefficients, or a term of an additive model. The last term is the
    base rate b. So a feature that has a share 1/G of the base rate is a sum of two terms.

    Attributes
    ----------
    matrix : CSR array of shape (G, T)
    """

    matrix: Any

    @classmethod
    def of_groups(
        cls, groups: Sequence[Positions], n_terms: int, share: float = 0.0, *, own: bool = False
    ) -> ComponentSums:
        """Make each group of terms a component.

        Parameters
        ----------
        groups : sequence of positions of terms
        n_terms : int
            The number of terms, without the base rate.
        share : float
            The part of the base rate in each group.
        own : bool
            The base rate is a component of its own, the last.
        """
        base = [n_terms] if share else []
        rows = [np.asarray([*group, *base], dtype=np.int64) for group in groups]
        values = [np.append(np.ones(len(group)), [share] * len(base)) for group in groups]
        if own:
            rows.append(np.array([n_terms]))
            values.append(np.ones(1))
        ends = np.cumsum([0, *map(len, rows)])
        parts = (np.concatenate(values), np.concatenate(rows), ends)
        return cls(sparse.csr_array(parts, shape=(len(rows), n_terms + 1)))

    @property
    def n_components(self) -> int:
        """The number G of components."""
        return int(self.matrix.shape[0])

    def terms_of(self, g: int) -> tuple[NDArray[np.intp], FloatArray]:
        """Return the positions of the terms in a component, and how much of each there is."""
        part = slice(self.matrix.indptr[g], self.matrix.indptr[g + 1])
        return self.matrix.indices[part].astype(np.intp), self.matrix.data[part]

    def keep(self, components: Positions) -> ComponentSums:
        """Keep some components."""
        return ComponentSums(self.matrix[np.asarray(components, dtype=np.intp)])

    def grouped(self, groups: Sequence[Positions]) -> ComponentSums:
        """Add up the components inside each group."""
        joined = ComponentSums.of_groups(groups, self.n_components).matrix[:, :-1]
        return ComponentSums(sparse.csr_array(joined @ self.matrix))
