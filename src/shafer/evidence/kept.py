"""What a file of evidence keeps of the rows: their labels, and the inputs behind the components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._checks.arrays import to_numpy
from shafer._files.codec import LEFT_OUT, read
from shafer._typing import Array
from shafer.evidence.reasons import InputValues
from shafer.evidence.words import Usual

_NATIVE = "biufmMU"
ROWS = "rows."
"""How the names of arrays about rows begin."""
_LABELS = f"{ROWS}labels"
Arrays = dict[str, Any]


@final
@dataclass(frozen=True, eq=False)
class KeptInputs(InputValues):
    """The inputs of evidence from a file.

    Attributes
    ----------
    all_columns : tuple of strings
        In the order of the model's input.
    members : tuple of tuples of int
        The columns of each component.
    words : set of int
        The components that are words of a text.
    cells : mapping from the name of a column to its values
        Without those of sparse tables and of words, which are not kept.
    usual_values : mapping from the name of a column to what is usual there
    """

    all_columns: tuple[str, ...]
    members: tuple[tuple[int, ...], ...]
    words: frozenset[int]
    cells: Mapping[str, NDArray[Any]]
    usual_values: Mapping[str, Usual] = field(default_factory=dict)

    @classmethod
    def of(cls, inputs: InputValues, n_components: int) -> KeptInputs:
        """Take what is kept from the inputs of evidence at hand."""
        place = {name: j for j, name in enumerate(inputs.order)}
        members = tuple(
            tuple(place[name] for name in inputs.columns(g)) for g in range(n_components)
        )
        words = frozenset(g for g in range(n_components) if inputs.is_word(g))
        used = {j for g, member in enumerate(members) if g not in words for j in member}
        found = (
            {}
            if inputs.is_sparse
            else {inputs.order[j]: inputs.column(inputs.order[j]) for j in sorted(used)}
        )
        cells = {name: to_numpy(column) for name, column in found.items() if column is not None}
        usual = {}
        for g in range(n_components):
            names, one = inputs.columns(g), inputs.usual(g)
            if one is not None and len(names) == 1:
                usual[names[0]] = one
        return cls(tuple(inputs.order), members, words, cells, usual)

    @property
    def order(self) -> tuple[str, ...]:
        return self.all_columns

    @property
    def is_sparse(self) -> bool:
        return False

    def usual(self, component: int) -> Usual | None:
        names = self.columns(component)
        alone = len(names) == 1 and not self.is_word(component)
        return self.usual_values.get(names[0]) if alone else None

    def columns(self, component: int) -> tuple[str, ...]:
        return tuple(self.order[j] for j in self.members[component])

    def column(self, name: str) -> Array | None:
        return self.cells.get(name)

    def values(self, component: int) -> Array | None:
        return None if self.is_word(component) else super().values(component)

    def is_word(self, component: int) -> bool:
        return component in self.words

    def rows(self, positions: NDArray[np.intp]) -> KeptInputs:
        return replace(self, cells={name: cells[positions] for name, cells in self.cells.items()})

    def same_rows(self, other: InputValues) -> bool:
        return self is other

    def grouped(self, groups: Sequence[Sequence[int]]) -> KeptInputs:
        joined = [sorted({j for g in group for j in self.members[g]}) for group in groups]
        words = {i for i, group in enumerate(groups) if len(group) == 1 and group[0] in self.words}
        return replace(self, members=tuple(map(tuple, joined)), words=frozenset(words))


@final
@dataclass(frozen=True)
class KeptRows:
    """What the header of a file says about rows; values that are not arrays are in it.

    Attributes
    ----------
    order, members, words : as in ``KeptInputs``; None if the inputs are not known
    values : list of lists
        Of each column: nothing if it is not kept, or its values; an array is stored beside.
    usual : mapping from the name of a column to three numbers, or to a value and its share
    labels : list of plain values, or None
        The labels of the rows, if they are not an array.
    is_index : bool
        Whether the labels were a pandas index.
    name : text or None
        Its name.
    levels : list of lists, or None
        The labels of each level, in place of ``labels``, if the index had several.
    level_names : tuple of text or None
    """

    order: Annotated[tuple[str, ...] | None, LEFT_OUT] = None
    members: Annotated[tuple[tuple[int, ...], ...] | None, LEFT_OUT] = None
    words: Annotated[tuple[int, ...] | None, LEFT_OUT] = None
    values: Annotated[dict[str, Any] | None, LEFT_OUT] = None
    usual: Annotated[dict[str, Any] | None, LEFT_OUT] = None
    labels: Annotated[Any, LEFT_OUT] = None
    is_index: Annotated[bool, LEFT_OUT] = False
    name: Annotated[str | None, LEFT_OUT] = None
    levels: Annotated[dict[str, Any] | None, LEFT_OUT] = None
    level_names: Annotated[tuple[str | None, ...] | None, LEFT_OUT] = None


def rows_to_keep(
    inputs: InputValues | None, index: Any, n_components: int
) -> tuple[dict[str, Any], Arrays]:
    """Return the labels and inputs of rows for the header of a file, and its arrays."""
    header: dict[str, Any] = {}
    arrays: Arrays = {}
    if getattr(index, "nlevels", 1) > 1:
        header["levels"] = {}
        header["level_names"] = [_name(name) for name in index.names]
        for level in range(index.nlevels):
            values = np.asarray(index.get_level_values(level))
            _keep(values, f"{_LABELS}.{level}", arrays, header["levels"], str(level))
    elif index is not None:
        header["is_index"] = not isinstance(index, np.ndarray)
        name = _name(getattr(index, "name", None))
        if name is not None:
            header["name"] = name
        _keep(np.asarray(index), _LABELS, arrays, header, "labels")
    if inputs is not None:
        kept = KeptInputs.of(inputs, n_components)
        header |= {"order": list(kept.order), "members": [list(m) for m in kept.members]}
        header |= {"words": sorted(kept.words), "values": {}}
        if kept.usual_values:
            header["usual"] = {name: one.plain() for name, one in kept.usual_values.items()}
        for j, (name, cells) in enumerate(kept.cells.items()):
            _keep(cells, f"{ROWS}{j}", arrays, header["values"], name)
    return header, arrays


def _name(name: Any) -> str | None:
    """Return the name of an index; one that is no text is not kept."""
    return name if isinstance(name, str) else None


def _keep(values: NDArray[Any], name: str, arrays: Arrays, plain: dict[str, Any], key: str) -> None:
    """Put values among the arrays, or as plain values under a key; that names the array, if one."""
    if values.dtype.kind in _NATIVE:
        arrays[name] = values
        plain[key] = name
    else:
        plain[key] = [_plain(value) for value in values.tolist()]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; what is neither a number nor a text becomes a text."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


def kept_rows(
    given: Mapping[str, Any] | None, arrays: Arrays, n: int, n_components: int
) -> tuple[Any, KeptInputs | None]:
    """Read the labels and the inputs of rows, from the header and the arrays about rows.

    Raises
    ------
    ValueError
        If they do not fit together.
    """
    if given is None:
        if arrays:
            raise ValueError(f"it holds unknown arrays {sorted(arrays)}")
        return None, None
    told = read(KeptRows, given)
    if told.levels is not None:
        levels = [_values(values, arrays, n) for values in told.levels.values()]
        names = told.level_names or ()
        if told.labels is not None or len(levels) < 2 or len(names) != len(levels):
            raise ValueError("the levels of its row labels are damaged")
        return _levelled(levels, names), _inputs(told, arrays, n, n_components)
    labels = None if told.labels is None else _values(told.labels, arrays, n)
    if labels is not None and told.is_index:
        labels = _index(labels, told.name)
    elif labels is not None:
        labels = _in_full(labels)
    return labels, _inputs(told, arrays, n, n_components)


def _inputs(told: KeptRows, arrays: Arrays, n: int, n_components: int) -> KeptInputs | None:
    if told.order is None or told.members is None or told.words is None or told.values is None:
        return None
    places = [j for member in told.members for j in member]
    if len(told.members) != n_components or not all(0 <= j < len(told.order) for j in places):
        raise ValueError(f"its inputs do not fit {n_components} components")
    if not set(told.values) <= set(told.order) or len(set(told.order)) < len(told.order):
        raise ValueError("its inputs have values of unknown columns")
    cells = {name: _values(values, arrays, n) for name, values in told.values.items()}
    usual = {name: Usual.of(one) for name, one in (told.usual or {}).items()}
    return KeptInputs(told.order, told.members, frozenset(told.words), cells, usual)


def _values(given: Any, arrays: Arrays, n: int) -> NDArray[Any]:
    if isinstance(given, str):
        values = arrays[given]
        if values.dtype.kind not in _NATIVE:
            raise ValueError(f"its array {given!r} has the type {values.dtype}")
    else:
        if not isinstance(given, list) or any(isinstance(v, list | dict) for v in given):
            raise ValueError("the values of its rows are damaged")
        values = _in_full(given)
    if values.shape != (n,):
        raise ValueError(f"it has {values.shape} labels or values for {n} rows")
    return np.asarray(values)


def _in_full(values: Any) -> NDArray[np.object_]:
    """Return values as an array of Python objects."""
    found = np.empty(len(values), dtype=object)
    found[:] = list(values)
    return found


def _index(labels: NDArray[Any], name: str | None) -> Any:
    """Return labels as a pandas index; as an array where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        return labels
    return pandas.Index(labels, name=name)


def _levelled(levels: list[NDArray[Any]], names: Sequence[str | None]) -> Any:
    """Return labels of several levels as a pandas index; as tuples where it is not installed."""
    try:
        import pandas
    except ImportError:
        return _in_full(list(zip(*(level.tolist() for level in levels), strict=True)))
    return pandas.MultiIndex.from_arrays(levels, names=names)
