"""Missing inputs of linear models: no evidence, or their expectation given the other inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import array_api_compat
import numpy as np
from scipy import sparse
from scipy.special import log_softmax, logsumexp

from shafer._errors import UnsupportedModelError
from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import frame_columns, row_weights, to_numpy
from shafer.evidence import Evidence, least_commitment
from shafer.evidence.weight_sources import DenseWeights
from shafer.models.grouping.input_blocks import InputBlocks
from shafer.models.inputs.nan_checks import gaps_in
from shafer.models.inputs.row_access import values_of
from shafer.models.readers.adapted_model import AdaptedModel
from shafer.models.readers.model_rows import ModelRows
from shafer.models.uncertainty.conditional_gaussian import ConditionalGaussian
from shafer.models.uncertainty.moderation import moderating_factor


@final
@dataclass(frozen=True, eq=False)
class MissingInputs:
    r"""Evidence of rows with missing inputs, for a linear model whose components are its inputs.

    With :math:`w_{jk} = \beta^*_{jk} (\varphi_j - \mu_j) + b_k / J` the weights of a complete row,

    - ``"vacuous"``: a missing input contributes only its share of the log prior,
      :math:`w_{jk} = \ell^*_k / J`, where :math:`\ell^*` is the logarithm of the mean predicted
      probability over the background, centred over the classes. If the base rate is a component
      of its own, the share goes there. If nothing is missing, the logits are the model's own. If
      everything is missing, they are :math:`\ell^*`.
    - ``"conditional"``: missing inputs are replaced by their expectation given the other inputs,
      under a Gaussian with shrunk correlations. The remaining variance of the logits,
      :math:`\sigma^2 = \frac{2K}{K-1} \operatorname{mean}_k \operatorname{Var}(z^*_k)` (for K = 2
      the variance of the log-odds), shrinks all weights of the row:
      :math:`\kappa = (1 + \pi \sigma^2 / 8)^{-1/2}`.

    Complete rows have the model's own weights in both cases. NaN means missing; infinity is an
    error. Make one with :meth:`fit`.

    Attributes
    ----------
    how : {"vacuous", "conditional"}
    means : array of shape (J,)
        The feature means over the background.
    beta : array of shape (J, K)
        The coefficients β*.
    offset_change : array of shape (K,)
        The change of a missing input's share of the intercept.
    gaussian : ConditionalGaussian or None
        For ``"conditional"``.
    blocks : InputBlocks or None
        The features of each input, behind transformers of single columns. All features of a
        missing input are missing, such as the indicators of a category. None if there are no
        transformers, or if they pass NaN on by themselves.
    """

    how: str
    means: FloatArray
    beta: FloatArray
    offset_change: FloatArray
    gaussian: ConditionalGaussian | None
    blocks: InputBlocks | None = None

    @classmethod
    def fit(
        cls,
        model: AdaptedModel,
        features: Any,
        how: str,
        sample_weight: Any = None,
        blocks: InputBlocks | None = None,
    ) -> MissingInputs:
        """Learn the distribution of the inputs from the background.

        Parameters
        ----------
        model : AdaptedModel
            A model that :func:`~shafer.models.uncertainty.gap_checks.check_gaps` accepts.
        features : array or sparse matrix of shape (n, J), without NaN
            The model's features of the background rows.
        how : {"vacuous", "conditional"}
        sample_weight : array of shape (n,), optional
            Weights of the background rows.
        blocks : InputBlocks, optional
            The features of each input behind transformers.
        """
        features = to_numpy(dense_rows(features)).astype(np.float64)
        share = _shares(sample_weight, len(features))
        mean = share @ features
        head = least_commitment(model.head.coef, model.head.intercept)
        beta = to_numpy(head.beta).astype(np.float64)
        intercept = to_numpy(head.offset).astype(np.float64) * len(beta) + mean @ beta
        log_prior = _log_prior((features - mean) @ beta + intercept, share)
        return cls(
            how,
            mean,
            beta,
            (log_prior - intercept) / len(beta),
            ConditionalGaussian.fit(features, share) if how == "conditional" else None,
            blocks,
        )

    def complete(self, model: AdaptedModel, X: Any) -> FilledRows:
        """Pass X through the model once, and fill in what is missing."""
        if sparse.issparse(X):
            raise ValueError(
                f"missing={self.how!r} needs dense rows, because the zeros of a sparse matrix are "
                "not missing; got a sparse matrix. Pass X.toarray(), or use missing='error'."
            )
        read, gaps = self._read(model, X)
        given = dense_rows(read.terms)
        features = np.where(gaps, np.nan, to_numpy(given).astype(np.float64))
        _check_finite(features, gaps)
        if not gaps.any():
            return FilledRows(ModelRows(read.encoded, given), None, None)
        if self.gaussian is not None:
            filled, variances = self.gaussian.completed(features, self.beta)
            open_variance = 2.0 / (self.beta.shape[1] - 1) * variances.sum(axis=1)
        else:
            filled, open_variance = np.where(gaps, self.means, features), None
        completed = _like(filled, given)
        return FilledRows(ModelRows(completed, completed), gaps, open_variance)

    def _read(self, model: AdaptedModel, X: Any) -> tuple[ModelRows, BoolArray]:
        """Pass X through the model, and return where its features are missing."""
        if self.blocks is not None:
            missing = self.blocks.gaps(X)
            rows = model.rows(self.blocks.filled(X, missing))
            return rows, self.blocks.feature_gaps(missing, len(self.beta))
        rows = model.incomplete_rows(X)
        gaps = np.isnan(to_numpy(dense_rows(rows.terms)))
        if model.encoders:
            _check_passed_on(gaps_in(X), gaps, frame_columns(X))
        return rows, gaps

    def adjusted(
        self, ev: Evidence, filled: FilledRows, groups: Sequence[Sequence[int]] | None
    ) -> Evidence:
        """Change the evidence of filled rows, whose components may be groups of inputs."""
        if filled.gaps is None:
            return ev
        if filled.open_variance is not None:
            shrunk = ev.tempered(moderating_factor(filled.open_variance))
            return replace(shrunk, calibrated=ev.calibrated)  # rows without gaps are alike
        counts = filled.gaps
        if groups is not None:
            counts = np.stack([filled.gaps[:, group].sum(axis=1) for group in groups], axis=1)
        change = counts[:, :, None] * self.offset_change
        if ev.n_components > counts.shape[1]:  # the base rate is a component of its own
            total = change.sum(axis=1, keepdims=True)
            change = np.concatenate([np.zeros_like(change), total], axis=1)
        added = _like(change, filled.rows.terms)
        # A missing input has nothing but its share, so all of its change belongs to the base rate.
        source = DenseWeights(ev.weights + added, ev.source.base_shares() + added)
        return Evidence.from_source(source, ev.classes, ev.component_names, errors=ev.errors)


@final
@dataclass(frozen=True, eq=False)
class FilledRows:
    """Rows after one pass through a model, with the missing inputs filled in.

    Attributes
    ----------
    rows : ModelRows
        Without NaN.
    gaps : boolean array of shape (n, J), or None
        The inputs that were missing; None if there were none.
    open_variance : array of shape (n,), or None
        The variance of the logits that remains after filling; None for ``"vacuous"``.
    """

    rows: ModelRows
    gaps: BoolArray | None
    open_variance: FloatArray | None


def dense_rows(values: Any) -> Any:
    """Return an encoder's sparse output, a frame or a list as an array."""
    if sparse.issparse(values):
        return values.toarray()
    values = values_of(values)
    return values if array_api_compat.is_array_api_obj(values) else np.asarray(values)


