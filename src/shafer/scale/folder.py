"""Score many files into a folder, on an engine or here; a run that was stopped goes on."""

from __future__ import annotations

import glob
import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, final

import shafer
from shafer._column import Column
from shafer._files.atomic import replacing
from shafer._terminal import writing
from shafer.rows.schema import ColumnSchema
from shafer.scale.background_means import MeansOptions, MeasuredModel, measured_model
from shafer.scale.columns import ROW, ScoreColumns, ScoreOptions, kept_columns
from shafer.scale.engines import JobEngine, LocalJobs
from shafer.scale.ids import check_columns, check_ids, check_not_inputs, kept_types
from shafer.scale.inputs import ModelInputs, model_inputs
from shafer.scale.models import NamedModel, train_on
from shafer.scale.plan import Unit, WorkPlan, difference, is_csv, make_request
from shafer.scale.scorer import RowScorer, arrow_schema, arrow_table, reads_of
from shafer.scale.tables import (
    Columns,
    Kinds,
    Survey,
    check_output,
    chunks_beside,
    chunks_of,
    format_of,
    survey,
    surveyed,
)


@final
@dataclass(frozen=True)
class FolderRequest:
    """What a folder of scores is made from.

    Attributes
    ----------
    data : Path
        A file, a folder, or a pattern.
    out : Path
        A new folder, or one that an earlier run of the same command left behind.
    contents : dict
        The other files that change the scores, by option.
    options : dict
        The options that change the scores, as plain values.
    """

    data: Path
    out: Path
    contents: dict[str, Path | None]
    options: dict[str, Any]

    def files(self) -> list[Path]:
        """Return the tables to be scored, and refuse a folder that cannot be written."""
        if self.out.name.lower().endswith((".csv", ".csv.gz")):
            raise ValueError(f"--out must be a folder, of Parquet files; got {self.out}.")
        return [path.absolute() for path in input_files(self.data)]


def write_score_folder(
    asked: FolderRequest,
    model: NamedModel | None,
    options: MeansOptions,
    chunk: int,
    wanted: ScoreOptions,
    engine: JobEngine,
) -> Written:
    """Write the evidence of every row of many files.

    Parameters
    ----------
    asked : FolderRequest
    model : NamedModel, optional
        By default a logistic regression is trained.
    options : MeansOptions
    chunk : int
        Rows held at a time, by each worker.
    wanted : ScoreOptions
    engine : JobEngine
    """
    files, folder = asked.files(), OutputFolder(asked.out)
    request = make_request(files, asked.contents, asked.options)
    plan, complete = folder.plan_for(request)
    if complete and plan is not None:
        return Written(plan.rows, "All parts were there already.")
    if plan is None:
        plan = WorkPlan.of(request, files, _surveys(files, chunk, engine))
        if plan.rows == 0:
            raise ValueError(f"{asked.data} has no rows.")
    scorer = FileScorer.of(model, asked.data, files, plan.kinds, options, chunk, wanted)
    with writing(asked.out):
        folder.begin(plan)
        _score_units(plan, folder, scorer, chunk, engine)
        folder.complete(plan)
    return Written(plan.rows, scorer.sentence, scorer.left_out)


def _surveys(files: Sequence[Path], chunk: int, engine: JobEngine) -> list[Survey]:
    """Learn what the files hold. CSV files must be read for this, which the workers do."""
    found: dict[Path, Survey] = {}
    for path, told in (engine if is_csv(files) else LocalJobs()).run(
        partial(surveyed, rows=chunk), files
    ):
        found[path] = told
    return [found[path] for path in files]


def _score_units(
    plan: WorkPlan, folder: OutputFolder, scorer: FileScorer, chunk: int, engine: JobEngine
) -> None:
    from tqdm import tqdm

    about = {"version": shafer.__version__, "means": scorer.sentence, "plan": plan.digest}
    work = UnitScorer(scorer, str(folder.growing), chunk, about)
    left = [unit for unit in plan.units if not folder.is_done(unit, plan)]
    before = plan.rows - sum(unit.rows for unit in left)
    with tqdm(
        total=plan.rows, initial=before, unit="row", unit_scale=True, disable=None
    ) as progress:
        for rows in engine.run(work, left):
            progress.update(rows)


