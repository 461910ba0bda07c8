"""``CellTable``: tables about cells, with the value and the expected one in the same units."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from shafer._typing import FloatArray
from shafer.models.asking.asked_model import AskedRows
from shafer.models.asking.linear_inputs import LinearInputs
from shafer.models.grouping.input_blocks import column_values


@final
class CellTable:
    """Collects cells: row, input, value, expected value, and columns of the caller's choice.

    Values are numbers if all inputs are numbers, otherwise text; or each as it is if ``mixed``.
    """

    def __init__(self, inputs: LinearInputs, *, mixed: bool = False) -> None:
        self._inputs = inputs
        self._mixed = mixed
        self._parts: list[dict[str, NDArray[Any]]] = []
        self._numbers = all(scale is None or scale.is_number for scale in inputs.values)

    def add(
        self,
        rows: AskedRows,
        where: NDArray[np.intp],
        which: NDArray[np.intp],
        rank: NDArray[np.intp],
        expected: FloatArray,
        **more: NDArray[Any],
    ) -> None:
        """Add m cells.

        Parameters
        ----------
        rows : AskedRows
        where, which : arrays of m positions
            The row among ``rows`` and the input of each cell.
        rank : array of m numbers
            The place of each cell among those of its row.
        expected : array of shape (m, J)
            The expected features.
        **more : arrays of shape (m,)
            More columns.
        """
        kind = np.float64 if self._numbers else object
        value, usual = np.empty(len(where), dtype=kind), np.empty(len(where), dtype=kind)
        for i in np.unique(which):
            lines = np.flatnonzero(which == i)
            value[lines] = self._shown(self._given(rows, int(i))[where[lines]])
            usual[lines] = self._shown(self._decoded(int(i), expected[lines]))
        self._parts.append(
            {
                "row": rows.start + where,
                "rank": rank,
                "input": np.asarray(self._inputs.blocks.names, dtype=object)[which],
                "value": value,
                "expected": usual,
                **more,
            }
        )

    def columns(self) -> dict[str, Any]:
        """Return all columns."""
        names = self._parts[0]
        return {name: np.concatenate([part[name] for part in self._parts]) for name in names}

    def _given(self, rows: AskedRows, i: int) -> NDArray[Any]:
        """Return the user's values of one input."""
        blocks = self._inputs.blocks
        if self._inputs.values[i] is None:
            return rows.features[:, blocks.features[i][0]]
        return np.asarray(column_values(rows.given, blocks.places_in(rows.given)[i]))

    def _decoded(self, i: int, expected: FloatArray) -> NDArray[Any]:
        """Return expected features of one input as the user would write them."""
        part = expected[:, list(self._inputs.blocks.features[i])]
        scale = self._inputs.values[i]
        return part[:, 0] if scale is None else scale.decoded(part)

    def _shown(self, values: NDArray[Any]) -> NDArray[Any]:
        if self._numbers:
            return values.astype(np.float64)
        if self._mixed:
            return values.astype(object)
        return np.array([_text(value) for value in values.tolist()], dtype=object)


def _text(value: Any) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:.6g}" if number else str(value)
