r"""``ClassWeighting``: what class weights in the log loss do to the curvature and the gradient.

A model trained with class weights c fits :math:`\tilde p_k \propto c_k p_k`, where p are the
probabilities of the classes as they come. So the classes that were seen need not be known: a row
has the expected weight and the expected outer product of the gradient

.. math:: E\,c_y = \frac1Z, \qquad
          E\,c_y^2 (e_y - \tilde p)(e_y - \tilde p)^T
          = \frac1Z \sum_k \tilde p_k c_k (e_k - \tilde p)(e_k - \tilde p)^T, \qquad
          Z = \sum_k \tilde p_k / c_k .
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray

_STEPS = 2000


@final
@dataclass(frozen=True, eq=False)
class ClassWeighting:
    r"""Class weights of a log loss.

    Attributes
    ----------
    weights : array of shape (K,), or None
        c; None for balanced weights :math:`1/(K \pi_k)` before the shares π of the classes are
        known.
    """

    weights: FloatArray | None

    @classmethod
    def read(cls, class_weight: Any, classes: Any) -> ClassWeighting | None:
        """Read scikit-learn's ``class_weight``; None if all classes count the same."""
        if class_weight is None:
            return None
        if not isinstance(class_weight, Mapping):  # "balanced", the only other one
            return cls(None)
        labels = np.asarray(classes).tolist()
        weights = np.array([float(class_weight.get(label, 1.0)) for label in labels])
        if not (weights > 0.0).all():
            zero = labels[int(np.argmin(weights))]
            raise UnsupportedModelError(
                f"errors='laplace' needs class weights > 0; class {zero!r} has the weight "
                f"{weights.min():g}, so its rows played no part in training. Use "
                "errors='bootstrap' with refits=."
            )
        return cls(weights)

    def settled(self, p: FloatArray, sample_weight: FloatArray | None) -> ClassWeighting:
        r"""Return known weights, the balanced ones from the fitted probabilities of a batch (n, K).

        The shares π are those for which :math:`\pi_k = mean_i\, p_k(x_i)`, where
        :math:`p_k \propto \tilde p_k \pi_k`.
        """
        if self.weights is not None:
            return self
        n, n_classes = p.shape
        rows = np.full(n, 1.0 / n) if sample_weight is None else sample_weight / sample_weight.sum()
        shares = np.full(n_classes, 1.0 / n_classes)
        for _ in range(_STEPS):
            joint = p * shares
            total = joint.sum(axis=1, keepdims=True)
            new = rows @ np.divide(joint, total, out=np.zeros_like(joint), where=total > 0.0)
            new = np.maximum(new, 1e-12)
            done = np.abs(new - shares).max() < 1e-10
            shares = new / new.sum()
            if done:
                break
        return replace(self, weights=1.0 / (n_classes * shares))

    def expected(self, p: FloatArray, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected weight (n,) of rows, and the outer products of their gradients.

        Parameters
        ----------
        p : array of shape (n, K)
            The fitted probabilities.
        contrasts : array of shape (K, C)
            The outer products are those of the contrasts, (n, C, C).
        """
        assert self.weights is not None, "settled() comes first"
        counted = 1.0 / (p @ (1.0 / self.weights))
        q = p * self.weights * counted[:, None]
        mean, moment = p @ contrasts, q @ contrasts
        spread = np.einsum("ik,ka,kb->iab", q, contrasts, contrasts, optimize=True)
        cross = moment[:, :, None] * mean[:, None, :]
        spread -= cross + cross.transpose(0, 2, 1)
        spread += q.sum(axis=1)[:, None, None] * mean[:, :, None] * mean[:, None, :]
        return counted, spread
