"""``LaplaceBars``: error bars from the posterior of a linear head's coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import sparse

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer._validation import component_names, float_array, to_numpy
from shafer.evidence.weight_errors import ComponentSums, LinearErrors
from shafer.evidence.weight_sources.weight_source import take
from shafer.models.error_bars.error_bars import ErrorBars, sums_of
from shafer.models.inputs.row_access import values_of
from shafer.models.readers.adapted_model import AdaptedModel, LinearModel
from shafer.models.readers.model_rows import ModelRows
from shafer.models.uncertainty.class_weighting import ClassWeighting
from shafer.models.uncertainty.laplace import LARGEST_CURVATURE, LaplaceFit
from shafer.models.weighed_model import WeighedModel


@final
@dataclass(frozen=True, eq=False)
class LaplaceBars(ErrorBars):
    """Error bars of a linear head that was trained by log loss with an L2 penalty, or none.

    Attributes
    ----------
    covariance : array of shape (K − 1, J + 1, K − 1, J + 1)
        Of the coefficients and the base rate, as in ``LinearErrors``.
    means : array of shape (J,)
    sums : ComponentSums
    """

    covariance: FloatArray
    means: FloatArray
    sums: ComponentSums

    @classmethod
    def fit(cls, weighed: WeighedModel, laplace: LaplaceFit) -> LaplaceBars:
        """Take the posterior from the curvature over all background rows."""
        means = to_numpy(weighed.means).astype(np.float64)
        posterior = laplace.coefficient_posterior(component_names(weighed.names, len(means)))
        return cls.of_covariance(weighed, posterior.at_means(means))

    @classmethod
    def of_covariance(cls, weighed: WeighedModel, covariance: FloatArray) -> LaplaceBars:
        """Make the bars from a covariance that is known."""
        means = to_numpy(weighed.means).astype(np.float64)
        return cls(covariance, means, sums_of(weighed, len(means), with_shares=True))

    def __call__(self, X: Any, rows: ModelRows) -> LinearErrors:  # noqa: ARG002 - for refits
        # A copy: the features may be the caller's own array, and the weights need not notice that
        # it was changed, if they have it in another precision.
        if sparse.issparse(rows.terms):
            features = sparse.csr_array(rows.terms, dtype=np.float64, copy=True)
        else:
            given = float_array(values_of(rows.terms), "features", ndim=(2,), finite=True)
            features = take(given, range(given.shape[0]), 0)
        ones = np.ones(features.shape[0])
        return LinearErrors(features, self.means, self.covariance, self.sums, ones)

    def plain(self) -> dict[str, Any]:
        return {"kind": "laplace", "covariance": self.covariance}


def laplace_fit(adapted: AdaptedModel, model: str) -> LaplaceFit:
    """Start to collect the curvature of a model's log loss.

    Parameters
    ----------
    adapted : AdaptedModel
    model : str
        The name of the model's class, for an error.

    Raises
    ------
    UnsupportedModelError
        If the model was not trained by log loss with an L2 penalty or none, or is too large.
    """
    loss = adapted.loss if isinstance(adapted, LinearModel) else None
    if not isinstance(adapted, LinearModel) or loss is None or loss.has_corner:
        raise UnsupportedModelError(
            "errors='laplace' needs a linear head that was trained by log loss with an L2 penalty "
            "or none: LogisticRegression, MLPClassifier or a torch module, alone or at the end of "
            f"a pipeline. {model} is not one, or has an L1 penalty. Use errors='bootstrap' with "
            "refits=, or errors='bags' for an ExplainableBoostingClassifier."
        )
    shape = np.shape(adapted.head.coef)
    n_contrasts = max(1, (shape[0] if len(shape) == 2 else 1) - 1)
    if n_contrasts * (shape[-1] + 1) > LARGEST_CURVATURE:
        raise UnsupportedModelError(
            f"errors='laplace' accepts at most {LARGEST_CURVATURE} coefficients, because it needs "
            f"a matrix of all pairs of them; {model} has {n_contrasts} × {shape[-1] + 1} "
            "(contrasts of classes × features and intercept). Select features, or use "
            "errors='bootstrap' with refits=."
        )
    weighting = ClassWeighting.read(loss.class_weight, adapted.head.classes)
    return LaplaceFit.of_loss(adapted.head, loss, weighting)
