"""``ChunkScorer``: the columns that ``shafer score`` writes, for some rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from shafer.cli.act_columns import ActColumns
from shafer.cli.ask_columns import AskColumns
from shafer.cli.background_means import MeansOptions, MeasuredModel, measured_model, scored
from shafer.cli.defer_columns import DeferColumns
from shafer.cli.model_inputs import ModelInputs, model_inputs
from shafer.cli.model_loading.load_model import NamedModel
from shafer.cli.reason_columns import ReasonColumns
from shafer.cli.table_files import Kinds, chunks_of
from shafer.cli.target_labels import label_named
from shafer.cli.trained_model import train_on
from shafer.evidence.io.frame_table import evidence_columns
from shafer.models.set_decisions import SetDecisions


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
