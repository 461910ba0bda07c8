"""Which columns of the data are texts: those whose categories are texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shafer.models.readers.adapted_model import AdaptedModel


def text_columns(
    model: AdaptedModel, columns: Sequence[str] | None, n_columns: int
) -> frozenset[int]:
    """Return the positions of the columns that the model, or its transformers, take as texts."""
    if model.encoders:
        return frozenset(_of_transformer(model.encoders[0], list(range(n_columns)), columns))
    bins = getattr(model.core, "bins_", ())  # of an ExplainableBoostingClassifier
    return frozenset(j for j, found in enumerate(bins) if isinstance(found[0], Mapping))


def selects_by_name(step: Any) -> bool:
    """Say whether a transformer picks its columns by their names."""
    parts = [part for _, part in getattr(step, "steps", ())[:1]]
    parts += [part for _, part in getattr(step, "transformer_list", ())]
    selections = [selected for _, _, selected in getattr(step, "transformers_", ())]
    return any(map(selects_by_name, parts)) or any(map(_has_names, selections))


def _has_names(selected: Any) -> bool:
    if isinstance(selected, slice):
        return isinstance(selected.start, str) or isinstance(selected.stop, str)
    return any(isinstance(one, str) for one in np.atleast_1d(np.asarray(selected, dtype=object)))


def _of_transformer(
    step: Any, given: Sequence[int], columns: Sequence[str] | None
) -> Iterator[int]:
    if step is None or isinstance(step, str):  # "passthrough", "drop"
        return
    for _, part, *_ in getattr(step, "steps", ())[:1]:
        yield from _of_transformer(part, given, columns)
    for _, part in getattr(step, "transformer_list", ()):
        yield from _of_transformer(part, given, columns)
    for _, part, selected in getattr(step, "transformers_", ()):
        yield from _of_transformer(part, _selected(selected, given, columns), columns)
    for place, known in zip(given, _known_values(step), strict=False):
        if any(isinstance(value, str) for value in known):
            yield place


def _known_values(step: Any) -> list[Sequence[Any]]:
    """Return values of each column that a transformer knows: categories, or what it fills in."""
    if hasattr(step, "categories_"):
        return list(step.categories_)
    filled = getattr(step, "statistics_", None)
    return [] if filled is None or np.ndim(filled) != 1 else [[value] for value in filled]


def _selected(selected: Any, given: Sequence[int], columns: Sequence[str] | None) -> list[int]:
    """Return the positions of columns selected by name, position, slice or mask."""
    if isinstance(selected, slice):
        if isinstance(selected.start, str) or isinstance(selected.stop, str):
            names = list(columns or ())
            start = 0 if selected.start is None else names.index(selected.start)
            stop = len(names) if selected.stop is None else names.index(selected.stop) + 1
            return list(given[start:stop])
        return list(given[selected])
    chosen = [selected] if np.ndim(selected) == 0 else list(selected)
    if chosen and isinstance(chosen[0], bool | np.bool_):
        return [place for place, kept in zip(given, chosen, strict=True) if kept]
    names = list(columns or ())
    return [given[names.index(c) if isinstance(c, str) else int(c)] for c in chosen]
