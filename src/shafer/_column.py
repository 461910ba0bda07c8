"""``Column``: one column of a table of scores. All tables of scores come from one list of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

if TYPE_CHECKING:
    from shafer.scale.scorer import ScoredRows

ColumnKind: TypeAlias = Literal["number", "text", "truth", "whole"]


@final
@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table of scores.

    Attributes
    ----------
    name : str
    kind : {"number", "text", "truth", "whole"}
        What it holds. Numbers and truth values are arrays, texts are lists.
    of : callable
        Returns the values for some rows, from their pass through the model: ``rows.seen``.
    reads : str, optional
        A column of the data that it needs besides those of the model, such as one of groups.
    type : pyarrow data type, optional
        That of a column that is passed on; by default that of the kind.
    """

    name: str
    kind: ColumnKind
    of: Callable[[ScoredRows], Any]
    reads: str | None = None
    type: Any = None


def columns_of(
    table: Callable[[ScoredRows], Mapping[str, Any]],
    kinds: Mapping[str, ColumnKind],
    reads: str | None = None,
) -> tuple[Column, ...]:
    """Return columns that one function computes together; it is called once for some rows.

    Parameters
    ----------
    table : callable
        Returns the values of each column, by name.
    kinds : mapping
        The names of the columns, and what they hold.
    reads : str, optional
        As in :class:`Column`.
    """
    return tuple(Column(name, kind, _Part(table, name), reads) for name, kind in kinds.items())


@final
@dataclass(frozen=True, eq=False)
class _Part:
    table: Callable[[ScoredRows], Mapping[str, Any]]
    name: str

    def __call__(self, rows: ScoredRows) -> Any:
        return rows.once(self.table)[self.name]
