"""Score a table of any length: a chunk in, a chunk out, and the file appears when it is whole."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from shafer._files import replacing
from shafer.cli.clean_errors import writing
from shafer.cli.study_from_files import explainer_for, model_columns, train_on
from shafer.cli.table_files import Kinds, chunks_of, format_of, read_table, survey
from shafer.evidence import AnyEvidence
from shafer.evidence.io.frame_table import columns
from shafer.models import Explainer

CHUNK = 20_000
"""Rows held at a time."""


def _explainer(
    model: Any, data: Path, kinds: Kinds, train_path: Path | None, target: str | None, chunk: int
) -> tuple[Explainer, Kinds]:
    """Return what explains the rows, and the columns it wants of them."""
    if model is None:
        if train_path is None or target is None:
            raise ValueError(
                "Scoring needs --model, or --train and --target to train a logistic regression."
            )
        trained = train_on(train_path, target)[0]
        lacking = [name for name in trained.kinds if name not in kinds]
        if lacking:
            raise ValueError(f"{data} lacks column(s) of the training data: {lacking[:8]}.")
        return trained.explainer, trained.kinds
    wanted = model_columns(model, list(kinds), target, data)
    chosen: Kinds = {name: kinds[name] for name in wanted}
    if train_path is not None:
        training = read_table(train_path)
        background = training[model_columns(model, training.columns, target, train_path)]
        return explainer_for(model, lambda: background), chosen
    # The means come from the rows themselves, in a pass of their own.
    own = partial(chunks_of, data, chosen, chunk, truth_as_text=False)
    return explainer_for(model, own), chosen


def _in_folder(out: Path) -> Path:
    """Make the folder of a file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


def _table(evidence: AnyEvidence, first: int) -> dict[str, Any]:
    return {"row": np.arange(first, first + len(evidence)), **columns(evidence)}


@contextmanager
def _writer(file: BinaryIO, out: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Give a function that appends a table to the file."""
    import pandas

    if format_of(out) == "csv":
        packed = "gzip" if out.name.lower().endswith(".gz") else None
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
        rows = pyarrow.table(table)
        if not writers:
            writers.append(parquet.ParquetWriter(file, rows.schema))
        writers[0].write_table(rows)

    try:
        yield write_parquet
    finally:
        for writer in writers:
            writer.close()


def score(
    data: Path,
    out: Path,
    model: Any = None,
    train_path: Path | None = None,
    target: str | None = None,
    chunk: int = CHUNK,
) -> int:
    """Write the evidence of every row of a table, and return how many there were.

    Parameters
    ----------
    data, out : Path
        CSV or Parquet files.
    model : fitted model, optional
        Else a logistic regression is trained.
    train_path : Path, optional
        Training data.
    target : str, optional
        The column with the classes.
    chunk : int
        Rows held at a time.
    """
    from tqdm import tqdm

    if format_of(out) == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise ValueError("Writing Parquet files needs pyarrow; run: pip install pyarrow")
    inputs = [path for path in (data, train_path) if path is not None]
    if any(path.exists() and out.exists() and path.samefile(out) for path in inputs):
        raise ValueError(f"--out must be another file than the data; got {out}.")
    kinds, total = survey(data, chunk)
    if total == 0:
        raise ValueError(f"{data} has no rows.")
    explainer, wanted = _explainer(model, data, kinds, train_path, target, chunk)
    done = 0
    with (
        writing(out),
        replacing(_in_folder(out)) as file,
        _writer(file, out) as write,
        tqdm(total=total, unit="row", unit_scale=True, disable=None) as progress,
    ):
        for rows in chunks_of(data, wanted, chunk, truth_as_text=model is None):
            try:
                evidence = explainer(rows)
            except ValueError as error:
                last = done + len(rows) - 1
                raise ValueError(f"Rows {done} to {last} of {data}: {error}") from error
            write(_table(evidence, done))
            done += len(rows)
            progress.update(len(rows))
    return done
