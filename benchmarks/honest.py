"""The kinds of evidence that the ignorance benchmark compares, each as logits and ignorance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.neighbors import NearestNeighbors

import shafer


class Reading:
    """A trained pipeline read as one component: plain, tempered, moderated, discounted.

    ``model`` is a scaler and a LogisticRegression or MLPClassifier, ``background`` its training
    rows; the calibration rows set the factors and the quantiles of distances.
    """

    def __init__(self, model: Any, background: Any, rows: Any, labels: Any) -> None:
        self._scaler, self._head = model[0], model[-1]
        self._plain = shafer.Explainer(self._head, self._scaler.transform(background), "one")
        self._root = self._posterior(background)
        logits = self._logits(rows)
        self._factors = {
            "plain": 1.0,
            "tempered": _factor(logits, labels),
            "laplace": _factor(logits * self._kappa(rows)[:, None], labels),
        }
        Z = self._scaler.transform(background)
        self._neighbours = NearestNeighbors(n_neighbors=min(5, len(Z))).fit(Z)
        self._q50, self._q90 = np.quantile(self._distance(rows), [0.5, 0.9])

    def logits(self, X: Any, kind: str) -> Any:
        """Return the logits behind the probabilities that are bet on, (n, K)."""
        return self._evidence(X, kind).logits

    def belief(self, X: Any, kind: str) -> Any:
        """Return the beliefs before any discount, (n, K)."""
        return self._evidence(X, kind).belief

    def ignorance(self, X: Any, kind: str) -> Any:
        """Return m(Θ), (n,), after the discount if there is one."""
        ev = self._evidence(X, kind)
        if kind != "laplace+discount":
            return ev.ignorance
        r = self._reliability(X, ev.probability)
        return 1.0 - r + r * ev.ignorance

    def _evidence(self, X: Any, kind: str) -> Any:
        kind = kind.removesuffix("+discount")
        factor = self._factors[kind] * (self._kappa(X) if kind == "laplace" else np.ones(len(X)))
        return shafer.Evidence.from_weights((self._logits(X) * factor[:, None])[:, None, :])

    def _logits(self, X: Any) -> Any:
        return self._plain(self._scaler.transform(X)).logits

    def _features(self, X: Any) -> Any:
        values = self._scaler.transform(X)
        if hasattr(self._head, "coefs_"):
            values = np.maximum(values @ self._head.coefs_[0] + self._head.intercepts_[0], 0.0)
        return np.column_stack([values, np.ones(len(values))])

    def _posterior(self, background: Any) -> Any:
        """Return S with σ² = x'Sx: the summed posterior covariances of the centred logits."""
        net = hasattr(self._head, "coefs_")
        precision = self._head.alpha if net else 1.0 / self._head.C
        x, p = self._features(background), softmax(self._logits(background), axis=1)
        size, n_classes = x.shape[1], p.shape[1]
        prior = np.full(size, precision)
        prior[-1] = 0.0
        if n_classes == 2:
            curvature = x.T @ (x * (p[:, :1] * p[:, 1:])) + np.diag(prior)
            return np.linalg.inv(curvature + 1e-9 * np.eye(size))
        H = np.zeros((n_classes, size, n_classes, size))
        for k in range(n_classes):
            for m in range(n_classes):
                H[k, :, m, :] = x.T @ (x * (p[:, k] * ((k == m) - p[:, m]))[:, None])
            H[k, :, k, :] += np.diag(prior)
        H[:, -1, :, -1] += 1.0 / n_classes  # a constant for all intercepts changes nothing
        flat = H.reshape(n_classes * size, -1)
        S = np.linalg.inv(flat + 1e-9 * np.eye(len(flat))).reshape(H.shape)
        summed = np.einsum("kikj->ij", S) - np.einsum("kimj->ij", S) / n_classes
        return 2.0 / (n_classes - 1) * summed

    def _variance(self, X: Any) -> Any:
        x = self._features(X)
        return np.einsum("ij,jk,ik->i", x, self._root, x).clip(0.0)

    def _kappa(self, X: Any) -> Any:
        return 1.0 / np.sqrt(1.0 + np.pi / 8.0 * self._variance(X))

    def _distance(self, X: Any) -> Any:
        return self._neighbours.kneighbors(self._scaler.transform(X))[0].mean(axis=1)

    def _reliability(self, X: Any, p: Any) -> Any:
        squares = (p**2).sum(axis=1, keepdims=True)
        above = (p**2 * (1.0 - 2.0 * p + squares)).sum(axis=1)
        v = self._variance(X) / 2.0 * above / np.maximum(1.0 - squares[:, 0], 1e-300)
        spread = max(self._q90 - self._q50, 1e-12)
        return np.exp(-np.maximum(0.0, (self._distance(X) - self._q90) / spread)) / (1.0 + v)


def _factor(logits: Any, labels: Any) -> float:
    def loss(t: float) -> float:
        return float(
            -log_softmax(np.exp(t) * logits, axis=1)[np.arange(len(labels)), labels].mean()
        )

    return float(np.exp(minimize_scalar(loss, bounds=(-4.0, 2.0), method="bounded").x))
