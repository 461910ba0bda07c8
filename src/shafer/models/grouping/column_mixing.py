"""A test on data whether encoded columns depend only on the columns they are named after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from shafer._typing import BoolArray, FloatArray
from shafer._validation import frame_of
from shafer.models.inputs.encoded_columns import Sources, leaf_transformers, mixed_columns
from shafer.models.inputs.row_access import n_rows, take_rows, values_of

_ROWS = 32
_ROUNDS = 12  # each finds a dependence on a column with probability 1/2
# Transformers of scikit-learn that are known to keep columns apart, or to name those they mix.
_KNOWN = {
    "Binarizer", "KBinsDiscretizer", "MaxAbsScaler", "MinMaxScaler", "MissingIndicator",
    "OneHotEncoder", "OrdinalEncoder", "PolynomialFeatures", "PowerTransformer",
    "QuantileTransformer", "RobustScaler", "SelectKBest", "SimpleImputer", "SplineTransformer",
    "StandardScaler", "TargetEncoder", "VarianceThreshold",
}  # fmt: skip


def check_unmixed(
    encoders: Sequence[Any],
    encode: Callable[[Any], Any],
    sources: Sources,
    order: list[str],
    X: Any,
) -> None:
    """Refuse transformers whose outputs depend on other columns than their names tell.

    In some rows of X, the values of a random half of the columns are exchanged between rows.
    Outputs whose sources are all in the other half must stay as they were. This is done only
    behind transformers that are not known to keep columns apart, and not for sparse X.
    """
    unknown = [type(leaf).__name__ for encoder in encoders for leaf in leaf_transformers(encoder)]
    unknown = [name for name in unknown if name not in _KNOWN]
    if not unknown or len(order) < 2 or sparse.issparse(X):
        return
    rows = take_rows(X, slice(0, None, max(1, n_rows(X) // _ROWS)))
    before = _dense(encode(rows))
    choice = np.random.default_rng(0)
    for _ in range(_ROUNDS):
        moved = choice.random(len(order)) < 0.5
        after = _dense(encode(_exchanged(rows, moved)))
        names = {name for name, is_moved in zip(order, moved, strict=True) if is_moved}
        still = [g for g, members in enumerate(sources) if not members & names]
        if not np.array_equal(before[:, still], after[:, still], equal_nan=True):
            raise mixed_columns(" or ".join(sorted(set(unknown))))


def _dense(values: Any) -> FloatArray:
    array = values.toarray() if sparse.issparse(values) else values_of(values)
    return np.asarray(array, dtype=np.float64)


def _exchanged(rows: Any, moved: BoolArray) -> Any:
    """Return the rows with each value of the moved columns taken from the row before."""
    order = np.roll(np.arange(n_rows(rows)), 1)
    if hasattr(rows, "iloc"):  # pandas, whose columns keep their types
        result, other = rows.copy(), rows.iloc[order]
        for j in np.flatnonzero(moved):
            result.isetitem(int(j), other.iloc[:, int(j)].array)
        return result
    frame = frame_of(rows)
    if frame is not None:
        names = [name for name, is_moved in zip(frame.columns, moved, strict=True) if is_moved]
        return frame.with_columns(*(frame[name][order.tolist()] for name in names)).to_native()
    result = np.array(rows)
    result[:, moved] = result[order][:, moved]
    return result
