"""Which of the user's columns an encoded column came from, and what it is called.

Transformers do not say. But they name their outputs after their inputs, so each is asked for the
names it would give to marked inputs, and the marks are read off.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from shafer._errors import UnsupportedModelError

Sources: TypeAlias = list[frozenset[str]]

# Private-use characters: they can be part of no category, token or column.
_MARK = "\ue000{}\ue001"
_MARKED = re.compile("\ue000(\\d+)\ue001")
_TEXT = ("CountVectorizer", "HashingVectorizer")


def encoded_names(encoders: Sequence[Any], columns: Sequence[str] | None) -> list[str] | None:
    """Return the names the transformers give to what they put out, or None if one gives none."""
    names = columns
    for encoder in encoders:
        given = None if hasattr(encoder, "feature_names_in_") else names
        try:
            names = list(encoder.get_feature_names_out(given))
        except (AttributeError, TypeError, ValueError):
            return None
    return None if names is None else list(names)


def source_groups(
    encoders: Sequence[Any], columns: Sequence[str] | None, n_encoded: int
) -> dict[str, list[int]]:
    """Return source column -> positions of the encoded columns that came from it.

    An interaction of several columns is a group of its own, named ``a × b``.
    """
    order = _source_names(encoders[0], columns)
    sources: Sources = [frozenset([name]) for name in order]
    for encoder in encoders:
        sources = _traced(encoder, sources)
    if len(sources) != n_encoded:
        raise UnsupportedModelError(
            f"groups='source' could trace {len(sources)} encoded columns where the model has "
            f"{n_encoded}. Give the groups by name instead."
        )
    groups: dict[str, list[int]] = {}
    for g, members in enumerate(sources):
        # PolynomialFeatures calls its constant column "1".
        name = " × ".join(sorted(members, key=order.index)) if members else "1"
        groups.setdefault(name, []).append(g)
    return groups


def _source_names(encoder: Any, columns: Sequence[str] | None) -> list[str]:
    known = getattr(encoder, "feature_names_in_", columns)
    if known is not None:
        return [str(name) for name in known]
    n_columns = getattr(encoder, "n_features_in_", None)
    return ["text"] if n_columns is None else [f"x{j}" for j in range(n_columns)]


def _traced(encoder: Any, inputs: Sources) -> Sources:
    """Return the sources of each output of a transformer, given those of its inputs."""
    kinds = {base.__name__ for base in type(encoder).__mro__}
    if encoder is None or encoder == "passthrough":
        return inputs
    if "Pipeline" in kinds:
        for _, step in encoder.steps:
            inputs = _traced(step, inputs)
        return inputs
    if "ColumnTransformer" in kinds:
        return _traced_columns(encoder, inputs)
    if "FeatureUnion" in kinds:
        parts = [part for _, part in encoder.transformer_list if part != "drop"]
        return [found for part in parts for found in _traced(part, inputs)]
    if kinds & set(_TEXT):
        width = len(encoder.vocabulary_) if hasattr(encoder, "vocabulary_") else encoder.n_features
        return [frozenset().union(*inputs)] * width
    return _traced_by_name(encoder, inputs, kinds)


def _traced_columns(encoder: Any, inputs: Sources) -> Sources:
    # Only this private attribute resolves names, slices, masks and selectors alike.
    positions = encoder._transformer_to_input_indices
    result: Sources = [frozenset()] * max(part.stop for part in encoder.output_indices_.values())
    for name, part, _ in encoder.transformers_:
        where = encoder.output_indices_[name]
        if where.stop > where.start:
            result[where] = _traced(part, [inputs[j] for j in positions[name]])
    return result


def _traced_by_name(encoder: Any, inputs: Sources, kinds: set[str]) -> Sources:
    if "FunctionTransformer" in kinds and encoder.func is None:
        return inputs
    names = _marked_names(encoder, len(inputs))
    found = [{int(j) for j in _MARKED.findall(name)} for name in names]
    if all(found) or "PolynomialFeatures" in kinds:
        return [frozenset().union(*(inputs[j] for j in members)) for members in found]
    together = frozenset[str]().union(*inputs)
    if len(together) > 1:
        raise UnsupportedModelError(
            f"groups='source' cannot be told apart: {type(encoder).__name__} mixes "
            f"{len(together)} columns in each of its outputs. Use its outputs as components "
            "(groups=None), or give groups by name."
        )
    return [together] * len(names)


def _marked_names(encoder: Any, n_inputs: int) -> list[str]:
    anonymous = copy.copy(encoder)
    vars(anonymous).pop("feature_names_in_", None)  # it would accept no other names
    marks = np.array([_MARK.format(j) for j in range(n_inputs)], dtype=object)
    try:
        return [str(name) for name in anonymous.get_feature_names_out(marks)]
    except (AttributeError, TypeError, ValueError) as error:
        raise UnsupportedModelError(
            f"groups='source' needs the names that {type(encoder).__name__} gives to its outputs, "
            "and it gives none. For a FunctionTransformer set feature_names_out='one-to-one'; "
            "else give groups by name."
        ) from error
