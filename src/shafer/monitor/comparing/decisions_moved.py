"""How many decisions moved with a component: the count if its distribution is put back.

The weights of the batch are mapped to the quantiles of the reference: the row with the largest
score gets the largest of the reference, and so on. Each row keeps its rank, and its other
components stay as they are. So only the distribution of the component is put back, not its normal
variation: replacing it by its mean would also count the decisions that it makes every day.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shafer._typing import FloatArray
from shafer.monitor.rows.reference_rows import ReferenceRows
from shafer.monitor.rows.row_facts import RowFacts


def decisions_moved(
    reference: ReferenceRows, batch: RowFacts, components: Sequence[int], seed: int
) -> tuple[dict[int, int], int]:
    """Count the rows whose most probable class changes when components are put back.

    Returns
    -------
    counts : dict from component to number of rows
        Each component put back alone.
    together : int
        All of them put back.
    """
    now = batch.decisions
    counts, change = {}, np.zeros_like(batch.logits)
    for g in components:
        own = _change(reference, batch, g, np.random.default_rng([seed, g]))
        counts[g] = int((now != (batch.logits + own).argmax(axis=1)).sum())
        change += own
    return counts, int((now != (batch.logits + change).argmax(axis=1)).sum())


def _change(
    reference: ReferenceRows, batch: RowFacts, g: int, random: np.random.Generator
) -> FloatArray:
    """Return what the logits (m, K) change by when component g is put back."""
    scores = batch.scores[:, g]
    usual = reference.facts.scores[:, g]
    back = [put_back(scores[:, r], usual[:, r], random) for r in range(scores.shape[1])]
    change = reference.axes.weights(g, np.stack(back, axis=1) - scores)
    return np.asarray(change * batch.row_factor[:, None])


def put_back(values: FloatArray, reference: FloatArray, random: np.random.Generator) -> FloatArray:
    """Map values (m,) to the quantiles of reference values (n,); ties are broken at random."""
    m, n = len(values), len(reference)
    order = np.lexsort((random.random(m), values))
    places = ((np.arange(m) + 0.5) / m * n).astype(np.intp)
    mapped = np.empty_like(values)
    mapped[order] = np.sort(reference)[places]
    return mapped
