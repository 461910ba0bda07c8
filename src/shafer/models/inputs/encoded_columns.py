"""Names of encoded columns, and the columns of the data that each of them came from.

Transformers do not tell which inputs an output depends on. But they name their outputs after their
inputs. So each is asked for the names it would give to marked inputs, and the marks are read off.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._validation import numbered

Sources: TypeAlias = list[frozenset[str]]

# Private-use characters, which are not part of any category, token or column.
_MARK = "\ue000{}\ue001"
_MARKED = re.compile("\ue000(\\d+)\ue001")
_TEXT = ("CountVectorizer", "HashingVectorizer")
# These name each output after one input, but compute it from the whole row.
_MIXES_ROWS = ("Normalizer", "KNNImputer", "IterativeImputer")


def encoded_names(encoders: Sequence[Any], columns: Sequence[str] | None) -> list[str] | None:
    """Return the names of the last transformer's outputs, equal ones numbered; None without any."""
    names = columns
    for encoder in encoders:
        given = None if hasattr(encoder, "feature_names_in_") else names
        try:
            names = list(encoder.get_feature_names_out(given))
        except (AttributeError, TypeError, ValueError):
            return None
    return None if names is None else numbered([str(name) for name in names])


def encoded_sources(
    encoders: Sequence[Any], columns: Sequence[str] | None, n_columns: int | None
) -> tuple[list[str], Sources]:
    """Return the columns of the data, and which of them each encoded column came from."""
    order = _source_names(encoders[0], columns, n_columns)
    sources: Sources = [frozenset([name]) for name in order]
    for encoder in encoders:
        sources = _traced(encoder, sources)
    return order, sources


def leaf_transformers(encoder: Any) -> Iterator[Any]:
    """Yield the transformers inside pipelines, unions and column transformers."""
    if encoder is None or isinstance(encoder, str):  # "passthrough", "drop"
        return
    parts = [
        *getattr(encoder, "steps", ()),
        *getattr(encoder, "transformer_list", ()),
        *getattr(encoder, "transformers_", ()),
    ]
    if not parts:
        yield encoder
    for _, part, *_ in parts:
        yield from leaf_transformers(part)


def _source_names(encoder: Any, columns: Sequence[str] | None, n_columns: int | None) -> list[str]:
    known = getattr(encoder, "feature_names_in_", columns)
    if known is not None:
        return numbered([str(name) for name in known])
    if n_columns is None:
        n_columns = getattr(encoder, "n_features_in_", None)
    return ["text"] if n_columns is None else [f"x{j}" for j in range(n_columns)]


def _traced(encoder: Any, inputs: Sources) -> Sources:
    """Return the sources of each output of a transformer, given those of its inputs."""
    kinds = {base.__name__ for base in type(encoder).__mro__}
    if encoder is None or (isinstance(encoder, str) and encoder == "passthrough"):
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
    together = frozenset[str]().union(*inputs)
    if kinds & set(_MIXES_ROWS) and len(together) > 1:
        raise mixed_columns(type(encoder).__name__)
    names = _marked_names(encoder, len(inputs))
    found = [{int(j) for j in _MARKED.findall(name)} for name in names]
    if all(found) or "PolynomialFeatures" in kinds:
        return [frozenset().union(*(inputs[j] for j in members)) for members in found]
    if len(together) > 1:
        raise mixed_columns(type(encoder).__name__)
    return [together] * len(names)


def mixed_columns(encoder: str) -> UnsupportedModelError:
    """Return the error for a transformer whose outputs depend on several columns each."""
    return UnsupportedModelError(
        f"groups='source' cannot be used behind {encoder}, because each of its outputs depends on "
        "several columns. Use its outputs as components (groups=None), or pass groups by name."
    )


def _marked_names(encoder: Any, n_inputs: int) -> list[str]:
    anonymous = copy.copy(encoder)
    vars(anonymous).pop("feature_names_in_", None)  # it would accept no other names
    marks = np.array([_MARK.format(j) for j in range(n_inputs)], dtype=object)
    try:
        return [str(name) for name in anonymous.get_feature_names_out(marks)]
    except (AttributeError, TypeError, ValueError) as error:
        raise UnsupportedModelError(
            f"groups='source' needs names of the outputs of {type(encoder).__name__}, which does "
            "not provide them. For a FunctionTransformer set feature_names_out='one-to-one'; "
            "otherwise pass groups by name."
        ) from error
