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
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray


@final
@dataclass(frozen=True, eq=False)
class ClassWeighting:
    """Class weights of a log loss.

    Attributes
    ----------
    weights : array of shape (K,)
        c, all > 0.
    """

    weights: FloatArray

    @classmethod
    def read(cls, class_weight: Any, classes: Any) -> ClassWeighting | None:
        """Read scikit-learn's ``class_weight``; None if all classes count the same.

        Raises
        ------
        UnsupportedModelError
            For balanced weights, which depend on the classes of the training rows, and for
            weights of 0.
        """
        if class_weight is None:
            return None
        if not isinstance(class_weight, Mapping):
            raise UnsupportedModelError(
                f"errors='laplace' needs the weights of the classes; class_weight={class_weight!r} "
                "leaves them to the training data, and the model does not store them. Train with "
                "a dictionary, class_weight={label: n / (K * count)}, or use errors='bootstrap' "
                "with refits=."
            )
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

    def expected(self, p: FloatArray, contrasts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the expected weight (n,) of rows, and the outer products of their gradients.

        Parameters
        ----------
        p : array of shape (n, K)
            The fitted probabilities.
        contrasts : array of shape (K, C)
            The outer products are those of the contrasts, (n, C, C).
        """
        counted = 1.0 / (p @ (1.0 / self.weights))
        q = p * self.weights * counted[:, None]
        mean, moment = p @ contrasts, q @ contrasts
        spread = np.einsum("ik,ka,kb->iab", q, contrasts, contrasts, optimize=True)
        cross = moment[:, :, None] * mean[:, None, :]
        spread -= cross + cross.transpose(0, 2, 1)
        spread += q.sum(axis=1)[:, None, None] * mean[:, :, None] * mean[:, None, :]
        return counted, spread
