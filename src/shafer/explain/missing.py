"""Missing inputs of linear models: no evidence, or their expectation given the other inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, final

import array_api_compat
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import log_softmax, logsumexp
from sklearn.utils import get_tags

from shafer._checks.arrays import row_weights, to_numpy
from shafer._checks.frames import frame_columns
from shafer._files.codec import OneOf, Says
from shafer._kernels.products import product
from shafer._typing import Array, BoolArray, FloatArray
from shafer.errors import UnsupportedModelError
from shafer.evidence.evidence import Evidence
from shafer.evidence.least_commitment import least_commitment
from shafer.evidence.sources import DenseWeights
from shafer.evidence.typicality import shrinkage_intensity
from shafer.explain.calibration import moderating_factor
from shafer.models.read_model import LinearModel, ModelRows, ReadModel
from shafer.rows.access import take_rows, values_of
from shafer.rows.blocks import InputBlocks, uses_gaps
from shafer.rows.checks import gaps_in
from shafer.rows.columns import encoded_sources
from shafer.texts.inputs import first_vectorizer


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

    how: Annotated[str, OneOf(*MISSING[1:]), Says(_UNKNOWN)]
    means: Annotated[FloatArray, "J"]
    beta: Annotated[FloatArray, "J K"]
    offset_change: Annotated[FloatArray, "K"]
    gaussian: ConditionalGaussian | None
    blocks: InputBlocks | None = None

    @classmethod
    def fit(
        cls,
        model: ReadModel,
        features: Any,
        how: str,
        sample_weight: Any = None,
        blocks: InputBlocks | None = None,
    ) -> MissingInputs:
        """Learn the distribution of the inputs from the background.

        Parameters
        ----------
        model : ReadModel
            A model that :func:`~shafer.explain.missing.check_gaps` accepts.
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

    def complete(self, model: ReadModel, X: Any, passed: ModelRows | None = None) -> FilledRows:
        """Pass X through the model once, and fill in what is missing.

        Parameters
        ----------
        model : ReadModel
        X : as the model takes it
        passed : ModelRows, optional
            X after an earlier pass, which is then not repeated.
        """
        if sparse.issparse(X):
            raise ValueError(
                f"missing={self.how!r} needs dense rows, because the zeros of a sparse matrix are "
                "not missing; got a sparse matrix. Pass X.toarray(), or use missing='error'."
            )
        read, gaps = self._read(model, X) if passed is None else self._found(model, X, passed)
        given = dense_rows(read.terms)
        features = np.where(gaps, np.nan, to_numpy(given).astype(np.float64))
        _check_finite(features, gaps)
        if not gaps.any():
            return FilledRows(ModelRows(read.encoded, given), None)
        if self.gaussian is not None:
            filled, variances = self.gaussian.completed(features, self.beta)
            open_variance = 2.0 / (self.beta.shape[1] - 1) * variances.sum(axis=1)
        else:
            filled, open_variance = np.where(gaps, self.means, features), None
        completed = _like(filled, given)
        return FilledRows(ModelRows(completed, completed, gaps), open_variance)

    def _read(self, model: ReadModel, X: Any) -> tuple[ModelRows, BoolArray]:
        """Pass X through the model, and return where its features are missing."""
        if self.blocks is not None:
            missing = self.blocks.gaps(X)
            rows = model.rows(self.blocks.filled(X, missing))
            return rows, self.blocks.feature_gaps(missing, len(self.beta))
        return self._passed_on(model, X, model.incomplete_rows(X))

    def _found(self, model: ReadModel, X: Any, passed: ModelRows) -> tuple[ModelRows, BoolArray]:
        """Return where features are missing, after a pass that may have filled them in.

        Known inputs have the same features in every pass: each feature depends on one input.
        """
        if passed.gaps is not None:
            return passed, passed.gaps
        if self.blocks is not None:
            return passed, self.blocks.feature_gaps(self.blocks.gaps(X), len(self.beta))
        return self._passed_on(model, X, passed)

    def _passed_on(self, model: ReadModel, X: Any, rows: ModelRows) -> tuple[ModelRows, BoolArray]:
        gaps = np.isnan(to_numpy(dense_rows(rows.terms)))
        if model.encoders:
            _check_passed_on(gaps_in(X), gaps, frame_columns(X))
        return rows, gaps

    def adjusted(
        self, ev: Evidence, filled: FilledRows, groups: Sequence[Sequence[int]] | None
    ) -> Evidence:
        """Change the evidence of filled rows, whose components may be groups of inputs."""
        gaps = filled.rows.gaps
        if gaps is None:
            return ev
        if filled.open_variance is not None:
            shrunk = ev.tempered(moderating_factor(filled.open_variance))
            return replace(shrunk, calibrated=ev.calibrated)  # rows without gaps are alike
        counts, whole = gaps.astype(np.intp), gaps
        if groups is not None:
            counts = np.stack([gaps[:, group].sum(axis=1) for group in groups], axis=1)
            whole = counts == [len(group) for group in groups]
        change = counts[:, :, None] * self.offset_change
        if ev.n_components > counts.shape[1]:  # the base rate is a component of its own
            total = change.sum(axis=1, keepdims=True)
            change = np.concatenate([np.zeros_like(change), total], axis=1)
            whole = np.column_stack([whole, np.zeros(len(whole), dtype=bool)])
        added = _like(change, filled.rows.terms)
        # A missing input has nothing but its share, so all of its change belongs to the base rate,
        # and what differs from it is rounding.
        xp = array_api_compat.array_namespace(added)
        shares = ev.source.base_shares() + added
        missing = xp.asarray(whole[:, :, None], device=added.device)
        weights = xp.where(missing, shares, ev.weights + added)
        source = DenseWeights(weights, shares, ev.source.base_rates())
        return Evidence.from_source(source, ev.classes, ev.component_names, errors=ev.errors)


