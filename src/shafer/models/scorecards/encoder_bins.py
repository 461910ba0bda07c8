"""The bins of a column, as the transformers in front of a model make them.

The first transformer that bins a column decides: whatever follows sees the bins only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from shafer._validation import is_missing
from shafer.models.inputs.column_bins import (
    MISSING,
    OTHER,
    ColumnBin,
    category_bins,
    interval_bins,
    threshold_bins,
    unseen_value,
)
from shafer.models.readers.optbinning import BinnedColumns

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
