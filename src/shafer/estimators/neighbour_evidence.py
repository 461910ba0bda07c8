r"""Evidential k-nearest neighbours (Denœux 1995).

Each of the k nearest training rows is evidence for its own class. It is weaker at a larger
distance:

.. math:: w = -\sigma \ln\big(1 - \alpha\, e^{-\gamma (d / \bar d)^2}\big), \qquad \alpha = 0.95,

with d the distance and :math:`\bar d` the root mean square distance of the training rows to their
own k neighbours. A row far from all training rows has no evidence.

T. Denœux, "A k-nearest neighbor classification rule based on Dempster-Shafer theory", IEEE
Transactions on Systems, Man, and Cybernetics 25 (1995) 804-813.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from shafer._checks.arrays import float_array, to_numpy
from shafer._typing import BoolArray, FloatArray
from shafer.evidence.evidence import Evidence

_ALPHA = 0.95
_GAMMAS = 10.0 ** np.linspace(-2.0, 1.5, 15)
_LOG_SCALES = (-8.0, 3.0)


class NeighbourEvidence(ClassifierMixin, BaseEstimator):
    """Classifies by evidence from the nearest training rows.

    Parameters
    ----------
    k : int
        The number of neighbours.
    gamma : float or "tune"
        How fast evidence fades with distance.
    scale : float or "tune"
        A factor on all weights. ``"tune"`` chooses by the log loss of the training rows, each
        left out of its own neighbours.
    standardise : bool
        Whether to divide each column by its standard deviation before computing distances.

    Attributes
    ----------
    classes_ : array of shape (K,)
    gamma_, scale_ : float
        As given or as tuned.
    mean_distance_ : float
        The root mean square distance of training rows to their neighbours.

    See Also
    --------
    shafer.EvidentialVotingClassifier : Combines it with other classifiers.
    shafer.typicality : Another way to notice unusual rows.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> neighbours = shafer.NeighbourEvidence(k=3).fit(X, y)
    >>> near, far = neighbours.evidence([X[0], X[0] + 100.0])
    >>> near.component_names
    ('neighbour 1', 'neighbour 2', 'neighbour 3')
    >>> float(far.ignorance[0])
    1.0
    """

    def __init__(
        self,
        k: int = 10,
        gamma: float | str = "tune",
        scale: float | str = "tune",
        standardise: bool = True,
    ) -> None:
        self.k = k
        self.gamma = gamma
        self.scale = scale
        self.standardise = standardise

    def fit(self, X: Any, y: Any, beside: Any = None) -> Self:
        """Keep the training rows, and tune ``gamma`` and ``scale`` if asked to.

        Parameters
        ----------
        X : array of shape (n, J)
        y : array of shape (n,)
        beside : Evidence, or array of logits of shape (n, K), optional
            Cross-validated predictions of a model for the training rows, for instance by
            ``cross_val_predict(..., method="predict_log_proba")``. The neighbours are then tuned
            for their combination with this model by Dempster's rule.

        Returns
        -------
        NeighbourEvidence
            The object itself.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"Evidence needs at least two classes; y has one class, {y[0]}.")
        self._centre = X.mean(axis=0)
        self._deviation = _deviation(X) if self.standardise else np.ones(X.shape[1])
        self._codes = codes
        self._rows = self._scaled(X)
        self._index = NearestNeighbors().fit(self._rows)
        distances, rows = self._index.kneighbors(n_neighbors=min(self.k, len(y) - 1))
        spread = float(np.sqrt(np.mean(distances**2)))
        self.mean_distance_ = spread if spread > 0 else 1.0
        start = _logits_of(beside, len(y), self.classes_)
        self.gamma_, self.scale_ = self._tuned(distances, codes[rows], codes, start)
        return self

    def __getstate__(self) -> dict[str, Any]:
        # The search tree is built again from the rows.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_index"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_rows" in state:
            self._index = NearestNeighbors().fit(self._rows)

    def _scaled(self, X: FloatArray) -> FloatArray:
        """Return centred and scaled columns; far from zero, distances would lose digits."""
        scaled: FloatArray = (X - self._centre) / self._deviation
        return scaled

    def _check_parameters(self) -> None:
        if not _is_count(self.k):
            raise ValueError(f"k must be a positive integer; got {self.k!r}.")
        for name in ("gamma", "scale"):
            value = getattr(self, name)
            if value == "tune" if isinstance(value, str) else _is_size(value):
                continue
            raise ValueError(f"{name} must be 'tune' or a finite number ≥ 0; got {value!r}.")

    def _tuned(
        self, distances: FloatArray, labels: NDArray[Any], truth: NDArray[Any], start: FloatArray
    ) -> tuple[float, float]:
        """Choose γ from a grid and the scale by a search, for the smallest log loss.

        A scale of s costs s nats of log-likelihood. Without this penalty it would be infinite if
        all left-out rows are classified correctly.
        """
        gammas = _GAMMAS if isinstance(self.gamma, str) else [float(self.gamma)]
        best = (np.inf, 1.0, 1.0)
        for gamma in gammas:
            sums = self._sums(self._strength(distances, gamma), labels)

            def loss(log_scale: float, sums: FloatArray = sums) -> float:
                scale = np.exp(log_scale)
                logs = log_softmax(start + scale * sums, axis=1)
                return float(scale - logs[np.arange(len(truth)), truth].sum())

            if isinstance(self.scale, str):
                found = minimize_scalar(loss, bounds=_LOG_SCALES, method="bounded")
                candidate = (float(found.fun), float(gamma), float(np.exp(found.x)))
            else:
                known = np.log(self.scale) if self.scale > 0 else -np.inf
                candidate = (loss(float(known)), float(gamma), float(self.scale))
            best = min(best, candidate)
        return best[1], best[2]

    def _strength(self, distances: FloatArray, gamma: float) -> FloatArray:
        """Return the weight of each neighbour before scaling."""
        support = _ALPHA * np.exp(-gamma * (distances / self.mean_distance_) ** 2)
        strength: FloatArray = -np.log1p(-support)
        return strength

    def _sums(self, strength: FloatArray, labels: NDArray[Any]) -> FloatArray:
        """Add up the weights of the neighbours of each class, (n, K)."""
        sums = np.zeros((len(strength), len(self.classes_)))
        np.add.at(sums, (np.arange(len(strength))[:, None], labels), strength)
        return sums

    def evidence(self, X: Any) -> Evidence:
        """Return the evidence of each row; the components are its neighbours, nearest first.

        Parameters
        ----------
        X : array of shape (n, J)
            The rows.

        Returns
        -------
        Evidence
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        most = min(self.k, len(self._codes))
        distances, rows = self._index.kneighbors(self._scaled(X), n_neighbors=most)
        weights = np.zeros((*distances.shape, len(self.classes_)))
        strength = self.scale_ * self._strength(distances, self.gamma_)
        np.put_along_axis(weights, self._codes[rows][..., None], strength[..., None], axis=2)
        names = [f"neighbour {rank}" for rank in range(1, most + 1)]
        return Evidence.from_weights(weights, classes=self.classes_, names=names)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most plausible class of each row.

        Parameters
        ----------
        X : array of shape (n, J)
            The rows.

        Returns
        -------
        array of shape (n,)
            Class labels.
        """
        evidence = self.evidence(X)
        return np.asarray(self.classes_[np.argmax(evidence.logits, axis=1)])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the normalised plausibilities.

        Parameters
        ----------
        X : array of shape (n, J)
            The rows.

        Returns
        -------
        array of shape (n, K)
            Each row sums to 1.
        """
        return np.asarray(self.evidence(X).probability)

    def predict_set(self, X: Any, rule: str = "interval_dominance", **options: Any) -> BoolArray:
        """Predict a set of classes for each row, boolean (n, K); see :meth:`Evidence.decide`.

        Parameters
        ----------
        X : array of shape (n, J)
            The rows.
        rule : str
            As in :meth:`shafer.Evidence.decide`.
        **options
            Options of the rule.

        Returns
        -------
        boolean array of shape (n, K)
        """
        return np.asarray(self.evidence(X).decide(rule, **options))


def _deviation(X: FloatArray) -> FloatArray:
    """Return the standard deviation of each column, 1 where it is constant.

    Columns are divided by their width first, so that squares do not overflow.
    """
    width = np.ptp(X, axis=0)
    unit = np.where(width > 0, width, 1.0)
    deviation: FloatArray = unit * ((X - X.min(axis=0)) / unit).std(axis=0)
    return np.where(width > 0, deviation, 1.0)


def _is_count(value: Any) -> bool:
    return isinstance(value, int | np.integer) and value is not True and int(value) >= 1


def _is_size(value: Any) -> bool:
    return isinstance(value, Real) and value is not True and 0.0 <= float(value) < np.inf


def _logits_of(beside: Any, n: int, classes: NDArray[Any]) -> FloatArray:
    """Return the logits of a model that is combined with the neighbours; zeros by default."""
    if beside is None:
        return np.zeros((n, len(classes)))
    if isinstance(beside, Evidence):
        if beside.classes.tolist() != classes.tolist():
            raise ValueError(
                f"beside must be evidence on the classes of y, {classes.tolist()}; got "
                f"{beside.classes.tolist()}."
            )
        beside = beside.logits
    logits = to_numpy(float_array(beside, "beside", ndim=(2,)))
    if logits.shape != (n, len(classes)):
        raise ValueError(
            f"beside must have shape ({n}, {len(classes)}), one logit for each row and class; got "
            f"{logits.shape}."
        )
    return logits
