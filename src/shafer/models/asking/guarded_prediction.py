"""``GuardedPrediction``: probabilities that wrong inputs change little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from shafer._typing import BoolArray, FloatArray
from shafer._validation import frozen
from shafer.evidence import Evidence
from shafer.evidence.io.frame_table import native_frame


@final
@dataclass(frozen=True, eq=False, repr=False)
class GuardedPrediction:
    """Answers that are guarded against wrong inputs; made by :meth:`shafer.Explainer.guard`.

    Attributes
    ----------
    log_probability : array of shape (n, K)
    alarm : array of shape (n,)
        The probability that some input of the row is wrong.
    repaired : boolean array of shape (n, number of inputs)
        The inputs that were almost certainly wrong and count as missing.
    input_names : tuple of strings
        The inputs: columns of the data that the model uses.
    classes : array of shape (K,)
    cells : mapping from column name to array
        The repaired cells, as in :meth:`to_frame`.
    index : pandas index or None
        The labels of the rows.

    See Also
    --------
    shafer.Explainer.guard : Makes one.
    shafer.Explainer.check_cells : Lists suspicious values.

    Examples
    --------
    >>> import numpy as np, shafer
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:, 1] += X[:, 0]
    >>> found = shafer.Explainer(([1.0, 1.0], 0.0), X, missing="conditional").guard([[1.0, 90.0]])
    >>> found.repaired, found.alarm.round(3)
    (array([[False,  True]]), array([1.]))
    """

    log_probability: FloatArray
    alarm: FloatArray
    repaired: BoolArray
    input_names: tuple[str, ...]
    classes: NDArray[Any]
    cells: Mapping[str, Any]
    index: Any = None

    @cached_property
    def probability(self) -> FloatArray:
        """The guarded probabilities, (n, K)."""
        # Rounding can make the sum of a mixture differ from 1.
        return np.asarray(frozen(softmax(self.log_probability, axis=1)))

    @cached_property
    def evidence(self) -> Evidence:
        """Evidence of one component, whose probabilities are the guarded ones: for decisions."""
        weights = self.log_probability - self.log_probability.mean(axis=1, keepdims=True)
        ev = Evidence.from_weights(weights[:, None, :], classes=self.classes, names=["all"])
        return ev if self.index is None else ev.with_index(self.index)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the repaired cells as a data frame: ``row, input, value, expected``.

        The expected value is that given all inputs of the row that were not repaired. If the rows
        came from a pandas frame, ``index`` holds their labels.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The library of the data frame.

        Returns
        -------
        data frame
            One row for each repaired cell.
        """
        return native_frame(dict(self.cells), None, backend)

    def __len__(self) -> int:
        return len(self.alarm)

    def __repr__(self) -> str:
        cells, rows = int(self.repaired.sum()), int(self.repaired.any(axis=1).sum())
        return f"<GuardedPrediction: {len(self)} rows, {cells} cells repaired in {rows} rows>"
