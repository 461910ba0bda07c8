"""``RowScorer``: the table of evidence of some rows, with a schema that is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer.models import Explainer
from shafer.models.score_columns import score_column_names, score_columns
from shafer.models.set_decisions import SetDecisions
from shafer.scale.model_columns import ModelColumns

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
