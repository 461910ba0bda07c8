"""``AskedModel``: a linear model with its calibration, and rows made ready for questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import component_names, labelled
from shafer._kernels.products import product
from shafer._text import listed
from shafer._typing import BoolArray, FloatArray
from shafer.asking.known_cells import constant_safe_spread, standard_units
from shafer.decision.acts import is_number
from shafer.decision.policy import AnswerRule, answers
from shafer.errors import UnsupportedModelError
from shafer.evidence.groups import Groups, read_groups
from shafer.evidence.least_commitment import least_commitment
from shafer.explain.calibration import moderating_factor
from shafer.explain.missing import (
    ConditionalGaussian,
    MissingInputs,
    check_single_inputs,
    check_without_rows,
    dense_rows,
)
from shafer.explain.weighing import WeighedModel
from shafer.models.read_model import LinearModel, ModelRows, OwnCalibration, ReadModel
from shafer.rows.access import n_rows, take_rows
from shafer.rows.blocks import InputBlocks, column_values, uses_gaps
from shafer.rows.checks import check_rows
from shafer.rows.columns import in_order, missing_columns_named

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
    cutoff : Cutoff or LeastLoss, optional
        What answers, if it is not the most probable class.
    """

    weighed: WeighedModel
    calibration: OwnCalibration
    inputs: LinearInputs
    cutoff: AnswerRule | None = None

    @property
    def classes(self) -> NDArray[Any]:
        """Class labels."""
        return self.weighed.pool.classes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.inputs.blocks.names

    def chunks(self, X: Any, passed: ModelRows | None = None) -> Iterator[AskedRows]:
        """Yield the rows of X, some at a time.

        Parameters
        ----------
        X : as the model takes it
        passed : ModelRows, optional
            X after an earlier pass through the model, which is then not repeated.
        """
        check_rows(X, "X")
        n = n_rows(X)
        for start in range(0, max(n, 1), _CHUNK):
            some = slice(start, start + _CHUNK)
            part = X if n <= _CHUNK else take_rows(X, some)
            yield self._rows(part, start, passed if passed is None or n <= _CHUNK else passed[some])

    def _rows(self, X: Any, start: int, passed: ModelRows | None) -> AskedRows:
        model, inputs = self.weighed.model, self.inputs
        X = self.weighed.as_trained(X)
        with missing_columns_named(X, self.weighed.columns, "X"):
            filled = inputs.missing.complete(model, X, passed)
        features = to_numpy(filled.rows.terms).astype(np.float64)
        gaps = filled.rows.gaps
        gaps = np.zeros(features.shape, dtype=bool) if gaps is None else gaps
        own = np.ones(len(features)) * self.calibration.factor(filled.rows)
        open_ = filled.open_variance
        open_ = np.zeros(len(own)) if open_ is None else open_
        factor = own * moderating_factor(open_)
        slopes = inputs.beta * constant_safe_spread(inputs.gaussian)[:, None]
        level = inputs.level(model)
        logits = product(standard_units(features, inputs.gaussian), slopes) + level
        return AskedRows(X, start, features, gaps, logits, level, own, factor, open_, self.cutoff)

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
    open_variance : array of shape (n,)
        Of the logits, while inputs are missing.
    rule : Cutoff or LeastLoss, optional
        What answers.
    """

    given: Any
    start: int
    features: FloatArray
    gaps: BoolArray
    logits: FloatArray
    level: FloatArray
    own_factor: FloatArray
    factor: FloatArray
    open_variance: FloatArray
    rule: AnswerRule | None = None

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def answers(self) -> NDArray[np.intp]:
        """The position of the answer of each row, (n,), by the probabilities of the explainer."""
        return answers(self.factor[:, None] * self.logits, self.rule)

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


# The inputs of a linear model, and their Gaussian over the background.

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
    ranks: Annotated[tuple[int, ...], "I"]
    values: Annotated[tuple[ValueDecoder | None, ...], "I"]

    @classmethod
    def fit(cls, weighed: WeighedModel, background: Any, sample_weight: Any) -> LinearInputs:
        """Learn the distribution of the inputs from the background."""
        model = weighed.model
        if background is None:
            check_without_rows(model, weighed.columns, _WHAT, _OTHERWISE)
            kept = LinearInputs.worth_keeping(weighed)  # then a file has it, where it can be asked
            raise ValueError(
                f"{_WHAT} needs the distribution of the inputs, but this explainer was made from "
                "an iterator, or loaded from a file without it. Make it from one array or data "
                "frame."
                + (
                    ""
                    if kept
                    else " To save it with the distribution, make it with missing='conditional'."
                )
            )
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
    def are_numbers(self) -> bool:
        """Whether all inputs are numbers."""
        return all(scale is None or scale.is_number for scale in self.values)

    @property
    def gaussian(self) -> ConditionalGaussian:
        """The Gaussian of the features."""
        assert self.missing.gaussian is not None
        return self.missing.gaussian

    @property
    def beta(self) -> FloatArray:
        """The coefficients β*, (J, K)."""
        return self.missing.beta

    def level(self, model: ReadModel) -> FloatArray:
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
    model: ReadModel, X: Any, features: FloatArray, blocks: InputBlocks
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


def open_covariance(
    inputs: LinearInputs, gaps: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Return the missing features, their covariance given the others, and their slopes."""
    out, there = np.flatnonzero(gaps), np.flatnonzero(~gaps)
    _, left = inputs.gaussian.given(there, out)
    return out, left, inputs.beta[out] * inputs.gaussian.spread[out][:, None]


