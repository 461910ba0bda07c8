r"""Learning a factor for each source, from its evidence on held-out rows.

The factors λ on the weights of the sources minimise the log loss of the combination. Under
Dempster's rule the logits are :math:`c_k + \sum_s \lambda_s z_{sk}`, so the loss is convex. Under
the cautious rule, :math:`\max_s \lambda_s w^+_{sk} - \max_s \lambda_s w^-_{sk}`, it is not, and the
result is a local minimum near equal factors. A weak penalty pulls the factors towards 1/S, the
geometric mean of the sources' probabilities, and decides where there are few data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from shafer._typing import BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.models.ensemble.fitted_source import fit_present, weighed
from shafer.models.ensemble.source_views import present_rows, rows_of_view, view_of
from shafer.models.fitting.folds import Split

_PULL = 1.0  # as much as a few rows
_LARGEST = 10.0
_MOST_SOURCES = 6  # 63 sets of sources that may be present
_ENOUGH_ROWS = 30  # for each source


@final
@dataclass(frozen=True, eq=False)
class SourceFactors:
    """The factors on the weights of S sources, for each set of sources that may be present.

    Attributes
    ----------
    present : boolean array of shape (P, S)
        The sets; the first one has all sources.
    factors : array of shape (P, S)
        Their factors, 0 for sources that are not in the set.
    """

    present: BoolArray
    factors: FloatArray

    @classmethod
    def fixed(cls, factors: FloatArray) -> SourceFactors:
        """Use the same factors, whichever sources are present."""
        return cls(np.ones((1, len(factors)), dtype=bool), factors[None])

    @property
    def all_present(self) -> FloatArray:
        """The factors of rows where all sources are present, (S,)."""
        return np.asarray(self.factors[0])

    def for_rows(self, present: BoolArray) -> FloatArray:
        """Return the factors of each row, (n, S), given the sources that are present in it."""
        known = {row.tobytes(): number for number, row in enumerate(self.present)}
        patterns, where = np.unique(present, axis=0, return_inverse=True)
        number = [known.get(pattern.tobytes(), 0) for pattern in patterns]
        return np.asarray((self.factors[number] * patterns)[where.reshape(-1)])


def out_of_fold(
    entries: Sequence[tuple[str, Any, Any]],
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    splits: Sequence[Split],
    *,
    whole: bool,
    with_prior: bool,
    absent_if: str = "all",
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the pooled weights of held-out rows, for and against, (S, n, K) each.

    Parameters
    ----------
    entries : sequence of (name, estimator, columns)
    X, y : the training data
    classes : array of shape (K,)
        The sorted labels.
    splits : sequence of (training rows, held-out rows)
    whole : bool
        Whether each source is one component.
    with_prior : bool
        Whether the class prior stays in the logits.
    absent_if : {"all", "any"}
        Whether a source is absent from a row if all of its inputs are NaN, or if any is.
    weight : array of shape (n,), optional
        Sample weights.
    """
    shape = (len(entries), len(y), len(classes))
    weights_for, weights_against = np.zeros(shape), np.zeros(shape)
    for train, held_out in splits:
        for s, (name, estimator, columns) in enumerate(entries):
            view = view_of(X, name, columns)
            present = present_rows(view, len(y), absent_if=absent_if)
            training, asked = (np.isin(np.arange(len(y)), rows) for rows in (train, held_out))
            fitted = fit_present(estimator, view, y, present & training, whole=whole, weight=weight)
            there = np.flatnonzero(present & asked)
            if fitted is None or not len(there):
                continue
            own = fitted.evidence(rows_of_view(view, there), whole=whole, with_prior=with_prior)
            evidence, _ = weighed(own)
            at = np.ix_(there, np.searchsorted(classes, evidence.classes))
            weights_for[s][at] = to_numpy(evidence.weights_for)
            weights_against[s][at] = to_numpy(evidence.weights_against)
    return weights_for, weights_against


