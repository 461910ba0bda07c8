"""``RBFLayer``: the hidden layer of a radial basis function network, as a transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from shafer._typing import FloatArray


class RBFLayer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Gaussian units around k-means centres; with a linear classifier behind it, an RBF network.

    The output of unit m is :math:`\exp(-\lVert x - c_m \rVert^2 / 2\sigma^2)`.

    Parameters
    ----------
    n_centres : int
        The number of units; at most one for each training row.
    width : float, optional
        σ; by default the mean distance from a centre to the nearest other one (after Moody and
        Darken 1989).
    random_state : int, RandomState or None
        Seed of k-means.

    Attributes
    ----------
    centres_ : array of shape (M, J)
    width_ : float

    See Also
    --------
    shafer.Explainer : Explains the network.
    shafer.plots.UnitDisplay : Draws the masses of a unit.

    Examples
    --------
    >>> import shafer
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_iris(return_X_y=True)
    >>> layer = shafer.models.RBFLayer(10, random_state=0)
    >>> network = make_pipeline(layer, LogisticRegression(C=100)).fit(X, y)
    >>> shafer.Explainer(network, X)(X).component_names[:2]
    ('rbflayer0', 'rbflayer1')
    """

    centres_: FloatArray
    width_: float

    def __init__(
        self, n_centres: int = 20, *, width: float | None = None, random_state: Any = None
    ) -> None:
        self.n_centres = n_centres
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002 - scikit-learn passes it
        """Find the centres by k-means, and the width.

        Parameters
        ----------
        X : array of shape (n, J)
            The training rows.
        y : array of shape (n,), optional
            Not used.

        Returns
        -------
        RBFLayer
            The object itself.
        """
        if self.n_centres < 1:
            raise ValueError(f"n_centres must be at least 1; got {self.n_centres!r}.")
        if self.width is not None and not self.width > 0:
            raise ValueError(f"width must be positive; got {self.width!r}.")
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        n_centres = min(int(self.n_centres), len(np.unique(X, axis=0)))
        means = KMeans(n_centres, n_init=10, random_state=self.random_state).fit(X)
        self.centres_ = means.cluster_centers_
        self.width_ = _spacing(self.centres_) if self.width is None else float(self.width)
        self._n_features_out = n_centres
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return the output of each unit, (n, M).

        Parameters
        ----------
        X : array of shape (n, J)
            The rows.

        Returns
        -------
        array of shape (n, M)
            From 0 to 1.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        squared = euclidean_distances(X, self.centres_, squared=True)
        units: FloatArray = np.exp(squared / (-2.0 * self.width_**2))
        return units

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _spacing(centres: FloatArray) -> float:
    """Return the mean distance to the nearest other centre; 1 for a single centre."""
    if len(centres) == 1:
        return 1.0
    distances = euclidean_distances(centres)
    np.fill_diagonal(distances, np.inf)
    return float(distances.min(axis=1).mean())