# What can be measured at once, and what it costs: single inputs, or groups bought together.


@final
@dataclass(frozen=True, eq=False)
class InputUnits:
    """Units of measurement: each is one input, or several that are measured together.

    Attributes
    ----------
    names : tuple of strings
    features : tuple of tuples of int
        The features of each unit.
    costs : array with the cost of each unit
    """

    names: tuple[str, ...]
    features: tuple[tuple[int, ...], ...]
    costs: FloatArray

    @classmethod
    def read(cls, blocks: InputBlocks, groups: Groups | None, costs: Any) -> InputUnits:
        """Read the user's groups and costs."""
        members = {name: [i] for i, name in enumerate(blocks.names)}
        if isinstance(groups, str) and groups != "one":
            raise ValueError(
                "groups must be inputs that are measured together: a mapping from group name to "
                f"inputs, a sequence of groups, or 'one' for all of them; got {groups!r}."
            )
        if groups is not None:
            members = read_groups(groups, blocks.names)
        features = [[j for i in group for j in blocks.features[i]] for group in members.values()]
        return cls(
            tuple(members), tuple(map(tuple, features)), _read_costs(costs, list(members), blocks)
        )

    def missing_in(self, gaps: BoolArray) -> list[tuple[int, list[int]]]:
        """Return the units with missing features (J,), and which of theirs are missing."""
        parts = [(u, [j for j in unit if gaps[j]]) for u, unit in enumerate(self.features)]
        return [(u, missing) for u, missing in parts if missing]


def _read_costs(costs: Any, names: list[str], blocks: InputBlocks) -> FloatArray:
    result = np.ones(len(names))
    if costs is None:
        return result
    given = labelled(costs, names)
    if not isinstance(given, Mapping):
        raise ValueError(
            f"costs must map names of inputs to costs, as in {{{names[0]!r}: 2.5}}; got {costs!r}."
        )
    for name, cost in given.items():
        if name not in names:
            grouped = name in blocks.names
            hint = "It is measured in a group: give the cost of the group" if grouped else "Use"
            raise ValueError(
                f"costs names {name!r}, which cannot be measured alone. {hint} one of "
                f"{listed(names)}."
            )
        if not is_number(cost) or cost <= 0.0:
            raise ValueError(
                f"costs must be finite numbers > 0; got {cost!r} for {name!r}. Leave an input out "
                "to give it the cost 1."
            )
        result[names.index(name)] = float(cost)
    return result


# From the features of an input back to a value as the user writes it.

_MOST_VALUES = 512  # of a table; a straight line needs two


