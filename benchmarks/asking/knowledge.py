"""A linear model of Gaussian inputs, and what is known about some rows of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.covariance import ledoit_wolf

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearGaussian:
    """Class-centred coefficients, and the covariance of the standardised inputs."""

    beta: Floats  # (J, K)
    offset: Floats  # (K,)
    covariance: Floats  # (J, J)
    precision: Floats  # (J, J)

    @classmethod
    def of(cls, model: Any, X_train: Floats) -> LinearGaussian:
        """Read a logistic regression behind a scaler; shrink as Ledoit and Wolf do."""
        head = model[-1]
        coef, intercept = head.coef_, head.intercept_
        if len(coef) == 1:
            coef, intercept = np.vstack([-coef, coef]) / 2, np.r_[-intercept, intercept] / 2
        covariance = ledoit_wolf(model[0].transform(X_train))[0]
        return cls(
            (coef - coef.mean(axis=0)).T,
            intercept - intercept.mean(),
            covariance,
            np.linalg.inv(covariance),
        )

    def logits(self, x: Floats) -> Floats:
        """Return the centred logits of complete rows."""
        return x @ self.beta + self.offset

    def filled(self, x: Floats, lost: NDArray[np.bool_]) -> Floats:
        """Replace lost inputs of the rows ``x`` by their expectations given the others."""
        most = int(lost.sum(axis=1).max())
        if most == 0:
            return x
        place = np.argsort(~lost, axis=1, kind="stable")[:, :most]  # the lost ones come first
        valid = np.take_along_axis(lost, place, axis=1)
        both = valid[:, :, None] & valid[:, None, :]
        inner = self.precision[place[:, :, None], place[:, None, :]]
        known = np.where(lost, 0.0, x)
        pull = np.take_along_axis(known @ self.precision, place, axis=1)
        padded = np.where(both, inner, np.eye(most))
        expected = -np.linalg.solve(padded, np.where(valid, pull, 0.0)[:, :, None])[:, :, 0]
        old = np.take_along_axis(known, place, axis=1)
        np.put_along_axis(known, place, np.where(valid, expected, old), axis=1)
        return known


@dataclass
class Knowledge:
    """The inputs of n rows given what was measured: their means and covariances."""

    model: LinearGaussian
    mean: Floats  # (n, J)
    covariance: Floats  # (n, J, J), zero where an input is known
    unknown: NDArray[np.bool_]  # (n, J)

    @classmethod
    def of(cls, model: LinearGaussian, x: Floats) -> Knowledge:
        """Condition on everything in ``x`` (n, J), standardised, that is not NaN."""
        unknown = np.isnan(x)
        both = unknown[:, :, None] & unknown[:, None, :]
        padded = np.where(both, model.precision, np.eye(x.shape[1]))
        covariance = np.where(both, np.linalg.inv(padded), 0.0)
        known = np.where(unknown, 0.0, x)
        pull = np.where(unknown, known @ model.precision, 0.0)
        mean = known - (covariance @ pull[:, :, None])[:, :, 0]
        return cls(model, mean, covariance, unknown)

    def copy(self) -> Knowledge:
        """Return an independent copy."""
        return Knowledge(self.model, self.mean.copy(), self.covariance.copy(), self.unknown.copy())

    def measure(self, rows: Any, inputs: Any, values: Any) -> None:
        """Add one measured input for each of the given rows."""
        column = self.covariance[rows, :, inputs]  # (m, J)
        variance = column[np.arange(len(rows)), inputs]
        gain = column / variance[:, None]
        self.mean[rows] += gain * (values - self.mean[rows, inputs])[:, None]
        self.covariance[rows] -= gain[:, :, None] * column[:, None, :]
        self.mean[rows, inputs] = values
        self.covariance[rows, inputs, :] = 0.0
        self.covariance[rows, :, inputs] = 0.0
        self.unknown[rows, inputs] = False

    @property
    def logits(self) -> Floats:
        """The expected logits, (n, K)."""
        return self.model.logits(self.mean)

    @property
    def variances(self) -> Floats:
        """The variances of the logits, (n, K)."""
        beta = self.model.beta
        return np.maximum(((self.covariance @ beta) * beta).sum(axis=1), 0.0)

    @property
    def factor(self) -> Floats:
        """The moderating factor κ, (n,)."""
        return moderating(self.variances)

    @property
    def probability(self) -> Floats:
        """The moderated probabilities, (n, K)."""
        return softmax(self.factor[:, None] * self.logits, axis=1)


def moderating(variances: Floats) -> Floats:
    """Return κ of the variances of the class-centred logits, over the last axis."""
    open_variance = 2.0 / (variances.shape[-1] - 1) * variances.sum(axis=-1)
    return 1.0 / np.sqrt(1.0 + np.pi / 8.0 * open_variance)
