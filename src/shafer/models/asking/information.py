r"""How much a missing input would tell about the class, in closed form.

Measuring a block B of missing features moves the expected logits by a normal vector with the
covariance :math:`Q = C_B^T S_{BB}^{-1} C_B`, where S is the covariance of the missing features
given the known ones and :math:`C = S \beta^*`. To second order, the information about the class in
nats (the expected divergence of the new probabilities from the present ones) is

.. math:: I_B = \tfrac12 \kappa^2 \Bigl[\sum_k p_k Q_{kk} - p^T Q p\Bigr]
             = \tfrac12 \kappa^2 \sum_{b} \operatorname{Var}_{k \sim p}(y_{bk}),

with rows :math:`y_b` of a root :math:`Y`, :math:`Q = Y^T Y`. For a single feature j,
:math:`y_{jk} = c_{jk} / \sqrt{S_{jj}}`. For two classes the order of the inputs is that of
:math:`(y_{j1} - y_{j2})^2`, whatever the probabilities are. The block formula is exact for the
second-order term; information of the next unit given earlier ones uses S after these are known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from shafer._typing import FloatArray

_LIKELY = 8  # pairs are searched among so many of the most probable classes
_LEAST_VARIANCE = 1e-12  # of a standardised feature, given the others


def block_roots(
    covariance: FloatArray, slopes: FloatArray, blocks: Sequence[Sequence[int]]
) -> list[FloatArray]:
    """Return the root Y (B, K) of how each block would move the logits.

    Parameters
    ----------
    covariance : array of shape (M, M)
        S, of the missing features given the known ones, standardised.
    slopes : array of shape (M, K)
        Their coefficients β*.
    blocks : sequence of positions among the missing features
    """
    moved = covariance @ slopes  # C
    variance = np.maximum(np.diag(covariance), _LEAST_VARIANCE)
    scaled = moved / np.sqrt(variance)[:, None]
    roots: list[FloatArray] = []
    for block in blocks:
        if len(block) == 1:
            roots.append(scaled[list(block)])
            continue
        inner = covariance[np.ix_(block, block)]
        factor, lower = cho_factor(_lifted(inner), lower=True)
        roots.append(solve_triangular(factor, moved[list(block)], lower=lower))
    return roots


def covariance_given(covariance: FloatArray, known: Sequence[int]) -> FloatArray:
    """Return the covariance of all features once some are known: zero for these."""
    if not len(known):
        return covariance
    across = covariance[:, list(known)]
    inner = _lifted(covariance[np.ix_(known, known)])
    left = covariance - across @ cho_solve(cho_factor(inner, lower=True), across.T)
    left[list(known)] = 0.0
    left[:, list(known)] = 0.0
    return np.asarray(left)


def _lifted(covariance: FloatArray) -> FloatArray:
    """Raise a diagonal that rounding has brought to zero, so that a root exists."""
    return covariance + _LEAST_VARIANCE * np.eye(len(covariance))


def block_information(
    probability: FloatArray, factor: FloatArray, roots: Sequence[FloatArray]
) -> FloatArray:
    """Return the information of each block for each row, (n, number of blocks), in nats.

    Parameters
    ----------
    probability : array of shape (n, K)
    factor : array of shape (n,)
        κ, the factor on the weights.
    roots : sequence of arrays of shape (B, K)
        From :func:`block_roots`.
    """
    stacked = np.concatenate(roots)  # (M, K)
    starts = np.cumsum([0, *(len(root) for root in roots[:-1])])
    result = np.empty((len(probability), len(roots)))
    leading = np.argmax(probability, axis=1)
    for a in np.unique(leading):
        rows = np.flatnonzero(leading == a)
        p = probability[rows]
        # Relative to the leading class, no digits are lost where it is almost certain.
        lead = stacked - stacked[:, [a]]
        spread = p @ (lead**2).T - (p @ lead.T) ** 2
        result[rows] = np.add.reduceat(np.maximum(spread, 0.0), starts, axis=1)
    return np.asarray(0.5 * factor[:, None] ** 2 * result)


def decided_pairs(probability: FloatArray, root: FloatArray) -> NDArray[np.intp]:
    """Return the two classes (n, 2) between which a block decides most, the likelier one first.

    The information is the sum over pairs of classes of :math:`p_k p_l (y_k - y_l)^2`; this is the
    pair with the largest part, among the most probable classes.
    """
    n_classes = probability.shape[1]
    if n_classes == 2:
        first = np.argmax(probability, axis=1)
        return np.stack([first, 1 - first], axis=1)
    order = np.argsort(-probability, axis=1, kind="stable")[:, :_LIKELY]
    p = np.take_along_axis(probability, order, axis=1)
    apart = ((root[:, :, None] - root[:, None, :]) ** 2).sum(axis=0)  # (K, K)
    parts = apart[order[:, :, None], order[:, None, :]] * p[:, :, None] * p[:, None, :]
    upper = np.triu(np.ones(parts.shape[1:], dtype=bool), k=1)
    best = np.argmax(np.where(upper, parts, -1.0).reshape(len(p), -1), axis=1)
    first, second = np.divmod(best, parts.shape[2])
    rows = np.arange(len(p))
    return np.stack([order[rows, first], order[rows, second]], axis=1)