def learn_by_presence(
    weights_for: FloatArray,
    weights_against: FloatArray,
    start: FloatArray,
    truth: NDArray[np.intp],
    *,
    cautious: bool,
    present: BoolArray | None = None,
    weight: FloatArray | None = None,
) -> SourceFactors:
    """Learn the factors for each set of sources that may be present.

    The right factor depends on the other sources: of two that agree, each counts half, but one
    alone counts in full. So each set is learnt from the rows where all of its sources are
    ``present``, (n, S), if there are enough of them. With more than six sources only the set of
    all sources is learnt, from all rows.
    """
    n_sources = len(weights_for)
    everyone = (True,) * n_sources
    sets = product((True, False), repeat=n_sources) if n_sources <= _MOST_SOURCES else [everyone]
    listed = np.array(list(sets), dtype=bool)
    factors = np.zeros(listed.shape)
    for number, there in enumerate(listed):
        if not there.any():
            continue
        rows = _rows_to_learn_from(there, present)
        factors[number, there] = learn_factors(
            weights_for[there][:, rows],
            weights_against[there][:, rows],
            start,
            truth[rows],
            cautious=cautious,
            weight=None if weight is None else weight[rows],
        )
    return SourceFactors(listed, factors)


def _rows_to_learn_from(there: BoolArray, present: BoolArray | None) -> NDArray[np.intp] | slice:
    """Return the rows where a set of sources is present; all rows if there are few of them."""
    if present is None or len(there) > _MOST_SOURCES:
        return slice(None)
    rows = np.flatnonzero(present[:, there].all(axis=1))
    return rows if len(rows) >= _ENOUGH_ROWS * there.sum() else slice(None)


def learn_factors(
    weights_for: FloatArray,
    weights_against: FloatArray,
    start: FloatArray,
    truth: NDArray[np.intp],
    *,
    cautious: bool,
    weight: FloatArray | None = None,
) -> NDArray[np.float64]:
    """Return one factor ≥ 0 for each source.

    Parameters
    ----------
    weights_for, weights_against : arrays of shape (S, n, K)
        Pooled weights of each source; zeros where it is missing.
    start : array of shape (K,)
        The logits without any source: the class prior.
    truth : array of shape (n,)
        Positions of the true classes.
    cautious : bool
        Whether the sources are combined by the cautious rule, rather than Dempster's.
    weight : array of shape (n,), optional
        Of the rows; 1 for each by default.
    """
    n_sources, n, n_classes = weights_for.shape
    hot = np.eye(n_classes)[truth]
    count = np.ones((n, 1)) if weight is None else weight[:, None]
    total = max(1.0, float(count.sum()))
    if cautious and n_classes == 2:  # against the one is for the other
        weights_for = weights_for + weights_against[:, :, ::-1]
        weights_against = np.zeros_like(weights_for)
    sides = (weights_for, weights_against)

    def loss(factors: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits, slopes = _combined(factors, sides, cautious)
        logs = log_softmax(start + logits, axis=1)
        residual = count * (np.exp(logs) - hot)
        pull = factors - 1.0 / n_sources
        value = -np.sum(count * logs * hot) + _PULL * np.sum(pull**2)
        gradient = np.einsum("snk,nk->s", slopes, residual) + 2.0 * _PULL * pull
        return float(value / total), gradient / total

    first = np.full(n_sources, 1.0 / n_sources)
    found = minimize(loss, first, jac=True, method="L-BFGS-B", bounds=[(0.0, _LARGEST)] * n_sources)
    factors: NDArray[np.float64] = np.asarray(found.x, dtype=np.float64)
    return factors


def _combined(
    factors: NDArray[np.float64], sides: tuple[FloatArray, FloatArray], cautious: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the logits (n, K) and their slopes in each factor (S, n, K)."""
    if not cautious:
        slopes = sides[0] - sides[1]
        return np.tensordot(factors, slopes, axes=1), slopes
    logits, slopes = np.zeros(sides[0].shape[1:]), np.zeros_like(sides[0])
    for sign, side in ((1.0, sides[0]), (-1.0, sides[1])):
        scaled = factors[:, None, None] * side
        winner = scaled.argmax(axis=0)[None]
        logits = logits + sign * np.take_along_axis(scaled, winner, axis=0)[0]
        own = np.take_along_axis(side, winner, axis=0)
        won = np.arange(len(factors))[:, None, None] == winner
        slopes = slopes + sign * np.where(won, own, 0.0)
    return logits, slopes
