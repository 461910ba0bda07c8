"""Components that take finitely many values, and their weight in each bin."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from scipy import sparse

from shafer._errors import UnsupportedModelError
from shafer._text import listed
from shafer._typing import FloatArray
from shafer._validation import component_names, to_numpy
from shafer.evidence import Evidence
from shafer.models.grouping.components_by_column import component_sources
from shafer.models.inputs.column_bins import ColumnBin
from shafer.models.inputs.row_access import n_rows, take_rows
from shafer.models.scorecards.encoder_bins import bins_behind
from shafer.models.scorecards.observed_bins import observed_bins
from shafer.models.scorecards.probe_rows import column_position, probe_rows
from shafer.models.self_check import evenly
from shafer.models.weighed_model import WeighedModel

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
