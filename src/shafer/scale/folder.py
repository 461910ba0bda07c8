"""Score many files into a folder, on an engine or here; a run that was stopped goes on."""

from __future__ import annotations

import glob
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Self, final

import numpy as np

import shafer
from shafer._column import Column
from shafer._files.atomic import replacing
from shafer._terminal import writing
from shafer._text import listed
from shafer.rows.csv_cells import check_names, escaped
from shafer.rows.schema import ColumnSchema
from shafer.scale.background_means import MeansOptions, MeasuredModel, measured_model
from shafer.scale.bad_rows import (
    BadRow,
    BadRowOptions,
    Rows,
    divided,
    first_bad,
    first_reason,
    side_name,
    with_column,
    write_bad_rows,
)
from shafer.scale.columns import ROW, ScoreColumns, ScoreOptions, kept_columns
from shafer.scale.engines import JobEngine, LocalJobs
from shafer.scale.ids import check_columns, check_ids, check_not_inputs, kept_types
from shafer.scale.inputs import ModelInputs, model_inputs
from shafer.scale.models import NamedModel, train_on
from shafer.scale.plan import (
    Unit,
    WorkPlan,
    changed_files,
    difference,
    file_digest,
    is_csv,
    make_request,
)
from shafer.scale.run_log import RunLog
from shafer.scale.scorer import RowScorer, arrow_schema, arrow_table, reads_of
from shafer.scale.tables import (
    Columns,
    Kinds,
    RawChunk,
    Survey,
    check_output,
    chunks_of,
    format_of,
    raw_chunks,
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
    log: RunLog = RunLog(),  # noqa: B008 - it is frozen
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
    log : RunLog
        Where progress is reported.
    """
    files, folder = asked.files(), OutputFolder(asked.out)
    request = make_request(files, asked.contents, asked.options)
    done = folder.finished_plan()
    if done is not None:
        folder.check_finished(done, request)
        return folder.written(done, "All parts were there already.")
    earlier = folder.begun_plan()
    if earlier is not None:
        folder.check_begun(earlier, request)
    if earlier is not None and earlier.request == request:
        plan = earlier
    else:
        plan = WorkPlan.of(request, files, _surveys(files, chunk, engine, request, earlier))
    if plan.rows == 0:
        raise ValueError(f"{asked.data} has no rows.")
    scorer = FileScorer.of(model, asked.data, files, plan.kinds, options, chunk, wanted)
    plan = plan.keyed(scorer.reading, numbered=not options.ids, of_all=options.from_data)
    with writing(asked.out):
        folder.begin(plan)
        new = _score_units(plan, folder, scorer, chunk, engine, log)
        folder.complete(plan)
    return folder.written(plan, scorer.sentence, scorer.left_out, new)


def _surveys(
    files: Sequence[Path],
    chunk: int,
    engine: JobEngine,
    request: Mapping[str, Any],
    earlier: WorkPlan | None,
) -> list[Survey]:
    """Learn what the files hold. CSV files must be read for this, which the workers do.

    What an earlier plan knows of files that did not change is not read again.
    """
    found: dict[Path, Survey] = {}
    if earlier is not None:
        changed, _ = changed_files(earlier.request, request)
        known = earlier.surveys
        found = {p: known[str(p)] for p in files if str(p) in known and str(p) not in changed}
    new = [path for path in files if path not in found]
    for path, told in (engine if is_csv(files) else LocalJobs()).run(
        partial(surveyed, rows=chunk), new
    ):
        found[path] = told
    return [found[path] for path in files]


def _score_units(
    plan: WorkPlan,
    folder: OutputFolder,
    scorer: FileScorer,
    chunk: int,
    engine: JobEngine,
    log: RunLog,
) -> list[Part]:
    """Score the units that are not done, and return what was written."""
    about = {"version": shafer.__version__, "means": scorer.sentence}
    work = UnitScorer(scorer, str(folder.growing), chunk, about)
    left = [unit for unit in plan.units if not folder.is_done(unit)]
    before = plan.rows - sum(unit.rows for unit in left)
    kept, new = len(plan.units) - len(left), []
    log.event("start", f"{plan.rows:,} rows", rows=plan.rows, parts=len(plan.units), kept=kept)
    with log.progress(plan.rows, before) as progress:
        for done in engine.run(work, left):
            new.append(done)
            progress(done.rows + done.bad)
            log.event("part", f"{done.name}: {done.rows:,} rows", **asdict(done))
    return new


# A folder of scores that appears when it is complete, and can be resumed.

SUCCESS = "_SUCCESS"
QUARANTINE = "_quarantine"
PART = "shafer.part"
"""The key of what a file of scores says about itself."""
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
        self._shown, self._path = path, Path(os.path.realpath(path))  # a link stays a link
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

    def check_finished(self, plan: WorkPlan, request: Mapping[str, Any]) -> None:
        """Refuse a complete folder that was written for another request, or is damaged."""
        self._check_same(plan, request, self._path)
        changed, _ = changed_files(plan.request, request)
        if changed:
            raise ValueError(
                f"{self._path} is complete, and since then the input files changed: "
                f"{listed(changed, most=3, written=str)}. Give another --out, or remove the folder."
            )
        self._check_parts(plan, self._path, "Remove the folder, and repeat the command.")

    def check_begun(self, plan: WorkPlan, request: Mapping[str, Any]) -> None:
        """Refuse to go on with another request. Some of the input files may have changed."""
        self._check_same(plan, request, self.growing)
        if not changed_files(plan.request, request)[1]:
            raise ValueError(
                f"{self.growing} was begun for other input files: all of them changed. Give "
                "another --out, or remove the folder to begin again."
            )

    def _check_same(self, plan: WorkPlan, request: Mapping[str, Any], where: Path) -> None:
        other = difference(plan.request, request)
        if other:
            raise ValueError(
                f"{where} was begun with another request: {other} changed. Repeat the command as "
                "it was, give another --out, or remove the folder to begin again."
            )

    def begin(self, plan: WorkPlan) -> None:
        """Write the plan, and keep the parts of an earlier one that are also in this one."""
        self.growing.mkdir(parents=True, exist_ok=True)
        with replacing(self.growing / _PLAN) as file:
            file.write(plan.text().encode())
        names = {unit.digest: unit.name for unit in plan.units}
        moved = []
        for part in sorted(self.growing.glob("part-*.parquet")):
            name = names.get(_about_part(part).get("unit", ""))
            if name == part.stem:
                continue
            for path in (part, *self._side_files(self.growing, part.stem)):
                if name is None:
                    path.unlink(missing_ok=True)
                else:  # not yet to its new name, where another part may be
                    moving = path.with_name(f"{_TEMPORARY}{path.name}")
                    moved.append((path.replace(moving), path.with_name(name + path.suffix)))
        for moving, target in moved:
            moving.replace(target)

    @staticmethod
    def _side_files(folder: Path, name: str) -> list[Path]:
        return list((folder / QUARANTINE).glob(f"{name}.*"))

    def is_done(self, unit: Unit) -> bool:
        """Return whether a unit is complete."""
        return _holds(self.growing / unit.file_name, unit)

    def complete(self, plan: WorkPlan) -> None:
        """Give the folder its name; the last step of a run.

        Raises
        ------
        ValueError
            If a unit is not there, or no row could be scored.
        """
        self._check_parts(plan, self.growing, "Repeat the command.")
        parts = self._parts(plan, self.growing)
        if not sum(part.rows for part in parts):
            raise ValueError(
                f"None of {plan.rows:,} rows can be scored: {parts[0].reason} Nothing is written "
                f"to {self._path}."
            )
        known = {unit.name for unit in plan.units}
        late = [path for path in self.growing.glob("part-*") if path.stem not in known]
        for left in (*late, *self.growing.glob(f"{_TEMPORARY}*")):  # of workers that died
            left.unlink(missing_ok=True)
        (self.growing / _PLAN).replace(self.growing / SUCCESS)
        if self._path.is_dir():
            self._path.rmdir()  # it is empty
        self.growing.replace(self._path)

    def written(
        self, plan: WorkPlan, sentence: str, left_out: str = "", new: Sequence[Part] = ()
    ) -> Written:
        """Describe the complete folder, of which some parts are new."""
        written = {part.name: part for part in new}
        parts = tuple(written.get(part.name, part) for part in self._parts(plan, self._path))
        side = self._shown / QUARANTINE
        return Written(
            sum(part.rows for part in parts),
            sentence,
            left_out,
            bad=sum(part.bad for part in parts),
            reason=next((part.reason for part in parts if part.bad), ""),
            side=side if side.is_dir() else None,
            parts=parts,
            kept=len(parts) - len(written),
        )

    @staticmethod
    def _parts(plan: WorkPlan, folder: Path) -> tuple[Part, ...]:
        return tuple(Part.read(folder / unit.file_name) for unit in plan.units)

    def _check_parts(self, plan: WorkPlan, folder: Path, advice: str) -> None:
        missing = [
            unit.file_name for unit in plan.units if not _holds(folder / unit.file_name, unit)
        ]
        if missing:
            raise ValueError(
                f"{len(missing)} of {len(plan.units)} parts are missing or damaged in {folder}, "
                f"such as {missing[0]}. {advice}"
            )


@final
@dataclass(frozen=True)
class Part:
    """A file of scores.

    Attributes
    ----------
    name : str
    rows, bad : int
        Rows that were scored, and rows that could not be.
    reason : str
        Where the first bad row is, and what is wrong with it; empty if there is none.
    sha256 : str
        The digest of the file; empty if it was written by an earlier run.
    """

    name: str
    rows: int
    bad: int = 0
    reason: str = ""
    sha256: str = ""

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what a file of scores says about itself."""
        about = _about_part(path)
        return cls(path.name, about["rows"], about["bad"], about["reason"])


def _about_part(path: Path) -> dict[str, Any]:
    """Return what a file of scores says about itself; nothing if it is damaged."""
    from pyarrow import ArrowException, parquet

    try:
        found = parquet.read_metadata(path)
        about: dict[str, Any] = json.loads((found.metadata or {})[PART.encode()])
    except (OSError, KeyError, ValueError, ArrowException):
        return {}
    return about if about["rows"] == found.num_rows else {}


def _holds(path: Path, unit: Unit) -> bool:
    """Return whether a file has all scores of a unit.

    A worker of an earlier run may still write its last part after its driver was killed.
    """
    about = _about_part(path)
    is_own = bool(unit.digest) and about.get("unit") == unit.digest
    return is_own and about["rows"] + about["bad"] == unit.rows


# The tables that a path, a folder or a pattern such as ``data/*.csv`` names.

_ENDINGS = (".csv.gz", ".csv", ".parquet", ".pq")


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


@final
class TableWriter:
    """Appends tables to an open CSV or Parquet file.

    Parameters
    ----------
    file : open file
    name : Path
        Its name, which decides the format.
    columns : sequence of Column
        Of the table.
    about : dict
        Written into the header of a Parquet file.
    raw_csv : bool
        Write texts to a CSV file as they are, also if they would start a formula.
    """

    def __init__(
        self,
        file: BinaryIO,
        name: Path,
        columns: Sequence[Column],
        about: dict[str, str],
        *,
        raw_csv: bool = False,
    ) -> None:
        self._file, self._raw = file, raw_csv
        self._is_first = True
        self._packed: Any = "gzip" if name.name.lower().endswith(".gz") else None
        self._parquet = None
        if format_of(name) == "csv":
            return
        from pyarrow import parquet

        self._schema = arrow_schema(columns).with_metadata({"shafer": json.dumps(about)})
        # Few texts occur often, while no number occurs twice: a dictionary of them costs time.
        texts = [column.name for column in columns if column.kind == "text"]
        self._parquet = parquet.ParquetWriter(file, self._schema, use_dictionary=texts or False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._parquet is not None:
            self._parquet.close()

    def write(self, table: dict[str, Any]) -> None:
        """Append a table."""
        if self._parquet is not None:
            self._parquet.write_table(arrow_table(table, self._schema))
            return
        import pandas

        frame = pandas.DataFrame(table)
        frame = frame if self._raw else escaped(frame)
        header, self._is_first = self._is_first, False
        frame.to_csv(self._file, mode="wb", index=False, header=header, compression=self._packed)

    def note(self, **about: Any) -> None:
        """Write into the end of a Parquet file what is known when all rows are written."""
        if self._parquet is not None:
            self._parquet.add_key_value_metadata({PART: json.dumps(about)})


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
    ids : tuple of strings
        The columns that name the rows.
    bad : BadRowOptions
        What to do about rows that cannot be scored.
    """

    scorer: RowScorer
    read: Columns
    kept: tuple[str, ...]
    sentence: str
    left_out: str
    ids: tuple[str, ...]
    bad: BadRowOptions

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
            ids,
            wanted.bad,
        )

    @property
    def reading(self) -> list[Any]:
        """As what the columns are read, and what is written, as plain values."""
        columns = [
            [name, one.kind, one.ordered, one.gap, one.empty, list(map(str, one.known))]
            for name, one in self.read.items()
        ]
        return [columns, [column.name for column in self.scorer.columns]]

    def tables(
        self, path: Path, chunk: int, first: int, row_groups: Sequence[int] | None = None
    ) -> Iterator[tuple[dict[str, Any] | None, list[BadRow]]]:
        """Give the scores of a file, or of some row groups of it, chunk by chunk, and bad rows.

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
        chunks = raw_chunks(
            path, self.read, self.kept, chunk, row_groups=row_groups, raw_csv=self.bad.raw_csv
        )
        for held in chunks:
            yield self._scored(path, held, first)
            first += len(held)

    def _scored(
        self, path: Path, chunk: RawChunk, first: int
    ) -> tuple[dict[str, Any] | None, list[BadRow]]:
        every = np.arange(len(chunk))

        def scores(rows: Rows) -> dict[str, Any]:
            some = chunk.rows(rows)
            return self.scorer.table(some.read(), first + rows, some.beside())

        if self.bad.on_error != "stop":
            found = divided(scores, every)
            bad = [self._bad_row(chunk, row, found.bad[row]) for row in sorted(found.bad)]
            return found.result, bad
        try:
            return scores(every), []
        except (ValueError, TypeError) as error:
            one = first_bad(scores, every, error)
            if one is None:
                rows = chunk.frame.index
                raise ValueError(f"{path}, rows {rows[0]} to {rows[-1]}: {error}") from error
            bad_row = self._bad_row(chunk, *one)
            raise ValueError(
                f"{path}, {bad_row.text} Correct the row, or leave such rows out with --on-error "
                "skip or quarantine."
            ) from error

    def _bad_row(self, chunk: RawChunk, row: int, text: str) -> BadRow:
        names = list(self.scorer.inputs.names)
        frame = chunk.frame
        cells = {name: frame[name].iloc[row] for name in (*names, *self.ids)}
        named = ", ".join(f"{name} {cells[name]}" for name in self.ids)
        reason = with_column(text, names, [cells[name] for name in names])
        return BadRow(int(frame.index[row]), named, reason)


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

    def __call__(self, unit: Unit) -> Part:
        """Write the scores of a unit. The file appears when it is complete."""
        out, path = Path(self.folder) / unit.file_name, Path(unit.path)
        scorer, rows = self.scorer, 0
        bad: list[BadRow] = []
        with warnings.catch_warnings(), replacing(out) as file:
            warnings.simplefilter("ignore")
            with TableWriter(file, out, scorer.scorer.columns, self.about) as writer:
                for table, wrong in scorer.tables(
                    path, self.chunk, unit.first_row, unit.row_groups
                ):
                    bad += wrong
                    if table is not None:
                        writer.write(table)
                        rows += len(table["answer"])
                if rows + len(bad) != unit.rows:
                    raise ValueError(f"{unit.path} changed while it was read. Score it again.")
                part = Part(unit.file_name, rows, len(bad), first_reason(path, bad))
                writer.note(unit=unit.digest, **asdict(part))
            file.flush()
            os.fsync(file.fileno())
            self._write_side_file(unit, path, bad)
        return replace(part, sha256=file_digest(out))

    def _write_side_file(self, unit: Unit, path: Path, bad: list[BadRow]) -> None:
        """Write the bad rows, before the file of scores appears; or remove those of earlier."""
        folder = Path(self.folder) / QUARANTINE
        if bad and self.scorer.bad.on_error == "quarantine":
            folder.mkdir(exist_ok=True)
            write_bad_rows(folder / side_name(unit.name, path), path, bad, self.scorer.bad)
        elif folder.is_dir():
            (folder / side_name(unit.name, path)).unlink(missing_ok=True)
            with suppress(OSError):  # others are in it
                folder.rmdir()


# Score a table of any length: chunk by chunk, and the file appears when it is complete.


@final
@dataclass(frozen=True)
class Written:
    """What was written.

    Attributes
    ----------
    rows : int
    means, left_out : str
        Sentences on the means and on columns that were left out.
    bad : int
        Rows that could not be scored.
    reason : str
        Where the first of them is, and what is wrong with it.
    side : Path, optional
        Where they are.
    parts : tuple of Part
        Of a folder.
    kept : int
        How many parts an earlier run had written.
    """

    rows: int
    means: str
    left_out: str = ""
    bad: int = 0
    reason: str = ""
    side: Path | None = None
    parts: tuple[Part, ...] = ()
    kept: int = 0


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
    log: RunLog = RunLog(),  # noqa: B008 - it is frozen
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
    log : RunLog
        Where progress is reported.
    """
    input_files(data)  # a wrong path is reported before --out, which may be right for a folder
    check_output(out, (data, options.train_path))
    found = survey(data, chunk)
    if found.rows == 0:
        raise ValueError(f"{data} has no rows.")
    scorer = FileScorer.of(model, data, [data], found.kinds, options, chunk, wanted)
    if format_of(out) == "csv" and not wanted.bad.raw_csv:
        check_names(scorer.kept, out)
    side = None
    if wanted.bad.on_error == "quarantine":
        side = out.with_name(side_name(_without_ending(out), data))
        check_output(side, (data, out, options.train_path))
    about = {"version": shafer.__version__, "means": scorer.sentence}
    done, bad = 0, list[BadRow]()
    log.event("start", f"{found.rows:,} rows", rows=found.rows)
    with (
        writing(out),
        replacing(_in_folder(out)) as file,
        TableWriter(file, out, scorer.scorer.columns, about, raw_csv=wanted.bad.raw_csv) as writer,
        log.progress(found.rows) as progress,
    ):
        for table, wrong in scorer.tables(data, chunk, 0):
            bad += wrong
            if table is not None:
                writer.write(table)
                done += len(table["answer"])
            progress(len(wrong) + (0 if table is None else len(table["answer"])))
        if done + len(bad) != found.rows:
            raise ValueError(f"{data} changed while it was read. Score it again.")
        reason = first_reason(data, bad)
        if not done:
            raise ValueError(f"None of {len(bad):,} rows can be scored: {reason}")
        if side is not None:  # before the scores appear
            write_bad_rows(side, data, bad, wanted.bad)
    return Written(done, scorer.sentence, scorer.left_out, len(bad), reason, side)


def _without_ending(path: Path) -> str:
    """Return the name of a table without its ending."""
    lower = path.name.lower()
    return path.name[: -len(next(end for end in _ENDINGS if lower.endswith(end)))]
