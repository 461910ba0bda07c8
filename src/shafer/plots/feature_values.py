"""Feature values written beside components: numbers or words, by position or by name."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shafer._checks.arrays import float_array, to_numpy
from shafer._checks.frames import frame_of
from shafer._typing import FloatArray

MISSING = "missing"
"""What stands beside the name of a component whose value is NaN or None."""


def values_of_row(
    features: Any, names: Sequence[str], row: int, n_rows: int
) -> tuple[str | None, ...]:
    """Return the feature value of each component in one row as text; None if it has none.

    ``features`` may be a mapping or a data frame, matched by name; one value per component; or a
    table of one row per instance and one column per component.
    """
    if features is None:
        return (None,) * len(names)
    if isinstance(features, Mapping):
        return _by_name(features, names)
    frame = frame_of(features)
    if frame is not None:
        _check_rows(frame.shape[0], n_rows)
        position = row if frame.shape[0] == n_rows else 0
        return _by_name({c: frame[c].to_list()[position] for c in frame.columns}, names)
    table = np.asarray(to_numpy(features))
    if table.ndim == 2:
        _check_rows(len(table), n_rows)
        table = table[row if len(table) == n_rows else 0]
    if table.shape != (len(names),):
        raise ValueError(
            f"features must hold one value for each of the {len(names)} components; "
            f"got shape {np.shape(features)}. A mapping of name to value may leave some out."
        )
    return tuple(written(value) for value in table.tolist())


def _check_rows(given: int, n_rows: int) -> None:
    if given not in (1, n_rows):
        raise ValueError(f"features must have {n_rows} rows, as the evidence; got {given}.")


def _by_name(values: Mapping[str, Any], names: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(written(values[name]) if name in values else None for name in names)


def written(value: Any) -> str:
    """Return a number as text with four digits, a word as it is, and "missing" for a gap.

    Examples
    --------
    >>> written(63.0), written(0.123456), written(12500), written(True), written("smoker")
    ('63', '0.1235', '12500', 'True', 'smoker')
    >>> written(float("nan")), written(None)
    ('missing', 'missing')
    """
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return MISSING
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    if math.isfinite(number) and number == round(number) and abs(number) < 1e6:
        return f"{number:.0f}"
    return f"{number:.4g}"


def feature_table(features: Any, names: Sequence[str], n_rows: int) -> FloatArray:
    """Return numbers to colour by, (n, G): NaN for components without a column of their name."""
    frame = frame_of(features)
    if frame is not None:
        columns = set(frame.columns)
        table = np.full((frame.shape[0], len(names)), np.nan)
        for g, name in enumerate(names):
            if name in columns and frame[name].dtype.is_numeric():
                table[:, g] = frame[name].to_numpy()
    else:
        # A missing value is drawn as such, so only the shape and the type are checked.
        table = np.asarray(to_numpy(float_array(features, "features", ndim=(2,), finite=True)))
    if table.shape != (n_rows, len(names)):
        raise ValueError(
            f"features must have shape ({n_rows}, {len(names)}), one value for each instance and "
            f"component; got {table.shape}. A data frame is matched by the names of its columns."
        )
    return table.astype(np.float64)
