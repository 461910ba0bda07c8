r"""Learning how much each source is to count, from what it says of rows it has not seen.

The factors λ on the weights of the sources minimise the log loss of the combination. Under
Dempster's rule the logits are :math:`c_k + \sum_s \lambda_s z_{sk}`, so the loss is convex; under
the cautious rule, :math:`\max_s \lambda_s w^+_{sk} - \max_s \lambda_s w^-_{sk}`, it is not, and a
local minimum near equal factors is taken. A weak pull towards 1/S, which is the geometric mean of
the sources' probabilities, settles what few data leave open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from shafer._typing import BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.models.ensemble.fitted_source import fit_present
from shafer.models.ensemble.source_views import present_rows, take, view_of

_PULL = 1.0  # as much as a few rows
_LARGEST = 10.0
_MOST_SOURCES = 6  # 63 sets of sources that may be there
_ENOUGH_ROWS = 30  # for each source


def out_of_fold(
    entries: Sequence[tuple[str, Any, Any]],
    X: Any,
    y: NDArray[Any],
    classes: NDArray[Any],
    folds: Any,
    *,
    whole: bool,
    with_prior: bool,
    missing: str = "all",
    weight: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return what sources say of rows they were not trained on: pooled weights, (S, n, K) each.

    Parameters
    ----------
    entries : sequence of (name, estimator, columns)
    X, y : the training data
    classes : array of shape (K,)
        The sorted labels.
    folds : cross-validation splitter
    whole : bool
        Whether each source is one component.
    with_prior : bool
        Whether the class frequencies stay in.
    missing : {"all", "any"}
        Which of a source's inputs are NaN where it is missing.
    weight : array of shape (n,), optional
        Weights of the rows in training.
    """
    shape = (len(entries), len(y), len(classes))
    weights_for, weights_against = np.zeros(shape), np.zeros(shape)
    for train, test in folds.split(np.zeros(len(y)), y):
        for s, (name, estimator, columns) in enumerate(entries):
            view = view_of(X, name, columns)
            present = present_rows(view, len(y), missing=missing)
            seen, asked = (np.isin(np.arange(len(y)), rows) for rows in (train, test))
            fitted = fit_present(estimator, view, y, present & seen, whole=whole, weight=weight)
            there = np.flatnonzero(present & asked)
            if fitted is None or not len(there):
                continue
            said = fitted.evidence(take(view, there), whole=whole, with_prior=with_prior)
            at = np.ix_(there, np.searchsorted(classes, said.classes))
            weights_for[s][at] = to_numpy(said.weights_for)
            weights_against[s][at] = to_numpy(said.weights_against)
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
) -> dict[tuple[bool, ...], NDArray[np.float64]]:
    """Return the factors for each set of sources that may be there, 0 for the others.

    What a source is worth depends on the company: of two that say the same, each counts half, but
    one alone counts in full. So each set is learnt from the rows where all of it is ``present``,
    (n, S), if they are enough. With more than six sources only the set of all is looked at, and
    learnt from all rows.
    """
    n_sources = len(weights_for)
    everyone = (True,) * n_sources
    sets = product((True, False), repeat=n_sources) if n_sources <= _MOST_SOURCES else [everyone]
    learnt = {}
    for company in sets:
        there = np.asarray(company)
        factors = np.zeros(n_sources)
        if there.any():
            rows = _rows_to_learn_from(there, present)
            factors[there] = learn_factors(
                weights_for[there][:, rows],
                weights_against[there][:, rows],
                start,
                truth[rows],
                cautious=cautious,
                weight=None if weight is None else weight[rows],
            )
        learnt[company] = factors
    return learnt


def _rows_to_learn_from(there: BoolArray, present: BoolArray | None) -> NDArray[np.intp] | slice:
    """Return the rows where a set of sources is present; all if they are few, or stand for all."""
    if present is None or len(there) > _MOST_SOURCES:
        return slice(None)
    rows = np.flatnonzero(present[:, there].all(axis=1))
    return rows if len(rows) >= _ENOUGH_ROWS * there.sum() else slice(None)


def factors_for(
    present: BoolArray, learnt: Mapping[tuple[bool, ...], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return the factors of each row, (n, S), by the sources that are there."""
    patterns, where = np.unique(present, axis=0, return_inverse=True)
    everyone = (True,) * present.shape[1]
    factors = np.stack(
        [learnt.get(tuple(pattern.tolist()), learnt[everyone]) * pattern for pattern in patterns]
    )
    return np.asarray(factors[where.reshape(-1)])


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
        Logits that are there without any source: the prior.
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
