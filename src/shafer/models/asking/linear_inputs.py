"""``LinearInputs``: the inputs of a linear model, and their Gaussian over the background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._typing import FloatArray
from shafer._validation import component_names, frame_columns, to_numpy
from shafer.evidence import least_commitment
from shafer.models.asking.value_decoder import ValueDecoder
from shafer.models.grouping.input_blocks import InputBlocks, column_values, uses_gaps
from shafer.models.inputs.frame_order import in_order
from shafer.models.readers.adapted_model import AdaptedModel, LinearModel
from shafer.models.uncertainty.conditional_gaussian import ConditionalGaussian
from shafer.models.uncertainty.gap_checks import check_single_inputs
from shafer.models.uncertainty.missing_inputs import MissingInputs, dense_rows
from shafer.models.weighed_model import WeighedModel

_MOST_KEPT = 500  # features; their covariance takes two megabytes
_WHAT = "A question about inputs"
_OTHERWISE = "ask ev.fragility(q) of its evidence, which works for every model"


@final
@dataclass(frozen=True, eq=False)
class LinearInputs:
    """What every question about the inputs of a linear model needs of the background.

    Attributes
    ----------
    missing : MissingInputs
        With ``how="conditional"``: fills in missing inputs, and has the Gaussian.
    blocks : InputBlocks
        The inputs, and the features of each.
    ranks : tuple of int
        The number of directions in which the features of each input vary; one less than the
        number of categories for a category.
    values : tuple of ValueDecoder or None
        From features back to the user's values; None where the feature is the value.
    """

    missing: MissingInputs
    blocks: InputBlocks
    ranks: tuple[int, ...]
    values: tuple[ValueDecoder | None, ...]

    @classmethod
    def fit(cls, weighed: WeighedModel, background: Any, sample_weight: Any) -> LinearInputs:
        """Learn the distribution of the inputs from the background."""
        if background is None:
            raise ValueError(
                f"{_WHAT} needs the distribution of the inputs, but this explainer was made from "
                "an iterator, or loaded from a file without it. Make it from one array or data "
                "frame. To save it with the distribution, make it with missing='conditional'."
            )
        model = weighed.model
        X = in_order(background, weighed.columns)
        traced = check_single_inputs(model, X, _WHAT, _OTHERWISE)
        if uses_gaps(model.encoders):
            raise UnsupportedModelError(
                f"{_WHAT} cannot be asked about this model: it makes features of missing values "
                "themselves, such as a category for NaN, so that no input is missing to it. Put a "
                "SimpleImputer in front of the encoder of such columns and train again, or "
                f"{_OTHERWISE}."
            )
        features = to_numpy(dense_rows(model.rows(X).terms)).astype(np.float64)
        if len(features) < 2:
            raise ValueError(
                f"{_WHAT} needs the distribution of the inputs, but the background has a single "
                "row, such as the means. Give the training data as the background; on the command "
                "line, with --train."
            )
        missing = weighed.missing
        if missing is None or missing.gaussian is None:
            missing = MissingInputs.fit(model, features, "conditional", sample_weight, traced)
        blocks = _named(traced, weighed, X, features.shape[1])
        return cls(missing, blocks, _ranks(features, blocks), _values(model, X, features, blocks))

    @staticmethod
    def worth_keeping(weighed: WeighedModel) -> bool:
        """Return whether the covariance of the inputs is small enough for every model file."""
        model = weighed.model
        linear = isinstance(model, LinearModel) and model.gaps is not None
        return linear and weighed.means.shape[0] <= _MOST_KEPT

    @property
    def gaussian(self) -> ConditionalGaussian:
        """The Gaussian of the features."""
        assert self.missing.gaussian is not None
        return self.missing.gaussian

    @property
    def beta(self) -> FloatArray:
        """The coefficients β*, (J, K)."""
        return self.missing.beta

    def level(self, model: AdaptedModel) -> FloatArray:
        """Return the centred logits at the feature means, (K,)."""
        head = least_commitment(model.head.coef, model.head.intercept)
        intercept = to_numpy(head.offset).astype(np.float64) * len(self.beta)
        level: FloatArray = intercept + self.missing.means @ self.beta
        return level


def _named(
    traced: InputBlocks | None, weighed: WeighedModel, X: Any, n_features: int
) -> InputBlocks:
    names = component_names(weighed.names, n_features)
    if traced is None:
        return InputBlocks.alone(names)
    known = frame_columns(X) is not None or weighed.columns is not None
    if known or any(len(block) != 1 for block in traced.features):
        return traced
    own = tuple(names[block[0]] for block in traced.features)
    return InputBlocks(own, traced.columns, traced.features, traced.stand_ins)


def _ranks(features: FloatArray, blocks: InputBlocks) -> tuple[int, ...]:
    found = []
    for block in blocks.features:
        part = features[:, list(block)]
        rank = 1 if len(block) == 1 else np.linalg.matrix_rank(part - part.mean(axis=0))
        found.append(max(1, int(rank)))
    return tuple(found)


def _values(
    model: AdaptedModel, X: Any, features: FloatArray, blocks: InputBlocks
) -> tuple[ValueDecoder | None, ...]:
    if not model.encoders:
        return (None,) * len(blocks.names)
    if not blocks.stand_ins:  # transformers that could not be traced
        return (None,) * len(blocks.names)
    places = blocks.places_in(X)
    return tuple(
        ValueDecoder.fit(column_values(X, place), features[:, list(block)])
        for place, block in zip(places, blocks.features, strict=True)
    )