@final
@dataclass(frozen=True, eq=False)
class FilledRows:
    """Rows after one pass through a model, with the missing inputs filled in.

    Attributes
    ----------
    rows : ModelRows
        Without NaN; ``rows.gaps`` tells where it was.
    open_variance : array of shape (n,), or None
        The variance of the logits that remains after filling; None for ``"vacuous"``.
    """

    rows: ModelRows
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


# A Gaussian over features: the missing ones given those that are known.

_MOST_FEATURES = 10_000  # their covariance takes most of a gigabyte


@final
@dataclass(frozen=True, eq=False)
class ConditionalGaussian:
    r"""A Gaussian whose correlations are shrunk by Ledoit and Wolf's intensity.

    Features are standardised first, so that shrinking does not depend on their units. A feature
    that is constant over the background has no correlations, and its expectation is its mean.

    Attributes
    ----------
    mean, spread : arrays of shape (J,)
    correlation, precision : arrays of shape (J, J)
        Of the standardised features, and its inverse.
    """

    mean: Annotated[FloatArray, "J"]
    spread: Annotated[FloatArray, "J"]
    correlation: Annotated[FloatArray, "J J"]
    precision: Annotated[FloatArray, "J J"]

    @classmethod
    def fit(cls, features: FloatArray, share: FloatArray) -> ConditionalGaussian:
        """Estimate it from complete features (n, J), whose shares sum to 1."""
        n_features = features.shape[1]
        if n_features > _MOST_FEATURES:
            raise ValueError(
                f"missing='conditional', and questions about inputs, need the covariance of all "
                f"pairs of features, at most {_MOST_FEATURES:,} features; got {n_features:,}. Use "
                "missing='vacuous', and a model with fewer features for questions."
            )
        mean = share @ features
        centred = features - mean
        spread = np.sqrt(share @ centred**2)
        # Rounding makes a constant differ from its mean in the last digits.
        spread = np.where(spread > 1e-12 * np.abs(features).max(axis=0), spread, 0.0)
        x = standardised(centred, spread)
        correlation = (x * share[:, None]).T @ x
        if spread.any():
            correlation *= 1.0 - shrinkage_intensity(x[:, spread > 0.0], share)
        np.fill_diagonal(correlation, 1.0)
        identity = np.eye(n_features)
        precision = cho_solve(cho_factor(correlation, lower=True), identity)
        return cls(mean, spread, correlation, precision)

    def completed(self, features: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Replace NaN by its expectation, and return the remaining variance of linear functions.

        Parameters
        ----------
        features : array of shape (n, J)
        coef : array of shape (J, K)

        Returns
        -------
        filled : array of shape (n, J)
            The features, with expectations given the known ones in place of NaN.
        variances : array of shape (n, K)
            The variances of ``features @ coef``, given the known features.
        """
        gaps = np.isnan(features)
        filled = features.copy()
        variances = np.zeros((features.shape[0], coef.shape[1]))
        for rows, missing in patterns(gaps):
            out, there = np.flatnonzero(missing), np.flatnonzero(~missing)
            gain, left = self.given(there, out)
            x = standardised(features[np.ix_(rows, there)] - self.mean[there], self.spread[there])
            filled[np.ix_(rows, out)] = self.mean[out] + product(x, gain.T) * self.spread[out]
            slope = coef[out] * self.spread[out][:, None]
            variances[rows] = np.maximum(((left @ slope) * slope).sum(axis=0), 0.0)
        return filled, variances

    def given(
        self, there: NDArray[np.intp], out: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the regression of missing features on known ones, and the remaining covariance.

        Features are standardised. The correlations and their inverse give the same result; the
        smaller system is solved.
        """
        if len(out) <= len(there):
            factor = cho_factor(self.precision[np.ix_(out, out)], lower=True)
            gain = -cho_solve(factor, self.precision[np.ix_(out, there)])
            return gain, cho_solve(factor, np.eye(len(out)))
        if len(there) == 0:
            return np.zeros((len(out), 0)), self.correlation[np.ix_(out, out)]
        across = self.correlation[np.ix_(there, out)]
        factor = cho_factor(self.correlation[np.ix_(there, there)], lower=True)
        gain = cho_solve(factor, across).T
        return gain, self.correlation[np.ix_(out, out)] - gain @ across


def patterns(
    gaps: BoolArray, *, complete: bool = False
) -> Iterator[tuple[NDArray[np.intp], BoolArray]]:
    """Yield the incomplete rows, or all rows, those with the same missing features together."""
    incomplete = np.arange(len(gaps)) if complete else np.flatnonzero(gaps.any(axis=1))
    if not len(incomplete):
        return
    which = _numbered_patterns(gaps[incomplete])
    order = np.argsort(which, kind="stable")
    starts = np.flatnonzero(np.diff(which[order])) + 1
    for rows in np.split(incomplete[order], starts):
        yield rows, gaps[rows[0]]


def _numbered_patterns(gaps: BoolArray) -> NDArray[Any]:
    """Return a number (n,) for each row, the same for the same gaps."""
    packed = np.packbits(gaps, axis=1)
    if packed.shape[1] > 8:
        return np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1)
    one_number = np.zeros((len(packed), 8), dtype=np.uint8)
    one_number[:, : packed.shape[1]] = packed
    return one_number.view(np.uint64)[:, 0]


