r"""The chance that a decision falls, once missing inputs are known or known ones are lost.

Given the known inputs, the lead of the chosen class a over k is normal with mean
:math:`z_a - z_k` and variance :math:`V_{ak} = (\beta_a - \beta_k)^T S (\beta_a - \beta_k)`. The
leads are correlated; ``evidence/robustness.py`` has the chance that all stay positive, which is
exact for two classes. A factor on the weights, such as tempering, does not change the class of the
largest logit, so it plays no part.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky

from shafer._typing import FloatArray
from shafer.asking.inputs import AskedModel, AskedRows, LinearInputs
from shafer.asking.known_cells import CellDistances, KnownCells
from shafer.asking.next_inputs import open_covariance
from shafer.evidence.robustness import (
    check_chance,
    fall_probability,
    lead_over_others,
    leads,
    loss_probability,
)
from shafer.explain.missing import patterns


def overturn(asked: AskedModel, X: Any) -> FloatArray:
    """Return the chance for each row of X, (n,)."""
    return np.concatenate([overturn_rows(rows, asked.inputs) for rows in asked.chunks(X)])


def overturn_rows(rows: AskedRows, inputs: LinearInputs) -> FloatArray:
    """Return the chance for each row, (n,); 0 where nothing is missing."""
    result = np.zeros(len(rows))
    for where, gaps in patterns(rows.gaps):
        _, covariance, slopes = open_covariance(inputs, gaps)
        result[where] = overturn_probability(rows.leads[where], covariance, slopes)
    return result


def overturn_probability(
    logits: FloatArray, covariance: FloatArray, slopes: FloatArray
) -> FloatArray:
    """Return the chance that the missing features change the largest logit, (n,).

    Parameters
    ----------
    logits : array of shape (n, K)
        Expected logits.
    covariance : array of shape (M, M)
        Of the missing features given the known ones.
    slopes : array of shape (M, K)
        Their coefficients.
    """
    # Differences of a root of the covariance of the logits lose fewer digits than its entries.
    root = cholesky(covariance + 1e-14 * np.eye(len(covariance)), lower=False) @ slopes
    margins, chosen = leads(logits)
    result = np.empty(len(logits))
    for a in np.unique(chosen):
        apart = root[:, [a]] - root  # (M, K)
        where = np.flatnonzero(chosen == a)
        result[where] = fall_probability(
            margins[where],
            np.broadcast_to((apart**2).sum(axis=0), (len(where), logits.shape[1])),
            partial(_between, apart.T @ apart),
            chosen[where],
        )
    return result


def _between(covariance: FloatArray, classes: NDArray[np.intp]) -> FloatArray:
    return np.asarray(covariance[classes[:, :, None], classes[:, None, :]])


# How easily a decision falls if known inputs are lost, and their expectations take their place.


def conditional_fragility(asked: AskedModel, X: Any, q: Any) -> FloatArray:
    """Return the chance for each row of X, (n,). Inputs that are missing cannot be lost."""
    chance = check_chance(q)
    found = []
    for rows in asked.chunks(X):
        result = np.zeros(len(rows))
        for where, gaps in patterns(rows.gaps, complete=True):
            far = KnownCells.of(asked.inputs, gaps).measured(rows.features[where])
            result[where] = pattern_fragility(rows.leads[where], far, chance)
        found.append(result)
    return np.concatenate(found)


def pattern_fragility(logits: FloatArray, far: CellDistances, chance: float) -> FloatArray:
    """Return the chance for rows of one pattern of gaps, given their logits (n, K)."""
    result = np.zeros(len(logits))
    for part, shift in far.shifts():
        lost = lead_over_others(shift, np.argmax(logits[part], axis=1))
        result[part] = loss_probability(logits[part], lost, chance)
    return result
