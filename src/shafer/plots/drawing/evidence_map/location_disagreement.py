"""How far each component contradicts all the others together."""

from __future__ import annotations

import numpy as np

from shafer import kernels
from shafer._typing import FloatArray
from shafer.kernels import Pooled


def disagreement_with_others(weights: FloatArray) -> FloatArray:
    r"""Return the conflict of each component's mass function with that of all others, (G,).

    With :math:`\kappa` the conflict of all G components, :math:`\kappa_g` that of component g by
    itself and :math:`\kappa_{-g}` that of the others, Dempster's rule of the two normalised mass
    functions has the conflict
    :math:`1 - (1 - \kappa) / ((1 - \kappa_g)(1 - \kappa_{-g}))`.

    Parameters
    ----------
    weights : array of shape (G, K)
    """
    own_for, own_against = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
    rest_for = _sums_of_others(own_for)
    rest_against = _sums_of_others(own_against)
    together = _weight(weights.sum(axis=0), own_for.sum(axis=0), own_against.sum(axis=0))
    rest = _weight(rest_for - rest_against, rest_for, rest_against)
    own = _weight(weights, own_for, own_against)
    return -np.expm1(-np.maximum(together - rest - own, 0.0))


def _sums_of_others(parts: FloatArray) -> FloatArray:
    """Sum over all rows but one, without subtracting: small sums keep their digits."""
    none = np.zeros_like(parts[:1])
    before = np.concatenate([none, np.cumsum(parts[:-1], axis=0)])
    after = np.concatenate([np.cumsum(parts[:0:-1], axis=0)[::-1], none])
    return np.asarray(before + after)


def _weight(logits: FloatArray, weights_for: FloatArray, weights_against: FloatArray) -> FloatArray:
    terms = kernels.log_terms(Pooled(logits, weights_for, weights_against))
    return np.asarray(kernels.weight_of_conflict(terms))
