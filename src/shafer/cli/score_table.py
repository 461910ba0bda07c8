"""Score a table of any length: chunk by chunk, and the file appears when it is complete."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, final

import numpy as np

import shafer
from shafer._files import replacing
from shafer.cli.act_columns import ActColumns
from shafer.cli.ask_columns import AskColumns
from shafer.cli.background_means import MeansOptions, MeasuredModel, measured_model
from shafer.cli.clean_errors import writing
from shafer.cli.defer_columns import DeferColumns
from shafer.cli.model_inputs import ModelInputs, model_inputs
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.reason_columns import ReasonColumns
from shafer.cli.table_files import Kinds, chunks_of, format_of, survey
from shafer.cli.table_output import check_output
from shafer.cli.target_labels import label_named
from shafer.cli.trained_model import train_on
from shafer.evidence.io.frame_table import evidence_columns


@final
@dataclass(frozen=True)
class Written:
    """What was written: the number of rows, and sentences on the means and on what was left out."""

    rows: int
    means: str
    left_out: str = ""


@final
@dataclass(frozen=True)
class _Scorer:
    """A model, the columns it takes, and how to read them."""

    model: MeasuredModel
    inputs: ModelInputs
    truth_as_text: bool

    def table(
        self,
        frame: Any,
        first: int,
        reasons: ReasonColumns | None,
        asked: AskColumns | None,
        acts: ActColumns | None,
        defer: DeferColumns | None,
    ) -> dict[str, Any]:
        X = self.inputs.rows(frame)
        evidence = self.model.evidence(X)
        return {
            "row": np.arange(first, first + len(evidence)),
            **evidence_columns(evidence),
            **({} if reasons is None else reasons.of(evidence)),
            **({} if asked is None else asked(X, evidence)),
            **({} if acts is None else acts.of(evidence)),
            **({} if defer is None else defer(X, frame)),
        }


def _scorer(
    named: NamedModel | None, data: Path, kinds: Kinds, options: MeansOptions, chunk: int
) -> _Scorer:
    if named is None:
        if options.train_path is None or options.target is None:
            raise ValueError(
                "Scoring needs --model, or --train and --target to train a logistic regression."
            )
        trained = train_on(options.train_path, options.target, options)
        trained.check_columns(kinds, data)
        own = MeasuredModel.relative(trained.explainer, f"of {options.train_path.name}")
        return _Scorer(own, ModelInputs(trained.kinds), truth_as_text=True)
    inputs = model_inputs(
        named.model, kinds, data, target=options.target, text_column=options.text_column
    )

    def rows() -> Iterator[Any]:
        chunks = chunks_of(data, inputs.kinds, chunk, truth_as_text=False)
        return (inputs.rows(frame) for frame in chunks)

    measured = measured_model(named.model, inputs, data, rows, options)
    return _Scorer(measured, inputs, truth_as_text=False)


def _in_folder(out: Path) -> Path:
    """Make the folder of a file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


@contextmanager
def _writer(
    file: BinaryIO, out: Path, about: dict[str, str]
) -> Iterator[Callable[[dict[str, Any]], None]]:
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
        # Lists hold texts. In a chunk without any, the type cannot be seen from the values.
        typed = {
            name: pyarrow.array(values, pyarrow.string()) if isinstance(values, list) else values
            for name, values in table.items()
        }
        rows = pyarrow.table(typed).replace_schema_metadata({"shafer": json.dumps(about)})
        if not writers:
            writers.append(parquet.ParquetWriter(file, rows.schema))
        writers[0].write_table(rows)

    try:
        yield write_parquet
    finally:
        for writer in writers:
            writer.close()


def write_scores(
    data: Path,
    out: Path,
    model: NamedModel | None,
    options: MeansOptions,
    chunk: int,
    reasons: ReasonColumns | None = None,
    *,
    ask: bool = False,
    acts: ActColumns | None = None,
    defer: DeferColumns | None = None,
) -> Written:
    """Write the evidence of every row of a table.

    Parameters
    ----------
    data, out : Path
        CSV or Parquet files.
    model : NamedModel, optional
        By default a logistic regression is trained.
    options : MeansOptions
        Training data, target and text column.
    chunk : int
        Rows held at a time.
    reasons : ReasonColumns, optional
        The reasons to write for each row.
    ask : bool
        Also write what to measure, what to check, and whether the answer would stand.
    acts : ActColumns, optional
        Also write what to do, given the costs.
    defer : DeferColumns, optional
        Also write which rows a person should decide.
    """
    from tqdm import tqdm

    check_output(out, (data, options.train_path))
    kinds, total = survey(data, chunk)
    if total == 0:
        raise ValueError(f"{data} has no rows.")
    scorer = _scorer(model, data, kinds, options, chunk)
    if reasons is not None and reasons.class_text is not None:  # an error before any row is read
        label_named(reasons.class_text, scorer.model.classes, "--reasons-for")
    if acts is not None:
        acts.check(scorer.model.classes)
    about = {"version": shafer.__version__, "means": scorer.model.sentence}
    read = scorer.inputs.kinds if defer is None else defer.kinds(kinds, scorer.inputs.kinds, data)
    chunks = chunks_of(data, read, chunk, truth_as_text=scorer.truth_as_text)
    asked = AskColumns(scorer.model.evidence) if ask else None
    done = 0
    with (
        writing(out),
        replacing(_in_folder(out)) as file,
        _writer(file, out, about) as write,
        tqdm(total=total, unit="row", unit_scale=True, disable=None) as progress,
    ):
        for rows in chunks:
            try:
                table = scorer.table(rows, done, reasons, asked, acts, defer)
            except ValueError as error:
                last = done + len(rows) - 1
                raise ValueError(f"Rows {done} to {last} of {data}: {error}") from error
            write(table)
            done += len(table["row"])
            progress.update(len(rows))
    if done != total:
        raise ValueError(f"{data} changed while it was read. Score it again.")
    return Written(done, scorer.model.sentence, "" if asked is None else asked.left_out)
