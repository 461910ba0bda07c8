"""optbinning's ``Scorecard``, and its ``BinningProcess`` as a step of a pipeline.

A binning process replaces each selected column by one number for each bin, mostly the weight of
evidence (WOE) of the bin; a logistic regression follows. A component is a column. Whichever way
the WOE is signed, the coefficient has the opposite sign, so nothing here depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.frames import frame_columns
from shafer._text import listed
from shafer.models import registry
from shafer.models.live_parameters import LiveParameters
from shafer.models.read_model import ReadModel
from shafer.rows.bins import MISSING, OTHER, ColumnBin, category_bins, interval_bins, unseen_value
from shafer.rows.schema import ColumnSchema


@final
@dataclass(frozen=True, eq=False)
class BinnedColumns:
    """A fitted ``BinningProcess`` as a transformer that names its outputs.

    Attributes
    ----------
    process : fitted BinningProcess
    options : mapping
        Further arguments of its ``transform``.
    frames_only : bool
        Take the columns of a data frame by name, and refuse arrays, as ``Scorecard`` does.
    feature_names_in_ : array of strings
        The columns that it was trained on, selected or not.
    """

    process: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    frames_only: bool = False
    feature_names_in_: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        names = np.array([str(name) for name in self.process.variable_names], dtype=object)
        object.__setattr__(self, "feature_names_in_", names)

    def transform(self, X: Any) -> Any:
        """Return one number for the bin of each selected column."""
        self._check(X)
        return self.process.transform(X, **self.options)

    def _check(self, X: Any) -> None:
        columns = frame_columns(X) if hasattr(X, "iloc") else None
        if columns is None and (self.frames_only or not isinstance(X, np.ndarray)):
            raise ValueError(
                f"optbinning takes a pandas data frame{'' if self.frames_only else ' or an array'} "
                f"with the columns [{listed(self.feature_names_in_)}]; got {type(X).__name__}. "
                "Pass a pandas data frame."
            )
        needed = self.feature_names_in_ if self.frames_only else self.get_feature_names_out()
        missing = [name for name in needed if columns is not None and name not in columns]
        if missing:
            raise ValueError(
                f"X must have the columns of the binning process; got [{listed(columns or ())}], "
                f"without {listed(missing)}. Name the columns as in training."
            )

    def get_feature_names_out(self, input_features: Sequence[Any] | None = None) -> NDArray[Any]:
        """Return the names of the selected columns."""
        names = self.feature_names_in_ if input_features is None else np.asarray(input_features)
        return np.asarray(names[self.process.get_support()])

    def parameters(self) -> tuple[Any, ...]:
        """Return what changes if the process is trained again: a new object for each column."""
        binned = tuple(map(self.process.get_binned_variable, self.process.variable_names))
        return (*binned, self.process.get_support())

    def edges(self) -> dict[str, NDArray[np.float64]]:
        """Return where the outputs of numbers in bins jump, by column; a code is a bin."""
        found = {}
        for name in map(str, self.process.variable_names):
            binned = self.process.get_binned_variable(name)
            if "PW" in type(binned).__name__ or binned.dtype != "numerical":
                continue
            codes = [
                float(c) for group in _special_codes(binned.special_codes).values() for c in group
            ]
            behind = np.nextafter(codes, np.inf).tolist()
            found[name] = np.unique(np.array([*binned.splits, *codes, *behind], dtype=np.float64))
        return found

    def column_bins(self, j: int) -> list[ColumnBin] | None:
        """Return the bins of column j; None if its values are not in bins."""
        binned = self.process.get_binned_variable(self.process.variable_names[j])
        if "PW" in type(binned).__name__:  # piecewise polynomials
            return None
        codes = _special_codes(binned.special_codes)
        if binned.dtype == "numerical":
            known = [code for group in codes.values() for code in group]
            bins = interval_bins(binned.splits, avoid=known)
        else:
            groups = [list(group) for group in binned.splits]
            bins = category_bins(groups)
            bins += [ColumnBin(OTHER, unseen_value(value for group in groups for value in group))]
        bins += [ColumnBin(label, group[0]) for label, group in codes.items()]
        return [*bins, ColumnBin(MISSING, None if binned.dtype == "categorical" else np.nan)]


def _special_codes(given: Any) -> dict[str, list[Any]]:
    """Return name -> special codes; a plain list of codes shares one bin."""
    if given is None or len(given) == 0:
        return {}
    if not isinstance(given, Mapping):
        return {"special": list(given)}
    return {str(name): _codes(codes) for name, codes in given.items()}


def _codes(codes: Any) -> list[Any]:
    several = isinstance(codes, Iterable) and not isinstance(codes, str)
    return list(codes) if several else [codes]


def adapt(model: Any, **options: Any) -> ReadModel:
    """Read a fitted ``Scorecard``: the estimator inside, behind its binning process."""
    model._check_is_fitted()
    inside = registry.adapt(model.estimator_, **options)
    # The bins of missing values and special codes have the values that were chosen in training.
    chosen = {"metric_special": model._metric_special, "metric_missing": model._metric_missing}
    columns = BinnedColumns(model.binning_process_, chosen, frames_only=True)
    return _behind(inside, columns).watching(LiveParameters.of(partial(_parts, model)))


def behind(adapted: ReadModel, step: Any) -> ReadModel:
    """Put a fitted ``BinningProcess`` in front, as a step of a pipeline."""
    step._check_is_fitted()
    return _behind(adapted, BinnedColumns(step))


def _behind(adapted: ReadModel, columns: BinnedColumns) -> ReadModel:
    return adapted.behind(columns).watching(LiveParameters.of(columns.parameters))


def _parts(model: Any) -> tuple[Any, ...]:
    return model.binning_process_, model.estimator_, model._metric_special, model._metric_missing


def known_columns(model: Any, _: Sequence[str] | None) -> dict[int, ColumnSchema]:
    """Return the categories of the columns that have some.

    Special codes may be numbers among texts, so such a column is taken as it is.
    """
    process = getattr(model, "binning_process_", model)
    found = {}
    for j, name in enumerate(process.variable_names):
        binned = process.get_binned_variable(name)
        if getattr(binned, "dtype", None) != "categorical":  # piecewise functions have none
            continue
        if binned.special_codes:
            found[j] = ColumnSchema("other")
        else:
            known = [value for group in binned.splits for value in group]
            found[j] = ColumnSchema.of_known(known)
    return found
