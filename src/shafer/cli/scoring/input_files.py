"""``input_files``: the tables that a path, a folder or a pattern such as ``data/*.csv`` names."""

from __future__ import annotations

import glob
from pathlib import Path

from shafer.cli.table_files import format_of

_ENDINGS = (".csv", ".csv.gz", ".parquet", ".pq")


def names_many(data: Path) -> bool:
    """Return whether a path is a folder, or a pattern rather than the name of a file."""
    return data.is_dir() or (not data.exists() and glob.has_magic(str(data)))


def input_files(data: Path) -> list[Path]:
    """Return the tables, by name. Of a folder, names that start with ``_`` or a dot are left out.

    Raises
    ------
    ValueError
        If there are none, or tables of both formats.
    """
    if not names_many(data):
        if not data.is_file():
            raise ValueError(f"{data} does not exist. Check the path.")
        return [data]
    if data.is_dir():
        found = [path for path in data.rglob("*") if not _hidden(path.relative_to(data))]
    else:
        found = [Path(name) for name in glob.glob(str(data), recursive=True)]
    tables = sorted(
        path for path in found if path.is_file() and path.name.lower().endswith(_ENDINGS)
    )
    if not tables:
        raise ValueError(f"{data} has no tables: no files ending with .parquet or .csv.")
    formats = {format_of(path) for path in tables}
    if len(formats) > 1:
        raise ValueError(
            f"{data} has Parquet and CSV files. Name those of one format: {data}/*.csv"
        )
    return tables


def _hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts)