# A folder of scores that appears when it is complete, and can be resumed.

SUCCESS = "_SUCCESS"
_PLAN = "_plan.json"
_TEMPORARY = ".shafer-"  # how names of files begin that are being written


@final
class OutputFolder:
    """A folder of scores, and the hidden folder in which it grows.

    Parameters
    ----------
    path : Path
        The folder that the user named.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))  # a link stays a link
        self.growing = self._path.with_name(f".{self._path.name}.unfinished")

    def finished_plan(self) -> WorkPlan | None:
        """Return the plan of a complete folder; None if there is no folder yet.

        Raises
        ------
        ValueError
            If the path exists and is not a complete folder of scores.
        """
        if not self._path.exists() or (self._path.is_dir() and not any(self._path.iterdir())):
            return None
        try:
            return WorkPlan.read((self._path / SUCCESS).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(
                f"--out must be a new folder; {self._path} exists and does not hold scores of "
                "this command. Give another name, or remove it."
            ) from error

    def begun_plan(self) -> WorkPlan | None:
        """Return the plan of a run that was interrupted; None if there was none."""
        for name in (_PLAN, SUCCESS):  # it may have been interrupted in its last step
            try:
                return WorkPlan.read((self.growing / name).read_text(encoding="utf-8"))
            except FileNotFoundError:
                continue
            except ValueError as error:
                raise ValueError(
                    f"{self.growing} cannot be resumed: {error}. Remove it."
                ) from error
        return None

    def check_same(self, plan: WorkPlan, request: Mapping[str, Any], where: Path) -> None:
        """Refuse a folder that was begun, or written, for another request."""
        other = difference(plan.request, request)
        if other:
            raise ValueError(
                f"{where} was begun with another request: {other} changed. Repeat the command as "
                "it was, give another --out, or remove the folder to begin again."
            )

    def plan_for(self, request: Mapping[str, Any]) -> tuple[WorkPlan | None, bool]:
        """Return the plan of an earlier run of the same request, and whether it is complete."""
        done = self.finished_plan()
        if done is not None:
            self.check_same(done, request, self._path)
            self._check_parts(done, self._path, "Remove the folder, and repeat the command.")
            return done, True
        begun = self.begun_plan()
        if begun is not None:
            self.check_same(begun, request, self.growing)
        return begun, False

    def begin(self, plan: WorkPlan) -> None:
        """Write the plan; the first step of a run."""
        self.growing.mkdir(parents=True, exist_ok=True)
        with replacing(self.growing / _PLAN) as file:
            file.write(plan.text().encode())

    def is_done(self, unit: Unit, plan: WorkPlan) -> bool:
        """Return whether a unit is complete."""
        return _holds(self.growing / unit.file_name, unit, plan)

    def complete(self, plan: WorkPlan) -> None:
        """Give the folder its name; the last step of a run.

        Raises
        ------
        ValueError
            If a unit is not there.
        """
        self._check_parts(plan, self.growing, "Repeat the command.")
        for left in self.growing.glob(f"{_TEMPORARY}*"):  # of workers that died
            left.unlink(missing_ok=True)
        (self.growing / _PLAN).replace(self.growing / SUCCESS)
        if self._path.is_dir():
            self._path.rmdir()  # it is empty
        self.growing.replace(self._path)

    def _check_parts(self, plan: WorkPlan, folder: Path, advice: str) -> None:
        missing = [
            unit.file_name for unit in plan.units if not _holds(folder / unit.file_name, unit, plan)
        ]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(plan.units)} parts are missing or damaged in {folder}, "
                f"such as {missing[0]}. {advice}"
            )


def _holds(path: Path, unit: Unit, plan: WorkPlan) -> bool:
    """Return whether a file has all scores of a unit, and was written for this plan.

    A worker of an earlier run may still write its last part after its driver was killed.
    """
    from pyarrow import ArrowException, parquet

    try:
        found = parquet.read_metadata(path)
        about = json.loads((found.metadata or {})[b"shafer"])
    except (OSError, KeyError, ValueError, ArrowException):
        return False
    return bool(found.num_rows == unit.rows and about.get("plan") == plan.digest)


# The tables that a path, a folder or a pattern such as ``data/*.csv`` names.

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


# Tables that are appended to an open CSV or Parquet file.


@contextmanager
def table_writer(
    file: BinaryIO, name: Path, columns: Sequence[Column], about: dict[str, str]
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Give a function that appends a table to the file.

    Parameters
    ----------
    file : open file
    name : Path
        Its name, which decides the format.
    columns : sequence of Column
        Of the table.
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
    from pyarrow import parquet

    schema = arrow_schema(columns).with_metadata({"shafer": json.dumps(about)})
    # Few texts occur often, while no number occurs twice: a dictionary of them costs time.
    texts = [column.name for column in columns if column.kind == "text"]
    with parquet.ParquetWriter(file, schema, use_dictionary=texts or False) as writer:
        yield lambda table: writer.write_table(arrow_table(table, schema))


# One unit of work: some rows are read, scored, and written to one file.


@final
@dataclass(frozen=True, eq=False)
class FileScorer:
    """Scores tables in files.

    Attributes
    ----------
    scorer : RowScorer
    read : dict
        The columns to read, and what they held in training.
    kept : tuple of strings
        The columns that are passed on: the ids, and others.
    sentence : str
        What the user should know about the columns: the means, and what is promised.
    left_out : str
        A sentence on columns that cannot be written.
    """

    scorer: RowScorer
    read: Columns
    kept: tuple[str, ...]
    sentence: str
    left_out: str

    @classmethod
    def of(
        cls,
        named: NamedModel | None,
        data: Path,
        files: Sequence[Path],
        kinds: Kinds,
        options: MeansOptions,
        chunk: int,
        wanted: ScoreOptions,
    ) -> FileScorer:
        """Find the columns and the means, and check the options before any row is scored.

        ``data`` are the ``files`` as the user named them, and ``kinds`` their columns.
        """
        if named is None:
            model, inputs = _trained(data, kinds, options)
        else:
            model, inputs = _loaded(named, data, files, kinds, options, chunk)
        ids = options.ids
        check_columns(ids, kinds, data, "--id")
        check_columns(wanted.keep, kinds, data, "--keep")
        check_not_inputs(ids, inputs.columns)
        check_ids(files, ids)
        columns = ScoreColumns.of(model, wanted, kinds)
        beside = [name for name in reads_of(columns) if name not in inputs.columns]
        kept = tuple(dict.fromkeys((*ids, *wanted.keep)))
        first = kept_columns(kept_types(files, kept))
        twice = [column.name for column in (*columns, ROW) if column.name in kept]
        if twice:
            raise ValueError(
                f"{data} has a column {twice[0]!r}, and so have the scores. Rename it to keep it."
            )
        return cls(
            RowScorer(model, inputs, (*first, *columns) if ids else (ROW, *first, *columns)),
            {**inputs.columns, **{name: ColumnSchema(kinds[name]) for name in beside}},
            kept,
            f"{model.sentence} {columns.promised}".rstrip(),
            columns.left_out,
        )

    def tables(
        self, path: Path, chunk: int, first: int, row_groups: Sequence[int] | None = None
    ) -> Iterator[dict[str, Any]]:
        """Give the scores of a file, or of some row groups of it, chunk by chunk.

        Parameters
        ----------
        path : Path
        chunk : int
            Rows held at a time.
        first : int
            The number of the first row.
        row_groups : sequence of int, optional
            Of a Parquet file; by default all.
        """
        chunks = chunks_beside(path, self.read, self.kept, chunk, row_groups=row_groups)
        for frame, kept in chunks:
            try:
                table = self.scorer.table(frame, first, kept)
            except ValueError as error:
                last = first + len(frame) - 1
                raise ValueError(f"Rows {first} to {last} of {path}: {error}") from error
            yield table
            first += len(frame)


def _trained(data: Path, kinds: Kinds, options: MeansOptions) -> tuple[MeasuredModel, ModelInputs]:
    if options.train_path is None or options.target is None:
        raise ValueError(
            "Scoring needs --model, or --train and --target to train a logistic regression."
        )
    trained = train_on(options.train_path, options.target, options)
    trained.check_columns(kinds, data)
    own = MeasuredModel.relative(trained.explainer, f"of {options.train_path.name}")
    return own, ModelInputs(trained.columns)


def _loaded(
    named: NamedModel,
    data: Path,
    files: Sequence[Path],
    kinds: Kinds,
    options: MeansOptions,
    chunk: int,
) -> tuple[MeasuredModel, ModelInputs]:
    inputs = model_inputs(
        named.model,
        kinds,
        data,
        target=options.target,
        text_column=options.text_column,
        ids=options.ids,
    )

    def rows() -> Iterator[Any]:
        for path in files:
            for frame in chunks_of(path, inputs.columns, chunk):
                yield inputs.rows(frame)

    return measured_model(named.model, inputs, data, rows, options), inputs


@final
@dataclass(frozen=True, eq=False)
class UnitScorer:
    """Scores units; sent to each worker once. All workers must see the same folders.

    Attributes
    ----------
    scorer : FileScorer
    folder : str
        Where the files of scores go.
    chunk : int
        Rows held at a time.
    about : dict
        Written into the header of each file.
    """

    scorer: FileScorer
    folder: str
    chunk: int
    about: dict[str, str]

    def __call__(self, unit: Unit) -> int:
        """Write the scores of a unit, and return how many. The file appears when it is complete."""
        out = Path(self.folder) / unit.file_name
        tables = self.scorer.tables(Path(unit.path), self.chunk, unit.first_row, unit.row_groups)
        columns, rows = self.scorer.scorer.columns, 0
        with warnings.catch_warnings(), replacing(out) as file:
            warnings.simplefilter("ignore")
            with table_writer(file, out, columns, self.about) as write:
                for table in tables:
                    write(table)
                    rows += len(table["answer"])
            if rows != unit.rows:
                raise ValueError(f"{unit.path} changed while it was read. Score it again.")
            file.flush()
            os.fsync(file.fileno())
        return rows


# Score a table of any length: chunk by chunk, and the file appears when it is complete.


@final
@dataclass(frozen=True)
class Written:
    """What was written: the number of rows, and sentences on the means and on what was left out."""

    rows: int
    means: str
    left_out: str = ""


def _in_folder(out: Path) -> Path:
    """Make the folder of a file."""
    out.parent.mkdir(parents=True, exist_ok=True)
    return out


def write_scores(
    data: Path,
    out: Path,
    model: NamedModel | None,
    options: MeansOptions,
    chunk: int,
    wanted: ScoreOptions,
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
    wanted : ScoreOptions
        What to write.
    """
    from tqdm import tqdm

    input_files(data)  # a wrong path is reported before --out, which may be right for a folder
    check_output(out, (data, options.train_path))
    found = survey(data, chunk)
    if found.rows == 0:
        raise ValueError(f"{data} has no rows.")
    scorer = FileScorer.of(model, data, [data], found.kinds, options, chunk, wanted)
    about = {"version": shafer.__version__, "means": scorer.sentence}
    done = 0
    with (
        writing(out),
        replacing(_in_folder(out)) as file,
        table_writer(file, out, scorer.scorer.columns, about) as write,
        tqdm(total=found.rows, unit="row", unit_scale=True, disable=None) as progress,
    ):
        for table in scorer.tables(data, chunk, 0):
            write(table)
            done += len(table["answer"])
            progress.update(len(table["answer"]))
    if done != found.rows:
        raise ValueError(f"{data} changed while it was read. Score it again.")
    return Written(done, scorer.sentence, scorer.left_out)
