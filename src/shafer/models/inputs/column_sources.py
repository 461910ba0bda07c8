"""Which of the user's columns an encoded column came from, and what it is called.

Transformers do not say. But they name their outputs after their inputs, so each is asked for the
names it would give to marked inputs, and the marks are read off.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from shafer._errors import UnsupportedModelError
from shafer._validation import is_one_label
from shafer.evidence.component_groups import Groups
from shafer.models.readers.adapted_model import AdaptedModel

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


def read_sources(
    adapted: AdaptedModel, columns: Sequence[str] | None, names: Sequence[str]
) -> dict[str, list[int]]:
    """Return column of the data -> positions of the components, ``names``, that came from it.

    A component of several columns, an interaction, is a group of its own, named ``a × b``.
    """
    if adapted.term_columns is not None:
        return _sources_of_terms(adapted, adapted.term_columns, columns, names)
    if not adapted.by_column:
        raise UnsupportedModelError(
            f"groups='source' needs components that are columns of the data; here they are "
            f"{names[0]!r} and the like. Give groups by name, or none."
        )
    if not adapted.encoders:
        return {name: [g] for g, name in enumerate(names)}
    order, sources = _sources(adapted.encoders, columns)
    if len(sources) != len(names):
        raise UnsupportedModelError(
            f"groups='source' could trace {len(sources)} encoded columns where the model has "
            f"{len(names)}. Give the groups by name instead."
        )
    return _gathered(order, sources)


def with_sources(
    groups: Groups, adapted: AdaptedModel, columns: Sequence[str] | None, names: Sequence[str]
) -> Groups:
    """Put components in the place of the columns of the data that a user's groups name.

    A name that a component has means the component; any other is looked for among the columns.
    """
    if isinstance(groups, str) or not (adapted.by_column and adapted.encoders):
        return groups
    if isinstance(groups, Mapping):
        given = [(str(name), _members(group)) for name, group in groups.items()]
    else:
        groups = list(groups)
        if any(map(is_one_label, groups)):  # no sequence of groups
            return groups
        given = [(_joined(group, names), list(group)) for group in groups]
    columns_named = {m for _, group in given for m in group if _is_other(m, names)}
    if not columns_named:
        return groups
    sources = _traceable(adapted, columns, names)
    _check_known(columns_named, sources, names)
    if len(dict(given)) < len(given):
        raise ValueError(f"groups must not overlap; got {[name for name, _ in given]}.")
    return {
        name: [g for m in group for g in (sources[m] if _is_other(m, names) else [m])]
        for name, group in given
    }


def _members(group: Any) -> list[Any]:
    return [group] if is_one_label(group) else list(group)


def _joined(group: Any, names: Sequence[str]) -> str:
    """Name a group after its members, as the user names them."""
    in_range = range(-len(names), len(names))
    return "+".join(str(names[m] if m in in_range else m) for m in group)


def _is_other(member: Any, names: Sequence[str]) -> bool:
    return isinstance(member, str) and member not in names


def _check_known(
    wanted: Iterable[str], sources: Mapping[str, Any], names: Sequence[str], most: int = 8
) -> None:
    unknown = sorted(name for name in wanted if name not in sources)
    if not unknown:
        return
    shown = ", ".join(map(repr, names[:most])) + (", …" if len(names) > most else "")
    made_of = f"; they were made of the columns {', '.join(map(repr, sources))}" if sources else ""
    raise ValueError(
        f"Unknown component {unknown[0]!r}; the {len(names)} components are {shown}{made_of}."
    )


def _traceable(
    adapted: AdaptedModel, columns: Sequence[str] | None, names: Sequence[str]
) -> dict[str, list[int]]:
    try:
        return read_sources(adapted, columns, names)
    except UnsupportedModelError:
        return {}


def _sources_of_terms(
    adapted: AdaptedModel,
    terms: Sequence[Sequence[int]],
    columns: Sequence[str] | None,
    names: Sequence[str],
) -> dict[str, list[int]]:
    """Trace the terms of an additive model, also behind transformers."""
    if adapted.encoders:
        order, inputs = _sources(adapted.encoders, columns)
    else:
        n_columns = 1 + max(j for term in terms for j in term)
        order = list(columns or (f"x{j}" for j in range(n_columns)))
        alone = {term[0]: names[g] for g, term in enumerate(terms) if len(term) == 1}
        order = [alone.get(j, name) for j, name in enumerate(order)]  # as the model names them
        inputs = [frozenset([name]) for name in order]
    return _gathered(order, [frozenset().union(*(inputs[j] for j in term)) for term in terms])


def _sources(encoders: Sequence[Any], columns: Sequence[str] | None) -> tuple[list[str], Sources]:
    """Return the columns of the data, and from which of them each encoded column came."""
    order = _source_names(encoders[0], columns)
    sources: Sources = [frozenset([name]) for name in order]
    for encoder in encoders:
        sources = _traced(encoder, sources)
    return order, sources


def _gathered(order: Sequence[str], sources: Sources) -> dict[str, list[int]]:
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