def standardised(centred: FloatArray, spread: FloatArray) -> FloatArray:
    """Divide by the spread; constants, which have none, give zeros."""
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0.0)


# Which models and transformers can take missing inputs, and rows without any.

MISSING = ("error", "vacuous", "conditional")
_UNKNOWN = f"missing must be one of {MISSING[1:]}; got {{got}}."


def complete_rows(X: Any) -> Any:
    """Return the rows without gaps, in which an imputer changes nothing; None if there are none."""
    gaps = gaps_in(X).any(axis=1)
    if not gaps.any():
        return X
    return None if gaps.all() else take_rows(X, np.flatnonzero(~gaps).tolist())


def check_gaps(model: ReadModel, how: str, background: Any) -> None:
    """Raise an error for models and transformers that mix the inputs."""
    if how not in MISSING[1:]:
        raise ValueError(f"missing must be one of {', '.join(map(repr, MISSING))}; got {how!r}.")
    check_single_inputs(model, background, f"missing={how!r}", "use missing='error'")


def check_single_inputs(
    model: ReadModel, background: Any, what: str, otherwise: str
) -> InputBlocks | None:
    """Raise an error unless each feature of a linear model depends on one input.

    Parameters
    ----------
    model : ReadModel
    background : as the model takes it
    what : str
        What needs it, for the error.
    otherwise : str
        What to do for other models, for the error.

    Returns
    -------
    InputBlocks or None
        None if the features are the inputs, or if the transformers pass NaN on by themselves.
    """
    if isinstance(background, Iterator) or sparse.issparse(background):
        kind = "a sparse matrix" if sparse.issparse(background) else "an iterator of batches"
        raise ValueError(
            f"{what} needs the background as one dense array; got {kind}. Pass one array "
            f"or data frame, or {otherwise}."
        )
    _check_linear(model, what, otherwise)
    blocks = InputBlocks.traced(model, background)
    if blocks is None:
        _check_all_let_pass(model, what, otherwise)
    return blocks