@final
@dataclass(frozen=True, eq=False)
class ValueDecoder:
    """Values of an input over the background, beside the features that they become.

    Attributes
    ----------
    values : array of shape (V,)
        Numbers or text.
    encoded : array of shape (V, B)
        Their features. A single feature is sorted, and no two rows are equal.
    """

    values: Annotated[NDArray[Any], "v"]
    encoded: Annotated[FloatArray, "v b"]

    @classmethod
    def fit(cls, column: Any, features: FloatArray) -> ValueDecoder:
        """Keep some of the values (n,) and their features (n, B)."""
        raw = np.asarray(column)
        if raw.dtype.kind in "biuf":
            present = raw == raw
        else:
            present = np.array([value is not None and value == value for value in raw.tolist()])
        if not present.any():
            return cls(np.zeros(1), features[:1])
        if not present.all():
            raw, features = raw[present], features[present]
        numeric = raw.dtype.kind in "biuf" or _all_numbers(raw)
        raw = raw.astype(np.float64) if numeric else np.array([str(value) for value in raw])
        number = numeric and features.shape[1] == 1
        ends = _ends_of_a_line(features[:, 0], raw) if number else None
        if ends is not None:
            return cls(raw[ends], features[ends])
        encoded, first = np.unique(features, axis=0, return_index=True)
        if number and len(first) > 2 and _is_straight(encoded[:, 0], raw[first]):
            return cls(raw[first][[0, -1]], encoded[[0, -1]])
        if len(first) > _MOST_VALUES:
            kept = np.unique(np.linspace(0, len(first) - 1, _MOST_VALUES).astype(np.intp))
            encoded, first = encoded[kept], first[kept]
        return cls(raw[first], encoded)

    @property
    def is_number(self) -> bool:
        """Whether the values are numbers."""
        return self.values.dtype.kind == "f"

    def decoded(self, features: FloatArray) -> NDArray[Any]:
        """Return the value (n,) that is nearest to features (n, B); numbers are interpolated."""
        if len(self.values) == 1:
            return np.repeat(self.values, len(features))
        if self.is_number and self.encoded.shape[1] == 1:
            return self._interpolated(features[:, 0])
        # With one more coordinate, the category without an indicator is as far as the others.
        known, asked = _completed(self.encoded), _completed(features)
        distance = (known**2).sum(axis=1) - 2.0 * asked @ known.T
        return np.asarray(self.values[np.argmin(distance, axis=1)])

    def _interpolated(self, feature: FloatArray) -> NDArray[Any]:
        x, y = self.encoded[:, 0], self.values
        above = np.clip(np.searchsorted(x, feature), 1, len(x) - 1)
        slope = (y[above] - y[above - 1]) / (x[above] - x[above - 1])
        return np.asarray(y[above - 1] + slope * (feature - x[above - 1]))


def _completed(encoded: FloatArray) -> FloatArray:
    return np.column_stack([encoded, 1.0 - encoded.sum(axis=1)])


def _all_numbers(raw: NDArray[Any]) -> bool:
    return all(isinstance(value, int | float | np.number) for value in raw.tolist())


def _ends_of_a_line(x: FloatArray, y: FloatArray) -> list[np.intp] | None:
    """Return the first of the least and of the largest features of all rows, if these are a line.

    Without sorting them, which takes most of the time for many rows.
    """
    ends = [x.argmin(), x.argmax()]
    low, high = x[ends]
    if not low < high or not ((x != low) & (x != high)).any():
        return None
    line = y[ends[0]] + (y[ends[1]] - y[ends[0]]) * ((x - low) / (high - low))
    return ends if _are_equal(line, y) else None


def _is_straight(x: FloatArray, y: FloatArray) -> bool:
    """Return whether the points lie on a line, up to rounding."""
    line = y[0] + (y[-1] - y[0]) * (x - x[0]) / (x[-1] - x[0])
    return _are_equal(line, y)


def _are_equal(line: FloatArray, y: FloatArray) -> bool:
    return bool(np.abs(line - y).max() <= 1e-9 * max(1.0, float(np.abs(y).max())))
