"""Names of an explainer's components, and the user's groups of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shafer._checks.labels import component_names
from shafer.evidence.groups import Groups, read_groups
from shafer.evidence.layout import is_label_map, read_regions
from shafer.rows.columns import encoded_names, source_groups, with_columns
from shafer.texts.inputs import HashedWords

if TYPE_CHECKING:
    from shafer.models.read_model import ReadModel


def names_of_components(
    adapted: ReadModel, columns: tuple[str, ...] | None, words: HashedWords
) -> Iterable[Any] | None:
    """Return names of the components: the encoders', the model's own, or the background's.

    ``words`` names the columns of encoders that hash words.
    """
    if adapted.by_column and adapted.encoders:
        return encoded_names(words.named(), columns)
    if adapted.head.names is not None or not adapted.by_column:
        own: Iterable[Any] | None = adapted.head.names
        return own
    return columns


def read_partition(
    groups: Groups,
    adapted: ReadModel,
    names: Iterable[Any] | None,
    n_components: int,
    background: Any,
    *,
    named: bool = False,
) -> dict[str, list[int]] | None:
    """Return the user's groups as a partition of the components: name -> positions.

    ``"source"`` returns None where nothing can be joined. ``named`` says that the user has given
    the names of the components.
    """
    known = component_names(names, n_components)
    if isinstance(groups, str) and groups == "source":
        return source_groups(adapted, background, known, named=named)
    adapted.check_groupable()
    wrong = isinstance(groups, bytes) or not isinstance(groups, Iterable)
    if wrong or (isinstance(groups, str) and groups != "one"):
        raise ValueError(
            f"groups must be 'source', 'auto', 'one', a mapping or a sequence; got {groups!r}."
        )
    return read_groups(with_columns(groups, adapted, background, known), known)


def is_renaming(groups: Mapping[str, Sequence[int]], n_components: int) -> bool:
    """Say whether each group is a single component, and they are in order."""
    return [list(members) for members in groups.values()] == [[g] for g in range(n_components)]


# Groups that are a segmentation of an image: an option of the model's reader.


def with_regions(groups: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the groups and the options; a label map of image locations becomes an option."""
    if options.get("components") != "locations" or not is_label_map(groups):
        return groups, options
    return None, {**options, "regions": read_regions(groups).plain()}
