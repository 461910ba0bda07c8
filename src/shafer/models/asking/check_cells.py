r"""Which values to check: a surprising value that decides is worth more than either alone.

The stake of a cell is the probability π that it is wrong, times the divergence of the
probabilities with its expectation in place from the present ones:

.. math:: \pi\,\mathrm{KL}\bigl(\operatorname{softmax}(\kappa (z - r_j \beta_j)) \,\|\,
          \operatorname{softmax}(\kappa z)\bigr), \qquad
          \operatorname{logit} \pi = \ln 0.02 + \ln \text{factor}_j,

with the factor of ``known_cells.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax

from shafer._typing import FloatArray
from shafer.models.asking.asked_model import AskedModel, AskedRows, with_index_column
from shafer.models.asking.cell_table import CellTable
from shafer.models.asking.known_cells import CellDistances, KnownCells
from shafer.models.asking.next_inputs import check_top
from shafer.models.uncertainty.conditional_gaussian import patterns

_RARE = 0.02  # odds of a wrong value before it is seen


def check_cells(asked: AskedModel, X: Any, top: int | None) -> dict[str, Any]:
    """Return the columns of the table of ``Explainer.check_cells``."""
    limit = check_top(top)
    table = CellTable(asked.inputs)
    for rows in asked.chunks(X):
        for where, gaps in patterns(rows.gaps, complete=True):
            far = KnownCells.of(asked.inputs, gaps).measured(rows.features[where])
            add_ranked_cells(table, rows, where, far, limit)
    columns = table.columns()
    order = np.lexsort((columns["rank"], columns["row"]))
    return with_index_column({name: values[order] for name, values in columns.items()}, X)


def add_ranked_cells(
    table: CellTable,
    rows: AskedRows,
    where: NDArray[np.intp],
    far: CellDistances,
    top: int | None,
) -> None:
    """Add the known inputs of rows of one pattern, ranked by stake."""
    stake, surprise = stakes(far, rows.level, rows.factor[where]), far.surprise
    order = np.lexsort((-surprise, -stake), axis=1)[:, :top]
    n, width = order.shape
    owner, cell = np.repeat(np.arange(n), width), order.reshape(-1)
    table.add(
        rows,
        where[owner],
        far.cells.which[cell],
        np.tile(np.arange(1, width + 1), n),
        far.expected()[owner],
        surprise=surprise[owner, cell],
        stake=stake[owner, cell],
    )


def stakes(far: CellDistances, level: FloatArray, factor: FloatArray) -> FloatArray:
    """Return the stake of each known input, (n, inputs), in nats.

    Parameters
    ----------
    far : CellDistances
    level : array of shape (K,)
        The logits at the feature means.
    factor : array of shape (n,)
        The factor on the weights.
    """
    now = log_softmax(factor[:, None] * far.logits(level), axis=1)[:, None, :]
    wrong = expit(np.log(_RARE) + far.log_factor)
    result = np.empty_like(wrong)
    for rows, logits in far.repaired(level):
        repaired = log_softmax(factor[rows, None, None] * logits, axis=2)
        divergence = (np.exp(repaired) * (repaired - now[rows])).sum(axis=2)
        result[rows] = wrong[rows] * np.maximum(divergence, 0.0)
    return np.asarray(result)