def check_without_rows(
    model: ReadModel, columns: Sequence[str] | None, what: str, otherwise: str
) -> None:
    """Raise the same errors as far as no rows are needed to tell, as for a loaded explainer."""
    _check_linear(model, what, otherwise)
    if model.encoders and not _single_columns(model, columns):
        _check_all_let_pass(model, what, otherwise)


def _single_columns(model: ReadModel, columns: Sequence[str] | None) -> bool:
    """Tell whether each feature is traced to one column of a table."""
    if uses_gaps(model.encoders) or first_vectorizer(model.encoders) is not None:
        return False
    try:
        width = getattr(model.encoders[0], "n_features_in_", None)
        sources = encoded_sources(model.encoders, columns, width)[1]
    except UnsupportedModelError:
        return False
    return all(len(members) <= 1 for members in sources)


def _check_all_let_pass(model: ReadModel, what: str, otherwise: str) -> None:
    for encoder in model.encoders:
        for step in _steps(encoder):
            _check_lets_pass(step, what, otherwise)


def _check_linear(model: ReadModel, what: str, otherwise: str) -> None:
    """Raise an error unless the model is linear in inputs; no rows are needed to tell."""
    if not isinstance(model, LinearModel) or model.gaps is None:
        raise UnsupportedModelError(
            f"{what} works for linear models whose components are their inputs, such as "
            "LogisticRegression, alone or behind transformers of single columns. For this model, "
            f"put an imputer in front of it in a pipeline, and {otherwise}."
        )


def _steps(encoder: Any) -> list[Any]:
    """Return the transformers that all columns pass through, in order."""
    if not hasattr(encoder, "steps"):
        return [encoder]
    return [part for _, step in encoder.steps for part in _steps(step)]


def _check_lets_pass(step: Any, what: str, otherwise: str) -> None:
    if step is None or isinstance(step, str):  # "passthrough"
        return
    name = type(step).__name__
    if "Imputer" in name:
        raise UnsupportedModelError(
            f"{what} cannot be used behind this {name}, which mixes columns or adds features for "
            f"missing values. Put a SimpleImputer without add_indicator in its place, or "
            f"{otherwise}."
        )
    if name == "ColumnTransformer":  # may accept NaN in some columns: checked when one comes
        return
    if not get_tags(step).input_tags.allow_nan:
        raise UnsupportedModelError(
            f"{what} needs transformers of single columns, such as scalers and one-hot encoders; "
            f"{name} mixes columns, or does not tell which of them it uses. Put an imputer in "
            f"front of it, and {otherwise}."
        )
