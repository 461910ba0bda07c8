r"""Missing inputs of linear models: NaN as no evidence, or as what the other inputs suggest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import array_api_compat
import numpy as np
from scipy import sparse
from scipy.special import log_softmax, logsumexp
from sklearn.utils import get_tags

from shafer._errors import UnsupportedModelError
from shafer._typing import Array, BoolArray, FloatArray
from shafer._validation import frame_columns, row_weights, to_numpy
from shafer.evidence import Evidence, least_commitment
from shafer.evidence.weight_sources import DenseWeights
from shafer.models.inputs.nan_checks import gaps_in
from shafer.models.inputs.row_access import n_rows, values_of
from shafer.models.readers.adapted_model import AdaptedModel, LinearModel, Pool
from shafer.models.uncertainty.conditional_gaussian import ConditionalGaussian
from shafer.models.uncertainty.moderation import moderating_factor

MISSING = ("error", "vacuous", "conditional")


@final
@dataclass(frozen=True, eq=False)
class MissingInputs:
    r"""Evidence of rows with gaps, for a linear model whose components are its inputs.

    With :math:`w_{jk} = \beta^*_{jk} (\varphi_j - \mu_j) + b_k / J` the weights of a complete row,

    - ``"vacuous"``: a missing input says no more than its share of the log prior,
      :math:`w_{jk} = \ell^*_k / J`, where :math:`\ell^*` is the logarithm of the mean predicted
      probability over the background, centred over the classes. Nothing missing gives the model's
      own logits, everything missing gives :math:`\ell^*`.
    - ``"conditional"``: missing inputs are replaced by what is expected of them given the others,
      under a Gaussian with shrunk correlations. What is left open of the logits,
      :math:`\sigma^2 = \frac{2K}{K-1} \operatorname{mean}_k \operatorname{Var}(z^*_k)` (for K = 2
      the variance of the log-odds), takes from all weights of the row:
      :math:`\kappa = (1 + \pi \sigma^2 / 8)^{-1/2}`.

    Rows without gaps have the model's own weights in either case. NaN means missing; infinity is
    an error. Make one with :meth:`fit`.
    """

    how: str
    model: LinearModel
    reader: AdaptedModel
    pool: Pool
    means: FloatArray  # (J,)
    beta: FloatArray  # (J, K)
    offset_change: FloatArray  # (K,): what a missing input's share of the intercept changes by
    membership: FloatArray | None  # (J, H): which group an input belongs to
    gaussian: ConditionalGaussian | None

    @classmethod
    def fit(
        cls,
        model: AdaptedModel,
        pool: Pool,
        background: Any,
        how: str,
        *,
        groups: Mapping[str, Sequence[int]] | None = None,
        sample_weight: Any = None,
    ) -> MissingInputs:
        """Learn what a missing input may be from the background.

        Parameters
        ----------
        model : AdaptedModel
            The model as read, before any grouping.
        pool : LinearPool or AdditivePool
            What the model was identified as, after grouping; it gives classes and names.
        background : array or data frame of shape (n, J), without gaps
        how : {"vacuous", "conditional"}
        groups : mapping, optional
            Group name -> positions of inputs, if the pool's components are groups.
        sample_weight : array of shape (n,), optional
            Weights of the background rows.
        """
        linear = check_gaps(model, how, background)
        share = _shares(sample_weight, n_rows(background))
        features = to_numpy(_dense(linear.terms(background))).astype(np.float64)
        bare = replace(linear, features=values_of, gaps=None, encoders=())
        mean = share @ features
        head = least_commitment(linear.head.coef, linear.head.intercept)
        beta = to_numpy(head.beta).astype(np.float64)
        intercept = to_numpy(head.offset).astype(np.float64) * len(beta) + mean @ beta
        log_prior = _log_prior((features - mean) @ beta + intercept, share)
        return cls(
            how,
            linear,
            bare if groups is None else bare.grouped(groups),
            pool,
            mean,
            beta,
            (log_prior - intercept) / len(beta),
            None if groups is None else _membership(groups, len(beta)),
            ConditionalGaussian.fit(features, share) if how == "conditional" else None,
        )

    def __call__(self, X: Any) -> Evidence:
        """Return the evidence of the rows of ``X``, as the model would take them, NaN included."""
        given = self._features(X)
        features = to_numpy(given).astype(np.float64)
        gaps = np.isnan(features)
        if not gaps.any():
            return self._complete(given)
        filled, variances = self._filled(features, gaps)
        ev = self._complete(_like(filled, given))
        if self.gaussian is None:
            counts = gaps if self.membership is None else gaps @ self.membership
            change = _like(counts[:, :, None] * self.offset_change, given)
            weights = DenseWeights(ev.weights + change)
            return Evidence.from_source(weights, ev.classes, ev.component_names)
        open_variance = 2.0 / (self.beta.shape[1] - 1) * variances.sum(axis=1)
        return ev.tempered(moderating_factor(open_variance))

    @property
    def complete_model(self) -> LinearModel:
        """The model with gaps filled in front of it, for what needs complete rows."""
        return replace(self.model, features=values_of, gaps=None, encoders=(self,))

    def transform(self, X: Any) -> Array:
        """Return the features of X, (n, J), with gaps filled by what is expected, or the means."""
        given = self._features(X)
        features = to_numpy(given).astype(np.float64)
        return _like(self._filled(features, np.isnan(features))[0], given)

    def _filled(self, features: FloatArray, gaps: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Fill gaps, and return the variances of the centred logits that this leaves, (n, K)."""
        if self.gaussian is not None:
            return self.gaussian.completed(features, self.beta)
        return np.where(gaps, self.means, features), np.zeros((len(features), self.beta.shape[1]))

    def _complete(self, features: Array) -> Evidence:
        ev: Evidence = self.pool(self.reader.terms(features))
        return ev

    def _features(self, X: Any) -> Array:
        """Read the features of X, NaN where it has a gap."""
        if sparse.issparse(X):
            raise ValueError(
                f"missing={self.how!r} takes dense rows, since zeros are no gaps; got a sparse "
                "matrix. Give X.toarray(), or missing='error'."
            )
        features = _dense(self.model.incomplete_features(X))
        found = np.isnan(to_numpy(features).astype(np.float64))
        if self.model.encoders:
            _check_passed_on(gaps_in(X), found, frame_columns(X))
        return _checked(features, found)