def _check_passed_on(before: BoolArray, after: BoolArray, columns: tuple[str, ...] | None) -> None:
    """Raise an error if an encoder filled, dropped or multiplied missing values."""
    wrong = np.flatnonzero(before.sum(axis=1) != after.sum(axis=1))
    if not len(wrong):
        return
    row = int(wrong[0])
    names = [str(columns[j]) if columns else int(j) for j in np.flatnonzero(before[row])]
    raise UnsupportedModelError(
        f"Row {row} of X has missing values in {names}, which become {int(after[row].sum())} "
        "missing value(s) after encoding. Behind these transformers, only columns that are passed "
        "on one to one, such as scaled ones, may have missing values. Impute the others first."
    )


def _check_finite(features: FloatArray, gaps: BoolArray) -> None:
    """Raise an error for infinite values, which do not mean missing."""
    bad = ~np.isfinite(features) & ~gaps
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"X must be finite where it is not NaN; got infinity in row {row}, column {column}. "
            "Mark missing values by NaN."
        )


def _shares(sample_weight: Any, n: int) -> FloatArray:
    weight = row_weights(sample_weight, n)
    return np.full(n, 1.0 / n) if weight is None else weight / weight.sum()


def _log_prior(logits: FloatArray, share: FloatArray) -> FloatArray:
    """Return the logarithm of the mean softmax of logits (n, K), centred."""
    log_mean = logsumexp(log_softmax(logits, axis=1), axis=0, b=share[:, None])
    centred: FloatArray = log_mean - log_mean.mean()
    return centred


def _like(array: FloatArray, given: Array) -> Array:
    """Bring an array to the library, device and precision of the features."""
    xp = array_api_compat.array_namespace(given)
    precision = given.dtype if xp.isdtype(given.dtype, "real floating") else xp.float64
    return xp.asarray(array, dtype=precision, device=given.device)
