"""``AskedModel``: a linear model with its calibration, and rows made ready for questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from shafer._typing import BoolArray, FloatArray
from shafer._validation import to_numpy
from shafer.models.asking.known_cells import constant_safe_spread, standard_units
from shafer.models.asking.linear_inputs import LinearInputs
from shafer.models.inputs.frame_order import in_order, missing_columns_named
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.inputs.table_checks import check_rows
from shafer.models.readers.model_rows import ModelRows, OwnCalibration
from shafer.models.uncertainty.moderation import moderating_factor
from shafer.models.weighed_model import WeighedModel

_CHUNK = 2**15  # rows in memory at a time


@final
@dataclass(frozen=True, eq=False)
class AskedModel:
    """A linear model, its inputs, and the factors on its weights.

    Attributes
    ----------
    weighed : WeighedModel
    calibration : OwnCalibration
        Tempering and moderation.
    inputs : LinearInputs
    """

    weighed: WeighedModel
    calibration: OwnCalibration
    inputs: LinearInputs

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels."""
        return self.weighed.pool.classes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.inputs.blocks.names

    def chunks(self, X: Any) -> Iterator[AskedRows]:
        """Yield the rows of X, some at a time."""
        check_rows(X, "X")
        n = n_rows(X)
        for start in range(0, max(n, 1), _CHUNK):
            part = X if n <= _CHUNK else take_rows(X, slice(start, start + _CHUNK))
            yield self._rows(part, start)

    def _rows(self, X: Any, start: int) -> AskedRows:
        model, inputs = self.weighed.model, self.inputs
        X = in_order(X, self.weighed.columns)
        with missing_columns_named(X, self.weighed.columns, "X"):
            filled = inputs.missing.complete(model, X)
        features = to_numpy(filled.rows.terms).astype(np.float64)
        gaps = np.zeros(features.shape, dtype=bool) if filled.gaps is None else filled.gaps
        own = np.ones(len(features)) * self.calibration.factor(filled.rows)
        factor = own
        if filled.open_variance is not None:
            factor = own * moderating_factor(filled.open_variance)
        slopes = inputs.beta * constant_safe_spread(inputs.gaussian)[:, None]
        level = inputs.level(model)
        logits = standard_units(features, inputs.gaussian) @ slopes + level
        return AskedRows(X, start, features, gaps, logits, level, own, factor)

    def own_factor(self, features: FloatArray) -> FloatArray:
        """Return the factor of tempering and moderation for complete features (n, J)."""
        rows = ModelRows(features, features)
        return np.asarray(np.ones(len(features)) * self.calibration.factor(rows))


@final
@dataclass(frozen=True, eq=False)
class AskedRows:
    """Rows with the missing inputs filled in.

    Attributes
    ----------
    given : as the model takes it
        The user's rows.
    start : int
        The position of the first row among all.
    features : array of shape (n, J)
        Missing ones have their expectations.
    gaps : boolean array of shape (n, J)
        The features that are missing.
    logits : array of shape (n, K)
        The expected logits z, centred over the classes.
    level : array of shape (K,)
        The logits at the feature means.
    own_factor : array of shape (n,)
        The factor of tempering and moderation on the weights.
    factor : array of shape (n,)
        κ, the factor on the weights: missing inputs, tempering and moderation together.
    """

    given: Any
    start: int
    features: FloatArray
    gaps: BoolArray
    logits: FloatArray
    level: FloatArray
    own_factor: FloatArray
    factor: FloatArray

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def log_probability(self) -> FloatArray:
        """The logarithm of softmax(κ z), (n, K)."""
        return np.asarray(log_softmax(self.factor[:, None] * self.logits, axis=1))

    @cached_property
    def probability(self) -> FloatArray:
        """softmax(κ z), (n, K): the probabilities of the explainer."""
        return np.exp(self.log_probability)


def with_index_column(columns: dict[str, Any], X: Any) -> dict[str, Any]:
    """Add a last column "index" with the labels of a pandas frame; ``row`` holds positions."""
    if not hasattr(X, "iloc"):
        return columns
    return {**columns, "index": X.index[columns["row"]].to_numpy()}
