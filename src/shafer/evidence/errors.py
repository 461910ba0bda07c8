"""``WeightErrors``: how uncertain the weights of evidence are, and what can be asked of it.

A covariance of all weights would have (n·G·K)² entries. So errors keep what they are made of, and
give standard deviations of combinations of one component's weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, final

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.special import ndtri, stdtrit

from shafer._checks.arrays import check_overflow, to_numpy
from shafer._files.codec import Limits
from shafer._typing import Array, FloatArray
from shafer.decision.acts import is_number
from shafer.evidence.sources import Positions, WeightSource, scaled_weights, stored_kind, take

_BLOCK = 2**21  # numbers in memory at a time


@dataclass(frozen=True, eq=False)
class WeightErrors(ABC):
    """Standard errors of weights of evidence w_gk, given on demand.

    The weights are random, because the model was trained on a sample. Errors follow the weights:
    rows and components are taken, grouped and multiplied in the same way.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int, int]:
        """The shape (n, G, K) of the weights."""

    @property
    @abstractmethod
    def degrees_of_freedom(self) -> float:
        """Of Student's t, for intervals: infinite if the standard deviations are not estimates."""

    @abstractmethod
    def std_of(self, combinations: FloatArray) -> FloatArray:
        """Return the standard deviations of Σ_k c_mk w_gk, (n, G, M).

        Parameters
        ----------
        combinations : array of shape (M, K)
            c: unit vectors ask for the weights, e_a − e_b for the contrast of two classes.
        """

    @abstractmethod
    def rows(self, positions: Positions) -> Self:
        """Keep some instances."""

    @abstractmethod
    def keep(self, components: Positions) -> Self:
        """Keep some components."""

    @abstractmethod
    def grouped(self, groups: Sequence[Positions]) -> Self:
        """Take the sums of the weights inside each group."""

    @abstractmethod
    def scaled(self, factor: float | Array) -> Self:
        """Multiply all weights by a factor ≥ 0, one for all instances or one for each."""

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return the arrays that make up the errors, by name, for a file."""


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """Split n rows, so that a block of ``width`` numbers for each row stays small."""
    size = max(1, _BLOCK // max(1, width))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


# Standard errors of the weights of a linear head, from its coefficients.


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

    features: Annotated[sparse.csr_array | Array, "n J"]
    centre: Annotated[FloatArray, "J"]
    covariance: Annotated[FloatArray, "K-1 J+1 K-1 J+1"]
    sums: ComponentSums
    factor: Annotated[FloatArray, "n", Limits(least=0.0)]

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


# Errors of weights from models that were trained on other samples.


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


# Errors of weights that are looked up in tables, one table for each draw.


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

    index: Annotated[NDArray[np.integer[Any]], "n T", Limits(least=0)]
    tables: Annotated[FloatArray, "R lines K"]
    shares: Annotated[FloatArray, "R", Limits(least=0.0)]
    sums: ComponentSums
    factor: Annotated[FloatArray, "n", Limits(least=0.0)]

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


# Each component as a sum of a model's terms.


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

    matrix: Annotated[sparse.csr_array, "G T"]

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


# Standard errors and intervals in the user's words, from errors that may not be known.


def known_errors(errors: WeightErrors | None) -> WeightErrors:
    """Return errors that are known.

    Raises
    ------
    ValueError
        If they are not; it tells how to get them.
    """
    if errors is None:
        raise ValueError(
            "The errors of these weights are not known. Make the evidence with "
            "Explainer(model, X_train, errors='sandwich') for a logistic regression or the last "
            "layer of a network, errors='bags' for an ExplainableBoostingClassifier, or "
            "errors='bootstrap' with refits= for any model. Results of combine, and components, "
            "have no errors of their own."
        )
    return errors


def standard_deviations(errors: WeightErrors, combinations: FloatArray, like: Array) -> Array:
    """Return standard deviations (n, G, M), in the library and precision of ``like``."""
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        std = errors.std_of(np.asarray(combinations, dtype=np.float64))
    xp = array_namespace(like)
    result = xp.asarray(std, dtype=like.dtype, device=like.device)
    check_overflow(result, "standard errors of the weights")
    return result


def class_std(
    errors: WeightErrors, classes: NDArray[np.intp], against: int | None = None
) -> FloatArray:
    """Return the standard errors of the weights for one class of each row, (n, G).

    Parameters
    ----------
    errors : WeightErrors
    classes : array of shape (n,)
        The position of the class of each row.
    against : int, optional
        The position of a class: then those of the contrasts with it.
    """
    n, n_components, n_classes = errors.shape
    result = np.empty((n, n_components))
    for k in np.unique(classes):
        rows = np.flatnonzero(classes == k)
        combination = np.eye(n_classes)[[k]]
        if against is not None:
            combination = combination - np.eye(n_classes)[[against]]
        result[rows] = errors.rows(rows).std_of(combination)[..., 0]
    return result


def interval(
    centre: Array, std: Array, errors: WeightErrors | None, level: Any
) -> tuple[Array, Array]:
    """Return the lower and the upper end of intervals around ``centre``.

    Their half-width is a quantile of the normal distribution, or of Student's t where the standard
    deviation is an estimate from a few models, times the standard deviation.
    """
    if not is_number(level) or not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, such as 0.9; got {level!r}.")
    upper = 0.5 + float(level) / 2.0
    freedom = known_errors(errors).degrees_of_freedom
    half = float(ndtri(upper) if np.isinf(freedom) else stdtrit(freedom, upper)) * std
    return centre - half, centre + half
