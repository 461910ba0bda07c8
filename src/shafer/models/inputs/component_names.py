"""What an explainer's components are called, and which of them the user counts as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shafer._validation import component_names
from shafer.evidence.component_groups import Groups, read_groups
from shafer.models.inputs.column_sources import encoded_names, read_sources, with_sources
from shafer.models.readers.adapted_model import AdaptedModel


def names_of(adapted: AdaptedModel, columns: tuple[str, ...] | None) -> Iterable[Any] | None:
    """Names of the components: the encoders', the model's own, or the background's."""
    if adapted.by_column and adapted.encoders:
        return encoded_names(adapted.encoders, columns)
    if adapted.head.names is not None or not adapted.by_column:
        own: Iterable[Any] | None = adapted.head.names
        return own
    return columns


def read_partition(
    groups: Groups,
    adapted: AdaptedModel,
    columns: tuple[str, ...] | None,
    names: Iterable[Any] | None,
    n_components: int,
) -> dict[str, list[int]]:
    """Read the user's groups as a partition of the components."""
    known = component_names(names, n_components)
    wrong = isinstance(groups, bytes) or not isinstance(groups, Iterable)
    if wrong or (isinstance(groups, str) and groups not in ("one", "source")):
        raise ValueError(
            f"groups must be 'source', 'one', a mapping or a sequence; got {groups!r}."
        )
    if isinstance(groups, str) and groups == "source":
        return read_sources(adapted, columns, known)
    return read_groups(with_sources(groups, adapted, columns, known), known)
