"""Tables written at once: a CSV or Parquet file that appears when it is complete."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shafer._files import replacing
from shafer.cli.clean_errors import writing
from shafer.cli.table_files import format_of


def check_output(out: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse a file that cannot be written, or that is one of the inputs.

    Parameters
    ----------
    out : Path
    inputs : iterable of paths
        The files that are read; None where there is no such file.
    """
    if format_of(out) == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ValueError("Writing Parquet files needs pyarrow; run: pip install pyarrow")
    read = [path for path in inputs if path is not None]
    if any(path.exists() and out.exists() and path.samefile(out) for path in read):
        raise ValueError(f"--out must be another file than the data; got {out}.")


def write_table(frame: Any, out: Path) -> None:
    """Write a pandas frame. If something fails, no file is left behind."""
    with writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with replacing(out) as file:
            if format_of(out) == "parquet":
                frame.to_parquet(file, index=False)
            else:
                packed = "gzip" if out.name.lower().endswith(".gz") else None
                frame.to_csv(file, mode="wb", index=False, compression=packed)
