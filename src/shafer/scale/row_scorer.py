"""``RowScorer``: the table of evidence of some rows, with a schema that is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from shafer.evidence import Evidence, MassEvidence, with_weights
from shafer.evidence.io.frame_table import evidence_columns
from shafer.evidence.reason_table import reason_column_names, reason_columns
from shafer.models import Explainer
from shafer.models.uncertainty.moderation import Calibration
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
    """

    explainer: Explainer
    inputs: ModelColumns
    keep: tuple[str, ...]
    reasons: int

    @property
    def read(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys((*self.keep, *self.inputs.names)))

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

        chosen = table.select(list(self.inputs.names))
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
        table = score_columns(self.explainer(self.inputs.rows(frame)), self.reasons)
        arrays = [_array(table[field.name], field.type) for field in schema]
        return pyarrow.Table.from_arrays(arrays, schema=schema)

    def _nothing(self) -> Any:
        return self.evidence_schema().empty_table()


def score_columns(evidence: MassEvidence, reasons: int) -> dict[str, Any]:
    """Return the columns of evidence, and of so many reasons."""
    columns = evidence_columns(evidence)
    return columns | (reason_columns(with_weights(evidence), reasons) if reasons else {})


def evidence_schema(explainer: Explainer, reasons: int) -> Any:
    """Return the names and types of the columns, without any row."""
    import pyarrow

    nothing: MassEvidence = Evidence.from_weights(
        np.zeros((1, 1, len(explainer.classes))), classes=explainer.classes
    )
    if _discounts(explainer.calibration):
        nothing = with_weights(nothing).discounted(np.ones(1))
    numbers = {name: not isinstance(x, list) for name, x in evidence_columns(nothing).items()}
    if reasons:
        bars = explainer._errors is not None
        numbers |= reason_column_names(reasons, errors=bars, codes=False)
    kinds = {True: pyarrow.float64(), False: pyarrow.string()}
    return pyarrow.schema([(name, kinds[number]) for name, number in numbers.items()])


def _discounts(calibration: Any) -> bool:
    """Return whether the evidence is discounted, by the explainer or by the model inside."""
    while isinstance(calibration, Calibration):
        if calibration.moderation is not None and calibration.moderation.familiarity is not None:
            return True
        calibration = calibration.inner
    return False


def _array(values: Any, kind: Any) -> Any:
    import pyarrow

    if isinstance(values, list):
        return pyarrow.array(values, kind)
    return pyarrow.array(np.ascontiguousarray(values, dtype=np.float64), kind)
