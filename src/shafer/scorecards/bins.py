"""The bins of a column, as the transformers in front of a model make them.

The first transformer that bins a column decides: whatever follows sees the bins only.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Final, TypeAlias, final

import array_api_compat
import narwhals as nw
import numpy as np
from scipy import sparse

from shafer._checks.arrays import to_numpy
from shafer._checks.frames import frame_columns
from shafer._checks.labels import component_names, is_missing
from shafer._text import listed
from shafer._typing import FloatArray
from shafer.errors import UnsupportedModelError
from shafer.evidence.evidence import Evidence
from shafer.explain.self_check import evenly
from shafer.explain.weighing import WeighedModel
from shafer.models.optbinning import BinnedColumns
from shafer.rows.access import n_rows, take_rows
from shafer.rows.bins import (
    MISSING,
    OTHER,
    ColumnBin,
    category_bins,
    interval_bins,
    number_texts,
    threshold_bins,
    unseen_value,
    value_text,
)
from shafer.rows.columns import component_sources

# What becomes of a column: it is binned, it passes (the gaps filled in), or neither is known.
_Passed: TypeAlias = tuple[ColumnBin, ...]
_Fate: TypeAlias = list[ColumnBin] | _Passed | None
_UNCHANGED: Final[_Passed] = ()


def bins_behind(
    encoders: Sequence[Any], j: int, inside: Callable[[int], list[ColumnBin] | None] | None
) -> list[ColumnBin] | None:
    """Return the bins of column j behind transformers; None if they are not known.

    ``inside`` returns the bins that the model itself makes of a column.
    """
    fate = _through(encoders, j)
    if isinstance(fate, tuple):
        own = None if inside is None else inside(j)
        return None if own is None else _with_gaps(own, fate)
    return fate


def _through(encoders: Sequence[Any], j: int) -> _Fate:
    passed = _UNCHANGED
    for encoder in encoders:
        fate = _fate(encoder, j)
        if isinstance(fate, list):
            return _with_gaps(fate, passed)
        if fate is None:
            return None
        passed += fate
    return passed


def _with_gaps(bins: list[ColumnBin], gaps: _Passed) -> list[ColumnBin]:
    """Add the bins of gaps that were filled in before; the column itself may have the same."""
    known = {gap.label for gap in gaps}
    return [*(one for one in bins if one.label not in known), *gaps]


def _fate(encoder: Any, j: int) -> _Fate:
    if encoder is None or (isinstance(encoder, str) and encoder == "passthrough"):
        return _UNCHANGED
    if isinstance(encoder, BinnedColumns):
        return encoder.column_bins(j)
    for base in type(encoder).__mro__:
        if base.__name__ in _READERS:
            return _READERS[base.__name__](encoder, j)
    return None


def _pipeline(encoder: Any, j: int) -> _Fate:
    return _through([step for _, step in encoder.steps], j)


def _by_column(encoder: Any, j: int) -> _Fate:
    positions = encoder._transformer_to_input_indices
    fates = [
        _fate(part, list(positions[name]).index(j))
        for name, part, _ in encoder.transformers_
        if j in positions[name] and not (isinstance(part, str) and part == "drop")
    ]
    # A column that passes has another position from here on, and one of several fates has others.
    return fates[0] if len(fates) == 1 and isinstance(fates[0], list) else None


def _categories(encoder: Any, j: int) -> list[ColumnBin]:
    known = list(encoder.categories_[j])
    bins = category_bins([value] for value in known)
    if encoder.handle_unknown != "error":
        bins.append(ColumnBin(OTHER, unseen_value(known)))
    return bins


def _edges(encoder: Any, j: int) -> list[ColumnBin]:
    return interval_bins(encoder.bin_edges_[j][1:-1])


def _threshold(encoder: Any, _: int) -> list[ColumnBin]:
    return threshold_bins(float(encoder.threshold))


def _imputed(encoder: Any, _: int) -> _Fate:
    if encoder.add_indicator or encoder.get_feature_names_out().shape != (encoder.n_features_in_,):
        return None  # its outputs have other positions
    missing = encoder.missing_values
    return (ColumnBin(MISSING if is_missing(missing) else f"{MISSING} ({missing})", missing),)


def _function(encoder: Any, _: int) -> _Fate:
    return _UNCHANGED if encoder.func is None else None


_READERS: dict[str, Callable[[Any, int], _Fate]] = {
    "Binarizer": _threshold,
    "ColumnTransformer": _by_column,
    "FunctionTransformer": _function,
    "KBinsDiscretizer": _edges,
    "OneHotEncoder": _categories,
    "OrdinalEncoder": _categories,
    "Pipeline": _pipeline,
    "SimpleImputer": _imputed,
}


# The bins of a column that nothing bins, but that has few values in the background.

MOST_VALUES = 20


def observed_bins(X: Any, position: int) -> list[ColumnBin] | None:
    """Return one bin for each value of a column; None if there are too many to be all.

    At most 20 different values are accepted, and at most half as many as rows: indicators, counts,
    categories, or weights of evidence that were computed before.
    """
    values = column_values(X, position)
    gaps = [value for value in values if is_missing(value)]
    try:
        present = sorted({value for value in values if not is_missing(value)})
    except TypeError:  # of several types
        return None
    if len(present) > min(MOST_VALUES, len(values) // 2):
        return None
    numbers = all(isinstance(value, Real) and not isinstance(value, bool) for value in present)
    labels = number_texts(present) if numbers else [value_text(value) for value in present]
    bins = [ColumnBin(label, value) for label, value in zip(labels, present, strict=True)]
    return [*bins, ColumnBin(MISSING, gaps[0])] if gaps else bins


# Rows that differ in one column only, to ask a model what that column adds.


def column_position(X: Any, name: str, j: int) -> int:
    """Return the position in X of a column of the model: by its name in a frame, else j."""
    columns = frame_columns(X)
    return columns.index(name) if columns is not None and name in columns else j


def column_values(X: Any, position: int) -> list[Any]:
    """Return the values of a column, by position."""
    if hasattr(X, "iloc"):
        return list(X.iloc[:, position])
    if frame_columns(X) is not None:
        return list(nw.from_native(X, eager_only=True)[:, position].to_list())
    array = to_numpy(X) if array_api_compat.is_array_api_obj(X) else np.asarray(X)
    return list(array[:, position].tolist())


def probe_rows(X: Any, position: int, values: list[Any]) -> Any:
    """Repeat the first row of X, with another value in one column of each copy."""
    if hasattr(X, "iloc"):  # pandas, whose columns have types of their own
        rows = take_rows(X, [0] * len(values)).copy()
        rows.isetitem(position, values)
        return rows
    if frame_columns(X) is not None:
        frame = nw.from_native(take_rows(X, [0] * len(values)), eager_only=True)
        name = frame.columns[position]
        column = nw.new_series(name, values, backend=frame.implementation)
        return frame.with_columns(column).to_native()
    if array_api_compat.is_array_api_obj(X) and not isinstance(X, np.ndarray):
        xp = array_api_compat.array_namespace(X)
        changed = _changed(to_numpy(X[:1, ...]), position, values)
        return xp.asarray(changed, dtype=X.dtype, device=X.device)
    return _changed(np.asarray(take_rows(X, [0])), position, values)


def _changed(row: Any, position: int, values: list[Any]) -> Any:
    rows = np.repeat(row, len(values), axis=0)
    column = np.asarray(values, dtype=object if rows.dtype == object else None)
    rows = rows.astype(np.result_type(rows.dtype, column.dtype))
    rows[:, position] = column
    return rows


# Components that take finitely many values, and their weight in each bin.

EVERY_ROW = "every row"
_CLOSE = {"float64": 1e-9, "float32": 1e-4}  # differences of weights that rounding explains
_Sources: TypeAlias = dict[str, frozenset[str]]


@final
@dataclass(frozen=True, eq=False)
class FiniteComponent:
    """A component with finitely many values.

    Attributes
    ----------
    bins : tuple of strings
        What the input is in each case: an interval, a category, ``"missing"``.
    weights : array of shape (bins, K)
    """

    bins: tuple[str, ...]
    weights: FloatArray

    def merged(self) -> FiniteComponent:
        """Join bins of the same weights, as those of a one-hot column: the category, and others."""
        by_weight: dict[bytes, list[int]] = {}
        for position, weight in enumerate(self.weights):
            by_weight.setdefault(weight.tobytes(), []).append(position)
        firsts = [positions[0] for positions in by_weight.values()]
        labels = [" | ".join(self.bins[b] for b in positions) for positions in by_weight.values()]
        return FiniteComponent(tuple(labels), self.weights[firsts])

    def holds(self, weights: FloatArray) -> bool:
        """Say whether all given weights, (n, K), are among those of the bins."""
        size = max(float(np.abs(self.weights).max()), float(np.abs(weights).max()), 1.0)
        gaps = np.abs(weights[:, None, :] - self.weights[None]).max(axis=2).min(axis=1)
        return bool(gaps.max() <= _CLOSE.get(str(weights.dtype), 1e-9) * size)


def finite_components(
    weighed: WeighedModel, evidence: Callable[[Any], Evidence], background: Any
) -> dict[str, FiniteComponent]:
    """Return component name -> its bins, and its weights in them.

    Parameters
    ----------
    weighed : WeighedModel
    evidence : callable
        From rows to their evidence.
    background : as the model takes it
        Its first row gives the values of all other columns, which must not matter. This is checked:
        on at most 64 rows of the background, each weight must be in the table.

    Raises
    ------
    UnsupportedModelError
        If a component has infinitely many values, or depends on several columns.
    """
    order, sources = _sources_of_components(weighed, background)
    sample = evidence(take_rows(background, evenly(n_rows(background))))
    weights = to_numpy(sample.weights)
    found: dict[str, FiniteComponent] = {}
    for column in _needed(sources):
        j = order.index(column)
        position = column_position(background, column, j) if weighed.model.encoders else j
        bins = bins_behind(weighed.model.encoders, j, weighed.model.column_bins)
        bins = observed_bins(background, position) if bins is None else bins
        if bins is not None:
            rows = probe_rows(background, position, [one.value for one in bins])
            found |= _tables(bins, _weights(evidence, rows), column, sources, sample)
    known = {name: g for g, name in enumerate(sample.component_names)}
    sound = {name: one for name, one in found.items() if one.holds(weights[:, known[name]])}
    _refuse_others(sources, sound)
    return {name: sound.get(name, _constant(weights[:1, g])) for name, g in known.items()}


def _sources_of_components(weighed: WeighedModel, background: Any) -> tuple[list[str], _Sources]:
    """Return the columns of the data, and component name -> the columns that it came from."""
    names = component_names(weighed.names, int(weighed.means.shape[0]))
    if sparse.issparse(background):
        raise UnsupportedModelError(
            "A scorecard needs a table with a column for each input; the background is a sparse "
            "matrix. Make the Explainer with a data frame, and encode it inside the pipeline."
        )
    if frame_columns(background) is None and np.ndim(background) != 2:
        raise UnsupportedModelError(
            "A scorecard needs a table with a column for each input; the background holds texts, "
            "images or signals. Their evidence is shown by the displays of shafer.plots."
        )
    try:
        order, sources = component_sources(weighed.model, background, names)
    except UnsupportedModelError as error:
        raise UnsupportedModelError(
            "A scorecard needs components that depend on one column of the data each; those of "
            f"this model, such as {names[0]!r}, do not. Use a linear model on binned columns, for "
            "instance behind KBinsDiscretizer, OneHotEncoder or optbinning's BinningProcess."
        ) from error
    groups = weighed.groups or {name: [g] for g, name in enumerate(names)}
    return order, {
        name: frozenset[str]().union(*(sources[g] for g in members))
        for name, members in groups.items()
    }


def _needed(sources: Mapping[str, frozenset[str]]) -> Iterable[str]:
    """Return the columns of components that come from one column, each once."""
    return dict.fromkeys(column for one in sources.values() if len(one) == 1 for column in one)


def _weights(evidence: Callable[[Any], Evidence], rows: Any) -> FloatArray:
    with warnings.catch_warnings():  # encoders warn of the unseen category that is among the rows
        warnings.simplefilter("ignore")
        return to_numpy(evidence(rows).weights)


def _tables(
    bins: list[ColumnBin], weights: FloatArray, column: str, sources: _Sources, sample: Evidence
) -> dict[str, FiniteComponent]:
    """Return the tables of all components of one column."""
    labels = tuple(one.label for one in bins)
    several = Counter(sources.values())[frozenset([column])] > 1
    found = {}
    for g, name in enumerate(sample.component_names):
        if sources.get(name) == frozenset([column]):
            table = FiniteComponent(labels, weights[:, g])
            found[name] = table.merged() if several else table
    return found


def _constant(weights: FloatArray) -> FiniteComponent:
    """Return the table of a component that is the same for all rows, as the base rate is."""
    return FiniteComponent((EVERY_ROW,), weights)


def _refuse_others(sources: _Sources, found: Mapping[str, FiniteComponent]) -> None:
    """Name the components that are not in the table, and what to do."""
    rest = {name: one for name, one in sources.items() if name not in found and one}
    joint = [name for name, one in rest.items() if len(one) > 1]
    if joint:
        raise UnsupportedModelError(
            f"A scorecard needs components that depend on one column each; {listed(joint)} depend "
            "on several. Train the model without interactions (an EBM with interactions=0), or "
            "make the Explainer with groups='source'."
        )
    if rest:
        raise UnsupportedModelError(
            "A scorecard needs components with finitely many values; these have infinitely many, "
            f"or depend on other columns: {listed(rest)}. Bin their columns in front of the model, "
            "for instance with KBinsDiscretizer or optbinning's BinningProcess, and train again. "
            "(Without bins, a column may have at most 20 values, half as many as rows.)"
        )
