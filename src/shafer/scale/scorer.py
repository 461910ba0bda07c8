"""``RowScorer``: the table of evidence of some rows, with a schema that is known beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from shafer.asking.columns import AskColumns
from shafer.deferral.columns import DeferColumns
from shafer.evidence.table import evidence_columns
from shafer.explain.explainer import Explainer
from shafer.scale.background_means import MeansOptions, MeasuredModel, measured_model, scored
from shafer.scale.columns import (
    ActColumns,
    ReasonColumns,
    SetDecisions,
    score_column_names,
    score_columns,
)
from shafer.scale.inputs import ModelColumns, ModelInputs, model_inputs
from shafer.scale.models import NamedModel, train_on
from shafer.scale.tables import Kinds, chunks_of, label_named

_CELLS = 2**23  # input values in memory at a time
_MOST_ROWS = 100_000


@final
@dataclass(frozen=True, eq=False)
class RowScorer:
    """Scores rows on a worker. It is sent to each worker once.

    Attributes
    ----------
    explainer : Explainer
    inputs : ModelColumns
        The columns that the model takes.
    keep : tuple of strings
        Columns that are passed on.
    reasons : int
        Reasons for each row; 0 for none.
    decisions : SetDecisions
        What the column ``decision`` holds.
    """

    explainer: Explainer
    inputs: ModelColumns
    keep: tuple[str, ...]
    reasons: int
    decisions: SetDecisions

    @property
    def read(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys((*self.keep, *self._scored)))

    @property
    def _scored(self) -> list[str]:
        """The columns that the scores depend on: those of the model, and the groups."""
        groups = () if self.decisions.column is None else (self.decisions.column,)
        return list(dict.fromkeys((*self.inputs.names, *groups)))

    @property
    def chunk(self) -> int:
        """Rows that are scored at a time."""
        return max(1, min(_MOST_ROWS, _CELLS // max(1, len(self.inputs.names))))

    def evidence_schema(self) -> Any:
        """Return the columns that are added, as a pyarrow schema: numbers and texts."""
        return evidence_schema(self.explainer, self.reasons)

    def arrow(self, table: Any) -> Any:
        """Return the scores of a pyarrow table, with the columns that are kept."""
        import pyarrow

        scored = self.evidence(table)
        kept = table.select(list(self.keep))
        schema = pyarrow.schema([*kept.schema, *scored.schema])
        return pyarrow.Table.from_arrays([*kept.columns, *scored.columns], schema=schema)

    def evidence(self, table: Any) -> Any:
        """Return the scores of a pyarrow table, without any of its columns."""
        import pyarrow

        chosen = table.select(self._scored)
        slices = (chosen.slice(i, self.chunk) for i in range(0, chosen.num_rows, self.chunk))
        parts = [self._of_rows(part.to_pandas()) for part in slices]
        return pyarrow.concat_tables(parts or [self._nothing()])

    def pandas(self, frame: Any) -> Any:
        """Return the scores of a pandas frame, with its index and the columns that are kept."""
        import pandas
        import pyarrow

        slices = (frame.iloc[i : i + self.chunk] for i in range(0, len(frame), self.chunk))
        parts = [self._of_rows(part) for part in slices]
        scored = pyarrow.concat_tables(parts or [self._nothing()]).to_pandas()
        return pandas.concat([frame[list(self.keep)], scored.set_axis(frame.index)], axis=1)

    def _of_rows(self, frame: Any) -> Any:
        import pyarrow

        schema = self.evidence_schema()
        column = self.decisions.column
        groups = None if column is None else frame[column].to_numpy()
        rows = self.inputs.rows(frame)
        table = score_columns(self.explainer, rows, self.reasons, self.decisions, groups)
        arrays = [_array(table[field.name], field.type) for field in schema]
        return pyarrow.Table.from_arrays(arrays, schema=schema)

    def _nothing(self) -> Any:
        return self.evidence_schema().empty_table()


def evidence_schema(explainer: Explainer, reasons: int) -> Any:
    """Return the names and types of the columns, without any row."""
    import pyarrow

    kinds = {True: pyarrow.float64(), False: pyarrow.string()}
    numbers = score_column_names(explainer, reasons)
    return pyarrow.schema([(name, kinds[number]) for name, number in numbers.items()])


def _array(values: Any, kind: Any) -> Any:
    import pyarrow

    if isinstance(values, list):
        return pyarrow.array(values, kind)
    return pyarrow.array(np.ascontiguousarray(values, dtype=np.float64), kind)


# the columns that ``shafer score`` writes, for some rows.


@final
@dataclass(frozen=True)
class ExtraColumns:
    """The columns besides those of the evidence.

    Attributes
    ----------
    reasons : ReasonColumns, optional
    ask : bool
        What to measure, what to check, and whether the answer would stand.
    acts : ActColumns, optional
        What to do, given the costs.
    defer : DeferColumns, optional
        Which rows a person should decide.
    """

    reasons: ReasonColumns | None = None
    ask: bool = False
    acts: ActColumns | None = None
    defer: DeferColumns | None = None


@final
@dataclass(frozen=True)
class ChunkScorer:
    """A model, the columns it takes, how to read them, and what to write.

    Attributes
    ----------
    model : MeasuredModel
    inputs : ModelInputs
    read : dict
        The columns to read, and what they hold.
    truth_as_text : bool
    extra : ExtraColumns
    decisions : SetDecisions
        What the column ``decision`` holds.
    """

    model: MeasuredModel
    inputs: ModelInputs
    read: Kinds
    truth_as_text: bool
    extra: ExtraColumns
    decisions: SetDecisions

    @classmethod
    def of(
        cls,
        named: NamedModel | None,
        data: Path,
        files: Sequence[Path],
        kinds: Kinds,
        options: MeansOptions,
        chunk: int,
        extra: ExtraColumns,
    ) -> ChunkScorer:
        """Find the columns and the means, and check the options before any row is scored.

        Parameters
        ----------
        named : NamedModel, optional
            By default a logistic regression is trained.
        data : Path
            The data as the user named them, for messages.
        files : sequence of paths
            The tables to be scored.
        kinds : dict
            Their columns, and what these hold.
        options : MeansOptions
        chunk : int
            Rows held at a time.
        extra : ExtraColumns
        """
        if named is None:
            model, inputs = _trained(data, kinds, options)
        else:
            model, inputs = _loaded(named, data, files, kinds, options, chunk)
        reasons, acts, defer = extra.reasons, extra.acts, extra.defer
        if reasons is not None and reasons.class_text is not None:
            label_named(reasons.class_text, model.classes, "--reasons-for")
        if acts is not None:
            acts.check(model.classes)
        read = inputs.kinds if defer is None else defer.kinds(kinds, inputs.kinds, data)
        decisions = SetDecisions() if named is None else SetDecisions.of(scored(named.model), kinds)
        if decisions.column is not None:
            read = {**read, decisions.column: kinds[decisions.column]}
        return cls(model, inputs, read, named is None, extra, decisions)

    @property
    def sentence(self) -> str:
        """What the user should know about the columns: the means, and the decided set."""
        return f"{self.model.sentence} {self.decisions.sentence}".rstrip()

    def asking(self) -> AskColumns | None:
        """Return what makes the columns of ``--ask``, for one file or part."""
        return AskColumns(self.model.evidence) if self.extra.ask else None

    def tables(
        self,
        path: Path,
        chunk: int,
        first: int,
        asked: AskColumns | None,
        row_groups: Sequence[int] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Give the columns of a file, or of some row groups of it, chunk by chunk.

        Parameters
        ----------
        path : Path
        chunk : int
            Rows held at a time.
        first : int
            The number of the first row.
        asked : AskColumns, optional
        row_groups : sequence of int, optional
            Of a Parquet file; by default all.
        """
        frames = chunks_of(
            path, self.read, chunk, truth_as_text=self.truth_as_text, row_groups=row_groups
        )
        for frame in frames:
            try:
                table = self._table(frame, first, asked)
            except ValueError as error:
                last = first + len(frame) - 1
                raise ValueError(f"Rows {first} to {last} of {path}: {error}") from error
            yield table
            first += len(frame)

    def _table(self, frame: Any, first: int, asked: AskColumns | None) -> dict[str, Any]:
        X = self.inputs.rows(frame)
        evidence = self.model.evidence(X)
        extra, column = self.extra, self.decisions.column
        groups = None if column is None else frame[column].to_numpy()
        return {
            "row": np.arange(first, first + len(evidence)),
            **evidence_columns(evidence),
            **self.decisions.of_rows(X, evidence, groups),
            **({} if extra.reasons is None else extra.reasons.of(evidence)),
            **({} if asked is None else asked(X, evidence)),
            **({} if extra.acts is None else extra.acts.of(evidence)),
            **({} if extra.defer is None else extra.defer(X, frame)),
        }


def _trained(data: Path, kinds: Kinds, options: MeansOptions) -> tuple[MeasuredModel, ModelInputs]:
    if options.train_path is None or options.target is None:
        raise ValueError(
            "Scoring needs --model, or --train and --target to train a logistic regression."
        )
    trained = train_on(options.train_path, options.target, options)
    trained.check_columns(kinds, data)
    own = MeasuredModel.relative(trained.explainer, f"of {options.train_path.name}")
    return own, ModelInputs(trained.kinds)


def _loaded(
    named: NamedModel,
    data: Path,
    files: Sequence[Path],
    kinds: Kinds,
    options: MeansOptions,
    chunk: int,
) -> tuple[MeasuredModel, ModelInputs]:
    inputs = model_inputs(
        named.model, kinds, data, target=options.target, text_column=options.text_column
    )

    def rows() -> Iterator[Any]:
        for path in files:
            for frame in chunks_of(path, inputs.kinds, chunk, truth_as_text=False):
                yield inputs.rows(frame)

    return measured_model(named.model, inputs, data, rows, options), inputs