def _dense(values: Any) -> Any:
    """Make an encoder's sparse output, a frame or a list an array."""
    if sparse.issparse(values):
        return values.toarray()
    values = values_of(values)
    return values if array_api_compat.is_array_api_obj(values) else np.asarray(values)


def check_gaps(model: AdaptedModel, how: str, background: Any) -> LinearModel:
    """Refuse what has no meaning for gaps: models and transformers that mix the inputs."""
    if how not in MISSING[1:]:
        raise ValueError(f"missing must be one of {', '.join(map(repr, MISSING))}; got {how!r}.")
    if isinstance(background, Iterator) or sparse.issparse(background):
        kind = "a sparse matrix" if sparse.issparse(background) else "an iterator of batches"
        raise ValueError(f"missing={how!r} needs the background as one dense array; got {kind}.")
    if not isinstance(model, LinearModel) or model.gaps is None:
        raise UnsupportedModelError(
            f"missing={how!r} is for linear models whose components are their inputs, such as "
            "LogisticRegression, alone or behind scalers. Impute for this model instead, best in a "
            "pipeline in front of it, and leave missing='error'."
        )
    for encoder in model.encoders:
        for step in _steps(encoder):
            _check_lets_pass(step, how)
    return model


def _steps(encoder: Any) -> list[Any]:
    """List the transformers that all columns go through, one after the other."""
    if not hasattr(encoder, "steps"):
        return [encoder]
    return [part for _, step in encoder.steps for part in _steps(step)]


def _check_lets_pass(step: Any, how: str) -> None:
    if step is None or isinstance(step, str):  # "passthrough"
        return
    name = type(step).__name__
    if "Imputer" in name:
        raise UnsupportedModelError(
            f"missing={how!r} finds no gaps behind {name}, which fills them. Leave "
            "missing='error', or take it out of the pipeline."
        )
    if name == "ColumnTransformer":  # some columns may, others not: seen when a gap comes
        return
    if not get_tags(step).input_tags.allow_nan:
        raise UnsupportedModelError(
            f"missing={how!r} needs transformers that let NaN pass column by column, as scalers "
            f"do; {name} does not. Impute in front of it instead, and leave missing='error'."
        )


def _check_passed_on(before: BoolArray, after: BoolArray, columns: tuple[str, ...] | None) -> None:
    """Refuse gaps that an encoder has filled, dropped or multiplied."""
    wrong = np.flatnonzero(before.sum(axis=1) != after.sum(axis=1))
    if not len(wrong):
        return
    row = int(wrong[0])
    names = [str(columns[j]) if columns else int(j) for j in np.flatnonzero(before[row])]
    raise UnsupportedModelError(
        f"Row {row} of X has gaps in {names}, which are {int(after[row].sum())} gap(s) once "
        "encoded: only columns that the pipeline passes on one to one (scaled, not one-hot "
        "encoded) may have gaps. Impute the others first."
    )


def _checked(features: Array, gaps: BoolArray) -> Array:
    """Refuse infinity, which is no gap."""
    bad = ~np.isfinite(to_numpy(features).astype(np.float64)) & ~gaps
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"X must be finite where it is not NaN; got infinity in row {row}, column {column}. "
            "Mark missing values by NaN."
        )
    return features


def _shares(sample_weight: Any, n: int) -> FloatArray:
    weight = row_weights(sample_weight, n)
    return np.full(n, 1.0 / n) if weight is None else weight / weight.sum()


def _log_prior(logits: FloatArray, share: FloatArray) -> FloatArray:
    """Return the logarithm of the mean softmax of logits (n, K), centred."""
    log_mean = logsumexp(log_softmax(logits, axis=1), axis=0, b=share[:, None])
    centred: FloatArray = log_mean - log_mean.mean()
    return centred


def _membership(groups: Mapping[str, Sequence[int]], n_inputs: int) -> FloatArray:
    membership = np.zeros((n_inputs, len(groups)))
    for h, members in enumerate(groups.values()):
        membership[list(members), h] = 1.0
    return membership


def _like(array: FloatArray, given: Array) -> Array:
    """Bring an array to the library, device and precision of the features."""
    xp = array_api_compat.array_namespace(given)
    precision = given.dtype if xp.isdtype(given.dtype, "real floating") else xp.float64
    return xp.asarray(array, dtype=precision, device=given.device)
