"""``UnitScorer``: what a worker does: read some rows, score them, write one file."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import final

from shafer._files import replacing
from shafer.cli.scoring.chunk_scorer import ChunkScorer
from shafer.cli.scoring.table_writer import table_writer
from shafer.cli.scoring.work_plan import Unit


@final
@dataclass(frozen=True)
class UnitDone:
    """A unit that is complete.

    Attributes
    ----------
    rows : int
    left_out : str
        A sentence on columns that could not be written.
    """

    rows: int
    left_out: str


@final
@dataclass(frozen=True, eq=False)
class UnitScorer:
    """Scores units; sent to each worker once. All workers must see the same folders.

    Attributes
    ----------
    scorer : ChunkScorer
    folder : str
        Where the files of scores go.
    chunk : int
        Rows held at a time.
    about : dict
        Written into the header of each file.
    """

    scorer: ChunkScorer
    folder: str
    chunk: int
    about: dict[str, str]

    def __call__(self, unit: Unit) -> UnitDone:
        """Write the scores of a unit. The file appears when it is complete."""
        asked = self.scorer.asking()
        out = Path(self.folder) / unit.file_name
        tables = self.scorer.tables(
            Path(unit.path), self.chunk, unit.first_row, asked, unit.row_groups
        )
        rows = 0
        with warnings.catch_warnings(), replacing(out) as file:
            warnings.simplefilter("ignore")
            with table_writer(file, out, self.about) as write:
                for table in tables:
                    write(table)
                    rows += len(table["row"])
            if rows != unit.rows:
                raise ValueError(f"{unit.path} changed while it was read. Score it again.")
            file.flush()
            os.fsync(file.fileno())
        return UnitDone(rows, "" if asked is None else asked.left_out)
