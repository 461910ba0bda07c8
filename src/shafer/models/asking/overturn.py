r"""Would the missing inputs overturn the decision? The chance, in closed form.

Given the known inputs, the lead of the chosen class a over k is normal with mean
:math:`z_a - z_k` and variance :math:`V_{ak} = (\beta_a - \beta_k)^T S (\beta_a - \beta_k)`. The
leads are treated as independent; for two classes there is only one. A factor on the weights,
such as tempering, does not change the class of the largest logit, so it plays no part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky

from shafer._typing import FloatArray
from shafer.evidence.fragility import fall_probability
from shafer.models.asking.asked_model import AskedModel, AskedRows
from shafer.models.asking.linear_inputs import LinearInputs
from shafer.models.asking.next_inputs import open_covariance
from shafer.models.uncertainty.conditional_gaussian import patterns


def overturn(asked: AskedModel, X: Any) -> FloatArray:
    """Return the chance for each row of X, (n,)."""
    return np.concatenate([overturn_rows(rows, asked.inputs) for rows in asked.chunks(X)])


def overturn_rows(rows: AskedRows, inputs: LinearInputs) -> FloatArray:
    """Return the chance for each row, (n,); 0 where nothing is missing."""
    result = np.zeros(len(rows))
    for where, gaps in patterns(rows.gaps):
        _, covariance, slopes = open_covariance(inputs, gaps)
        result[where] = overturn_probability(rows.logits[where], covariance, slopes)
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
    chosen = np.argmax(logits, axis=1)
    margins = logits[np.arange(len(logits)), chosen][:, None] - logits
    variances = np.empty_like(logits)
    for a in np.unique(chosen):
        variances[chosen == a] = ((root[:, [a]] - root) ** 2).sum(axis=0)
    return fall_probability(margins, variances, chosen)
