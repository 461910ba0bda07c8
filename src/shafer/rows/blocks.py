"""``InputBlocks``: the features that each input of a model becomes, and where inputs are missing.

An input is a column of the user's data. Behind a one-hot encoder it becomes several features, and
all of them are missing if the input is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, final

import narwhals as nw
import numpy as np
from scipy import sparse

from shafer._checks.frames import frame_columns, frame_of
from shafer._typing import BoolArray
from shafer.errors import UnsupportedModelError
from shafer.rows.access import values_of
from shafer.rows.checks import gaps_in
from shafer.rows.columns import checked_sources, leaf_transformers

if TYPE_CHECKING:
    from shafer.models.read_model import ReadModel


@final
@dataclass(frozen=True, eq=False)
class InputBlocks:
    """The features of each input of a model.

    Attributes
    ----------
    names : tuple of strings
        Names of the inputs: columns of the data, without those that the model ignores.
    columns : tuple of int
        The position of each input among the columns of the data.
    features : tuple of tuples of int
        The positions of the features that each input becomes.
    stand_ins : tuple of values
        For each input a value of the background. Transformers get it in the place of NaN, so that
        they need not accept NaN; the features are set to NaN afterwards.
    """

    names: Annotated[tuple[str, ...], "i"]
    columns: Annotated[tuple[int, ...], "i"]
    features: Annotated[tuple[tuple[int, ...], ...], "i"]
    stand_ins: Annotated[tuple[Any, ...], "i", "0"]

    @classmethod
    def traced(cls, model: ReadModel, background: Any) -> InputBlocks | None:
        """Find the inputs behind the transformers of a model.

        None if there are no transformers, if some feature depends on several columns or on whether
        a value is missing, or if the transformers do not tell.
        """
        if not model.encoders or uses_gaps(model.encoders) or not _is_table(background):
            return None
        try:
            order, sources = checked_sources(model, background)
        except UnsupportedModelError:
            return None
        if any(len(members) > 1 for members in sources):
            return None
        place = {name: j for j, name in enumerate(order)}
        found: dict[str, list[int]] = {name: [] for name in order}
        for feature, members in enumerate(sources):
            for name in members:
                found[name].append(feature)
        used = [name for name in order if found[name]]
        columns = tuple(place[name] for name in used)
        return cls(
            tuple(used),
            columns,
            tuple(tuple(found[name]) for name in used),
            _first_values(background, columns),
        )

    @classmethod
    def alone(cls, names: Sequence[str]) -> InputBlocks:
        """Let each feature be an input."""
        places = tuple(range(len(names)))
        return cls(tuple(names), places, tuple((j,) for j in places), ())

    def gaps(self, X: Any) -> BoolArray:
        """Return where inputs are missing in X, (n, number of inputs)."""
        return gaps_in(X)[:, self.places_in(X)]

    def places_in(self, X: Any) -> list[int]:
        """Return the position of each input among the columns of X; frames are read by name."""
        given = frame_columns(X)
        if given is not None and set(self.names) <= set(given):
            return [given.index(name) for name in self.names]
        return list(self.columns)

    def feature_gaps(self, gaps: BoolArray, n_features: int) -> BoolArray:
        """Return where features are missing, (n, J), given where inputs are."""
        missing = np.zeros((len(gaps), n_features), dtype=bool)
        for i, block in enumerate(self.features):
            missing[:, list(block)] = gaps[:, [i]]
        return missing

    def filled(self, X: Any, gaps: BoolArray) -> Any:
        """Return X with stand-ins in the place of missing inputs."""
        wanted = [
            (column, gaps[:, i], self.stand_ins[i])
            for i, column in enumerate(self.places_in(X))
            if self.stand_ins[i] is not None and gaps[:, i].any()
        ]
        if not wanted:
            return X
        if hasattr(X, "iloc"):  # pandas, whose column names may be of any kind
            result = X.copy()
            for column, missing, value in wanted:
                given = X.iloc[:, column]
                if given.dtype.name == "category" and value not in given.cat.categories:
                    given = given.cat.add_categories([value])
                result.isetitem(column, given.where(~missing, value))
            return result
        frame = frame_of(X)
        if frame is not None:
            names = frame.columns
            series = [_without_gaps(frame[names[column]], *gap) for column, *gap in wanted]
            return frame.with_columns(*series).to_native()
        array = np.array(X)
        for column, missing, value in wanted:
            array[missing, column] = value
        return array


def _without_gaps(column: nw.Series[Any], missing: BoolArray, value: Any) -> nw.Series[Any]:
    """Put a value where a column has no value, or NaN."""
    if not column.dtype.is_float():
        return column.fill_null(value)
    where = np.flatnonzero(missing).tolist()
    return column.scatter(where, [float(value)] * len(where))


def _is_table(background: Any) -> bool:
    if frame_of(background) is not None:
        return True
    return not sparse.issparse(background) and np.ndim(background) == 2


def uses_gaps(encoders: Sequence[Any]) -> bool:
    """Return whether a transformer makes features of missing values themselves."""
    for encoder in encoders:
        for leaf in leaf_transformers(encoder):
            if getattr(leaf, "add_indicator", False) or type(leaf).__name__ == "MissingIndicator":
                return True
            categories = getattr(leaf, "categories_", ())
            if any(_has_gap(known) for known in categories):
                return True
    return False


def _has_gap(known: Any) -> bool:
    values = np.asarray(known)
    return bool(any(value is None or value != value for value in values.tolist()))


def _first_values(background: Any, columns: Sequence[int]) -> tuple[Any, ...]:
    """Return the first value of each column that is not missing; None if all are."""
    gaps = gaps_in(background)
    rows = np.argmin(gaps, axis=0)
    found: list[Any] = []
    for column in columns:
        row = int(rows[column])
        value = None if gaps[row, column] else column_values(background, column)[row]
        found.append(value.item() if isinstance(value, np.generic) else value)
    return tuple(found)


def column_values(X: Any, column: int) -> Any:
    """Return one column of an array or a data frame as a NumPy array."""
    frame = frame_of(X)
    if frame is not None:
        return frame[frame.columns[column]].to_numpy()
    values = values_of(X)
    if isinstance(values, list | tuple):
        return np.array([row[column] for row in values])
    return np.asarray(values[:, column])
