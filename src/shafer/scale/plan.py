"""``WorkPlan``: which rows each unit of work scores. It does not change when a run is resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, final

import shafer
from shafer.scale.tables import Kinds, Survey, format_of

_FORMAT = 1
_REQUEST = ("version", "files", "contents", "options")
_ROWS = 200_000  # of a unit, if the row groups of its file allow it


@final
@dataclass(frozen=True)
class Unit:
    """Some rows of one file, which become one file of scores.

    Attributes
    ----------
    number : int
    path : str
    first_row, rows : int
        Numbered over all files.
    row_groups : tuple of int, optional
        Of a Parquet file; None for a whole file.
    """

    number: int
    path: str
    first_row: int
    rows: int
    row_groups: tuple[int, ...] | None

    @property
    def file_name(self) -> str:
        """The name of its scores."""
        return f"part-{self.number:05d}.parquet"


@final
@dataclass(frozen=True)
class WorkPlan:
    """All units, and what they were planned for.

    Attributes
    ----------
    request : dict
        Input files, digests of the model and of the other files, options.
    kinds : dict
        The columns of the input files, and what they hold.
    units : tuple of Unit
    """

    request: dict[str, Any]
    kinds: Kinds
    units: tuple[Unit, ...]

    @classmethod
    def of(
        cls, request: Mapping[str, Any], files: Sequence[Path], surveys: Sequence[Survey]
    ) -> Self:
        """Divide the rows of the files into units."""
        units: list[Unit] = []
        first = 0
        for path, survey in zip(files, surveys, strict=True):
            for groups, rows in _divided(survey):
                units.append(Unit(len(units), str(path), first, rows, groups))
                first += rows
        return cls(dict(request), Survey.joined(surveys).kinds, tuple(units))

    @property
    def rows(self) -> int:
        """The number of rows of all units."""
        return sum(unit.rows for unit in self.units)

    @cached_property
    def digest(self) -> str:
        """Tells this plan from others; each file of scores has it."""
        return sha256(self.text().encode()).hexdigest()

    def text(self) -> str:
        """Return the plan as JSON."""
        shown = {"format": _FORMAT, "request": self.request, "kinds": self.kinds}
        return json.dumps({**shown, "units": [asdict(unit) for unit in self.units]}, indent=1)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what :meth:`text` gave.

        Raises
        ------
        ValueError
            If it is damaged, or of another version.
        """
        try:
            given = json.loads(text)
            if given["format"] != _FORMAT:
                raise ValueError("another format")
            units = tuple(_unit(unit) for unit in given["units"])
            request = {name: given["request"][name] for name in _REQUEST}
            return cls(request, given["kinds"], units)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError("the plan is damaged or of another version") from error


def make_request(
    files: Sequence[Path], others: Mapping[str, Path | None], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe what is asked for: two equal requests give equal scores.

    Parameters
    ----------
    files : sequence of paths
        The tables to be scored.
    others : mapping from option to path
        Further files, whose content counts.
    options : mapping
        Plain values.
    """
    request = {
        "version": shafer.__version__,
        "files": [[str(path), *_stamp(path)] for path in files],
        "contents": {
            name: None if path is None else _digest(path) for name, path in others.items()
        },
        "options": dict(options),
    }
    plain: dict[str, Any] = json.loads(json.dumps(request))  # as it will be read again
    return plain


def difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Name the first part in which two requests differ; empty if they are equal."""
    if first["version"] != second["version"]:
        return "the version of shafer"
    if first["files"] != second["files"]:
        return "the input files, their sizes or their times of change"
    for part, what in (("contents", "the content of"), ("options", "the option")):
        one, other = first[part], second[part]
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                return f"{what} {name}"
    return ""


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _digest(path: Path) -> str:
    if not path.is_file():
        raise ValueError(f"{path} does not exist. Check the path.")
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            digest.update(block)
    return digest.hexdigest()


def _divided(survey: Survey) -> Iterator[tuple[tuple[int, ...] | None, int]]:
    """Give the row groups and the rows of each unit of a file."""
    if survey.group_rows is None:
        if survey.rows:
            yield None, survey.rows
        return
    groups: list[int] = []
    rows = 0
    for group, count in enumerate(survey.group_rows):
        if groups and rows + count > _ROWS:
            yield tuple(groups), rows
            groups, rows = [], 0
        groups.append(group)
        rows += count
    if rows:
        yield tuple(groups), rows


def _unit(given: Mapping[str, Any]) -> Unit:
    groups = given["row_groups"]
    return Unit(
        int(given["number"]),
        str(given["path"]),
        int(given["first_row"]),
        int(given["rows"]),
        None if groups is None else tuple(map(int, groups)),
    )


def is_csv(files: Sequence[Path]) -> bool:
    """Return whether the tables are CSV files, which must be read to know what they hold."""
    return format_of(files[0]) == "csv"
