"""The text vectorizers among the transformers of a model, and the components that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

VECTORIZERS = ("CountVectorizer", "HashingVectorizer")
_ONE_TO_ONE = "OneToOneFeatureMixin"  # scikit-learn's mark of transformers that keep columns apart


@final
@dataclass(frozen=True, eq=False)
class TextPart:
    """A fitted vectorizer, and where its columns end up.

    Attributes
    ----------
    vectorizer : CountVectorizer, TfidfVectorizer or HashingVectorizer
    column : str or int, optional
        The column of the data with the texts; None if each row is a text.
    components : array of shape (number of columns of the vectorizer,)
        The component of each column; −1 if a later step leaves it out.
    """

    vectorizer: Any
    column: Any
    components: NDArray[np.intp]

    @cached_property
    def _columns(self) -> NDArray[np.intp]:
        """The column of each component, −1 for components that are not words of this vectorizer."""
        found = np.full(int(self.components.max(initial=-1)) + 1, -1, dtype=np.intp)
        kept = self.components >= 0
        found[self.components[kept]] = np.flatnonzero(kept)
        return found

    def column_of(self, component: int) -> int:
        """Return the column of a component in the output of the vectorizer; −1 if it has none."""
        return int(self._columns[component]) if component < len(self._columns) else -1

    def shifted(self, by: int) -> TextPart:
        """Move the components, which come after others."""
        moved = np.where(self.components < 0, -1, self.components + by)
        return replace(self, components=moved)


def kinds(encoder: Any) -> set[str]:
    """Return the names of the classes that a transformer is made of."""
    return {base.__name__ for base in type(encoder).__mro__}


def is_vectorizer(encoder: Any) -> bool:
    """Tell whether a transformer turns texts into counts of words."""
    return bool(kinds(encoder) & set(VECTORIZERS))


def text_parts(encoders: Sequence[Any]) -> tuple[TextPart, ...]:
    """Return the vectorizers behind the components; empty if components are not words."""
    if not encoders:
        return ()
    first, *later = encoders
    found = _found(first, None)
    for step in later:
        found = _passed(found, step)
    return tuple(found)


def _found(encoder: Any, column: Any) -> list[TextPart]:
    names = kinds(encoder)
    if is_vectorizer(encoder):
        return [TextPart(encoder, column, np.arange(width_of(encoder)))]
    if "Pipeline" in names:
        steps = [step for _, step in encoder.steps if not _does_nothing(step)]
        if not steps:
            return []
        found = _found(steps[0], column)
        for step in steps[1:]:
            found = _passed(found, step)
        return found
    if "FeatureUnion" in names:
        return _in_union(encoder, column)
    if "ColumnTransformer" in names:
        return _in_columns(encoder)
    return []


def width_of(vectorizer: Any) -> int:
    """Return the number of columns of a fitted vectorizer."""
    if "HashingVectorizer" in kinds(vectorizer):
        return int(vectorizer.n_features)
    return len(vectorizer.vocabulary_)


def _in_union(union: Any, column: Any) -> list[TextPart]:
    found: list[TextPart] = []
    before = 0
    for _, part in union.transformer_list:
        if isinstance(part, str) and part == "drop":
            continue
        found += [inner.shifted(before) for inner in _found(part, column)]
        width = _output_width(part)
        if width is None:
            return found  # where the next part begins is not known
        before += width
    return found


def _output_width(part: Any) -> int | None:
    if is_vectorizer(part):
        return width_of(part)
    inner = [step for _, step in getattr(part, "steps", ())]
    if inner and is_vectorizer(inner[0]) and all(_is_one_to_one(step) for step in inner[1:]):
        return width_of(inner[0])
    try:
        return len(part.get_feature_names_out())
    except (AttributeError, TypeError, ValueError):
        return None


def _in_columns(encoder: Any) -> list[TextPart]:
    found: list[TextPart] = []
    names = getattr(encoder, "feature_names_in_", None)
    for name, part, columns in encoder.transformers_:
        if not isinstance(columns, str | int | np.integer) or isinstance(part, str):
            continue  # vectorizers take one column, named without a list
        at = str(names[columns]) if names is not None and not isinstance(columns, str) else columns
        begin = encoder.output_indices_[name].start
        found += [inner.shifted(begin) for inner in _found(part, at)]
    return found


def _does_nothing(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


def _is_one_to_one(step: Any) -> bool:
    return _does_nothing(step) or _ONE_TO_ONE in kinds(step)


def _passed(found: list[TextPart], step: Any) -> list[TextPart]:
    """Follow the columns through a later step, which may scale or select them."""
    if _is_one_to_one(step):
        return found
    if not hasattr(step, "get_support"):
        return []
    kept = np.asarray(step.get_support(), dtype=bool)
    place = np.where(kept, np.cumsum(kept) - 1, -1)
    return [
        replace(p, components=np.where(p.components < 0, -1, place[p.components])) for p in found
    ]
