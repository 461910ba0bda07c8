"""Groups of components by the column of the data that they came from, such as one-hot columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shafer._errors import UnsupportedModelError
from shafer._text import listed
from shafer._validation import frame_columns, is_one_label, numbered
from shafer.evidence.component_groups import Groups
from shafer.models.grouping.column_mixing import check_unmixed
from shafer.models.inputs.encoded_columns import Sources, encoded_sources
from shafer.models.readers.adapted_model import AdaptedModel


def components_by_column(
    adapted: AdaptedModel, background: Any, names: Sequence[str]
) -> dict[str, list[int]]:
    """Return column of the data -> positions of the components, ``names``, that came from it.

    A component of several columns, an interaction, is a group of its own, named ``a × b``.
    """
    if adapted.term_columns is not None:
        return _columns_of_terms(adapted, adapted.term_columns, background, names)
    if not adapted.by_column:
        raise UnsupportedModelError(
            "groups='source' needs components that were made from columns of the data; the "
            f"components of this model have names such as {names[0]!r}. Pass groups by name, or "
            "groups=None."
        )
    if not adapted.encoders:
        return {name: [g] for g, name in enumerate(names)}
    order, sources = checked_sources(adapted, background)
    if len(sources) != len(names):
        raise UnsupportedModelError(
            f"groups='source' found {len(sources)} encoded columns, but the model has "
            f"{len(names)}. Pass the groups by name instead."
        )
    return _gathered(order, sources)


def with_columns(
    groups: Groups, adapted: AdaptedModel, background: Any, names: Sequence[str]
) -> Groups:
    """Return the user's groups with columns of the data replaced by their components.

    A name that a component has means the component; any other is looked for among the columns.
    """
    if isinstance(groups, str) or not (adapted.by_column and adapted.encoders):
        return groups
    if isinstance(groups, Mapping):
        given = [(str(name), _members(group)) for name, group in groups.items()]
    else:
        groups = list(groups)
        if any(map(is_one_label, groups)):  # not a sequence of groups
            return groups
        given = [(_joined(group, names), list(group)) for group in groups]
    columns_named = {m for _, group in given for m in group if _is_other(m, names)}
    if not columns_named:
        return groups
    by_column = _traceable(adapted, background, names)
    _check_known(columns_named, by_column, names)
    if len(dict(given)) < len(given):
        raise ValueError(f"groups must not overlap; got {[name for name, _ in given]}.")
    return {
        name: [g for m in group for g in (by_column[m] if _is_other(m, names) else [m])]
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


def _check_known(wanted: Iterable[str], by_column: Mapping[str, Any], names: Sequence[str]) -> None:
    unknown = sorted(name for name in wanted if name not in by_column)
    if not unknown:
        return
    made_of = f"; they came from the columns {listed(by_column)}" if by_column else ""
    raise ValueError(
        f"Unknown component {unknown[0]!r}; the {len(names)} components are "
        f"{listed(names)}{made_of}."
    )


def _traceable(
    adapted: AdaptedModel, background: Any, names: Sequence[str]
) -> dict[str, list[int]]:
    try:
        return components_by_column(adapted, background, names)
    except UnsupportedModelError:
        return {}


def _columns_of_terms(
    adapted: AdaptedModel, terms: Sequence[Sequence[int]], background: Any, names: Sequence[str]
) -> dict[str, list[int]]:
    """Group the terms of an additive model by their columns, also behind transformers."""
    if adapted.encoders:
        order, inputs = checked_sources(adapted, background)
    else:
        n_columns = 1 + max(j for term in terms for j in term)
        order = list(frame_columns(background) or (f"x{j}" for j in range(n_columns)))
        alone = {term[0]: names[g] for g, term in enumerate(terms) if len(term) == 1}
        order = [alone.get(j, name) for j, name in enumerate(order)]  # as the model names them
        inputs = [frozenset([name]) for name in order]
    return _gathered(order, [frozenset().union(*(inputs[j] for j in term)) for term in terms])


def checked_sources(adapted: AdaptedModel, background: Any) -> tuple[list[str], Sources]:
    """Return the columns of the data, and those that each encoded column depends on."""
    shape: tuple[int, ...] = getattr(background, "shape", ())
    n_columns = int(shape[1]) if len(shape) == 2 else None
    order, sources = encoded_sources(adapted.encoders, frame_columns(background), n_columns)
    check_unmixed(adapted.encoders, adapted.encoded, sources, order, background)
    return order, sources


def _gathered(order: Sequence[str], sources: Sources) -> dict[str, list[int]]:
    groups: dict[frozenset[str], list[int]] = {}
    for g, members in enumerate(sources):
        groups.setdefault(members, []).append(g)
    place = {name: j for j, name in enumerate(order)}
    # PolynomialFeatures calls its constant column "1".
    titles = [" × ".join(sorted(members, key=place.__getitem__)) or "1" for members in groups]
    return dict(zip(numbered(titles), groups.values(), strict=True))
