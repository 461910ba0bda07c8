"""``Explainer``: from a trained model and its training data to evidence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from shafer._typing import Array
from shafer._validation import float_array, frame_columns
from shafer.evidence import Evidence, LinearPool, least_commitment
from shafer.models.families import adapt


@final
class Explainer:
    """Shows the evidence behind the probabilities of a trained model.

    Parameters
    ----------
    model : fitted estimator, ``LinearHead`` or (coef, intercept)
        ``LogisticRegression`` or ``LogisticRegressionCV`` of scikit-learn, or a linear head.
    background : array, data frame or sparse matrix of shape (n, J)
        The training data, from which the feature means are taken. A feature at its mean says no
        more than its share of the intercept.
    sample_weight : array of shape (n,), optional
        Weights of the background rows in the means.
    names : sequence of J strings, optional
        Names of the components; by default those the model or the background knows.

    Attributes
    ----------
    pool : LinearPool
        The model as evidence: ``pool.beta``, ``pool.alpha`` are the paper's β*, α*.
    classes : array of shape (K,)
    component_names : tuple of strings

    Examples
    --------
    >>> import shafer
    >>> from sklearn.linear_model import LogisticRegression
    >>> heart = shafer.datasets.load_heart()
    >>> X = heart.data[:, [heart.feature_names.index("age"), heart.feature_names.index("ldl")]]
    >>> model = LogisticRegression(C=1e6).fit(X, heart.target)
    >>> ev = shafer.Explainer(model, X)(X[:2])
    >>> ev.belief.round(3)
    array([[0.173, 0.105],
           [0.213, 0.426]])
    """

    def __init__(
        self,
        model: Any,
        background: Any,
        *,
        sample_weight: Any = None,
        names: Iterable[Any] | None = None,
    ) -> None:
        self._adapted = adapt(model)
        head = self._adapted.head
        known = [names, head.names, frame_columns(background)]
        self.pool: LinearPool = least_commitment(
            head.coef,
            head.intercept,
            self._background_means(background, sample_weight),
            classes=head.classes,
            names=next((given for given in known if given is not None), None),
        )

    def _background_means(self, background: Any, sample_weight: Any) -> Array:
        features = self._adapted.features(background)
        if not sparse.issparse(features):
            features = float_array(features, "background", ndim=(2,))
        if features.shape[0] == 0:
            raise ValueError(f"background must have at least one row; got shape {features.shape}.")
        return feature_means(features, sample_weight)

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels, in the order of every array about classes."""
        return self.pool.classes

    @property
    def component_names(self) -> tuple[str, ...]:
        """Names of the components, in the order of every array about components."""
        return self.pool.component_names

    def __call__(self, X: Any) -> Evidence:
        """Return the evidence of the rows of ``X``, as the model would take them."""
        return self.pool(self._adapted.features(X))

    def __repr__(self) -> str:
        n_features, n_classes = self.pool.beta.shape
        return f"<Explainer: {n_features} components, {n_classes} classes>"


def feature_means(features: Any, sample_weight: Any = None) -> Array:
    """Return the column means of a checked (n, J) array or sparse matrix, weighted if asked."""
    if sample_weight is None:
        if sparse.issparse(features):
            return np.asarray(features.mean(axis=0)).ravel()
        return array_api_compat.array_namespace(features).mean(features, axis=0)
    weight = float_array(sample_weight, "sample_weight", ndim=(1,))
    if weight.shape[0] != features.shape[0]:
        raise ValueError(
            f"sample_weight must have one weight for each of the {features.shape[0]} rows of "
            f"background; got {weight.shape[0]}."
        )
    total = float(weight.sum())
    if total <= 0.0:
        raise ValueError(f"sample_weight must have a positive sum; got {total}.")
    return (weight / total) @ features
