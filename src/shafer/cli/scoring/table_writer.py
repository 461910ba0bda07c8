"""``table_writer``: append tables to an open CSV or Parquet file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from shafer.cli.table_files import format_of


@contextmanager
def table_writer(
    file: BinaryIO, name: Path, about: dict[str, str]
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Give a function that appends a table to the file.

    Parameters
    ----------
    file : open file
    name : Path
        Its name, which decides the format.
    about : dict
        Written into the header of a Parquet file.
    """
    import pandas

    if format_of(name) == "csv":
        packed = "gzip" if name.name.lower().endswith(".gz") else None
        headers = iter([True])

        def write_csv(table: dict[str, Any]) -> None:
            frame = pandas.DataFrame(table)
            frame.to_csv(
                file, mode="wb", index=False, header=next(headers, False), compression=packed
            )

        yield write_csv
        return
    import pyarrow
    from pyarrow import parquet

    writers: list[Any] = []

    def write_parquet(table: dict[str, Any]) -> None:
        # Lists hold texts. In a chunk without any, the type cannot be seen from the values.
        typed = {
            name: pyarrow.array(values, pyarrow.string()) if isinstance(values, list) else values
            for name, values in table.items()
        }
        rows = pyarrow.table(typed).replace_schema_metadata({"shafer": json.dumps(about)})
        if not writers:
            # Few texts occur often, while no number occurs twice: a dictionary of them costs time.
            texts = [field.name for field in rows.schema if pyarrow.types.is_string(field.type)]
            writers.append(parquet.ParquetWriter(file, rows.schema, use_dictionary=texts or False))
        writers[0].write_table(rows)

    try:
        yield write_parquet
    finally:
        for writer in writers:
            writer.close()
