"""``WorkPlan``: which rows each unit of work scores. It does not change when a run is resumed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, final

import shafer
from shafer.scale.tables import Kinds, Survey, format_of

_FORMAT = 2
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
    digest : str
        Tells what its scores are made from; its file of scores has it. Empty until it is known.
    """

    number: int
    path: str
    first_row: int
    rows: int
    row_groups: tuple[int, ...] | None
    digest: str = ""

    @property
    def name(self) -> str:
        """The name of its files, without an ending."""
        return f"part-{self.number:05d}"

    @property
    def file_name(self) -> str:
        """The name of its scores."""
        return f"{self.name}.parquet"


@final
@dataclass(frozen=True)
class WorkPlan:
    """All units, and what they were planned for.

    Attributes
    ----------
    request : dict
        Input files, digests of the model and of the other files, options.
    surveys : dict from path to Survey
        What each of the input files holds.
    units : tuple of Unit
    """

    request: dict[str, Any]
    surveys: dict[str, Survey]
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
        known = dict(zip(map(str, files), surveys, strict=True))
        return cls(dict(request), known, tuple(units))

    @property
    def kinds(self) -> Kinds:
        """The columns of the input files, and what they hold."""
        return Survey.joined(self.surveys.values()).kinds

    @property
    def rows(self) -> int:
        """The number of rows of all units."""
        return sum(unit.rows for unit in self.units)

    def keyed(self, reading: Any, *, numbered: bool, of_all: bool) -> WorkPlan:
        """Return the plan with the digest of each unit.

        Two units with equal digests have equal scores, also in different plans: so the scores of
        other files stay when one file is repaired.

        Parameters
        ----------
        reading : plain value
            As what the columns are read.
        numbered : bool
            Whether the scores have the numbers of the rows, over all files.
        of_all : bool
            Whether the scores depend on the rows of all files.
        """
        shared = {name: self.request[name] for name in _REQUEST if name != "files" or of_all}
        stamps = {path: stamp for path, *stamp in self.request["files"]}

        def digest(unit: Unit) -> str:
            first = unit.first_row if numbered else None
            own = (unit.path, stamps[unit.path], unit.rows, unit.row_groups, first)
            return sha256(json.dumps([shared, reading, own]).encode()).hexdigest()

        return replace(self, units=tuple(replace(u, digest=digest(u)) for u in self.units))

    def text(self) -> str:
        """Return the plan as JSON."""
        surveys = {path: asdict(survey) for path, survey in self.surveys.items()}
        shown = {"format": _FORMAT, "request": self.request, "surveys": surveys}
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
            surveys = {path: _survey(one) for path, one in given["surveys"].items()}
            return cls(request, surveys, units)
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
            name: None if path is None else file_digest(path) for name, path in others.items()
        },
        "options": dict(options),
    }
    plain: dict[str, Any] = json.loads(json.dumps(request))  # as it will be read again
    return plain


def difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Name the first part in which two requests differ, besides their files; empty if in none."""
    if first["version"] != second["version"]:
        return "the version of shafer"
    for part, what in (("contents", "the content of"), ("options", "the option")):
        one, other = first[part], second[part]
        for name in sorted(one.keys() | other.keys()):
            if one.get(name) != other.get(name):
                return f"{what} {name}"
    return ""


def changed_files(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[list[str], bool]:
    """Return the input files in which two requests differ, and whether they share some."""
    one, other = ({tuple(file) for file in request["files"]} for request in (first, second))
    return sorted({str(path) for path, *_ in one ^ other}), bool(one & other)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def file_digest(path: Path) -> str:
    """Return the SHA-256 digest of a file."""
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
        str(given["digest"]),
    )


def _survey(given: Mapping[str, Any]) -> Survey:
    groups = given["group_rows"]
    rows = None if groups is None else tuple(map(int, groups))
    return Survey(dict(given["columns"]), int(given["rows"]), rows)


def is_csv(files: Sequence[Path]) -> bool:
    """Return whether the tables are CSV files, which must be read to know what they hold."""
    return format_of(files[0]) == "csv"
