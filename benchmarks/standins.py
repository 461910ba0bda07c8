"""What sets.py needs and the library does not have yet, under the names it will have there.

To swap: in sets.py import ``tempering_factor`` from ``shafer.decision``, let ``utility_set`` call
``evidence.decide("utility_set", ...)``, and delete this file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from shafer import Evidence
from shafer.kernels import log_terms


def tempering_factor(logits: Any, truth: Any) -> float:
    """Fit the factor on all weights by log loss, with a weak prior around one."""

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor)
        chosen = log_softmax(factor * logits, axis=1)[np.arange(len(truth)), truth]
        return float(-chosen.sum() + 4.0 * (factor - 1.0 - log_factor))

    return float(np.exp(minimize_scalar(loss, bounds=(-6, 6), method="bounded").x))


def utility_set(
    evidence: Evidence, *, tolerance: str, expectation: str = "probability", alpha: float = 0.5
) -> Any:
    """Keep the set of the largest expected utility; exact for evidence of one component.

    With one component the best set of each size holds the classes of the largest logits.
    """
    order = np.argsort(-evidence.logits, axis=1, kind="stable")
    values = _nested(evidence, order, expectation, alpha)
    size = np.arange(1, evidence.n_classes + 1)
    first, second = {"u65": (1.6, 0.6), "u80": (2.2, 1.2)}[tolerance]
    best = np.argmax((first / size - second / size**2) * values, axis=1)
    rank = np.argsort(order, axis=1)
    return rank <= best[:, None]


def _nested(evidence: Evidence, order: Any, expectation: str, alpha: float) -> Any:
    """Return the chosen expectation of each nested set, by size."""

    def along(x: Any) -> Any:
        return np.take_along_axis(x, order, axis=1)

    if expectation in ("probability", "pignistic"):
        return np.cumsum(along(getattr(evidence, expectation)), axis=1)
    terms = log_terms(evidence.pooled)
    s = np.cumsum(along(np.exp(terms.log_s - terms.log_d)), axis=1)
    neg_log_v = along(terms.neg_log_v)
    inside = np.cumsum(neg_log_v, axis=1)
    outside = inside[:, -1:] - inside
    scale = np.exp(-terms.shift - terms.log_d)
    lower = s + scale * np.exp(-outside) * -np.expm1(-inside)
    upper = s + scale * -np.expm1(-inside)
    weight = {"lower": 1.0, "upper": 0.0, "hurwicz": alpha}[expectation]
    return weight * lower + (1.0 - weight) * upper
