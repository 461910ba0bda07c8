r"""``LinearErrors``: standard errors of the weights of a linear head, from its coefficients.

The weights are linear in the coefficients β* and the base rate b,

.. math:: w_{gk} = \sum_{j \in g} (\varphi_j - \mu_j) \beta^*_{jk} + s_g b_k,

with :math:`s_g` the component's share of the base rate. So the covariance of all coefficients, of
all classes together, gives that of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from scipy import linalg, sparse

from shafer._typing import Array, FloatArray
from shafer._validation import to_numpy
from shafer.evidence.weight_errors.component_sums import ComponentSums
from shafer.evidence.weight_errors.weight_errors import WeightErrors, row_blocks
from shafer.evidence.weight_sources.weight_source import Positions, take


def class_contrasts(n_classes: int) -> FloatArray:
    """Return K − 1 orthonormal contrasts of the classes, (K, K − 1): Helmert's.

    What is centred over the classes is a combination of them, in one way only.
    """
    contrasts: FloatArray = linalg.helmert(n_classes).T
    return contrasts


@final
@dataclass(frozen=True, eq=False)
class LinearErrors(WeightErrors):
    """Errors of the weights of a linear head whose coefficients have a known covariance.

    Attributes
    ----------
    features : array or CSR array of shape (n, J)
        φ.
    centre : array of shape (J,)
        μ.
    covariance : array of shape (K − 1, J + 1, K − 1, J + 1)
        Of the coefficients and, last, the base rate b, in the contrasts of ``class_contrasts``.
    sums : ComponentSums
        Of J + 1 terms.
    factor : array of shape (n,)
        Factors on the weights of each row.
    """

    features: Any
    centre: FloatArray
    covariance: FloatArray
    sums: ComponentSums
    factor: FloatArray

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.factor), self.sums.n_components, self.covariance.shape[0] + 1

    @property
    def degrees_of_freedom(self) -> float:
        return np.inf

    def std_of(self, combinations: FloatArray) -> FloatArray:
        n, n_components, n_classes = self.shape
        along = combinations @ class_contrasts(n_classes)  # (M, K - 1)
        result = np.empty((n, n_components, len(along)))
        columns = self.features.tocsc() if sparse.issparse(self.features) else self.features
        every = np.arange(n_classes - 1)
        for g in range(n_components):
            terms, amounts = self.sums.terms_of(g)
            block = self.covariance[np.ix_(every, terms, every, terms)]
            spread = np.einsum("ma,ajbl,mb->mjl", along, block, along, optimize=True)
            for rows in row_blocks(n, len(terms) * len(along)):
                values = self._values(columns, rows, terms) * amounts
                result[rows, g] = _root_of_form(values, spread)
        return result * self.factor[:, None, None]

    def _values(self, columns: Any, rows: slice, terms: Any) -> FloatArray:
        """Return what multiplies each term: the centred features, and 1 for the base rate."""
        n_features = len(self.centre)
        features = terms[terms < n_features]
        values = np.ones((rows.stop - rows.start, len(terms)))
        if sparse.issparse(columns):
            block = columns[:, features][rows].toarray()
        else:
            block = to_numpy(take(columns[rows, ...], features, 1))
        values[:, terms < n_features] = block - self.centre[features]
        return values

    def rows(self, positions: Positions) -> LinearErrors:
        chosen = np.asarray(positions, dtype=np.intp)
        if sparse.issparse(self.features):
            features = self.features[chosen]
        else:
            features = take(self.features, chosen, 0)
        return replace(self, features=features, factor=self.factor[chosen])

    def keep(self, components: Positions) -> LinearErrors:
        return replace(self, sums=self.sums.keep(components))

    def grouped(self, groups: Sequence[Positions]) -> LinearErrors:
        return replace(self, sums=self.sums.grouped(groups))

    def scaled(self, factor: float | Array) -> LinearErrors:
        return replace(self, factor=self.factor * as_factor(factor))

    def arrays(self) -> dict[str, Array]:
        features = {"features": self.features}
        if sparse.issparse(self.features):
            stored = sparse.csr_array(self.features)
            features = {
                "data": stored.data,
                "indices": stored.indices,
                "indptr": stored.indptr,
                "shape": np.asarray(stored.shape),
            }
        return {
            **features,
            "centre": self.centre,
            "covariance": self.covariance,
            **stored_sums(self.sums),
            "factor": self.factor,
        }


def as_factor(factor: float | Array) -> float | FloatArray:
    """Return a factor in double precision in NumPy."""
    if isinstance(factor, float | int):
        return float(factor)
    return to_numpy(factor).astype(np.float64)


def stored_sums(sums: ComponentSums) -> dict[str, Array]:
    """Return the arrays of the sums, for a file."""
    matrix = sums.matrix
    return {
        "sum_data": matrix.data,
        "sum_indices": matrix.indices,
        "sum_indptr": matrix.indptr,
    }


def _root_of_form(values: FloatArray, spread: FloatArray) -> FloatArray:
    """Return sqrt(xᵀ V_m x) of each row x of values (n, T), for V of shape (M, T, T)."""
    size = np.abs(values).max(axis=1, initial=0.0)
    # Scaled to at most 1, so that squares of large values do not overflow.
    unit = values / np.where(size > 0.0, size, 1.0)[:, None]
    forms = [np.einsum("ij,ij->i", unit @ part, unit) for part in spread]
    squared = np.clip(np.stack(forms, axis=1), 0.0, None)  # rounding may leave −1e-20
    return np.asarray(size[:, None] * np.sqrt(squared))
